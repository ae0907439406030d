// The storage engine: one suite of keys and values in a directory, shared by threads and processes.
//
// This page is the whole algorithm, in the order in which a writer meets its parts.
//
// FILES. A suite is a directory with one file, `journal`: a header with a random salt, and records one after another,
// each with one or more operations that happen together (`JournalHeader`, `Record`, `Operation`). The last operation on
// a key wins. Nothing beside the journal has to agree with it. Each process keeps the live entries in memory
// (`EntryTable`), with the offset up to which they are those of the journal: the position.
//
// LOCK. Writers exclude each other by an exclusive `flock` of the directory, and the threads of one process before that
// by a mutex. Who has to wait for it, or had it for long the last time, queues in the turnstile, a lock of the open
// journal that `flock` and compactions don't know (`Journal+Lock`). Readers take none of them.
//
// LOOK. The word at the position is 0 until a record begins there: records are aligned, no record ends at a page's end,
// and bytes behind the end of a file are 0 in its last page. Every process maps the part of the file that its position
// is in. So finding out that nothing was written since is one load, without a system call. If the word isn't 0, the
// records from the position on are read, as far as they are whole; one that isn't whole is in flight, or was left by a
// writer that was killed, and its call has not returned.
//
// APPEND. Under the lock, after a look, a record is written at the position by one `pwrite`. That call is the commit:
// from then on every look sees the record, in all processes, and if the call fails, what it has written is cut off.
// What is not whole at the position, under the lock, was left by a writer that was killed, and is cut off as well. Then
// the writer changes its own entries.
//
// COMPACTION. A journal that is mostly replaced values is written to another file, beside the writers. That file is
// locked until it has replaced the journal, and its name is looked up once it is locked, since it may have become the
// journal in between. It is synced, and what was written meanwhile is copied and synced in turn, until little is left;
// of what is copied, operations that a later one replaces are left out. Then, under the lock, and only if the file that
// was read is still the journal, the rest is copied; a last record "moved" is appended to the old file, with the new
// one's salt and the position in it that corresponds to the end; and the new file is renamed over the old one. A
// process that finds "moved" at the end looks at the path. A file there with that salt is complete up to that position,
// so nothing has to be read; any other one is read from its beginning. The same file means that the compaction didn't
// end, and is appended to as if nothing had happened. Live bytes never move in place.
//
// SIZE. The bound is twice the live bytes and 512 KiB. What the background could not compact (its process ends; another
// process has the new file's lock and is stopped) the writer does that leaves more than eight times the bound, under
// the lock: the one case in which all writers wait for the disk.
//
// OTHER PROGRAMS may delete, swap, restore or overwrite a suite at any time. So each process that uses one compares
// what it knows with what is at the path (the identities of directory and journal, the size, the header of the last
// record), when the last comparison is a second old. A writer asks once a millisecond for the directory's times, which
// change with every name in it, and for the journal's size and the header of its last record; if these aren't what
// they were, or can't tell, it compares. A process that finds another file reads it. What was overwritten in place
// within the last second and isn't whole may still be growing: writers refuse to write, readers keep what they have. A
// page of the mapping that the file has lost reads as ones (`GuardedPages`), so that the next look compares at once.
//
// RECOVERY. Reading a journal from its beginning is a pure function (`Replay`): it skips what is damaged, and knows a
// torn tail, which was never acknowledged. A process that holds the lock cuts the tail off. A damaged file it goes on
// using, behind all that is there; once the lock is released, it backs it up and compacts it, from its entries instead
// of the file. A process without the lock, or without the right to write, uses what is valid. The entries are read into
// a table of their own, which then takes the place of the old one.
//
// FLUSH. An append is in the system's memory, where it survives the process. A flush syncs the file, without any lock;
// those that wait at the same time share a sync, and what an earlier one covers for certain isn't synced again
// (`Flusher`). The header says whether the file's name is on the disk yet; until a sync of the directory has returned,
// every flush makes one. What a process has read from others it flushes too, in case they were killed. The end of a
// program flushes as well (`BackgroundWorker`).
//
// No sync is made under the lock. So what a compaction copies last isn't synced, and a flush must not have promised any
// of that. A flush that has synced sets a flag in the header, and looks again: if it finds "moved", it waits for the
// lock, and if another file is there by then, it starts over. A compaction takes the flag back before the look whose
// result it copies and syncs. If it finds the flag after that, or after "moved", it releases the lock and does so once
// more. That would have no end beside writers that flush all the time. So the compaction says in the header up to where
// it has copied; a flush of what is before that needs no flag, since the new file is synced before it gets its name;
// any other flush syncs the new file as well, and so returns after that round.
//
// A new journal is empty, and its name nobody's promise: it is synced by the first flush, with the names of the
// directories above it.
//
// After a sync that failed only another file can be trusted. The header says so to all processes, and the next flush
// compacts, from its entries instead of the file.
//
// The model in Tests/Model has these rules, each with a run that fails without it.
//
// LOCKS of a process, in the order in which they are taken: `compaction` (one at a time), `exclusive` (one writing
// thread), the `flock`, `stateLock` (short: the position and the entries). A compaction also holds the `flock` of
// `journal.new`, which is taken while none of these but `compaction` is held. "Under the lock" means below: with
// `exclusive` and the `flock`.
//
// FORK. A child shares its parent's descriptors, and with them the `flock`: what the parent has opened it must
// neither write nor unlock. Writing is an error; what the child opens itself has threads and locks of its own
// (`PerProcess`). The layer above opens a suite again in each process.

