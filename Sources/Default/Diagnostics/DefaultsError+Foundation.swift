#if Foundation
internal import Foundation

extension DefaultsError {
    /// The type, domain and code of an error.
    static func identity(of error: any Error) -> String {
        let bridged = error as NSError
        return "\(Swift.type(of: error)), domain \(bridged.domain), code \(bridged.code)"
    }
}
#else
internal import FoundationEssentials

extension DefaultsError {
    /// The type of an error, and its code if it is one of Foundation's.
    static func identity(of error: any Error) -> String {
        "\(Swift.type(of: error))" + ((error as? CocoaError).map { ", code \($0.code.rawValue)" } ?? "")
    }
}
#endif
