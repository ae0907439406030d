/// An open journal file.
///
/// It is closed after its last use, so a replaced one can still be read and flushed.
final class JournalFile: Sendable {
    private let descriptor: OwnedDescriptor
    /// The directory in which it has its name; nil for a file that isn't a journal.
    let directory: SuiteDirectory?
    let id: FileID
    let salt: UInt64
    let flusher = Flusher()
    /// Whether the file's name is known to be on the disk; see ``JournalHeader/Word/unsyncedNames``.
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

    /// The words in the file's header, together with what this process knows.
    func words(calls: SystemCalls) throws(JournalError) -> JournalWords {
        let stored = try calls.readWords(StoredWords(), from: raw, at: JournalHeader.Word.unsyncedNames.rawValue)
        return JournalWords(
            unsyncedNames: isRenameSynced.load() ? 0 : UInt64(littleEndian: stored.unsyncedNames),
            hasSyncFailed: stored.syncFailed != 0 || hasSyncFailed.load(),
            isFlushed: stored.isFlushed != 0,
            copied: UInt64(littleEndian: stored.copied)
        )
    }

    /// The words as they are in the file, in the order of ``JournalHeader/Word``.
    private struct StoredWords: BitwiseCopyable {
        var unsyncedNames: UInt64 = 0
        var syncFailed: UInt64 = 0
        var isFlushed: UInt64 = 0
        var copied: UInt64 = 0
    }

    /// Notes that the name is on the disk.
    func noteSyncedNames(calls: SystemCalls) {
        isRenameSynced.store(true)
        do throws(JournalError) {
            try set(.unsyncedNames, to: 0, calls: calls)
        } catch {
            // This process knows, and others sync once more.
        }
    }

    /// Notes that a sync has failed, for all processes.
    func noteFailedSync(calls: SystemCalls) {
        hasSyncFailed.store(true)
        do throws(JournalError) {
            try set(.syncFailed, to: 1, calls: calls)
        } catch {
            // This process knows, and others find it by their own sync.
        }
    }

    func set(_ word: JournalHeader.Word, to value: UInt64, calls: SystemCalls) throws(JournalError) {
        try withUnsafeBytes(of: value.littleEndian) { bytes throws(JournalError) in
            try calls.write(bytes, to: raw, at: word.rawValue)
        }
    }
}

/// The words in a journal's header about the file while it is used; see ``JournalHeader/Word``.
struct JournalWords {
    var unsyncedNames: UInt64
    var hasSyncFailed: Bool
    var isFlushed: Bool
    var copied: UInt64
}
