#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Error numbers by what can be done about them.
enum SystemErrors {
    enum Group {
        case space
        case permission
        case descriptors
        case other
    }

    static func group(of code: Int32) -> Group {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: .space
        case EACCES, EPERM, EROFS: .permission
        case EMFILE, ENFILE: .descriptors
        default: .other
        }
    }
}

extension JournalError {
    var isNotFound: Bool { code == ENOENT }
    var isExisting: Bool { code == EEXIST }
    /// What opening gives where a link or something that is no directory stands.
    var isWrongType: Bool { code == ELOOP || code == ENOTDIR || code == EISDIR || code == ENXIO || code == EMLINK }
}
