// The storage engine: one suite of keys and values in a directory, shared by threads and processes.
//
// This page is the whole algorithm, in the order in which a writer meets its parts.
//
// FILES. A suite is a directory with one file, `journal`: a header with a random salt, and records one after another,
// each with one or more operations that happen together (`JournalHeader`, `Record`, `Operation`). The last operation on
// a key wins. Nothing beside the journal has to agree with it. Each process keeps the live entries in memory
// (`EntryTable`), and the position: the offset in the journal up to which the entries reflect it.
//
// LOCK. Writers exclude each other by an exclusive `flock` of the directory, and the threads of one process before that
// by a mutex. A process that still finds the lock taken after a moment, or held it for long the last time, queues in
// the turnstile. That is a second lock, of the open journal, and independent of `flock` (`Journal+Lock`). Readers take
// none of these locks.
//
// LOOK. The word at the position is 0 until a record begins there: records are aligned, none ends at the end of a page,
// and in a file's last page the bytes after the end of the file are 0. Every process maps the part of the file that its
// position is in (`MappedWindow`). So finding out that nothing was written since is one load, without a system call. If
// the word isn't 0, the records from the position on are read, as far as they are whole (`catchUp`). One that isn't
// whole is still being written, or was left by a writer that was killed. In both cases the writer's call hasn't
// returned.
//
// APPEND. Under the lock, after a look, a record is written at the position by one `pwrite`. That call is the commit:
// from then on every look sees the record, in all processes, and if the call fails, what it has written is cut off.
// What is not whole at the position, under the lock, was left by a writer that was killed, and is cut off as well. Then
// the writer changes its own entries.
//
// COMPACTION. The live entries of a journal that is mostly replaced values are written to another file, while writers
// go on. The new file is locked until it has replaced the journal. Its name is looked up once it is locked, since
// another process may have made it the journal between opening and locking it. It is synced, and what was written
// meanwhile is copied and synced in turn, until little is left; operations that a later one in the copied part replaces
// are left out. Then, under the lock, and only if the file that was read is still the journal, the rest is copied; a
// last record "moved" is appended to the old file, with the new file's salt, and the position in it that corresponds to
// the end of the old one (`Successor`); and the new file is renamed over the old one (`swapIn`). A process that finds
// "moved" at the end looks at the path (`follow`). A file there with that salt is complete up to that position, so
// nothing has to be read; any other one is read from its beginning. The file with that salt is read from its beginning
// too if the process has skipped damage in the old one: the compaction may have copied the record before it was
// damaged. A process that has skipped damage itself names no salt in "moved", so that all others read the new file, and
// none keeps entries that it lacks. If the old file is still at the path, the compaction wasn't completed, and the old
// file is appended to as if nothing had happened. Live bytes never move in place.
//
// SIZE. The bound is twice the live bytes and 512 KiB. If the background couldn't compact (its process ended, or
// another one has the new file's lock and is stopped), a writer whose write leaves more than eight times the bound does
// it under the lock. Except for a compaction or flush inside of exclusive access, no other call makes all writers wait
// for the disk.
//
// OTHER PROGRAMS may delete, swap, restore or overwrite a suite at any time (`Journal+Replacement`). So each process
// that uses one compares what it knows with what is at the path (the identities of directory and journal, the size, the
// header of the last record), once a second. A writer asks once a millisecond for the directory's times, which change
// with every name in it, and for the journal's size and the header of its last record. If these have changed, or can't
// show a change, it compares. A process that finds another file reads it. What was overwritten in place within the last
// second and isn't whole may still be growing: writers refuse to write, readers keep what they have. A page of the
// mapping that the file has lost reads as ones (`MappedWindowPool`), so that the next look compares immediately.
//
// RECOVERY. Reading a journal from its beginning is a pure function (`Replay`): it skips what is damaged, and
// recognizes a torn tail, which was never acknowledged. A process that holds the lock cuts the tail off. It goes on
// using a damaged file in which at least one record is valid, and appends after everything in it but a torn tail. Once
// the lock is released, it backs that file up and compacts it, from the entries in memory instead of the file. Until
// then, it asks under each lock whether the file ends at its position: a process that had read what is damaged may have
// cut off, as a torn tail, what this one takes for damage. A file without a valid record is copied and replaced at
// once. A process without the lock, or without the right to write, uses what is valid. The entries are read into a
// table of their own, which then takes the place of the old one.
//
// FLUSH. An append is in the system's memory, where it survives the process. A flush syncs the file, without any lock;
// those that wait at the same time share a sync, and what an earlier one is known to cover isn't synced again
// (`Flusher`). The header says whether the file's name is on the disk yet; until a sync of the directory has returned,
// every flush syncs the directory as well. A process also flushes what it has read from others, in case they were
// killed. The end of a program flushes too (`BackgroundWorker`).
//
// A compaction that lets writers go on makes no sync under the lock. So what it copies last isn't synced, and no flush
// may have promised any of that. A flush that has synced sets a flag in the header, and looks again: if it finds
// "moved", it waits for the lock, and if another file is there by then, it starts over. The compaction clears the flag
// before the look that decides how far it copies and syncs. If the flag is set after that sync, or after "moved" was
// appended (the lock is released then), it copies and syncs once more. That would never end while writers flush all the
// time. So the header says how far the compaction has copied. A flush of records before that offset needs no flag,
// since the new file is synced before it gets its name. One that is about to set the flag syncs the new file first, so
// that it returns no sooner than the compaction's own sync.
//
// Nothing has been promised in a new, empty journal, not even its name. The first flush syncs it, its name, and the
// names of the directories above it.
//
// After a sync that failed only another file can be trusted. The header says so to all processes, and the next flush
// writes its process's entries to another file.
//
// The model in Tests/Model has the rules of looks, appending, compaction and flushes, each with a run that fails
// without it.
//
// LOCKS of a process, in the order in which they are taken: `compaction` (one at a time), `exclusive` (one writing
// thread), the `flock`, `stateLock` (short: the position and the entries). A compaction also holds the `flock` of
// `journal.new`, which is taken while none of these but `compaction` is held. A thread that has `stateLock` only tries
// to take `exclusive`, and doesn't wait for it. In comments, "under the lock" means: with both `exclusive` and the
// `flock`. Debug builds assert what a function says about locks.
//
// FORK. A child would share its parent's open files, and with them the `flock`: that of a parent that is killed would
// last until the child ends. So they are closed in the child before anything else (`OwnedDescriptor`), and it must use
// nothing that its parent has opened: writing is an error. What the child opens itself has its own threads and locks
// (`PerProcess`). The layer above opens a suite again in each process.

