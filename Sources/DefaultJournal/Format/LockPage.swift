internal import CDefaultSystem

/// The page that all processes of a suite share: the first page of the file `lock`.
///
/// With it a reader finds out, without a system call, whether and where there are new records. It is mapped for reading, and
/// written by `pwrite`: a store to a mapped page ends the process when a file system has no room for the page any more, and
/// `pwrite` reports that. Its content is trusted only while processes have it mapped: after a power loss, the next process
/// that opens the suite corrects it from the journal.
///
/// | word | content |
/// | --- | --- |
/// | 0 | magic and version of the page |
/// | 1 to 7 | the ``Publication`` |
/// | 8 | CRC-32C of words 0 to 7 |
/// | 9 | not 0 while a process compacts: a hint |
/// | 10 | 1 while a process waits for the lock, 2 while it sleeps: a hint to the process that keeps it |
/// | 11 | counts releases of the lock for which a process waited |
///
/// Words are little-endian, as in the journal. Words 1 to 8 are written by the holder of the file's exclusive lock, in one call;
/// the others by any process.
struct LockPage: @unchecked Sendable {
    // A fixed address in a shared mapping; every word of it is accessed as an atomic.
    let mapping: UnsafeMutableRawPointer
    private let file: Int32
    private let calls: SystemCalls

    /// Bytes of the page in the file.
    static let size = 4_096
    /// `DfLock` and the version, 1.
    static let magic: UInt64 = 0x0001_6B63_6F4C_6644

    private enum Word {
        static let generation = 1
        static let check = 8
        static let isCompacting = 9
        static let waiters = 10
        static let releases = 11
    }

    /// - Parameters:
    ///   - mapping: An address of the ``GuardedPages``.
    ///   - file: The descriptor of `lock`, open as long as the page is used.
    ///   - calls: The system calls.
    init(mapping: UnsafeMutableRawPointer, file: Int32, calls: SystemCalls) {
        self.mapping = mapping
        self.file = file
        self.calls = calls
    }

    /// What is committed, and how much of it is on the disk.
    ///
    /// It is written as a whole. A process that reads it meanwhile sees that by its checksum.
    struct Publication: Equatable {
        /// Changes with each commit.
        var generation: UInt64 = 0
        /// The salt of the journal that the rest is about.
        var journalID: UInt64 = 0
        /// The end of the committed records; 0 in a page that belongs to no journal yet.
        var end: UInt64 = 0
        /// The end of what is known to be on the disk.
        var syncedEnd: UInt64 = 0
        /// Whether the journal's rename may not be on the disk.
        var isRenameUnsynced = false
        /// Whether a sync has failed since the journal was written as a whole.
        var syncFailed = false
        /// Whether another file is about to become the journal, or has become it.
        var isReplacing = false
    }

    /// The generation alone: equal generations mean that nothing was committed in between.
    var generation: UInt64 { load(Word.generation) }

    /// What is published; nil if it is being written, or if the page is unusable.
    func publication() -> Publication? {
        let words = (raw(0), raw(1), raw(2), raw(3), raw(4), raw(5), raw(6), raw(7))
        return Self.publication(words, check: raw(Word.check))
    }

    /// What the bytes of a page say; nil if there are too few, or as for ``publication()``.
    static func publication(in bytes: UnsafeRawBufferPointer) -> Publication? {
        guard bytes.count >= 8 * (Word.check + 1) else { return nil }
        let words = bytes.loadUnaligned(as: Words.self)
        return publication(words, check: bytes.loadUnaligned(fromByteOffset: 8 * Word.check, as: UInt64.self))
    }

    /// What words 0 to 8, as in the file, say.
    private static func publication(_ words: Words, check: UInt64) -> Publication? {
        guard UInt64(littleEndian: check) == Self.check(words), words.0 == magic.littleEndian else { return nil }
        return Publication(
            generation: UInt64(littleEndian: words.1),
            journalID: UInt64(littleEndian: words.2),
            end: UInt64(littleEndian: words.3),
            syncedEnd: UInt64(littleEndian: words.4),
            isRenameUnsynced: words.5 != 0,
            syncFailed: words.6 != 0,
            isReplacing: words.7 != 0
        )
    }

    /// Publishes for all processes; for the holder of the file lock.
    ///
    /// - Throws: The system call that failed; nothing is published then.
    func publish(_ publication: Publication, path: @autoclosure () -> String) throws(JournalError) {
        let words = Self.words(publication)
        try write((words, Self.check(words).littleEndian), path: path())
    }

    private func write<Words: BitwiseCopyable>(_ words: Words, path: @autoclosure () -> String) throws(JournalError) {
        try withUnsafeBytes(of: words) { bytes throws(JournalError) in
            try calls.write(bytes, to: file, at: 0, path: path())
        }
    }