/// An open suite.
package final class Journal: @unchecked Sendable {
    // Mutable state is in `state` and `writer`; each says which lock guards it. The locks exclude overlapping accesses;
    // leaving the dynamic checks for those out takes 3,400 instead of 4,600 instructions for a `set` (callgrind), 400
    // of them for `state`.

    /// The entries; changed under `exclusive` and `stateLock`.
    ///
    /// To be used while reading only: see ``beginReading()`` and ``lockForReading()``.
    @exclusivity(unchecked) package internal(set) var entries: EntryTable
    /// Learns of changes; nil if nobody wants to.
    package let observer: (any JournalObserver)?
    /// The suite's directory, as an absolute path.
    package let path: String
    let journalPath: String

    /// The number of the file system on which it was opened.
    let device: UInt64
    let options: JournalOptions
    let exclusive = ThreadLock(isRecursive: true)
    let stateLock = SharedLock()
    let compaction = ThreadLock()
    /// Changed under `exclusive` and `stateLock`, and read under one of them.
    @exclusivity(unchecked) var suite: SuiteDirectory
    /// Guarded by `stateLock`; the thread that has `exclusive` and the `flock` may read all but `comparedAt` without
    /// it.
    @exclusivity(unchecked) var state: JournalState
    /// Guarded by `exclusive`.
    @exclusivity(unchecked) var writer: Writer
    /// The thread that has exclusive access, or 0.
    let owner = Atomic<UInt>(0)
    /// Where this process is writing a record that it will apply to the entries itself, or 0.
    let appending = Atomic<UInt64>(0)
    let isFlushScheduled = Atomic<Bool>(false)
    /// How many flushes in the background have failed, one after another.
    let flushFailures = Atomic<Int>(0)
    let isCompactionScheduled = Atomic<Bool>(false)
    let reports = Guarded<[JournalReport]>([])
    /// What has to be repaired once no lock is held; ``hasReports`` says so, too.
    let repair = Guarded<Repair?>(nil)
    let hasReports = Atomic<Bool>(false)
    /// Waits for other processes' writes while there are observers.
    let watch = Guarded<JournalWatch?>(nil)
    /// So that observers that come and go don't repeat the report.
    let isRefusedWatchReported = Atomic<Bool>(false)
    let isUnsyncedNameReported = Atomic<Bool>(false)
    /// So that writes that compact don't repeat it.
    let isCompactionByWriteReported = Atomic<Bool>(false)
    private let forkCount = ForkCount.current

    var calls: SystemCalls { options.calls }
    var worker: BackgroundWorker { options.worker ?? .shared }

    /// What only the thread with exclusive access needs.
    struct Writer: ~Copyable {
        /// How many calls of ``Journal/beginExclusiveAccess()`` are open.
        var depth = 0
        var buffer: Buffer
        /// That of the last record written; see ``Record``.
        var number = UInt16.random(in: 0...UInt16.max)
        /// Whether the current exclusive access has written.
        var hasWritten = false
        /// Whether the background has too much to do to flush what was written.
        var hasToFlush = false
        var holdsFileLock = false
        /// When the lock was taken, by ``Clock/monotonic()``.
        var lockedAt: UInt64 = 0
        /// Whether it was held for so long the last time that others are to come first.
        var hadLongTurn = false
        /// Whether a thread queues for it.
        var isQueued = false
        /// After a failed compaction: the size below which none is tried.
        var compactionRetrySize: UInt64 = 0
        /// After one that another process was in the way of: when the next is tried, by ``Clock/monotonic()``.
        var compactionRetryTime: UInt64 = 0
        /// That process, where the system names it.
        var compactingProcess: Int32?
        /// The buffer's size before and after an unusually long record.
        static let bufferSize = 4_096
    }

    init(
        suite: SuiteDirectory,
        path: String,
        options: JournalOptions,
        observer: (any JournalObserver)?,
        state: consuming JournalState,
        buffer: consuming Buffer
    ) {
        self.observer = observer
        let owner = observer.map { type(of: $0) }
        entries = EntryTable(freeForm: { owner?.free($0) })
        self.path = path
        journalPath = path + "/" + SuiteDirectory.journalName
        device = suite.id.device
        self.options = options
        self.suite = suite
        self.state = state
        writer = Writer(buffer: buffer)
    }

    deinit {
        stopWatching()
        JournalRegistry.shared.forget(suite.id)
    }

    /// Whether the suite was opened by a process that this one was forked from.
    var isForked: Bool { forkCount != ForkCount.current }
}