/// An open suite.
package final class Journal: @unchecked Sendable {
    // Each mutable property says which lock guards it. The locks exclude overlapping accesses.
    // `@exclusivity(unchecked)`: 3,400 instead of 4,600 instructions for a `set` (callgrind).

    /// The entries; changed under `stateLock`, and while a thread has exclusive access only by that thread, unless
    /// another program writes to the journal.
    ///
    /// Use them between ``beginReading()`` and ``endReading(_:)``, between ``lockForReading()`` and
    /// ``unlockForReading()``, or with exclusive access.
    @exclusivity(unchecked) package internal(set) var entries: EntryTable
    /// Is notified of changes, if there is one.
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
    /// The suite's directory; changed under `exclusive` and `stateLock`, and read under one of them.
    @exclusivity(unchecked) var suite: SuiteDirectory
    /// Locked by `stateLock`; the thread that has the lock may read what only it changes then, such as the position,
    /// without `stateLock`.
    @exclusivity(unchecked) var state: JournalState
    /// Locked by `exclusive`.
    @exclusivity(unchecked) var writer: Writer
    /// The thread that has exclusive access, or 0.
    let owner = Atomic<UInt>(0)
    /// The offset at which this process is writing a record that it will apply to the entries itself, or the end of the
    /// journal that it is replacing; or 0.
    let appending = Atomic<UInt64>(0)
    let isFlushScheduled = Atomic<Bool>(false)
    /// How many flushes in the background have failed, one after another.
    let flushFailures = Atomic<Int>(0)
    let isCompactionScheduled = Atomic<Bool>(false)
    let reports = Locked<[JournalReport]>([])
    /// The repair that is due once no lock is held; ``hasReports`` is set with it.
    let repair = Locked<Repair?>(nil)
    /// The last repair that failed, which the next compaction tries again.
    let failedRepair = Locked<Repair?>(nil)
    let hasReports = Atomic<Bool>(false)
    /// Waits for other processes' writes while there are observers.
    let watch = Locked<JournalWatch?>(nil)
    /// Keeps observers that come and go from repeating the report.
    let isRefusedWatchReported = Atomic<Bool>(false)
    let isUnsyncedNameReported = Atomic<Bool>(false)
    /// Keeps writes that compact from repeating the report.
    let isCompactionByWriteReported = Atomic<Bool>(false)
    private let forkCount = ForkCount.current
    #if DEBUG
    /// Whether no other thread has this journal yet, so that its state needs no lock.
    var isOpening = true
    #endif

    var calls: SystemCalls { options.calls }
    var worker: BackgroundWorker { options.worker ?? .shared }

    /// The state that only a thread with `exclusive` uses.
    struct Writer: ~Copyable {
        /// How many calls of ``Journal/beginExclusiveAccess()`` are open.
        var depth = 0
        var buffer: Buffer
        /// The number of the last record written; see ``Record``.
        var number = UInt16.random(in: 0...UInt16.max)
        /// Whether the current exclusive access has written.
        var hasWritten = false
        /// Whether the background has too much to do to flush what was written.
        var hasToFlush = false
        var holdsFileLock = false
        /// When the lock was taken, by ``Clock/monotonic()``.
        var lockedAt: UInt64 = 0
        /// Whether the last turn was so long that others come first now.
        var hadLongTurn = false
        /// Whether a thread queues for it.
        var isQueued = false
        /// The size below which no compaction is tried after one has failed.
        var compactionRetrySize: UInt64 = 0
        /// When the next compaction is tried after another process was in the way of one, by ``Clock/monotonic()``.
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

    /// Makes the errors of a body errors of this suite: with paths, as they leave the engine.
    func withPathInErrors<Result: ~Copyable>(
        _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        do throws(JournalError) {
            return try body()
        } catch {
            throw error.withDirectory(path)
        }
    }
}

// For assertions: without cost in release builds, which don't know who has a lock and answer "yes".
extension Journal {
    /// Whether this thread may change the state and the entries.
    var hasStateLock: Bool {
        #if DEBUG
        if isOpening { return true }
        #endif
        return stateLock.isHeldByThisThread
    }

    /// Whether this thread has the lock: `exclusive` and the `flock`.
    var hasFileLock: Bool { exclusive.isHeldByThisThread && writer.holdsFileLock }
}
