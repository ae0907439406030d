#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Error numbers, grouped by the advice for them.
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
    var isBusy: Bool { if case .busy = kind { true } else { false } }
    var isNotFound: Bool { code == ENOENT }
    var isExisting: Bool { code == EEXIST }
    /// What `open` reports for a link, or for a file of the wrong type.
    var isWrongType: Bool { code == ELOOP || code == ENOTDIR || code == EISDIR || code == ENXIO || code == EMLINK }
}
