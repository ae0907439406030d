internal import Synchronization

// The `flock` on `lock`, which is kept from one write to the next while nobody else wants it.
extension Journal {
    /// So many exclusive accesses end by giving the lock back before it is kept: enough for whoever waits to wake up.
    static let accessesBeforeKeeping = 32

    /// How many times a thread lets others run before it stops waiting, or begins to do so asleep.
    private static let patience = 100

    /// Under `exclusive`: takes the lock, waiting for it.
    func takeFileLock() throws(JournalError) {
        if page.isAwaited { letOthersGoFirst() }
        let lock = state.pointee.place.lock.raw
        if try !calls.tryLock(lock, path: file(Place.lockName)) { try waitForFileLock(lock) }
        writer.pointee.holdsFileLock = true
        if page.generation != writer.pointee.known?.generation { writer.pointee.streak = 0 }
    }

    /// A process that writes in a loop would have the lock again before a waiting one has even woken up, and each time
    /// pay for waking it.
    private func letOthersGoFirst() {
        for _ in 0..<Self.patience where page.isAwaited { Threads.yield() }
        // Whoever waited is gone, or sleeps so soundly that the kernel has to see to it.
        page.isAwaited = false
    }

    /// Waits awake at first, since writes are short.
    private func waitForFileLock(_ lock: Int32) throws(JournalError) {
        for _ in 0..<Self.patience {
            page.isAwaited = true
            if try calls.tryLock(lock, path: file(Place.lockName)) {
                page.isAwaited = false
                return
            }
            Threads.yield()
        }
        try calls.lock(lock, path: file(Place.lockName))
        page.isAwaited = false
    }

    /// Under `exclusive`: gives the lock back, if it is held.
    func giveFileLockBack() {
        guard writer.pointee.holdsFileLock else { return }
        writer.pointee.holdsFileLock = false
        calls.unlock(state.pointee.place.lock.raw)
    }

    /// At the end of exclusive access: whether the file lock stays with this process.
    ///
    /// It does after some accesses in a row, unless somebody waits for it or the keeper wants it given back; then it takes
    /// as many accesses again. Processes that take turns never get there, so that none of them waits for a kept lock.
    @inline(__always)
    func mayKeepFileLock() -> Bool {
        if writer.pointee.streak < Self.accessesBeforeKeeping {
            writer.pointee.streak += 1
            return false
        }
        if writer.pointee.isWatched, !page.isAwaited, !isFileLockDue.load(ordering: .relaxed) { return true }
        return decideOnFileLock()
    }

    private func decideOnFileLock() -> Bool {
        if !page.isAwaited, !isFileLockDue.exchange(false, ordering: .relaxed), options.maintainsItself {
            if !writer.pointee.isWatched { writer.pointee.isWatched = LockKeeper.shared.watch(self) }
            if writer.pointee.isWatched { return true }
        }
        writer.pointee.streak = 0
        return false
    }

    /// Gives the lock back, on the keeper's thread, or sees to it that the thread which has exclusive access does.
    ///
    /// - Returns: Whether the lock was not held, so that there is nothing more to be seen to.
    func giveFileLockBackInTime() -> Bool {
        guard exclusive.tryLock() else {
            isFileLockDue.store(true, ordering: .relaxed)
            return false
        }
        defer { exclusive.unlock() }
        isFileLockDue.store(false, ordering: .relaxed)
        guard writer.pointee.holdsFileLock else {
            writer.pointee.isWatched = false
            return true
        }
        giveFileLockBack()
        writer.pointee.streak = 0
        return false
    }
}