    /// Maps the page, after writing a blank one if the file has none; for the holder of the file lock.
    ///
    /// - Throws: The system call that failed; an earlier mapping remains then.
    func restore(path: @autoclosure () -> String) throws(JournalError) {
        if try calls.size(of: file, path: path()) >= UInt64(Self.size) {
            try calls.map(file, at: mapping, path: path())
            if publication() != nil { return }
        }
        // Processes that have applied another page's generation must notice the change.
        let words = Self.words(Publication(generation: UInt64.random(in: 1...(UInt64.max >> 1))))
        let noHints: (UInt64, UInt64, UInt64) = (0, 0, 0)
        try write((words, Self.check(words).littleEndian, noHints), path: path())
        try calls.truncate(file, to: UInt64(Self.size), path: path())
        try calls.map(file, at: mapping, path: path())
    }

    private typealias Words = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    /// Words 0 to 7 as in the file.
    private static func words(_ publication: Publication) -> Words {
        (
            magic.littleEndian,
            publication.generation.littleEndian,
            publication.journalID.littleEndian,
            publication.end.littleEndian,
            publication.syncedEnd.littleEndian,
            UInt64(publication.isRenameUnsynced ? 1 : 0).littleEndian,
            UInt64(publication.syncFailed ? 1 : 0).littleEndian,
            UInt64(publication.isReplacing ? 1 : 0).littleEndian
        )
    }

    /// The checksum of words 0 to 7 as in the file.
    private static func check(_ words: Words) -> UInt64 {
        withUnsafeBytes(of: words) { UInt64(CRC32C.checksum($0)) }
    }

    private func load(_ word: Int) -> UInt64 { UInt64(littleEndian: raw(word)) }

    private func raw(_ word: Int) -> UInt64 { AtomicWord(address(of: word)).load(ordering: .acquiring) }

    private func address(of word: Int) -> UnsafeMutablePointer<UInt64> {
        mapping.assumingMemoryBound(to: UInt64.self) + word
    }
}

// MARK: Hints

extension LockPage {
    /// Whether a process compacts, so that the directory is about to change.
    var isCompacting: Bool {
        get { load(Word.isCompacting) != 0 }
        nonmutating set { write(newValue ? 1 : 0, at: Word.isCompacting) }
    }

    /// How processes wait for the lock.
    enum Waiters: UInt64 {
        case none
        /// One tries again and again.
        case spinning
        /// One has to be woken up.
        case asleep
    }

    /// How processes wait for the lock.
    ///
    /// A process that was killed leaves it set, and the first of several waiting processes clears it.
    var waiters: Waiters {
        get { Waiters(rawValue: load(Word.waiters)) ?? .asleep }
        nonmutating set { write(newValue.rawValue, at: Word.waiters) }
    }

    /// Sets ``waiters`` unless it says as much already.
    func announceWaiter(_ waiter: Waiters) {
        if waiters.rawValue < waiter.rawValue { waiters = waiter }
    }

    /// Sets ``waiters`` in a file whose page isn't mapped yet.
    static func announceWaiter(in file: Int32, calls: SystemCalls) {
        write(Waiters.spinning.rawValue, at: Word.waiters, to: file, calls: calls)
    }

    /// Counts calls of ``wakeUpWaiters()``.
    var releases: UInt64 { load(Word.releases) }

    /// Wakes up the processes that wait for the lock, after its release.
    func wakeUpWaiters() {
        write(releases &+ 1, at: Word.releases)
        default_wake_all(address(of: Word.releases))
    }

    /// A word in which a change of ``releases`` can be waited for while the page may already be unmapped.
    var releaseWord: ReleaseWord {
        ReleaseWord(
            address: UInt(bitPattern: address(of: Word.releases)),
            known: UInt32(truncatingIfNeeded: releases).littleEndian
        )
    }

    /// The count of releases, as it was.
    struct ReleaseWord {
        fileprivate let address: UInt
        fileprivate let known: UInt32

        /// Waits until the count changes, for at most a time in nanoseconds.
        func wait(atMost nanoseconds: UInt64) {
            guard let word = UnsafeRawPointer(bitPattern: address) else { return }
            default_wait_for_change(word, known, nanoseconds)
        }
    }

    private func write(_ value: UInt64, at word: Int) {
        Self.write(value, at: word, to: file, calls: calls)
    }

    /// Hints make others faster; without them everything is still right.
    private static func write(_ value: UInt64, at word: Int, to file: Int32, calls: SystemCalls) {
        do throws(JournalError) {
            try withUnsafeBytes(of: value.littleEndian) { bytes throws(JournalError) in
                try calls.write(bytes, to: file, at: UInt64(8 * word), path: "")
            }
        } catch {}
    }
}
