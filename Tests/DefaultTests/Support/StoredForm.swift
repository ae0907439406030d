import Foundation

@testable import Default

/// Parsed stored bytes, without `NSNumber`, which the library may not know.
enum StoredForm {
    /// The value of a property list or of JSON.
    static func value(of data: Data) throws -> PropertyListValue {
        if let value = PropertyListFile.value(of: data) {
            return value
        }
        return try JSONDecoder().decode(CodedPropertyList.self, from: data).value
    }
}
