internal import Synchronization

extension Journal {
    /// Excludes all other writers, of this process and of others, until the matching ``endExclusiveAccess()``.
    ///
    /// The index is current then and changes only through this thread. The same thread may nest calls. Readers on other
    /// threads go on. Waits for as long as others have exclusive access.
    package func beginExclusiveAccess() throws(JournalError) {
        if owner.load(ordering: .relaxed) == 0 { exclusive.yieldToUrgent() }
        exclusive.lockSpinning()
        if writer.pointee.depth == 0 {
            do throws(JournalError) {
                try acquire()
            } catch {
                exclusive.unlock()
                deliverReports()
                throw error
            }
            owner.store(Threads.current, ordering: .relaxed)
        }
        writer.pointee.depth += 1
    }

    /// Ends what ``beginExclusiveAccess()`` began.
    ///
    /// The outermost call lets others write, and sees to it that the journal keeps within its bound.
    package func endExclusiveAccess() {
        writer.pointee.depth -= 1
        guard writer.pointee.depth == 0 else { return exclusive.unlock() }
        let need = writer.pointee.hasWritten ? compactionNeed() : .none
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

    /// Exclusive access without what ``endExclusiveAccess()`` does in the end; for the engine itself.
    ///
    /// - Parameters:
    ///   - followsPath: Whether to move to what stands at the path when the suite was deleted or replaced; if not, that is
    ///     an error.
    ///   - body: What needs the files.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or why there is no access.
    func withFilesLocked<Result: ~Copyable>(
        followsPath: Bool = true,
        _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        exclusive.lockWithPriority()
        if writer.pointee.depth == 0 {
            do throws(JournalError) {
                writer.pointee.followsPath = followsPath
                defer { writer.pointee.followsPath = true }
                try acquire()
            } catch {
                exclusive.unlock()
                throw error
            }
            owner.store(Threads.current, ordering: .relaxed)
        }
        writer.pointee.depth += 1
        defer {
            writer.pointee.depth -= 1
            if writer.pointee.depth == 0 { release(keepingLock: false) } else { exclusive.unlock() }
        }
        return try body()
    }

    @inline(__always)
    private func acquire() throws(JournalError) {
        if !writer.pointee.holdsFileLock { try takeFileLock() }
        do throws(JournalError) {
            try recoverAndCatchUp()
        } catch {
            releaseFileLock()
            throw error
        }
    }

    @inline(__always)
    private func release(keepingLock: Bool) {
        writer.pointee.hasWritten = false
        owner.store(0, ordering: .relaxed)
        if !keepingLock || !shouldKeepFileLock() { releaseFileLock() }
        exclusive.unlock()
    }

    /// Under the file lock: makes sure that the files are still the suite's, mends what a killed writer left, and catches
    /// up.
    @inline(__always)
    private func recoverAndCatchUp() throws(JournalError) {
        try verifyIdentity()
        if page.pending != 0 { try repairInterruptedWrite() }
        if page.snapshot() != writer.pointee.known { try catchUpWithExclusiveAccess() }
    }

    private func catchUpWithExclusiveAccess() throws(JournalError) {
        let isCurrent: Bool
        do {
            stateLock.lock()
            defer { stateLock.unlock() }
            isCurrent = try catchUp()
        }
        if !isCurrent { try reload() }
        writer.pointee.known = page.snapshot()
    }

    /// A writer was killed on its way from the write to the end of its publication: what it wrote is committed or not,
    /// but never acknowledged.
    private func repairInterruptedWrite() throws(JournalError) {
        stateLock.lock()
        let isOurs = page.journalID == state.pointee.journalID && page.pending != LockPage.replacing
        stateLock.unlock()
        guard isOurs, page.end != 0 else {
            try reload()
            return
        }
        try calls.truncate(state.pointee.journal.raw, to: page.end, path: journalPath)
        // It may have stored the end, and not the generation.
        page.publish(end: page.end)
    }
}
