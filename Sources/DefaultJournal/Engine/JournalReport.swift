/// An event that no caller's error covers, because it happened outside of their calls.
package enum JournalReport: Sendable {
    /// Damage was found in a journal; all that was valid is kept.
    case damaged(Damage)
    /// Committed bytes are missing at the journal's end: it was truncated, or power was lost before a sync.
    case shortened(path: String, bytes: UInt64)
    /// All users may write to the suite's directory, and so may replace its files.
    case writableByOthers(path: String)
    /// A call has waited for a second for another process, which is given where the system names it.
    case waiting(path: String, process: Int32?)
    /// The suite was deleted or replaced while it was open; the one at its path now is used.
    case replaced(path: String)
    /// What was written is not on the disk yet, because flushing in the background failed. It is tried again.
    case flushFailed(JournalError)
    /// The file system syncs no directories, so a loss of power may take a new journal's name, and so the journal.
    case nameNotSynced(JournalError)
    /// The journal could not be compacted. It keeps growing, and compaction is tried again when it has doubled.
    case compactionFailed(JournalError)
    /// A write had to compact the journal, and so to wait for the disk, since no compaction in the background has
    /// ended: because of a process that has begun one, where it is known.
    case compactedByWrite(path: String, process: Int32?)
    /// A read could not catch up with what others wrote, and used the entries in memory.
    case catchUpFailed(JournalError)
    /// The system refused to watch the suite for other processes' changes.
    ///
    /// They are looked for twice a second if `isPolled`; otherwise the next read or write notices them.
    case watchRefused(JournalError, isPolled: Bool)

    /// What was damaged, and where the damaged file is backed up.
    package struct Damage: Sendable {
        package internal(set) var path: String
        /// Bytes that could not be used.
        package internal(set) var bytes: UInt64
        /// The parts of the damaged file that could not be used.
        var ranges: [Range<UInt64>]
        /// Records that were valid and are kept.
        package internal(set) var keptRecords: Int
        /// The copy of the damaged file; nil when it could not be made, and the journal was left as it is.
        package internal(set) var copy: String?
        package internal(set) var copyError: JournalError?
        /// The keys that have another value now, or none, than this process had before it read the journal again,
        /// sorted.
        package internal(set) var changedKeys: [String]
        /// The keys whose newest value, or whose removal, may have been in a damaged record, in the order of the file.
        ///
        /// The names were read from damaged records, so they may be damaged too.
        package internal(set) var possibleKeys: [String]

        /// How many keys of each kind are named.
        package static let keyLimit = 20
    }
}

#if DEBUG
// For tests.
extension JournalReport: Equatable {}
extension JournalReport.Damage: Equatable {}
#endif

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
            "Nothing can be written to \(path): \(SystemCalls.message(for: code)) (error \(code)). What is stored "
                + "there can be read. " + SystemCalls.advice(for: code)
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
