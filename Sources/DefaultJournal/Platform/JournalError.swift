/// An error of the storage engine.
// An object, because every function that throws would copy several words otherwise.
package final class JournalError: Error, Sendable {
    /// What went wrong.
    package enum Kind: Equatable, Sendable {
        /// A system call failed.
        case system(SystemCall, code: Int32)
        /// The journal was written by a later version of the library, in a format unknown to this one.
        case newerFormat(version: UInt32)
        /// A path that should be a regular file is something else.
        case notARegularFile
        /// A file has another name, by a hard link.
        case linked
        /// A path that should be the suite's directory is something else.
        case notADirectory
        /// The file or directory belongs to another user.
        case notOwned
        /// A value exceeds the format's limit.
        case valueTooLarge(bytes: Int)
        /// A key is empty or exceeds the format's limit.
        case keyInvalid(bytes: Int)
        /// The operations of one batch together exceed the format's limit.
        case batchTooLarge(bytes: Int)
        /// Something exists already at the path where a copy was to be created.
        case alreadyExists
        /// The suite was opened by the process that this one was forked from.
        case forked
        /// The path has no last component that could name a suite, or holds a NUL byte.
        case invalidPath
        /// The suite was deleted or replaced.
        case replaced
        /// Another program has cut or overwritten the journal within the last second, and it isn't whole yet.
        case overwritten
        /// Another process has had the suite's lock for too long; the process is given where the system names it.
        case busy(process: Int32?)
        /// The suite's files were replaced repeatedly while they were being opened.
        case unstable
        /// The suite can be read, and nothing can be written; or there is none, and none can be created.
        case readOnly(ReadOnlyReason)
    }

    /// Why nothing can be written.
    package enum ReadOnlyReason: Equatable, Sendable {
        /// The system refuses it, with this error number.
        case refused(code: Int32)
        /// The suite is another user's, and this process is root's.
        case otherUser
        /// The suite was opened only for reading.
        case requested
    }

    /// What went wrong.
    package let kind: Kind
    /// The file or directory it is about.
    ///
    /// Inside the engine a name in the suite's directory, "." for the directory, and empty for the journal; ``located(in:)``
    /// makes it a path where the error leaves the engine.
    package let path: String

    package init(_ kind: Kind, path: String = "") {
        self.kind = kind
        self.path = path
    }

    /// The system's error number, if a system call failed.
    package var code: Int32? {
        switch kind {
        case .system(_, let code), .readOnly(.refused(let code)): code
        default: nil
        }
    }

    /// The error with the path of what it is about, in the suite at a path.
    func located(in directory: String) -> JournalError {
        if path.utf8.first == UInt8(ascii: "/") { return self }
        let name = path.isEmpty ? "journal" : path
        return JournalError(kind, path: path == "." ? directory : directory + "/" + name)
    }

    /// The error about a file with this name, if it doesn't say which.
    func about(_ name: String) -> JournalError { path.isEmpty ? JournalError(kind, path: name) : self }
}

extension JournalError: Equatable {
    package static func == (lhs: JournalError, rhs: JournalError) -> Bool {
        lhs.kind == rhs.kind && lhs.path == rhs.path
    }
}
