/// A journal that is open, as long as somebody uses it: a replaced one stays readable, and can still be flushed.
final class JournalFile: Sendable {
    private let descriptor: OwnedDescriptor
    /// Where it has its name; nil for a file that is none.
    let directory: OpenDirectory?
    let id: FileID
    let salt: UInt64
    /// Whether the file's name is known to be on the disk; see ``JournalHeader/Flag/renameUnsynced``.
    private let isRenameSynced = Atomic<Bool>(false)
    /// Whether a sync by this process has failed.
    private let hasSyncFailed = Atomic<Bool>(false)

    init(_ descriptor: consuming OwnedDescriptor, in directory: OpenDirectory?, id: FileID, salt: UInt64) {
        self.descriptor = descriptor
        self.directory = directory
        self.id = id
        self.salt = salt
    }

    /// What is open before the first journal is.
    static var none: JournalFile { JournalFile(.none, in: nil, id: FileID(device: 0, inode: 0), salt: 0) }

    var raw: Int32 { descriptor.raw }

    /// Whether a flush of this file has to sync the directory too, or can't help any more.
    func flags(calls: SystemCalls) throws(JournalError) -> (isRenameUnsynced: Bool, hasSyncFailed: Bool) {
        if hasSyncFailed.load(ordering: .relaxed) { return (true, true) }
        var words: (UInt64, UInt64) = (0, 0)
        let start = JournalHeader.Flag.renameUnsynced.rawValue
        let outcome = withUnsafeMutableBytes(of: &words) { bytes in
            Result { () throws(JournalError) in try calls.read(into: bytes, from: raw, at: start) }
        }
        _ = try outcome.get()
        return (words.0 != 0 && !isRenameSynced.load(ordering: .relaxed), words.1 != 0)
    }

    /// Notes that the name is on the disk.
    func noteSyncedRename(calls: SystemCalls) {
        isRenameSynced.store(true, ordering: .relaxed)
        write(0, to: .renameUnsynced, calls: calls)
    }

    /// Notes that a sync has failed, for all processes.
    func noteFailedSync(calls: SystemCalls) {
        hasSyncFailed.store(true, ordering: .relaxed)
        write(1, to: .syncFailed, calls: calls)
    }

    /// Notes that a flush is about to return, or, for a compaction, that none has since.
    func noteFlush(_ isFlushed: Bool, calls: SystemCalls) throws(JournalError) {
        let value: UInt64 = isFlushed ? 1 : 0
        var failure: JournalError?
        withUnsafeBytes(of: value.littleEndian) { bytes in
            let offset = JournalHeader.Flag.isFlushed.rawValue
            do throws(JournalError) { try calls.write(bytes, to: raw, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Whether a flush has returned since the last call of ``noteFlush(_:calls:)`` by a compaction.
    func isFlushed(calls: SystemCalls) throws(JournalError) -> Bool {
        var word: UInt64 = 0
        let outcome = withUnsafeMutableBytes(of: &word) { bytes in
            Result { () throws(JournalError) in
                try calls.read(into: bytes, from: raw, at: JournalHeader.Flag.isFlushed.rawValue)
            }
        }
        _ = try outcome.get()
        return word != 0
    }

    private func write(_ value: UInt64, to flag: JournalHeader.Flag, calls: SystemCalls) {
        withUnsafeBytes(of: value.littleEndian) { bytes in
            // If it fails, this process knows, and others sync once more, or learn of the failure by their own sync.
            do throws(JournalError) { try calls.write(bytes, to: raw, at: flag.rawValue) } catch {}
        }
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
