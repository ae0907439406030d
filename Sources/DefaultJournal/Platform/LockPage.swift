/// The page of memory that all processes of a suite share: the first page of the file `lock`.
///
/// With it a reader finds out, without a system call, whether and where there are new records. Its content is trusted only
/// while processes have it mapped: after a power loss, the next process that opens the suite corrects it from the journal.
///
/// All changes are made by the holder of the file's exclusive lock, except clearing ``directoryDirty``, and those of
/// ``hasWaiters``. The holder may be killed between any two stores: ``pending`` is set before the first store of a commit
/// and cleared after the last one, the generation, and the next holder finishes or undoes what it finds pending.
///
/// | word | content |
/// | --- | --- |
/// | 0 | magic and version of the page |
/// | 1 | generation: advanced with each commit |
/// | 2 | journal id: the salt of the journal that `end` is about |
/// | 3 | end of the committed records; 0 while the journal is being replaced |
/// | 4 | end of what is known to be on the disk |
/// | 5 | id of the journal whose rename isn't known to be on the disk, or 0 |
/// | 6 | not 0 from before an append's write until it is published: the end it will have; all ones for a new journal |
/// | 7 | not 0 after a failed sync, until the journal was rewritten |
/// | 8 | not 0 while a process compacts |
/// | 9 | not 0 while a process waits for the lock: a hint to the process that keeps it |
///
/// Words are little-endian, as in the journal.
struct LockPage: @unchecked Sendable {
    // A fixed address in a shared mapping; every word of it is accessed as an atomic.
    private let words: UnsafeMutablePointer<UInt64>

    /// Bytes that are mapped, and that the file has at least.
    static let size = 4096
    /// `DfLock` and the version, 1.
    static let magic: UInt64 = 0x0001_6B63_6F4C_6644
    /// The offset of ``hasWaiters`` in the file, for a process that hasn't mapped the page yet.
    static let hasWaitersOffset: UInt64 = 72
    /// The value of ``pending`` while the journal is being replaced.
    static let replacing = UInt64.max

    #if DEBUG
    private let probe: SystemCallProbe?
    #endif

    init(mapping: UnsafeMutableRawPointer, calls: SystemCalls) {
        words = mapping.assumingMemoryBound(to: UInt64.self)
        #if DEBUG
        probe = calls.probe
        #endif
    }

    var mapping: UnsafeMutableRawPointer { UnsafeMutableRawPointer(words) }

    var generation: UInt64 { load(1) }

    var journalID: UInt64 { load(2) }

    var end: UInt64 { load(3) }

    var syncedEnd: UInt64 {
        get { load(4) }
        nonmutating set { store(newValue, at: 4) }
    }

    var directoryDirty: UInt64 { load(5) }

    /// Clears ``directoryDirty`` unless a later rename has set it again.
    func clearDirectoryDirty(of journalID: UInt64) {
        _ = AtomicWord(words + 5).compareExchange(expected: journalID.littleEndian, desired: 0)
        didStore()
    }

    var pending: UInt64 {
        get { load(6) }
        nonmutating set { store(newValue, at: 6) }
    }

    var syncFailed: Bool {
        get { load(7) != 0 }
        nonmutating set { store(newValue ? 1 : 0, at: 7) }
    }

    var isCompacting: Bool {
        get { load(8) != 0 }
        nonmutating set { store(newValue ? 1 : 0, at: 8) }
    }

    /// Only a hint: a process that was killed leaves it set, and the first of several waiting processes clears it.
    var hasWaiters: Bool {
        get { load(9, ordering: .relaxed) != 0 }
        nonmutating set { store(newValue ? 1 : 0, at: 9) }
    }

    /// Commits an append, or finishes one whose writer was killed.
    ///
    /// Readers see the new end with the new generation, or earlier.
    func publish(end: UInt64) {
        store(end, at: 3)
        finishPublication()
    }

    /// Commits another journal, whose rename isn't known to be on the disk.
    ///
    /// The end is 0 in between, so that no reader combines one journal's id with the other's end. If the writer is killed
    /// after it has stored the id, the page doesn't claim that anything of the new journal is on the disk that isn't.
    func publish(journalID: UInt64, end: UInt64, syncedEnd: UInt64) {
        store(0, at: 3)
        store(0, at: 4)
        store(journalID, at: 5)
        store(journalID, at: 2)
        store(syncedEnd, at: 4)
        store(0, at: 7)
        publish(end: end)
    }

    /// Advances the generation, which makes other processes look at the page, and only then clears ``pending``.
    ///
    /// If the writer is killed in between, ``pending`` stays set, and the next writer finishes the publication. In the
    /// reverse order, processes that have the suite open would never notice the commit.
    private func finishPublication() {
        // Only the lock's holder writes the page, so load and store need not be one atomic step.
        store(load(1, ordering: .relaxed) &+ 1, at: 1)
        store(0, at: 6)
    }

    private func load(_ word: Int, ordering: MemoryOrdering = .acquiring) -> UInt64 {
        UInt64(littleEndian: AtomicWord(words + word).load(ordering: ordering))
    }

    /// Every store to the page; all processes see the stores in this order.
    private func store(_ value: UInt64, at word: Int) {
        AtomicWord(words + word).store(value.littleEndian, ordering: .releasing)
        didStore()
    }

    private func didStore() {
        #if DEBUG
        probe?.didStore()
        #endif
    }

    /// The words that readers need together.
    struct Snapshot: Equatable {
        var generation: UInt64
        var journalID: UInt64
        var end: UInt64
    }

    /// A consistent view, or nil while a journal is being replaced.
    func snapshot() -> Snapshot? {
        let generation = generation
        let journalID = journalID
        let end = end
        guard end != 0, self.journalID == journalID, self.generation == generation else { return nil }
        return Snapshot(generation: generation, journalID: journalID, end: end)
    }

    /// The bytes of a new page, which belongs to no journal yet.
    static func blank() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        bytes.withUnsafeMutableBytes { page in
            guard let start = page.baseAddress else { return }
            start.storeLittleEndian(magic, at: 0)
            // Processes that have applied another page's generation must notice the change.
            start.storeLittleEndian(UInt64.random(in: 1...(UInt64.max >> 1)), at: 8)
        }
        return bytes
    }
}