/// The open files of a suite, and how much of the journal the entries reflect; guarded by ``Journal/stateLock``.
struct JournalState: ~Copyable {
    private(set) var file = JournalFile.none
    /// The end of the records that the entries reflect.
    private(set) var position: UInt64 = 0
    /// The size that the file has at least.
    private(set) var minimumSize: UInt64 = 0
    /// The word at the position; nil if it can't be mapped, so that each look asks for the file's size.
    private var word: AtomicWord?
    /// What the file has before the position.
    private(set) var mark: JournalMark?
    /// What the file has in its header.
    private(set) var headerMark: JournalMark?
    /// What the file had before the position when it was last compared.
    ///
    /// A file that another program emptied right before a record was written to it has that record, and is as long as
    /// it was. It doesn't have this.
    var comparedMark: JournalMark?
    /// What the record before the position says about another journal.
    private(set) var move: (salt: UInt64, end: UInt64)?
    private var window: LookWindow
    private let calls: SystemCalls

    /// When the files were last compared with those at the path, by ``Clock/monotonic()``.
    var comparedAt: UInt64 = 0 {
        didSet {
            checkedAt = comparedAt
            directory = nil
        }
    }
    /// When a writer last compared them, or found that directory and journal are as they were then.
    var checkedAt: UInt64 = 0
    /// What the directory was like when they were last compared; nil if that can't tell.
    var directory: DirectoryMark?
    var changeCount: UInt64 = 0
    /// What has to be repaired under the lock, or read again.
    var isDamaged = false
    /// Whether it was overwritten by another program that may not have ended: no process writes before the file has
    /// stood still.
    var isUnsettled = false
    /// When a reader last found that it isn't whole yet.
    var unsettledAt: UInt64 = 0
    /// The damage of a journal that was overwritten, and since when it has been the same.
    var overwrittenDamage: (ranges: [Range<UInt64>], since: UInt64) = ([], 0)
    /// When a reader last asked for the lock because of damage.
    var repairTriedAt: UInt64 = 0
    /// Why the suite can only be read, if that is so.
    var refusal: JournalError?
    /// The last failure to read, which is reported once.
    var failure: JournalError?
    /// The salt of the journal whose damage was reported and could not be repaired.
    var reportedDamage: UInt64?

