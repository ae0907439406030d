extension Journal {
    /// Excludes all other writers, of this process and of others, until the matching ``endExclusiveAccess()``.
    ///
    /// During exclusive access the index is current and only this thread changes it. The same thread may nest calls.
    /// Readers on other threads are not blocked. Waits while another thread has exclusive access, and for other processes as
    /// long as ``JournalOptions/lockTimeout`` allows.
    package func beginExclusiveAccess() throws(JournalError) {
        if owner.load(ordering: .relaxed) == 0 { exclusive.yieldToUrgent() }
        exclusive.lockSpinning()
        if writer.depth == 0 {
            do throws(JournalError) {
                try acquire(waitingAtMost: options.lockTimeout)
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
    ///   - limit: Nanoseconds to wait for other processes; nil for ``JournalOptions/lockTimeout``.
    ///   - body: The work on the files.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or why there is no access.
    func withFilesLocked<Result: ~Copyable>(
        followsPath: Bool = true,
        waitingAtMost limit: UInt64? = nil,
        _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        exclusive.lockWithPriority()
        if writer.depth == 0 {
            do throws(JournalError) {
                try acquire(followsPath: followsPath, waitingAtMost: limit ?? options.lockTimeout)
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

    private func acquire(followsPath: Bool = true, waitingAtMost limit: UInt64) throws(JournalError) {
        if state.readOnly != nil { return try becomeWritable() }
        let isKept = writer.holdsFileLock
        if !isKept { try takeFileLock(waitingAtMost: limit) }
        writer.followsPath = followsPath
        do throws(JournalError) {
            try recoverAndCatchUp(isKept: isKept)
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
    private func recoverAndCatchUp(isKept: Bool) throws(JournalError) {
        try verifyIdentity()
        // While the lock was kept, nobody else has written; but a backup may have been copied over the files.
        if isKept, writer.unremoved == nil, page.generation == writer.published.generation,
            state.header?.isUnchanged ?? false
        {
            return
        }
        if let unremoved = writer.unremoved { try remove(unremoved) }
        let isCurrent = try catchUpWithExclusiveAccess()
        // What a killed writer left behind the end may be a whole record, and may be longer than the next one.
        if isCurrent, try calls.size(of: state.journal.raw, path: journalPath) == writer.published.end,
            state.header?.isUnchanged ?? false
        {
            return
        }
        try reload()
    }

    /// Removes what a failed write of this process has left, unless another process has committed it or something else.
    private func remove(_ unremoved: (journalID: UInt64, end: UInt64)) throws(JournalError) {
        // A reader may be switching to another journal at this moment.
        stateLock.lock()
        defer { stateLock.unlock() }
        let publication = page.publication()
        if state.journalID == unremoved.journalID, publication?.end ?? 0 <= unremoved.end {
            try calls.truncate(state.journal.raw, to: unremoved.end, path: journalPath)
        }
        writer.unremoved = nil
    }

    /// - Returns: false if the index can't be brought up to date with what the page says.
    private func catchUpWithExclusiveAccess() throws(JournalError) -> Bool {
        guard let publication = page.publication(), !publication.isReplacing else { return false }
        if publication == writer.published { return true }
        stateLock.lock()
        defer { stateLock.unlock() }
        guard try catchUp() else { return false }
        writer.published = publication
        return true
    }
}
