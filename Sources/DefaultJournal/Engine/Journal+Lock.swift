// The order in which locks are taken is at the top of Journal.swift.

extension Journal {
    /// Takes the lock, or throws `busy` after so many nanoseconds; under `exclusive`, which is released while it
    /// sleeps.
    func takeFileLock(waitingAtMost limit: UInt64) throws(JournalError) {
        assert(exclusive.isHeldByThisThread)
        var queues = writer.hadLongTurn
        if !queues { queues = try !suite.tryLock() }
        if queues { try waitForFileLock(LockWait(limit: limit)) }
        writer.holdsFileLock = true
        writer.lockedAt = Clock.monotonic()
    }

    /// Releases the lock, if it is held; under `exclusive`.
    func releaseFileLock() {
        assert(exclusive.isHeldByThisThread)
        guard writer.holdsFileLock else { return }
        writer.holdsFileLock = false
        writer.hadLongTurn = Clock.monotonic() &- writer.lockedAt > Self.longTurn
        suite.unlock()
    }

    /// Nanoseconds that a turn may take without making the next one queue.
    private static let longTurn: UInt64 = 200_000
    /// How many times a thread yields before it queues: most writes of another process are over by then.
    private static let yieldLimit = 20
    /// Nanoseconds between two attempts of the first thread in the queue, and of those that would be first.
    private static let queuePause: UInt64 = 100_000
    /// Nanoseconds between two attempts of the other threads of a process of which one queues.
    private static let threadPause: UInt64 = 500_000
    /// Nanoseconds after which a thread stops waiting for its turn: the process in the turnstile may be stopped.
    private static let turnstileLimit: UInt64 = 100_000_000

    /// Polls for the lock, in a queue.
    ///
    /// Polling alone isn't fair: a process that unlocks and immediately locks again comes before those that sleep. A
    /// second lock, the turnstile, makes it fair. A process that finds the lock taken, or had it for long the last
    /// time, polls for the turnstile first, and polls for the lock only when it has the turnstile. Others may still
    /// take short turns in between. The turnstile only decides which process comes first, and protects nothing. It is a
    /// lock of the open journal: while the journal is replaced, two processes may each have one, and where the system
    /// has no such lock, all poll for the lock alone.
    private func waitForFileLock(_ wait: LockWait) throws(JournalError) {
        assert(exclusive.isHeldByThisThread)
        // One thread of a process queues, since the turnstile is the open file's, and all threads have that.
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
        var attempts = writer.hadLongTurn ? Self.yieldLimit : 0
        var isReported = false
        while true {
            let yields = attempts < Self.yieldLimit
            if !yields, hasTurn == false, let turnstile { hasTurn = calls.tryEnterTurnstile(turnstile.raw) }
            let time = wait.time
            let isOver = time >= wait.limit
            let isQueued = !yields && hasTurn == false && turnstile != nil && time < Self.turnstileLimit && !isOver
            if !isQueued, try suite.tryLock() { return }
            attempts += 1
            // Before the end, so that a wait that ends here is reported too, however late this thread woke up.
            if !isReported, time >= 1_000_000_000 {
                isReported = true
                note(.waiting(path: path, process: LockHolder.process(of: suite.lockedDescriptor)))
            }
            if isOver { throw JournalError(.busy(process: LockHolder.process(of: suite.lockedDescriptor)), path: path) }
            if yields {
                Threads.yield()
                continue
            }
            // Other threads of this process wait by themselves, each with its own limit.
            exclusive.unlock()
            deliverWithoutRepair()
            Threads.sleep(nanoseconds: min(wait.limit - time, turnstile != nil ? Self.queuePause : Self.threadPause))
            exclusive.lock()
        }
    }
}
