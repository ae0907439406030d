#if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
#if canImport(Darwin)
package import Darwin
#elseif canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#endif

extension SystemCalls {
    /// The error number for a file that doesn't exist.
    static let notFound = ENOENT

    /// The advice that the message about an error ends with.
    static func advice(for code: Int32, of call: SystemCall? = nil) -> String {
        switch (call, code) {
        case (.inotifyInit, EMFILE), (.inotifyInit, ENFILE):
            "Raise fs.inotify.max_user_instances or the limit of open files, or close unused files."
        case (.inotifyAddWatch, ENOSPC): "Raise fs.inotify.max_user_watches, or watch fewer directories."
        case (.inotifyAddWatch, _): "Check whether /proc is mounted."
        case (.fsync, _), (.fdatasync, _):
            "What is stored can be read, but what was written last may not survive a loss of power. Remove the cause, "
                + "and flush again."
        case (_, ENOSPC), (_, EDQUOT), (_, EFBIG):
            "Nothing that is stored has changed; try again when there is room on the disk."
        case (_, EACCES), (_, EPERM):
            "Give this user permission to read and write there, or choose another directory for the suite."
        case (_, EROFS): "The disk can only be read. Make it writable, or choose another directory for the suite."
        case (_, EMFILE), (_, ENFILE):
            "Close files that are not needed, or raise the limit of open files, and try again."
        default: "Nothing that is stored has changed; remove the cause, and try again."
        }
    }
}

extension JournalError {
    /// The system's error number as a type; nil without one, and for an unknown one.
    package var systemErrorCode: POSIXErrorCode? { code.flatMap(POSIXErrorCode.init(rawValue:)) }

    /// The refusal of a directory whose permissions don't let its owner write.
    static func noPermission(path: String) -> JournalError { JournalError(.system(.open, code: EACCES), path: path) }

    /// Whether this is a refusal to write to a file that may still be readable.
    var isReadOnlyPlace: Bool {
        switch kind {
        case .system(_, let code): code == EROFS || code == EACCES || code == EPERM
        case .notOwned(let owner): SystemCalls.user == 0 || owner == 0
        case .readOnly: true
        default: false
        }
    }

    /// Whether the disk, or the file system on it, became read-only.
    package var isReadOnlyDisk: Bool { code == EROFS }

    /// Whether a directory isn't there, and the reason may be that it can't be created where it should be.
    package var isUnusablePlace: Bool {
        switch kind {
        case .notADirectory, .notOwned, .readOnly: true
        case .system: isReadOnlyPlace || isNotFound || code == ENOTDIR
        default: false
        }
    }

    /// Whether the system refuses to lock a directory.
    var isUnlockable: Bool {
        code == EBADF || code == EINVAL || code == EISDIR || code == EOPNOTSUPP || code == ENOTSUP || code == ENOSYS
    }

    var isNotFound: Bool { code == ENOENT }
    var isExisting: Bool { code == EEXIST }
    /// Whether this is the error of `unlink` for a directory.
    var isDirectory: Bool { code == EISDIR || code == EPERM }
    /// Whether this is the error of `open` for a link, or for a file of the wrong type.
    var isWrongType: Bool { code == ELOOP || code == ENOTDIR || code == EISDIR || code == ENXIO || code == EMLINK }
}
#endif
