#if Foundation
internal import Foundation

extension POSIXError {
    init(_ code: Code, path: String) { self.init(code, userInfo: [NSFilePathErrorKey: path]) }
}
#else
internal import FoundationEssentials

extension POSIXError {
    /// Without the path, for which only Foundation's error has room.
    init(_ code: Code, path: String) { self.init(code) }
}
#endif
