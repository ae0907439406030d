/// The storage engine: one suite of keys and values in a directory, shared by threads and processes.
///
/// The engine owns files, locks, offsets and publication. The entries live in a ``JournalIndex`` of the layer above, which
/// the engine keeps current.
///
/// **Locks**, in the order in which they are taken: ``compaction`` (one compaction at a time), ``exclusive`` (recursive;
/// one writing thread of this process), the `flock` on `lock` (one writing process), ``stateLock`` (short: readers, and
/// the moment in which a write is applied). A compaction also holds the `flock` on `journal.new`, which is taken before
/// all of these and never while one of them is held.
///
/// **The kept file lock:** acquiring and releasing the `flock` takes half as long as writing a record. A process that
/// writes repeatedly, with no other process writing in between, therefore keeps the lock from one write to the next, for
/// about two milliseconds at a time; see `Journal+FileLock.swift`. A process that waits for the lock says so in the shared
/// page and gets the lock at the end of the next write; if there is no next write, the ``LockReleaser`` releases it. The
/// releaser is a thread that waits for nothing but time, so a kept lock can't be part of a deadlock. Each write still
/// verifies that the open files are the suite's, and catches up. The releaser holds a reference to the journal, so the
/// journal isn't closed while it keeps the lock. The system releases the lock of a killed process; a stopped process that
/// keeps the lock blocks the writers of other processes, as one that is stopped during a write does.
///
/// **fork:** a child that goes on without `exec` shares the parent's locks, so that they do not exclude one another, and
/// has no background threads. It must not use journals which the parent opened.
package final class Journal: @unchecked Sendable {
    // Mutable state is in `state` and `writer`; each says which lock guards it. The locks exclude overlapping accesses;
    // leaving the dynamic checks for those out takes 3,400 instead of 4,600 instructions for a `set` (callgrind), 400 of
    // them for `state`.

    /// The entries.
    ///
    /// To be used between ``lockForReading()`` and ``unlockForReading()`` only.
    package let index: any JournalIndex
    /// The suite's directory, as an absolute path.
    package let path: String

    let options: JournalOptions
    let exclusive = ThreadLock(isRecursive: true)
    let stateLock = SharedLock()
    let compaction = ThreadLock()
    /// Guarded by `stateLock`; `suite` and `journal` are changed under `exclusive` as well.
    @exclusivity(unchecked) var state: State
    /// Guarded by `exclusive`.
    @exclusivity(unchecked) var writer = Writer()
    /// The thread that has exclusive access, or 0.
    let owner = Atomic<UInt>(0)
    let isCompactionScheduled = Atomic<Bool>(false)
    let reports = Guarded<[JournalReport]>([])
    let hasReports = Atomic<Bool>(false)
    /// Waits for other processes' writes while there are observers.
    let watch = Guarded<JournalWatch?>(nil)
    /// So that observers that come and go don't repeat the report.
    let isRefusedWatchReported = Atomic<Bool>(false)
    /// The generation that this engine is about to publish, with records that it will apply to the index itself.
    let announced = Atomic<UInt64>(0)
    /// Whether a kept file lock is to be released at the end of the current exclusive access.
    let isFileLockReleaseDue = Atomic<Bool>(false)

    var calls: SystemCalls { options.calls }

    /// The open files of the suite, and how much of the journal is applied to the index.
    struct State: ~Copyable {
        var suite: SuiteDirectory
        var journal = OwnedDescriptor.none
        var journalInode: UInt64 = 0
        /// The beginning of the open journal, in which another program that overwrites it shows.
        var header: HeaderWatch?
        /// Salt of the journal, 0 while none is loaded.
        var journalID: UInt64 = 0
        /// End of the records that the index reflects.
        var applied: UInt64 = 0
        /// The page's generation that the index reflects.
        var generation: UInt64 = 0
        /// Bytes that a journal with only the live entries would have.
        var liveBytes = UInt64(JournalHeader.size)
        /// While the journal is being reloaded, readers use what the index holds.
        var isLoading = false
        /// Not nil while the suite can only be read; changed under `exclusive` as well.
        var readOnly: ReadOnlyView?
    }

    /// What only the thread with exclusive access needs.
    struct Writer: ~Copyable {
        /// How many calls of ``Journal/beginExclusiveAccess()`` are open.
        var depth = 0
        var buffer = EncodeBuffer()
        /// Whether a flush is scheduled.
        var isDirty = false
        /// Whether the current exclusive access has written.
        var hasWritten = false
        /// Whether the file lock is held: during exclusive access, and in between while it is kept.
        var holdsFileLock = false
        /// Whether the ``LockReleaser`` knows that the file lock may be kept.
        var isLockWatched = false
        /// Consecutive exclusive accesses since the file lock was last kept or another engine wrote.
        var consecutiveWrites = 0
        /// What the page said when this engine last wrote or caught up: while it is unchanged, the index is current.
        ///
        /// The generation alone isn't enough: a page restored from a backup can reach the same one with other writes.
        var published = LockPage.Publication()
        /// The end of the journal to which a failed write could not be removed.
        var unremoved: (journalID: UInt64, end: UInt64)?
        /// Whether a sync failed, which the page may not say if that could not be written either.
        var syncFailed = false
        /// After a failed compaction: the size below which none is tried.
        var compactionRetrySize: UInt64 = 0
        /// The journal whose damage was reported and could not be repaired.
        var damagedID: UInt64 = 0
        var flushFailures = 0
        /// Whether to move to the suite that is at the path now when the open one was deleted or replaced.
        var followsPath = true
    }

    init(suite: consuming SuiteDirectory, path: String, options: JournalOptions, index: any JournalIndex) {
        self.index = index
        self.path = path
        self.options = options
        state = State(suite: suite)
    }

    deinit {
        stopWatching()
        JournalRegistry.shared.forget(state.suite.id)
    }
}

