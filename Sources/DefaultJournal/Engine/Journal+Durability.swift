extension Journal {
    /// Flushes everything written so far to the disk: when it returns, the data survives a power loss.
    ///
    /// Neither readers nor writers wait for it. In a suite that can only be read there is nothing to flush.
    package func synchronize() throws(JournalError) {
        defer { deliverReports() }
        if isReadOnly { return }
        if isForked { throw JournalError(.forked, path: path) }
        try located { () throws(JournalError) in try flush() }
    }

    /// Flushes what this process knows to be written.
    ///
    /// - Parameter isPromise: Whether a caller relies on it, and not only the background.
    /// - Throws: The sync that failed.
    func flush(isPromise: Bool = true) throws(JournalError) {
        // What others have written by now is included.
        let (file, position, _) = current
        let flags = try file.flags(calls: calls)
        if flags.hasSyncFailed {
            // After a failed sync the system may mark pages clean that never reached the disk, and the next sync would
            // succeed without writing them. Only rewriting everything to another file is safe.
            return try rewriteAfterFailedSync(isPromise: isPromise)
        }
        do throws(JournalError) {
            try file.flusher.sync(file.raw, to: position, calls: calls)
        } catch {
            file.noteFailedSync(calls: calls)
            throw error
        }
        if flags.isRenameUnsynced { try syncRename(of: file) }
        guard isPromise else { return }
        // A compaction that is about to end has to see that this was promised, or else this has to see the compaction. One that
        // has taken the flag back since it was read above copies what was written by then before it syncs the new file.
        if !flags.isFlushed { try file.set(.isFlushed, to: true, calls: calls) }
        let now = current
        if now.isMoving, now.file === file { try withFilesLocked {} }
        if stateLock.withLock({ state.file !== file }) { try flush() }
    }

    func syncRename(of file: JournalFile) throws(JournalError) {
        guard let directory = file.directory else { return }
        if let refusal = try calls.syncNames(in: directory.raw), !isUnsyncedNameReported.exchange(true) {
            note(.nameNotSynced(refusal.located(in: path)))
        }
        file.noteSyncedRename(calls: calls)
    }

    private func rewriteAfterFailedSync(isPromise: Bool) throws(JournalError) {
        // The background must not create a suite again that was deleted.
        let file = try withFilesLocked(followsPath: isPromise) { () throws(JournalError) -> JournalFile? in
            // The entries are what was written; the file may have lost it.
            guard try state.file.flags(calls: calls).hasSyncFailed else { return nil }
            try replaceJournal(by: entries, isSame: true)
            return state.file
        }
        // A compaction has replaced the file meanwhile, without syncing what it had copied last.
        guard let file else { return try flush(isPromise: isPromise) }
        if try file.flags(calls: calls).isRenameUnsynced { try syncRename(of: file) }
    }

    /// Schedules a flush, unless there is one: writes reach the disk within about a second.
    ///
    /// - Returns: Whether the background does it; if not, the caller may.
    @discardableResult
    func scheduleFlush(after delay: UInt64 = 1_000_000_000) -> Bool {
        guard options.automaticMaintenance, !isFlushScheduled.load(), state.refusal == nil,
            !isFlushScheduled.exchange(true)
        else { return true }
        let isScheduled = worker.flush(self, after: delay)
        if !isScheduled { isFlushScheduled.store(false) }
        return isScheduled
    }

    func flushInBackground() {
        defer { deliverReports() }
        isFlushScheduled.store(false)
        do throws(JournalError) {
            try flush(isPromise: false)
            flushFailures.store(0)
        } catch {
            if error.kind == .replaced || error.kind == .forked { return }
            var delay = BackgroundWorker.retryInterval
            if !error.isBusy {
                flushFailures.wrappingAdd(1)
                let failures = flushFailures.load()
                if failures == 1 { note(.flushFailed(error.located(in: path))) }
                // A suite on a disk that is gone must not keep its journal and descriptors open forever.
                guard failures < 10 else { return }
                delay = 1_000_000_000 << UInt64(min(failures, 6))
            }
            scheduleFlush(after: delay)
        }
    }
}

/// Syncs an open journal file, with no other lock held; threads that wait at the same time share a sync.
///
/// It belongs to one opening of the file. A file that is restored or overwritten may have the same salt, or even be the
/// same one, but is opened again, and then nothing is known to be on the disk.
final class Flusher: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    private let lock = ThreadLock()
    private let finished = ThreadCondition()
    /// The end of what is known to be on the disk.
    private var synced: UInt64 = 0
    /// The end of what the threads that wait want to be on the disk.
    private var wanted: UInt64 = 0
    private var isSyncing = false
    /// How the last sync failed.
    private var failure: JournalError?

    /// Returns when the file is on the disk up to an offset.
    ///
    /// - Throws: The sync that failed, in each thread that waited for it.
    func sync(_ descriptor: Int32, to end: UInt64, calls: SystemCalls) throws(JournalError) {
        lock.lock()
        defer { lock.unlock() }
        wanted = max(wanted, end)
        while synced < end {
            if let failure { throw failure }
            if isSyncing {
                finished.wait(lock)
                continue
            }
            isSyncing = true
            // What is written by now is synced too.
            let covered = wanted
            lock.unlock()
            var result: JournalError?
            do throws(JournalError) { try calls.sync(descriptor, isDataOnly: true) } catch { result = error }
            lock.lock()
            isSyncing = false
            // After a failure the system may believe that there is nothing left to write, so no thread tries it again.
            if let result { failure = result } else { synced = max(synced, covered) }
            finished.broadcast()
        }
    }

    func noteSynced(to end: UInt64) {
        lock.lock()
        defer { lock.unlock() }
        synced = max(synced, end)
    }

    func isSynced(to end: UInt64) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return synced >= end
    }
}

