// The `flock` on `lock`, which is kept from one write to the next while no other process waits for it.
extension Journal {
    /// How many exclusive accesses release the lock before it is kept: enough for a waiting process to wake up.
    static let accessesBeforeKeeping = 32

    /// How many times a thread yields before it gives up or blocks.
    private static let yieldLimit = 100

    /// Under `exclusive`: takes the lock, waiting for it.
    func takeFileLock() throws(JournalError) {
        if page.hasWaiters { yieldToWaiters() }
        let lock = state.suite.lock.raw
        if try !calls.tryLock(lock, path: file(SuiteDirectory.lockName)) { try waitForFileLock(lock) }
        writer.holdsFileLock = true
        if page.generation != writer.known?.generation { writer.consecutiveWrites = 0 }
    }

    /// Without this, a process that writes in a loop would take the lock again before a waiting process has woken up, and
    /// would pay for the wake-up each time.
    private func yieldToWaiters() {
        for _ in 0..<Self.yieldLimit where page.hasWaiters { Threads.yield() }
        // The waiting process is gone, or it is blocked in the kernel, which will wake it up.
        page.hasWaiters = false
    }

    /// Spins at first, since writes are short.
    private func waitForFileLock(_ lock: Int32) throws(JournalError) {
        for _ in 0..<Self.yieldLimit {
            page.hasWaiters = true
            if try calls.tryLock(lock, path: file(SuiteDirectory.lockName)) {
                page.hasWaiters = false
                return
            }
            Threads.yield()
        }
        try calls.lock(lock, path: file(SuiteDirectory.lockName))
        page.hasWaiters = false
    }

    /// Under `exclusive`: releases the lock, if it is held.
    func releaseFileLock() {
        guard writer.holdsFileLock else { return }
        writer.holdsFileLock = false
        calls.unlock(state.suite.lock.raw)
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
        if writer.isLockWatched, !page.hasWaiters, !isFileLockReleaseDue.load(ordering: .relaxed) {
            return true
        }
        return decideOnFileLock()
    }

    private func decideOnFileLock() -> Bool {
        if !page.hasWaiters, !isFileLockReleaseDue.exchange(false, ordering: .relaxed), options.automaticMaintenance,
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
