// Here and not beside the type, since the messages state limits of the format.
extension JournalError: CustomStringConvertible {
    package var description: String {
        switch kind {
        case .system(let call, let code):
            "The system call \(call.rawValue) failed for \(path): \(SystemCalls.message(for: code)) (error \(code)). "
                + SystemCalls.advice(for: code, of: call)
        case .newerFormat(let version):
            path + " has format version \(version), which a later version of this library wrote; nothing was changed. "
                + "Update the library to open it."
        case .notARegularFile:
            path + " is not a regular file. Move it away, and a new one is created."
        case .linked:
            "\(path) is a hard link to a file that has another name, and a write here would change that file. Remove "
                + "one of the names, or replace this file with a copy of itself."
        case .notADirectory:
            "\(path) is not a directory. Move it away, or choose another directory for the suite."
        case .notOwned(let owner):
            "\(path) belongs to \(SystemCalls.name(ofUser: owner)). Run the program as that user, change the owner, "
                + "or choose another directory for the suite."
        case .otherUsersFolder(let owner):
            "\(path) belongs to \(SystemCalls.name(ofUser: owner)), who could not use what "
                + "\(SystemCalls.name(ofUser: SystemCalls.user)) creates in it. Nothing was created. Run the program "
                + "as the folder's owner, change the owner, set HOME or XDG_CONFIG_HOME to a folder of this user, or "
                + "choose another directory for the suite."
        case .linkRefused(.leadsNowhere):
            "\(path) is a link, and what it leads to doesn't exist. Nothing was created. Mount the disk that it leads "
                + "to, or remove the link."
        case .linkRefused(.otherUsers(let owner)):
            "\(path) belongs to \(SystemCalls.name(ofUser: owner)), so a link to the suite that leads through it "
                + "isn't followed. Let it belong to this user or to root, or move the suite to where the link is."
        case .linkRefused(.writableByOthers):
            "Other users may change what is in \(path), so a link to the suite that leads through it isn't followed. "
                + "Remove that permission with chmod go-w, or move the suite to where the link is."
        case .linkRefused(.otherName):
            "\(path) is a link to a file of another name. Give that file the name journal, in a folder of its own."
        case .valueTooLarge(let bytes):
            "A value of \(bytes) bytes is too large for \(path), which takes at most \(Operation.maximumValue - 1). "
                + "Nothing was stored; store large data in a file of its own."
        case .keyInvalid(let bytes):
            "A key of \(bytes) bytes can't be used in \(path): keys have 1 to \(Operation.maximumKey) bytes of UTF-8."
        case .batchTooLarge(let bytes):
            "A transaction of \(bytes) bytes is too large for \(path), which takes at most \(Record.maximumPayload). "
                + "Nothing was stored; split it into smaller ones."
        case .alreadyExists:
            path + " exists already, and nothing is overwritten. Choose a path that is not in use."
        case .invalidPath:
            "\"\(path)\" can't be the path of a suite. Give the path of a directory."
        case .replaced:
            path + " was deleted or replaced while it was open. The next write goes to the suite that is there then."
        case .overwritten:
            "\(path) is being overwritten by another program, such as one that copies a backup. Nothing was changed. "
                + "Try again when it has not changed for a second."
        case .busy(let process) where process == SystemCalls.process:
            "\(path) is in use by \(Self.name(of: process)). Two copies don't know each other's locks. "
                + "Nothing was changed. Have the program link one copy only, such as a dynamic library "
                + "that all its parts use."
        case .busy(let process):
            "\(path) is in use by \(Self.name(of: process)), which has not released the suite's lock in time. Nothing "
                + "was changed. Try again, and find out whether that process is stopped or waits for a disk."
        case .forked:
            "\(path) was opened by the process that this one was forked from, and can't be used here. Open it again "
                + "in this process, with an object of its own."
        case .readOnly(.refused(let code)):
            "Nothing can be written to \(path): \(SystemCalls.message(for: code)) (error \(code)). Reads still work. "
                + SystemCalls.advice(for: code)
        case .readOnly(.otherUser(let owner)):
            "Nothing is written to \(path), which belongs to \(SystemCalls.name(ofUser: owner)). What is stored there "
                + "can be read. To change it, run the program as that user."
        case .readOnly(.requested):
            path + " was opened for reading only, and nothing was changed. Open the suite for writing to change it."
        case .unstable:
            "The files of \(path) were replaced repeatedly while they were being opened. Try again."
        }
    }

    /// A process in the middle of a sentence.
    package static func name(of process: Int32?) -> String {
        guard let process else { return "another process" }
        if process == SystemCalls.process { return "another copy of this library in this process" }
        return "the process \(process)"
    }
}