/// Flushes and compacts the journals of the process in the background.
///
/// One thread keeps the time, and starts a thread for each piece of work that is due, so that a slow disk delays its own
/// suites only. It keeps a journal alive until its work is done, and sleeps on a condition variable while there is none.
///
/// When the program ends normally, all flushes are due. The end waits for them for a second at most, since a disk may hang.
final class BackgroundWorker: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    static let ofProcess = PerProcess { BackgroundWorker() }

    static var shared: BackgroundWorker { ofProcess.current }

    private struct Work {
        let journal: Journal
        let isFlush: Bool
        var due: UInt64
    }

    let lock = ThreadLock()
    private let changed = ThreadCondition()
    private var queue: [Work] = []
    private var flushing = 0
    /// Flushes in the queue that the end of the program waits for.
    private var lastFlushes = 0
    /// How many ends of the program have asked for the last flushes, and up to which of them these were begun.
    private var endsAsked = 0
    private var endsBegun = 0
    private var isRunning = false

    /// Journals that wait for their flush keep their descriptors open: without a limit, a program that opens, writes and drops
    /// many suites could run out of descriptors.
    private static let maximumQueueLength = 64

    /// Nanoseconds after which work is tried again for which a suite was busy.
    static let retryInterval: UInt64 = 200_000_000

    /// Schedules a flush of a journal, `delay` nanoseconds from now.
    ///
    /// - Returns: Whether it is scheduled; if not, no thread could be started, or the queue is full.
    func flush(_ journal: Journal, after delay: UInt64) -> Bool {
        ProgramEnvironment.callAtExit(with: Self.shared) { worker in
            Unmanaged<BackgroundWorker>.fromOpaque(worker).takeUnretainedValue().flushAtExit()
        }
        return add(Work(journal: journal, isFlush: true, due: Clock.monotonic() + delay))
    }

    /// Schedules a compaction of a journal as soon as possible; returns as ``flush(_:after:)``.
    func compact(_ journal: Journal) -> Bool { add(Work(journal: journal, isFlush: false, due: 0)) }

    private func add(_ work: Work) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if !isRunning {
            // The next write tries again.
            guard Threads.start({ [self] in while true { startNext() } }) == 0 else { return false }
            isRunning = true
        }
        if work.isFlush, queue.count >= Self.maximumQueueLength { return false }
        queue.append(work)
        changed.broadcast()
        return true
    }

    /// Waits for work that is due, and starts it; a function of its own, so that nothing keeps the journal alive afterwards.
    private func startNext() {
        let work = next()
        if Threads.start({ [self] in perform(work) }) != 0 { perform(work) }
    }

    private func next() -> Work {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if endsBegun < endsAsked { beginLastFlushes() }
            guard let first = queue.indices.min(by: { queue[$0].due < queue[$1].due }) else {
                changed.wait(lock)
                continue
            }
            if queue[first].due <= Clock.monotonic() {
                let work = queue.remove(at: first)
                if work.isFlush {
                    flushing += 1
                    if work.due == 0 { lastFlushes -= 1 }
                }
                return work
            }
            changed.wait(lock, until: queue[first].due)
        }
    }

    private func perform(_ work: Work) {
        let body = { @Sendable in
            if work.isFlush { work.journal.flushInBackground() } else { work.journal.compactInBackground() }
        }
        // The system isn't asked for time when the program ends.
        let isAtExit = work.isFlush && work.due == 0
        if isAtExit { body() }
        let wasAllowed = isAtExit || work.journal.options.backgroundActivity(body)
        lock.lock()
        defer { lock.unlock() }
        if work.isFlush { flushing -= 1 }
        if !wasAllowed {
            // There is room for it, or else for work that is newer.
            queue.append(Work(journal: work.journal, isFlush: work.isFlush, due: Clock.monotonic() + 1_000_000_000))
        }
        changed.broadcast()
    }

    /// Has everything flushed that has yet to be, and returns when that is done, or after so many nanoseconds.
    ///
    /// A signal's handler may call `exit`, on a thread that holds any lock: this one, one of a journal, that of the
    /// memory's allocation. So the lock is tried again until the deadline instead of waited for, and nothing here
    /// allocates, which the use of a collection may do: the thread that keeps the time does the rest.
    func flushAtExit(waitingAtMost limit: UInt64 = 1_000_000_000) {
        let deadline = Clock.monotonic() + limit
        var pause: UInt64 = 50_000
        var end = 0
        while true {
            if lock.tryLock() {
                if end == 0 {
                    endsAsked += 1
                    end = endsAsked
                    changed.broadcast()
                }
                let isDone = !isRunning || endsBegun >= end && lastFlushes == 0 && flushing == 0
                lock.unlock()
                if isDone { return }
            }
            if Clock.monotonic() >= deadline { return }
            Threads.sleep(nanoseconds: pause)
            pause = pause < 500_000 ? 2 * pause : 1_000_000
        }
    }

    /// Makes the flushes due that the end waits for; one that is tried again later isn't waited for.
    private func beginLastFlushes() {
        for index in queue.indices where queue[index].isFlush && queue[index].due != 0 {
            queue[index].due = 0
            lastFlushes += 1
        }
        endsBegun = endsAsked
    }
}
