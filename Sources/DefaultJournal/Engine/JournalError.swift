/// An error of the storage engine.
package struct JournalError: Error, Hashable, Sendable {
    /// What went wrong.
    package enum Kind: Hashable, Sendable {
        /// A system call failed.
        case system(SystemCall, code: Int32)
        /// The journal was written by a later version of the library, in a format unknown to this one.
        case newerFormat(version: UInt32)
        /// A path that should be a regular file is something else.
        case notARegularFile
        /// A path that should be the suite's directory is something else.
        case notADirectory
        /// The file or directory belongs to another user.
        case notOwned
        /// A value is longer than ``Operation/maximumValue``.
        case valueTooLarge(bytes: Int)
        /// A key is empty or longer than ``Operation/maximumKey``.
        case keyInvalid(bytes: Int)
        /// The operations of one batch together exceed ``Record/maximumPayload``.
        case batchTooLarge(bytes: Int)
        /// Something exists already at the path where a copy was to be created.
        case alreadyExists
        /// The path has no last component that could name a suite, or holds a NUL byte.
        case invalidPath
        /// The suite was deleted or replaced.
        case replaced
        /// The suite's files were replaced repeatedly while they were being opened.
        case unstable
    }

    /// What went wrong.
    package var kind: Kind
    /// The file or directory it is about.
    package var path: String

    package init(_ kind: Kind, path: String) {
        self.kind = kind
        self.path = path
    }

    /// The system's error number, if a system call failed.
    package var code: Int32? {
        if case .system(_, let code) = kind { code } else { nil }
    }
}

extension JournalError: CustomStringConvertible {
    package var description: String {
        switch kind {
        case .system(let call, let code):
            "The system call \(call.rawValue) failed for \(path): \(SystemCalls.message(for: code)) (error \(code)). "
                + Self.advice(for: code)
        case .newerFormat(let version):
            "\(path) has format version \(version), which a later version of this library wrote; nothing was changed. "
                + "Update the library to open it."
        case .notARegularFile:
            "\(path) is not a regular file; links are not followed. Move it away, and a new one is created."
        case .notADirectory:
            "\(path) is not a directory; links are not followed. Move it away, or choose another directory for the suite."
        case .notOwned:
            "\(path) belongs to another user. Change its owner, or choose another directory for the suite."
        case .valueTooLarge(let bytes):
            "A value of \(bytes) bytes is too large for \(path), which takes at most \(Operation.maximumValue). "
                + "Nothing was stored; store large data in a file of its own."
        case .keyInvalid(let bytes):
            "A key of \(bytes) bytes can't be used in \(path): keys have 1 to \(Operation.maximumKey) bytes of UTF-8."
        case .batchTooLarge(let bytes):
            "A transaction of \(bytes) bytes is too large for \(path), which takes at most \(Record.maximumPayload). "
                + "Nothing was stored; split it into smaller ones."
        case .alreadyExists:
            "\(path) exists already, and nothing is overwritten. Choose a path that is not in use."
        case .invalidPath:
            "\"\(path)\" can't be the path of a suite. Give the path of a directory."
        case .replaced:
            "\(path) was deleted or replaced while it was open. The next write goes to the suite that is there then."
        case .unstable:
            "The files of \(path) were replaced repeatedly while they were being opened. Try again."
        }
    }

    private static func advice(for code: Int32) -> String {
        switch SystemErrors.group(of: code) {
        case .space: "What was stored before is intact; try again when there is room on the disk."
        case .permission:
            "Give this user permission to read and write there, or choose another directory for the suite."
        case .descriptors: "Close files that are no longer needed, or raise the limit of open files, and try again."
        case .other: "What was stored before is intact; try again when the cause is gone."
        }
    }
}
