// The `flock` on `lock`, which is kept from one write to the next while no other process waits for it.
extension Journal {
    /// How many exclusive accesses release the lock before it is kept: enough for a waiting process to wake up.
    static let accessesBeforeKeeping = 32

    /// How many times a thread yields before it gives up or blocks.
    private static let yieldLimit = 200

    /// How many times a thread tries to get the lock before it signals the process that has it.
    ///
    /// Most writes of that process are over by then. Each hint is a write to the file `lock`, which the other process has to
    /// write to as well.
    private static let silentSpins = 100

    /// Nanoseconds for which a thread that has released the lock leaves it to those that sleep.
    private static let politeness: UInt64 = 200_000

    /// Under `exclusive`, which is released while it sleeps: takes the lock.
    ///
    /// - Parameter limit: Nanoseconds to wait at most; 0 to wait for nobody.
    /// - Throws: `busy` when another process has the lock all the time, or the system call that failed.
    func takeFileLock(waitingAtMost limit: UInt64) throws(JournalError) {
        if page.waiters != .none { yieldToWaiters() }
        if try !calls.tryLock(state.suite.lock.raw, path: lockPath) { try waitForFileLock(LockWait(atMost: limit)) }
        writer.holdsFileLock = true
        if page.generation != writer.published.generation { writer.consecutiveWrites = 0 }
    }

    /// Without this, a process that writes in a loop would take the lock again before a waiting process has woken up, and
    /// would pay for the wake-up each time.
    private func yieldToWaiters() {
        for _ in 0..<Self.yieldLimit where page.waiters != .none { Threads.yield() }
        if page.waiters == .asleep {
            let end = Clock.monotonic() + Self.politeness
            while page.waiters == .asleep, Clock.monotonic() < end { Threads.yield() }
        }
        // The waiting process is gone, or it looks again soon.
        page.waiters = .none
    }

    /// Spins at first, since writes are short.
    private func waitForFileLock(_ wait: LockWait) throws(JournalError) {
        var spins = 0
        var isReported = false
        while true {
            let isSpinning = spins < Self.yieldLimit
            // A release from here on ends the sleep below.
            let release = page.releaseWord
            if spins >= Self.silentSpins { page.announceWaiter(isSpinning ? .spinning : .asleep) }
            if try calls.tryLock(state.suite.lock.raw, path: lockPath) { break }
            // Asked first, so that a wait that ends here is reported too, however late this thread woke up.
            let pause = wait.pause
            if wait.isLong, !isReported {
                isReported = true
                note(.waiting(path: path, process: LockHolder.process(of: state.suite.lock.raw)))
            }
            guard let pause else {
                throw JournalError(.busy(process: LockHolder.process(of: state.suite.lock.raw)), path: path)
            }
            if isSpinning {
                Threads.yield()
                spins += 1
                continue
            }
            // Other threads of this process wait by themselves, each with a limit of its own.
            exclusive.unlock()
            deliverReports()
            release.wait(atMost: pause)
            exclusive.lock()
            // One of them may have kept the lock.
            if writer.holdsFileLock { break }
        }
        if page.waiters != .none { page.waiters = .none }
    }

    /// Under `exclusive`: releases the lock, if it is held.
    func releaseFileLock() {
        guard writer.holdsFileLock else { return }
        writer.holdsFileLock = false
        calls.unlock(state.suite.lock.raw)
        if page.waiters == .asleep { page.wakeUpWaiters() }
    }

    /// At the end of exclusive access: whether the file lock stays with this process.
    ///
    /// It does after a number of consecutive accesses, unless a process waits for it or the releaser has asked for it; then
    /// the count starts again. Processes that take turns never reach the number, so none of them waits for a kept lock.
    func shouldKeepFileLock() -> Bool {
        if writer.consecutiveWrites < Self.accessesBeforeKeeping {
            writer.consecutiveWrites += 1
            return false
        }
        if writer.isLockWatched, page.waiters == .none, !isFileLockReleaseDue.load(ordering: .relaxed) {
            return true
        }
        return decideOnFileLock()
    }

    private func decideOnFileLock() -> Bool {
        if page.waiters == .none, !isFileLockReleaseDue.exchange(false, ordering: .relaxed),
            options.automaticMaintenance,
            options.keepsFileLock
        {
            if !writer.isLockWatched { writer.isLockWatched = LockReleaser.shared.watch(self) }
            if writer.isLockWatched { return true }
        }
        writer.consecutiveWrites = 0
        return false
    }

    /// Releases the lock, on the releaser's thread, or asks the thread that has exclusive access to release it.
    ///
    /// - Returns: Whether the lock was not held, so that the journal needs no more watching.
    func releaseKeptFileLock() -> Bool {
        guard exclusive.tryLock() else {
            isFileLockReleaseDue.store(true, ordering: .relaxed)
            return false
        }
        defer { exclusive.unlock() }
        isFileLockReleaseDue.store(false, ordering: .relaxed)
        guard writer.holdsFileLock else {
            writer.isLockWatched = false
            return true
        }
        releaseFileLock()
        writer.consecutiveWrites = 0
        return false
    }
}
