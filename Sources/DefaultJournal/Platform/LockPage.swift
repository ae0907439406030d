internal import Synchronization

/// The page of memory that all processes of a suite share: the first page of the file `lock`.
///
/// It tells a reader, without a system call, whether there is anything new, and where. Only its mapping while processes
/// are attached is trusted: what a power cut left of it is set right by the next one that opens the suite, from the
/// journal itself.
///
/// All changes are made by the holder of the file's exclusive lock, except clearing ``directoryDirty``, and those of
/// ``isAwaited``.
///
/// | word | content |
/// | --- | --- |
/// | 0 | magic and version of the page |
/// | 1 | generation: advanced with each commit |
/// | 2 | journal id: the salt of the journal that `end` is about |
/// | 3 | end of the committed records; 0 while the journal is being replaced |
/// | 4 | end of what is known to be on the disk |
/// | 5 | id of the journal whose rename isn't known to be on the disk, or 0 |
/// | 6 | not 0 while an append is between write and commit: the end it will have; all ones while a rename is under way |
/// | 7 | not 0 after a failed sync, until the journal was rewritten |
/// | 8 | not 0 while somebody compacts |
/// | 9 | not 0 while somebody waits for the lock: a hint to a process that keeps it, see ``Journal/mayKeepFileLock()`` |
struct LockPage: @unchecked Sendable {
    // A fixed address in a shared mapping; every word of it is accessed as an atomic.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    /// Bytes that are mapped, and that the file has at least.
    static let size = 4096
    /// `DfLock` and the version, 1.
    static let magic: UInt64 = 0x0001_6B63_6F4C_6644
    /// Where ``isAwaited`` stands in the file, for a process that hasn't mapped the page yet.
    static let awaitedOffset: UInt64 = 72
    /// What ``pending`` says while the journal is being replaced.
    static let replacing = UInt64.max

    init(mapping: UnsafeMutableRawPointer) {
        words = mapping.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    var mapping: UnsafeMutableRawPointer { UnsafeMutableRawPointer(words) }

    @inline(__always)
    var generation: UInt64 { words[1].load(ordering: .acquiring) }

    var journalID: UInt64 { words[2].load(ordering: .acquiring) }

    @inline(__always)
    var end: UInt64 { words[3].load(ordering: .acquiring) }

    var syncedEnd: UInt64 {
        get { words[4].load(ordering: .acquiring) }
        nonmutating set { words[4].store(newValue, ordering: .releasing) }
    }

    var directoryDirty: UInt64 {
        get { words[5].load(ordering: .acquiring) }
        nonmutating set { words[5].store(newValue, ordering: .releasing) }
    }

    /// Clears ``directoryDirty`` unless a later rename has set it anew.
    func clearDirectoryDirty(of journalID: UInt64) {
        _ = words[5].compareExchange(expected: journalID, desired: 0, ordering: .acquiringAndReleasing)
    }

    @inline(__always)
    var pending: UInt64 {
        get { words[6].load(ordering: .acquiring) }
        nonmutating set { words[6].store(newValue, ordering: .sequentiallyConsistent) }
    }

    var syncFailed: Bool {
        get { words[7].load(ordering: .acquiring) != 0 }
        nonmutating set { words[7].store(newValue ? 1 : 0, ordering: .releasing) }
    }

    var isCompacting: Bool {
        get { words[8].load(ordering: .acquiring) != 0 }
        nonmutating set { words[8].store(newValue ? 1 : 0, ordering: .releasing) }
    }

    /// Only a hint: a process that was killed leaves it set, and of several that wait the first one clears it.
    @inline(__always)
    var isAwaited: Bool {
        get { words[9].load(ordering: .relaxed) != 0 }
        nonmutating set { words[9].store(newValue ? 1 : 0, ordering: .relaxed) }
    }

    /// Commits an append.
    ///
    /// Readers see the new end at the latest with the new generation.
    @inline(__always)
    func publish(end: UInt64) -> UInt64 {
        words[3].store(end, ordering: .releasing)
        words[6].store(0, ordering: .releasing)
        return advance()
    }

    /// Commits another journal.
    ///
    /// The end is 0 in between, so that no reader combines the one's id with the other's end.
    func publish(journalID: UInt64, end: UInt64, syncedEnd: UInt64) -> UInt64 {
        words[3].store(0, ordering: .sequentiallyConsistent)
        words[2].store(journalID, ordering: .sequentiallyConsistent)
        words[4].store(syncedEnd, ordering: .sequentiallyConsistent)
        words[7].store(0, ordering: .sequentiallyConsistent)
        words[3].store(end, ordering: .sequentiallyConsistent)
        words[6].store(0, ordering: .sequentiallyConsistent)
        return advance()
    }

    @inline(__always)
    private func advance() -> UInt64 {
        // Only the lock's holder writes, so that load and store need not be one step.
        let next = words[1].load(ordering: .relaxed) &+ 1
        words[1].store(next, ordering: .releasing)
        return next
    }

    /// What a reader has to know together.
    struct Snapshot {
        var generation: UInt64
        var journalID: UInt64
        var end: UInt64
    }

    /// A consistent view, or nil when a journal is just being replaced.
    func snapshot() -> Snapshot? {
        let generation = words[1].load(ordering: .sequentiallyConsistent)
        let journalID = words[2].load(ordering: .sequentiallyConsistent)
        let end = words[3].load(ordering: .sequentiallyConsistent)
        guard end != 0, words[2].load(ordering: .sequentiallyConsistent) == journalID,
            words[1].load(ordering: .sequentiallyConsistent) == generation
        else { return nil }
        return Snapshot(generation: generation, journalID: journalID, end: end)
    }

    /// The bytes of a new page, which belongs to no journal yet.
    static func blank() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        bytes.withUnsafeMutableBytes { page in
            page.storeBytes(of: magic, as: UInt64.self)
            // Attached processes that applied another page's generation must notice.
            page.storeBytes(of: UInt64.random(in: 1...(UInt64.max >> 1)), toByteOffset: 8, as: UInt64.self)
        }
        return bytes
    }
}
