/// An open journal file.
///
/// It is closed after its last use, so a replaced one can still be read and flushed.
final class JournalFile: Sendable {
    private let descriptor: OwnedDescriptor
    /// Where it has its name; nil for a file that is none.
    let directory: SuiteDirectory?
    let id: FileID
    let salt: UInt64
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
