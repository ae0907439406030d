internal import Synchronization

// The `flock` on `lock`, which is kept from one write to the next while nobody else wants it.
extension Journal {
    /// So many exclusive accesses end by giving the lock back before it is kept: enough for whoever waits to wake up.
    static let accessesBeforeKeeping = 32

    /// How many times a thread lets others run before it stops waiting, or begins to do so asleep.
    private static let yieldLimit = 100

    /// Under `exclusive`: takes the lock, waiting for it.
    func takeFileLock() throws(JournalError) {
        if page.hasWaiters { yieldToWaiters() }
        let lock = state.pointee.suite.lock.raw
        if try !calls.tryLock(lock, path: file(SuiteDirectory.lockName)) { try waitForFileLock(lock) }
        writer.pointee.holdsFileLock = true
        if page.generation != writer.pointee.known?.generation { writer.pointee.consecutiveWrites = 0 }
    }

    /// A process that writes in a loop would have the lock again before a waiting one has even woken up, and each time
    /// pay for waking it.
    private func yieldToWaiters() {
        for _ in 0..<Self.yieldLimit where page.hasWaiters { Threads.yield() }
        // Whoever waited is gone, or sleeps so soundly that the kernel has to see to it.
        page.hasWaiters = false
    }

    /// Waits awake at first, since writes are short.
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

    /// Under `exclusive`: gives the lock back, if it is held.
    func releaseFileLock() {
        guard writer.pointee.holdsFileLock else { return }
        writer.pointee.holdsFileLock = false
        calls.unlock(state.pointee.suite.lock.raw)
    }

    /// At the end of exclusive access: whether the file lock stays with this process.
    ///
    /// It does after some accesses in a row, unless somebody waits for it or the keeper wants it given back; then it takes
    /// as many accesses again. Processes that take turns never get there, so that none of them waits for a kept lock.
    @inline(__always)
    func shouldKeepFileLock() -> Bool {
        if writer.pointee.consecutiveWrites < Self.accessesBeforeKeeping {
            writer.pointee.consecutiveWrites += 1
            return false
        }
        if writer.pointee.isLockWatched, !page.hasWaiters, !isFileLockReleaseDue.load(ordering: .relaxed) { return true }
        return decideOnFileLock()
    }

    private func decideOnFileLock() -> Bool {
        if !page.hasWaiters, !isFileLockReleaseDue.exchange(false, ordering: .relaxed), options.automaticMaintenance {
            if !writer.pointee.isLockWatched { writer.pointee.isLockWatched = LockReleaser.shared.watch(self) }
            if writer.pointee.isLockWatched { return true }
        }
        writer.pointee.consecutiveWrites = 0
        return false
    }

    /// Gives the lock back, on the keeper's thread, or sees to it that the thread which has exclusive access does.
    ///
    /// - Returns: Whether the lock was not held, so that there is nothing more to be seen to.
    func releaseKeptFileLock() -> Bool {
        guard exclusive.tryLock() else {
            isFileLockReleaseDue.store(true, ordering: .relaxed)
            return false
        }
        defer { exclusive.unlock() }
        isFileLockReleaseDue.store(false, ordering: .relaxed)
        guard writer.pointee.holdsFileLock else {
            writer.pointee.isLockWatched = false
            return true
        }
        releaseFileLock()
        writer.pointee.consecutiveWrites = 0
        return false
    }
}
