extension Journal {
    /// Excludes all other writers, of this process and of others, until the matching ``endExclusiveAccess()``.
    ///
    /// During exclusive access the index is current and only this thread changes it. The same thread may nest calls.
    /// Readers on other threads are not blocked. Waits while another thread or process has exclusive access.
    package func beginExclusiveAccess() throws(JournalError) {
        if owner.load(ordering: .relaxed) == 0 { exclusive.yieldToUrgent() }
        exclusive.lockSpinning()
        if writer.depth == 0 {
            do throws(JournalError) {
                try acquire()
            } catch {
                exclusive.unlock()
                deliverReports()
                throw error
            }
            owner.store(Threads.current, ordering: .relaxed)
        }
        writer.depth += 1
    }

    /// Ends what ``beginExclusiveAccess()`` began.
    ///
    /// The outermost call lets other writers continue, and keeps the journal within its size bound.
    package func endExclusiveAccess() {
        writer.depth -= 1
        guard writer.depth == 0 else { return exclusive.unlock() }
        let need = writer.hasWritten ? compactionNeed() : .none
        // While this thread waits for a compaction, others may write.
        release(keepingLock: need != .now)
        if need != .none { compactIfNeeded(need) }
        if hasReports.load(ordering: .relaxed) { deliverReports() }
    }

    /// Whether the calling thread has exclusive access.
    package var hasExclusiveAccess: Bool {
        owner.load(ordering: .relaxed) == Threads.current
    }

    /// Calls `body` with exclusive access.
    package func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try beginExclusiveAccess()
        defer { endExclusiveAccess() }
        return try body()
    }

    /// Exclusive access without the compaction and reports of ``endExclusiveAccess()``; for the engine itself.
    ///
    /// - Parameters:
    ///   - followsPath: Whether to move to the suite that is at the path now when the open one was deleted or replaced;
    ///     if not, that is an error.
    ///   - body: The work on the files.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or why there is no access.
    func withFilesLocked<Result: ~Copyable>(
        followsPath: Bool = true,
        _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        exclusive.lockWithPriority()
        if writer.depth == 0 {
            do throws(JournalError) {
                writer.followsPath = followsPath
                defer { writer.followsPath = true }
                try acquire()
            } catch {
                exclusive.unlock()
                throw error
            }
            owner.store(Threads.current, ordering: .relaxed)
        }
        writer.depth += 1
        defer {
            writer.depth -= 1
            if writer.depth == 0 { release(keepingLock: false) } else { exclusive.unlock() }
        }
        return try body()
    }

    private func acquire() throws(JournalError) {
        if !writer.holdsFileLock { try takeFileLock() }
        do throws(JournalError) {
            try recoverAndCatchUp()
        } catch {
            releaseFileLock()
            throw error
        }
    }

    private func release(keepingLock: Bool) {
        writer.hasWritten = false
        owner.store(0, ordering: .relaxed)
        if !keepingLock || !shouldKeepFileLock() { releaseFileLock() }
        exclusive.unlock()
    }

    /// Under the file lock: verifies that the open files are the suite's, repairs what a killed writer left, and catches
    /// up.
    private func recoverAndCatchUp() throws(JournalError) {
        try verifyIdentity()
        if page.pending != 0 { try repairInterruptedWrite() }
        if page.snapshot() != writer.known { try catchUpWithExclusiveAccess() }
    }

    private func catchUpWithExclusiveAccess() throws(JournalError) {
        let isCurrent: Bool
        do {
            stateLock.lock()
            defer { stateLock.unlock() }
            isCurrent = try catchUp()
        }
        if !isCurrent { try reload() }
        writer.known = page.snapshot()
    }

    /// Repairs the state that a writer left when it was killed between its write and the end of publication; the write
    /// may be committed, but was never acknowledged.
    private func repairInterruptedWrite() throws(JournalError) {
        stateLock.lock()
        let isOurs = page.journalID == state.journalID && page.pending != LockPage.replacing
        stateLock.unlock()
        guard isOurs, page.end != 0 else {
            try reload()
            return
        }
        try calls.truncate(state.journal.raw, to: page.end, path: journalPath)
        // The killed writer may have stored the end, and not the generation.
        page.publish(end: page.end)
    }
}
