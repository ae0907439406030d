/// A suite in the file system: its open directory, whose lock is the suite's.
///
/// It stays open as long as a journal in it may have to be flushed.
final class SuiteDirectory: @unchecked Sendable {
    static let journalName = "journal"
    /// Where a compaction writes, under the lock of this file.
    static let compactionName = "journal.new"
    /// Where a new or recovered journal is written, under the suite's lock.
    static let replacementName = "journal.fresh"
    static let damagedPrefix = "journal.damaged-"
    /// What is locked where directories can't be.
    static let lockName = "lock"

    private let directory: OwnedDescriptor
    let calls: SystemCalls
    let id: FileID
    /// When it was at its path, by ``Clock/monotonic()``.
    let openedAt: UInt64
    /// Used by the thread that locks and unlocks only, which has ``Journal/exclusive``.
    private var lockFile = OwnedDescriptor.none
    /// What the lock is on; used as `lockFile` is.
    @exclusivity(unchecked) private(set) var lockedDescriptor: Int32

    private init(_ directory: consuming OwnedDescriptor, id: FileID, openedAt: UInt64, calls: SystemCalls) {
        self.id = id
        self.openedAt = openedAt
        self.calls = calls
        lockedDescriptor = directory.raw
        self.directory = directory
    }

    var raw: Int32 { directory.raw }
}

extension SuiteDirectory {
    func tryLock() throws(JournalError) -> Bool {
        do throws(JournalError) {
            return try calls.tryLock(lockedDescriptor)
        } catch  where error.isUnlockable && lockFile.raw < 0 {
            let opened = try createFile(Self.lockName)
            lockedDescriptor = opened.file.raw
            lockFile = opened.file
            return try calls.tryLock(lockedDescriptor)
        } catch {
            throw error.about(".")
        }
    }

    func unlock() { calls.unlock(lockedDescriptor) }
}

extension SuiteDirectory {
    /// An absolute path without trailing slashes, with which `O_NOFOLLOW` would follow a link.
    static func absolutePath(_ path: String, calls: SystemCalls) throws(JournalError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw JournalError(.invalidPath, path: path) }
        var absolute = path.utf8.first == UInt8(ascii: "/") ? path : try calls.currentDirectory() + "/" + path
        while absolute.utf8.count > 1, absolute.utf8.last == UInt8(ascii: "/") { absolute.removeLast() }
        guard absolute != "/" else { throw JournalError(.invalidPath, path: path) }
        return absolute
    }

    /// Opens the suite's directory, creating it and its parents as needed.
    static func open(_ path: String, calls: SystemCalls) throws(JournalError) -> SuiteDirectory {
        for _ in 0..<8 {
            do throws(JournalError) {
                return try openForReading(path, isReadOnly: false, calls: calls)
            } catch  where error.isNotFound {
                try makeDirectory(path, calls: calls)
            }
        }
        throw JournalError(.unstable, path: path)
    }

    /// Creates a directory and its missing parents; ``syncNames(of:calls:)`` puts them on the disk.
    static func makeDirectory(_ path: String, calls: SystemCalls) throws(JournalError) {
        let parent = parent(of: path)
        do throws(JournalError) {
            try calls.makeDirectory(path)
        } catch  where error.isExisting {
            return
        } catch  where error.isNotFound && parent != path {
            try makeDirectory(parent, calls: calls)
            // Once: in /proc, whose directories can't be made, it isn't found either.
            do throws(JournalError) { try calls.makeDirectory(path) } catch  where error.isExisting {}
        }
    }

    /// Puts the names of a suite's directory and of those above it on the disk, if this user may have created them.
    ///
    /// Called before the journal gets its name: the process that created a directory may have been killed since, or may
    /// have failed to do this.
    static func syncNames(of path: String, calls: SystemCalls) throws(JournalError) {
        var path = path
        while path != parent(of: path), let status = try calls.status(of: path), status.owner == SystemCalls.user {
            path = parent(of: path)
            let directory: OwnedDescriptor
            do throws(JournalError) {
                // A parent may be a link: the dot makes the system follow it.
                directory = try calls.open(path + "/.", .directory)
            } catch  where error.isReadOnlyPlace {
                // What can't be read can't be synced either.
                return
            }
            // The root of a mounted file system has its name in another one.
            guard try calls.status(directory.raw).device == status.device else { return }
            try calls.syncNames(in: directory.raw, name: path)
        }
    }

    static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Accepts only a regular file that has no other name, of this user, or if it is only read and this process is root's of any.
    private func checkFile(_ descriptor: Int32, isReadOnly: Bool = false) throws(JournalError) -> FileStatus {
        let status = try calls.status(descriptor)
        guard status.isRegular else { throw JournalError(.notARegularFile) }
        guard status.isUsable(toRead: isReadOnly) else { throw JournalError(.notOwned) }
        // None: it was removed after it was opened.
        guard status.links <= 1 else { throw JournalError(.linked) }
        return status
    }

    /// Opens the suite's directory if it exists, to look at it: nothing is created, changed, or locked.
    ///
    /// Unlike ``open(_:calls:)`` this accepts another user's directory when this process is root's.
    static func openForReading(
        _ path: String,
        isReadOnly: Bool = true,
        calls: SystemCalls
    ) throws(JournalError) -> SuiteDirectory {
        let directory: OwnedDescriptor
        let now = Clock.monotonic()
        do throws(JournalError) {
            directory = try calls.open(path, .directory)
        } catch  where error.isWrongType {
            throw JournalError(.notADirectory, path: path)
        }
        let status = try calls.status(directory.raw)
        guard status.isDirectory else { throw JournalError(.notADirectory, path: path) }
        guard status.isUsable(toRead: isReadOnly) else { throw JournalError(.notOwned, path: path) }
        return SuiteDirectory(directory, id: status.id, openedAt: now, calls: calls)
    }

    /// Opens the journal in the directory; nil when there is none.
    func openJournal(isReadOnly: Bool) throws(JournalError) -> OpenedFile? {
        let file: OwnedDescriptor
        do throws(JournalError) {
            file = try calls.open(Self.journalName, in: raw, isReadOnly ? .read : .readWrite)
        } catch  where error.isNotFound {
            return nil
        } catch  where error.isWrongType {
            throw JournalError(.notARegularFile)
        }
        return OpenedFile(status: try checkFile(file.raw, isReadOnly: isReadOnly), file: file)
    }

    /// Opens another file in the directory for writing, creating it if there is none.
    func createFile(_ name: String) throws(JournalError) -> OpenedFile {
        do throws(JournalError) {
            let file = try calls.open(name, in: raw, .create)
            return OpenedFile(status: try checkFile(file.raw), file: file)
        } catch {
            throw error.isWrongType ? JournalError(.notARegularFile, path: name) : error.about(name)
        }
    }

    /// Refuses a suite without the permission to write its directory or its journal.
    ///
    /// In such a directory compactions could create no file: its files could be written even so, but the journal could grow
    /// without limit.
    static func checkPermissions(_ path: String, calls: SystemCalls) throws(JournalError) {
        for name in [path, path + "/" + journalName] {
            let status = try calls.status(of: name)
            if let status, status.owner == SystemCalls.user, !status.isWritableByUser {
                throw .noPermission(path: name)
            }
        }
    }
}