    init(calls: SystemCalls) throws(JournalError) {
        window = try LookWindow(calls: calls)
        self.calls = calls
    }

    /// What is at the position; 0 if nothing was written there.
    var look: UInt64 { word?.load() ?? lookBySize }

    /// Whether a look finds nothing new.
    var seesNothingNew: Bool { look == 0 && move == nil }

    /// Notes that the entries reflect the open file up to another position.
    mutating func advance(to position: UInt64, mark: JournalMark, move: (salt: UInt64, end: UInt64)? = nil) {
        self.position = position
        minimumSize = position
        self.mark = mark
        self.move = move
        changeCount &+= 1
        lookAtPosition()
    }

    /// Notes that the entries reflect another file up to a position.
    mutating func use(
        _ file: JournalFile,
        position: UInt64,
        mark: JournalMark,
        headerMark: JournalMark,
        size: UInt64 = .max,
        move: (salt: UInt64, end: UInt64)? = nil
    ) {
        self.file = file
        self.headerMark = headerMark
        comparedMark = mark
        isDamaged = false
        isUnsettled = false
        window.renew()
        advance(to: position, mark: mark, move: move)
        // A damaged file may end before the place for the next record, or be cut there by the process that has the
        // lock.
        minimumSize = min(position, size)
    }

    /// Notes that the next record follows what can't be used.
    mutating func skip(to position: UInt64) {
        self.position = position
        minimumSize = position
        window.renew()
        lookAtPosition()
    }

    /// Notes that no other file has replaced the open one, nor is about to.
    mutating func forgetMove() { move = nil }

    /// Maps the file again, which may have lost and regained pages.
    mutating func renewLook() {
        window.renew()
        lookAtPosition()
    }

    /// The header of the record before the position, as it is in the file now; nil if it isn't mapped.
    var mappedMark: JournalMark? {
        guard let mark, let bytes = window.address(of: mark.offset, count: JournalMark.size) else { return nil }
        return JournalMark(bytes, at: mark.offset)
    }

    private mutating func lookAtPosition() { word = window.word(at: position, of: file.raw, calls: calls) }

    /// The same by the file's size, for which network file systems and FUSE ask their server.
    ///
    /// It is another one while a tail is in flight, too, and behind one that was cut short: then the file is read.
    private var lookBySize: UInt64 {
        do throws(JournalError) {
            return try calls.size(of: file.raw) == position ? 0 : .max
        } catch {
            return .max
        }
    }
}

extension Journal {
    /// Stores a report until no lock is held.
    func note(_ report: JournalReport) {
        reports.withLock { $0.append(report) }
        hasReports.store(true)
    }

    /// Delivers the stored reports, unless the calling thread has exclusive access, whose end delivers them.
    package func deliverReports() {
        guard hasReports.load(), owner.load() != Threads.current else { return }
        // First: a report that comes after the exchange sets it again.
        hasReports.store(false)
        if let found = repair.exchange(nil) { perform(found) }
        deliverWithoutRepair()
    }

    /// Delivers the stored reports, while the engine is at work with no lock but ``compaction``.
    func deliverWithoutRepair() {
        for report in reports.exchange([]) { options.report(report) }
    }

    /// Makes the errors of a body errors of this suite: with paths, as they leave the engine.
    func located<Result: ~Copyable>(_ body: () throws(JournalError) -> Result) throws(JournalError) -> Result {
        do throws(JournalError) {
            return try body()
        } catch {
            throw error.located(in: path)
        }
    }
}
