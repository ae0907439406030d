package import Default
package import Foundation

extension PropertyListValue {
    /// A value in one of Foundation's formats; nil when the bytes are not in one of them.
    package init?(serialized data: Data) {
        if BinaryPropertyListReader.isBinary(data) {
            guard let value = BinaryPropertyListReader.value(in: data) else {
                return nil
            }
            self = value
            return
        }
        guard let object = try? PropertyListSerialization.propertyList(from: data, format: nil),
            let value = try? PropertyListValue(object: object)
        else {
            return nil
        }
        self = value
    }
}