struct OpenedFile: ~Copyable {
    let status: FileStatus
    let file: OwnedDescriptor
}

extension FileStatus {
    var id: FileID { FileID(device: device, inode: inode) }

    /// Whether this process uses the file: its own user's, and as root every user's, if only to read it.
    func isUsable(toRead: Bool) -> Bool { owner == SystemCalls.user || toRead && SystemCalls.user == 0 }

    /// Whether the file's permissions let this process write, if the file is its own user's.
    var isWritableByUser: Bool { isWritableByOwner || SystemCalls.user == 0 }
}

/// Identifies a file or directory, however its path is spelled.
struct FileID: Equatable, Sendable {
    var device: UInt64
    var inode: UInt64
}

/// An open journal file.
///
/// It is closed after its last use, so a replaced one can still be read and flushed.
final class JournalFile: Sendable {
    private let descriptor: OwnedDescriptor
    /// Where it has its name; nil for a file that is none.
    let directory: SuiteDirectory?
    let id: FileID
    let salt: UInt64
    let flusher = Flusher()
    /// Whether the file's name is known to be on the disk; see ``JournalHeader/Flag/renameUnsynced``.
    private let isRenameSynced = Atomic<Bool>(false)
    /// Whether a sync by this process has failed.
    private let hasSyncFailed = Atomic<Bool>(false)

    init(_ descriptor: consuming OwnedDescriptor, in directory: SuiteDirectory?, id: FileID, salt: UInt64) {
        self.descriptor = descriptor
        self.directory = directory
        self.id = id
        self.salt = salt
    }

    static var none: JournalFile { JournalFile(.none, in: nil, id: FileID(device: 0, inode: 0), salt: 0) }

    var raw: Int32 { descriptor.raw }

    func flags(
        calls: SystemCalls
    ) throws(JournalError) -> (isRenameUnsynced: Bool, hasSyncFailed: Bool, isFlushed: Bool) {
        if hasSyncFailed.load() { return (true, true, true) }
        let start = JournalHeader.Flag.renameUnsynced.rawValue
        let words = try calls.readWords((0, 0, 0) as (UInt64, UInt64, UInt64), from: raw, at: start)
        return (words.0 != 0 && !isRenameSynced.load(), words.1 != 0, words.2 != 0)
    }

    /// Notes that the name is on the disk.
    func noteSyncedRename(calls: SystemCalls) {
        isRenameSynced.store(true)
        // If it fails, this process knows, and others sync once more.
        do throws(JournalError) { try set(.renameUnsynced, to: false, calls: calls) } catch {}
    }

    /// Notes that a sync has failed, for all processes.
    func noteFailedSync(calls: SystemCalls) {
        hasSyncFailed.store(true)
        // If it fails, this process knows, and others learn of it by their own sync.
        do throws(JournalError) { try set(.syncFailed, to: true, calls: calls) } catch {}
    }

    func set(_ flag: JournalHeader.Flag, to value: Bool, calls: SystemCalls) throws(JournalError) {
        try withUnsafeBytes(of: (value ? 1 : 0 as UInt64).littleEndian) { bytes throws(JournalError) in
            try calls.write(bytes, to: raw, at: flag.rawValue)
        }
    }
}
