extension Journal {
    /// Excludes all other writers, of this process and of others, until the matching ``endExclusiveAccess()``.
    ///
    /// During exclusive access the entries are current and only this thread changes it. The same thread may nest calls.
    /// Readers on other threads are not blocked. Waits while another thread has exclusive access, and for other processes as
    /// long as ``JournalOptions/lockTimeout`` allows.
    package func beginExclusiveAccess() throws(JournalError) {
        do throws(JournalError) {
            try begin()
        } catch {
            if !isForked { deliverReports() }
            throw error.located(in: path)
        }
    }

    /// Ends what ``beginExclusiveAccess()`` began.
    ///
    /// The outermost call lets other writers continue, and has the journal compacted if it has grown enough.
    package func endExclusiveAccess() {
        assert(hasExclusiveAccess)
        writer.depth -= 1
        guard writer.depth == 0 else { return exclusive.unlock() }
        let needsCompaction = writer.hasWritten && needsCompaction
        let hasToFlush = writer.hasToFlush
        writer.hasToFlush = false
        release()
        if needsCompaction { scheduleCompaction() }
        if hasToFlush { flushInBackground() }
        if hasReports.load() { deliverReports() }
    }

    package var hasExclusiveAccess: Bool { owner.load() == Threads.current }

    package func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try beginExclusiveAccess()
        defer { endExclusiveAccess() }
        return try body()
    }

    /// Exclusive access without the compaction and reports of ``endExclusiveAccess()``; for the engine itself.
    ///
    /// With `followsPath` it moves to the suite that is at the path now when the open one was deleted or replaced; without, that is an
    /// error. It waits for other processes, for ``JournalOptions/lockTimeout`` if no limit is given, and may be asked to compare the
    /// files with those at the path even if that was just done.
    func withFilesLocked<Result: ~Copyable>(
        followsPath: Bool = true,
        waitingAtMost limit: UInt64? = nil,
        compares: Bool = false,
        _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        try begin(followsPath: followsPath, waitingAtMost: limit, compares: compares)
        defer {
            writer.depth -= 1
            if writer.depth == 0 { release() } else { exclusive.unlock() }
        }
        return try body()
    }

    private func begin(
        followsPath: Bool = true,
        waitingAtMost limit: UInt64? = nil,
        compares: Bool = false
    ) throws(JournalError) {
        // First, since a thread of the parent may have had the lock.
        if isForked { throw JournalError(.forked, path: path) }
        exclusive.lockSpinning()
        if writer.depth == 0 {
            do throws(JournalError) {
                try acquire(followsPath: followsPath, waitingAtMost: limit ?? options.lockTimeout, compares: compares)
            } catch {
                exclusive.unlock()
                throw error
            }
            owner.store(Threads.current)
        }
        writer.depth += 1
    }

    private func acquire(followsPath: Bool, waitingAtMost limit: UInt64, compares: Bool) throws(JournalError) {
        if state.refusal != nil { return try becomeWritable(waitingAtMost: limit) }
        try takeFileLock(waitingAtMost: limit)
        do throws(JournalError) {
            try recoverAndCatchUp(followsPath: followsPath, waitingAtMost: limit, compares: compares)
        } catch {
            releaseFileLock()
            throw try explained(error, from: suite)
        }
    }

    private func release() {
        writer.hasWritten = false
        owner.store(0)
        releaseFileLock()
        exclusive.unlock()
    }

    /// Under `exclusive`, which is released while it sleeps: takes the lock, or throws `busy` after so many nanoseconds.
    func takeFileLock(waitingAtMost limit: UInt64) throws(JournalError) {
        if try !suite.tryLock(calls: calls) { try waitForFileLock(LockWait(atMost: limit)) }
        writer.holdsFileLock = true
    }

    /// How many times a thread yields before it sleeps: most writes of another process are over by then.
    private static let yieldLimit = 200

    private func waitForFileLock(_ wait: LockWait) throws(JournalError) {
        var attempts = 0
        var isReported = false
        while try !suite.tryLock(calls: calls) {
            attempts += 1
            // Asked first, so that a wait that ends here is reported too, however late this thread woke up.
            let pause = wait.pause
            if wait.isLong, !isReported {
                isReported = true
                note(.waiting(path: path, process: LockHolder.process(of: suite.lockedDescriptor)))
            }
            guard let pause else {
                throw JournalError(.busy(process: LockHolder.process(of: suite.lockedDescriptor)), path: path)
            }
            if attempts < Self.yieldLimit {
                Threads.yield()
                continue
            }
            // Other threads of this process wait by themselves, each with a limit of its own.
            exclusive.unlock()
            deliverReports()
            Threads.sleep(nanoseconds: pause)
            exclusive.lock()
        }
    }

    /// Under `exclusive`: releases the lock, if it is held.
    func releaseFileLock() {
        guard writer.holdsFileLock else { return }
        writer.holdsFileLock = false
        suite.unlock(calls: calls)
    }

    /// Under the lock: verifies that the open files are the suite's, catches up, and repairs what was left.
    private func recoverAndCatchUp(
        followsPath: Bool,
        waitingAtMost limit: UInt64,
        compares: Bool
    ) throws(JournalError) {
        var found = try examine(compares: compares)
        if found == .torn {
            _ = try waitForCopy(of: state.file)
            found = try examine(compares: compares, cutsTail: true)
        }
        guard let finding = found else { return }
        let isFirst = state.file.salt == 0
        switch finding {
        case .same, .torn, .unsettled:
            try reload(isOverwritten: finding == .unsettled)
            return
        case _ where !followsPath: throw JournalError(finding == .overwritten ? .overwritten : .replaced, path: path)
        case .missing, .otherSuite: try reattach(waitingAtMost: limit)
        case .otherJournal: try reload()
        case .overwritten: try reload(isOverwritten: true)
        }
        if !isFirst { note(.replaced(path: path)) }
    }

    /// - Returns: Why the journal has to be read from its beginning; nil if the entries are current.
    private func examine(compares: Bool, cutsTail: Bool = false) throws(JournalError) -> Finding? {
        stateLock.lock()
        defer { stateLock.unlock() }
        let now = Clock.monotonic()
        let progress = try state.isDamaged ? .broken : catchUp()
        state.failure = nil
        let isCompared = !compares && !state.isUnsettled && now &- state.comparedAt < Self.writersInterval
        if progress == .complete, isCompared { return nil }
        let finding = try compareIdentity()
        guard finding == .same else { return finding }
        if state.isUnsettled { return .unsettled }
        state.comparedAt = now
        switch progress {
        case .complete: return nil
        case .broken: return .same
        case .torn where !cutsTail: return .torn
        case .torn:
            // No other process can be writing it.
            try calls.truncate(state.file.raw, to: state.position)
            state.renewLook(calls: calls)
            return nil
        }
    }
}
