extension Journal {
    /// Flushes everything written so far to the disk: when it returns, the data survives a power loss.
    ///
    /// Neither readers nor writers wait for it. In a suite that can only be read there is nothing to flush.
    package func synchronize() throws(JournalError) {
        defer { deliverReports() }
        if isReadOnly { return }
        if isForked { throw JournalError(.forked, path: path) }
        try located { () throws(JournalError) in try flush() }
    }

    /// Flushes what this process knows to be written.
    ///
    /// - Parameter isPromise: Whether a caller relies on it, and not only the background.
    /// - Throws: The sync that failed.
    func flush(isPromise: Bool = true) throws(JournalError) {
        // What others have written by now is included.
        let (file, position, _) = current
        let flags = try file.flags(calls: calls)
        if flags.hasSyncFailed {
            // After a failed sync the system may mark pages clean that never reached the disk, and the next sync would
            // succeed without writing them. Only rewriting everything to another file is safe.
            return try rewriteAfterFailedSync(isPromise: isPromise)
        }
        do throws(JournalError) {
            try flusher.sync(file, to: position)
        } catch {
            file.noteFailedSync(calls: calls)
            throw error
        }
        if flags.isRenameUnsynced { try syncRename(of: file) }
        guard isPromise else { return }
        // A compaction that is about to end has to see that this was promised, or else this has to see the compaction. One that
        // has taken the flag back since it was read above copies what was written by then before it syncs the new file.
        if !flags.isFlushed { try file.set(.isFlushed, to: true, calls: calls) }
        let now = current
        if now.isMoving, now.file === file { try withFilesLocked {} }
        if stateLock.withLock({ state.file !== file }) { try flush() }
    }

    func syncRename(of file: JournalFile) throws(JournalError) {
        guard let directory = file.directory else { return }
        try calls.sync(directory.raw, name: ".")
        file.noteSyncedRename(calls: calls)
    }

    private func rewriteAfterFailedSync(isPromise: Bool) throws(JournalError) {
        // The background must not create a suite again that was deleted.
        let file = try withFilesLocked(followsPath: isPromise) { () throws(JournalError) -> JournalFile in
            // The entries are what was written; the file may have lost it.
            if try state.file.flags(calls: calls).hasSyncFailed { try replaceJournal(by: entries, isSame: true) }
            return state.file
        }
        if try file.flags(calls: calls).isRenameUnsynced { try syncRename(of: file) }
    }

    /// Schedules a flush, unless there is one: writes reach the disk within about a second.
    ///
    /// - Returns: Whether the background does it; if not, the caller may.
    @discardableResult
    func scheduleFlush(after delay: UInt64 = 1_000_000_000) -> Bool {
        guard options.automaticMaintenance, !isFlushScheduled.load(), state.refusal == nil,
            !isFlushScheduled.exchange(true)
        else { return true }
        let isScheduled = worker.flush(self, after: delay)
        if !isScheduled { isFlushScheduled.store(false) }
        return isScheduled
    }

    func flushInBackground() {
        defer { deliverReports() }
        isFlushScheduled.store(false)
        do throws(JournalError) {
            try flush(isPromise: false)
            flushFailures.store(0)
        } catch {
            if error.kind == .replaced || error.kind == .forked { return }
            var delay = BackgroundWorker.retryInterval
            if !error.isBusy {
                flushFailures.wrappingAdd(1)
                let failures = flushFailures.load()
                if failures == 1 { note(.flushFailed(error.located(in: path))) }
                // A suite on a disk that is gone must not keep its journal and descriptors open forever.
                guard failures < 10 else { return }
                delay = 1_000_000_000 << UInt64(min(failures, 6))
            }
            scheduleFlush(after: delay)
        }
    }
}
