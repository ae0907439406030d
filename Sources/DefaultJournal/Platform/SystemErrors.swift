#if canImport(Darwin)
package import Darwin
#elseif canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#endif

/// Error numbers, grouped by the advice for them.
enum SystemErrors {
    enum Group {
        case space
        case permission
        case readOnlyDisk
        case descriptors
        case other
    }

    /// The number for what doesn't exist.
    static let notFound = ENOENT

    static func group(of code: Int32) -> Group {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: .space
        case EACCES, EPERM: .permission
        case EROFS: .readOnlyDisk
        case EMFILE, ENFILE: .descriptors
        default: .other
        }
    }
}

extension JournalError {
    /// The system's error number as a type; nil without one, and for an unknown one.
    package var systemErrorCode: POSIXErrorCode? { code.flatMap(POSIXErrorCode.init(rawValue:)) }

    var isBusy: Bool { if case .busy = kind { true } else { false } }
    /// The refusal of a directory whose permissions don't let its owner write.
    static func noPermission(path: String) -> JournalError { JournalError(.system(.open, code: EACCES), path: path) }

    /// Whether this is a refusal to write that doesn't keep the same file from being read.
    var isReadOnlyPlace: Bool {
        switch kind {
        case .system(_, let code): code == EROFS || code == EACCES || code == EPERM
        case .notOwned: SystemCalls.user == 0
        case .readOnly: true
        default: false
        }
    }

    /// Whether the disk, or the file system on it, became read-only.
    package var isReadOnlyDisk: Bool { code == EROFS }

    /// Whether the system refuses to lock a directory.
    var isUnlockable: Bool {
        code == EBADF || code == EINVAL || code == EISDIR || code == EOPNOTSUPP || code == ENOTSUP || code == ENOSYS
    }

    var isNotFound: Bool { code == ENOENT }
    var isExisting: Bool { code == EEXIST }
    /// What `open` reports for a link, or for a file of the wrong type.
    var isWrongType: Bool { code == ELOOP || code == ENOTDIR || code == EISDIR || code == ENXIO || code == EMLINK }
}
