/// A journal that is open, as long as somebody uses it: a replaced one stays readable, and can still be flushed.
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

    /// What is open before the first journal is.
    static var none: JournalFile { JournalFile(.none, in: nil, id: FileID(device: 0, inode: 0), salt: 0) }

    var raw: Int32 { descriptor.raw }

    /// The ``JournalHeader/Flag``s.
    func flags(
        calls: SystemCalls
    ) throws(JournalError) -> (isRenameUnsynced: Bool, hasSyncFailed: Bool, isFlushed: Bool) {
        if hasSyncFailed.load(ordering: .relaxed) { return (true, true, true) }
        var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
        let start = JournalHeader.Flag.renameUnsynced.rawValue
        let outcome = withUnsafeMutableBytes(of: &words) { bytes in
            Result { () throws(JournalError) in try calls.read(into: bytes, from: raw, at: start) }
        }
        _ = try outcome.get()
        return (words.0 != 0 && !isRenameSynced.load(ordering: .relaxed), words.1 != 0, words.2 != 0)
    }

    /// Notes that the name is on the disk.
    func noteSyncedRename(calls: SystemCalls) {
        isRenameSynced.store(true, ordering: .relaxed)
        // If it fails, this process knows, and others sync once more.
        do throws(JournalError) { try set(.renameUnsynced, to: false, calls: calls) } catch {}
    }

    /// Notes that a sync has failed, for all processes.
    func noteFailedSync(calls: SystemCalls) {
        hasSyncFailed.store(true, ordering: .relaxed)
        // If it fails, this process knows, and others learn of it by their own sync.
        do throws(JournalError) { try set(.syncFailed, to: true, calls: calls) } catch {}
    }

    /// Sets a flag, for all processes.
    func set(_ flag: JournalHeader.Flag, to value: Bool, calls: SystemCalls) throws(JournalError) {
        let outcome = withUnsafeBytes(of: (value ? 1 : 0 as UInt64).littleEndian) { bytes in
            Result { () throws(JournalError) in try calls.write(bytes, to: raw, at: flag.rawValue) }
        }
        try outcome.get()
    }
}

/// Sixteen bytes of a journal that differ in any other one: the header of the last record, or of the journal.
struct JournalMark: Equatable {
    let offset: UInt64
    private let words: (UInt64, UInt64)

    /// The mark of a record that is in memory.
    init(_ record: UnsafeRawPointer, at offset: UInt64) {
        self.offset = offset
        words = record.loadUnaligned(as: (UInt64, UInt64).self)
    }

    /// Reads the mark at an offset; without one, that of the journal's header.
    init(of file: Int32, at offset: UInt64?, calls: SystemCalls) throws(JournalError) {
        let offset = offset ?? UInt64(JournalHeader.saltOffset)
        var words: (UInt64, UInt64) = (0, 0)
        let outcome = withUnsafeMutableBytes(of: &words) { bytes in
            Result { () throws(JournalError) in try calls.read(into: bytes, from: file, at: offset) }
        }
        _ = try outcome.get()
        self.offset = offset
        self.words = words
    }

    static func == (one: JournalMark, other: JournalMark) -> Bool {
        one.offset == other.offset && one.words == other.words
    }
}
