/// An error of the storage engine.
package struct JournalError: Error, Equatable, Sendable {
    /// The kinds of errors; the message in ``description`` says what each one means.
    package enum Kind: Equatable, Sendable {
        case system(SystemCall, code: Int32)
        case newerFormat(version: UInt32)
        case notARegularFile
        case linked
        case notADirectory
        case notOwned(owner: UInt32)
        /// Nothing is created in a folder of another user.
        case otherUsersFolder(owner: UInt32)
        case linkRefused(LinkRefusal)
        case valueTooLarge(bytes: Int)
        case keyInvalid(bytes: Int)
        case batchTooLarge(bytes: Int)
        case alreadyExists
        case forked
        case invalidPath
        case replaced
        case overwritten
        case busy(process: Int32?)
        case unstable
        case readOnly(ReadOnlyReason)
    }

    /// Why nothing can be written.
    package enum ReadOnlyReason: Equatable, Sendable {
        /// The system refuses it, with this error number.
        case refused(code: Int32)
        /// The suite is another user's, and this process is root's, or the other way round.
        case otherUser(UInt32)
        /// The suite was opened only for reading.
        case requested
    }

    /// Why a link isn't followed.
    package enum LinkRefusal: Equatable, Sendable {
        case leadsNowhere
        /// The link, or a folder on the way, is another user's.
        case otherUsers(owner: UInt32)
        /// Others may change the content of a folder on the way.
        case writableByOthers
        /// It leads to a journal with another name.
        case otherName
    }

    /// The kind of the error.
    package let kind: Kind
    /// The file or directory that the error is about.
    ///
    /// Inside the engine a name in the suite's directory, "." for the directory, and empty for the journal;
    /// ``withDirectory(_:)`` makes it a path where the error leaves the engine.
    package let path: String

    init(_ kind: Kind, path: String = "") {
        self.kind = kind
        self.path = path
    }

    /// The system's error number, if a system call failed.
    var code: Int32? {
        switch kind {
        case .system(_, let code), .readOnly(.refused(let code)): code
        default: nil
        }
    }

    var isBusy: Bool { if case .busy = kind { true } else { false } }

    /// The process that a suite is busy with, where it is known.
    var busyProcess: Int32? { if case .busy(let process) = kind { process } else { nil } }

    /// The error with the full path of its file, in the suite at a path.
    func withDirectory(_ directory: String) -> JournalError {
        if path.utf8.first == UInt8(ascii: "/") { return self }
        let name = path.isEmpty ? "journal" : path
        return JournalError(kind, path: path == "." ? directory : directory + "/" + name)
    }

    /// The error about a file with this name, if it doesn't say which.
    func withFileName(_ name: String) -> JournalError { path.isEmpty ? JournalError(kind, path: name) : self }
}