extension Journal {
    /// The page shared with the other processes; for the holder of `stateLock` or of exclusive access.
    var page: LockPage { state.suite.page }

    var lockPath: String { file(SuiteDirectory.lockName) }

    var journalPath: String { file(SuiteDirectory.journalName) }

    func file(_ name: String) -> String { path + "/" + name }

    /// Stores a report until no lock is held.
    func note(_ report: JournalReport) {
        reports.withLock { $0.append(report) }
        hasReports.store(true, ordering: .releasing)
    }

    /// Delivers the stored reports, unless the calling thread has exclusive access, whose end delivers them.
    package func deliverReports() {
        guard hasReports.load(ordering: .acquiring), owner.load(ordering: .relaxed) != Threads.current else { return }
        let noted = reports.withLock { reports in
            hasReports.store(false, ordering: .releasing)
            defer { reports = [] }
            return reports
        }
        for report in noted { options.report(report) }
    }
}

/// Applies replayed operations to an index and counts the live bytes.
struct IndexVisitor: ReplayVisitor {
    let index: any JournalIndex
    var liveBytes: UInt64

    /// Bytes that a live entry takes beside its key and value.
    static let entryOverhead = Record.headerSize + Operation.setOverhead

    mutating func visit(_ operation: Operation) {
        switch operation {
        case .set(let key, let value):
            countSet(size: key.count + value.count, replaced: index.set(key: key, value: value))
        case .remove(let key):
            guard let replaced = index.remove(key: key) else { return }
            liveBytes = liveBytes &- UInt64(replaced + Self.entryOverhead)
        case .removeAll:
            index.removeAll()
            liveBytes = UInt64(JournalHeader.size)
        }
    }

    /// Counts an entry whose key and value have `size` bytes, in place of one whose had `replaced`.
    mutating func countSet(size: Int, replaced: Int?) {
        let change = replaced.map { size - $0 } ?? (size + Self.entryOverhead)
        liveBytes = liveBytes &+ UInt64(bitPattern: Int64(change))
    }
}

/// Does what an ``IndexVisitor`` does, and finds the keys that damage may have cost a newer value.
struct LoadVisitor: ReplayVisitor {
    var entries: IndexVisitor
    var damagedKeys = DamagedKeys()

    init(_ index: any JournalIndex) {
        entries = IndexVisitor(index: index, liveBytes: UInt64(JournalHeader.size))
    }

    mutating func visit(_ operation: Operation) {
        entries.visit(operation)
        damagedKeys.visit(operation)
    }

    mutating func visitDamaged(_ payload: UnsafeRawBufferPointer) { damagedKeys.add(payload) }

    /// Ends a comparison of the index, which was begun before the replay.
    func keys(ifDamaged isDamaged: Bool) -> JournalReport.DamagedKeys {
        let limit = isDamaged ? JournalReport.DamagedKeys.limit : 0
        return JournalReport.DamagedKeys(
            changed: entries.index.endComparison(limit: limit),
            possible: damagedKeys.names(limit: limit)
        )
    }
}
