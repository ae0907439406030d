// The order in which locks are taken is at the top of Journal.swift.

extension Journal {
    /// Takes the `flock`, or throws `busy` after so many nanoseconds; under `exclusive`.
    ///
    /// While the thread sleeps, `exclusive` is released.
    @inline(__always)  // See Journal.acquire.
    func takeFileLock(waitingAtMost limit: UInt64) throws(JournalError) {
        assert(exclusive.isHeldByThisThread)
        var queues = writer.hadLongTurn
        if !queues { queues = try !suite.tryLock() }
        if queues { try waitForFileLock(atMost: limit) }
        writer.holdsFileLock = true
        writer.lockedAt = Clock.monotonic()
    }

    /// Releases the lock, if it is held; under `exclusive`.
    @inline(__always)  // See Journal.acquire.
    func releaseFileLock() {
        assert(exclusive.isHeldByThisThread)
        guard writer.holdsFileLock else { return }
        writer.holdsFileLock = false
        writer.hadLongTurn = Clock.monotonic() &- writer.lockedAt > Self.longTurn
        suite.unlock()
    }

    /// Nanoseconds that a turn may take without making the next one queue.
    private static let longTurn: UInt64 = 200_000
    /// Nanoseconds for which a thread tries without a pause before it queues: most turns of others are over by then.
    ///
    /// It doesn't yield, which would give its processor away for milliseconds where more threads want to run.
    private static let spinTime: UInt64 = 100_000
    /// Nanoseconds between two attempts after that.
    ///
    /// With a tenth of it, eight processes that write without a pause wake up so often that 2 in 100 writes wait for
    /// milliseconds; with this, fewer than 1 in 100 wait for more than 0.1 ms (`Benchmarks/waits locks`).
    private static let pause: UInt64 = 1_000_000
    /// Nanoseconds after which a thread stops waiting for its turn: the process in the turnstile may be stopped.
    private static let turnstileLimit: UInt64 = 100_000_000

    /// Polls for the lock, in a queue.
    ///
    /// Polling alone isn't fair: a process that unlocks and immediately locks again comes before those that sleep. A
    /// second lock, the turnstile, makes it fair. A process that still finds the lock taken after `spinTime`, or had it
    /// for long the last time, polls for the turnstile first. It polls for the lock once it has the turnstile, or when
    /// `turnstileLimit` is over. Others may still take short turns in between. The turnstile only decides which process
    /// comes first, and protects nothing. It is a lock of the open journal: while the journal is replaced, two
    /// processes may each have one. Where the system has no such lock, everyone polls for the `flock` only.
    private func waitForFileLock(atMost limit: UInt64) throws(JournalError) {
        assert(exclusive.isHeldByThisThread)
        // Only one thread of a process queues: the turnstile is a lock of the open file, which all threads share.
        let turnstile = writer.isQueued ? nil : stateLock.withLock { state.file }
        if turnstile != nil { writer.isQueued = true }
        // Nil where the system has no such lock.
        var hasTurn: Bool? = false
        defer {
            if let turnstile {
                writer.isQueued = false
                if hasTurn == true { calls.leaveTurnstile(turnstile.raw) }
            }
        }
        let spinTime = writer.hadLongTurn ? 0 : Self.spinTime
        var wait = LockWait(limit: limit)
        var isReported = false
        while true {
            let time = wait.time()
            let spins = time < spinTime
            if !spins, hasTurn == false, let turnstile { hasTurn = calls.tryEnterTurnstile(turnstile.raw) }
            let isOver = time >= limit
            let waitsForTurn = !spins && hasTurn == false && turnstile != nil && time < Self.turnstileLimit && !isOver
            if !waitsForTurn, try suite.tryLock() { return }
            // Before the limit is checked, so that a wait that ends here is reported too, however late this thread woke
            // up.
            if !isReported, time >= 1_000_000_000 {
                isReported = true
                note(.waiting(path: path, process: LockHolder.process(of: suite.lockedDescriptor)))
            }
            if isOver { throw JournalError(.busy(process: LockHolder.process(of: suite.lockedDescriptor)), path: path) }
            if spins { continue }
            // Meanwhile other threads of this process may try, each with its own limit.
            exclusive.unlock()
            deliverWithoutRepair()
            Threads.sleep(nanoseconds: min(limit - time, Self.pause))
            exclusive.lock()
        }
    }
}
