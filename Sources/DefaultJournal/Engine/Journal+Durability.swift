extension Journal {
    /// Flushes everything written so far to the disk: when it returns, the data survives a power loss.
    ///
    /// Neither readers nor writers wait for it. In a suite that can only be read there is nothing to flush.
    package func synchronize() throws(JournalError) {
        defer { deliverReports() }
        if isReadOnly { return }
        if isForked { throw JournalError(.forked, path: path) }
        try withPathInErrors { () throws(JournalError) in try flush() }
    }

    /// Flushes all that this process knows to be written.
    ///
    /// - Parameter isPromise: Whether a caller relies on it, and not only the background.
    /// - Throws: The sync that failed.
    func flush(isPromise: Bool = true) throws(JournalError) {
        // Records that others have written by now are included.
        let now = current
        let file = now.file
        let words = try file.words(calls: calls)
        if words.hasSyncFailed {
            // After a failed sync the system may mark pages clean that never reached the disk, and the next sync would
            // succeed without writing them. Only rewriting everything to another file is safe.
            try rewriteAfterFailedSync(isPromise: isPromise)
            return try flush(isPromise: isPromise)
        }
        do throws(JournalError) {
            try file.flusher.sync(file.raw, to: now.position, calls: calls)
        } catch {
            file.noteFailedSync(calls: calls)
            throw error
        }
        if words.unsyncedNames > 0 { try syncNames(of: file, words.unsyncedNames) }
        guard isPromise else { return }
        // A compaction that is about to end has to see that this was promised, or else this has to see the compaction.
        // One that has taken the flag back since it was read above copies everything written by then before it syncs
        // the new file. One that had copied it already syncs it, too.
        if !words.isFlushed, now.position > words.copied {
            // Flushes that return faster than the compaction can sync would make it sync forever.
            if words.copied > 0 { waitForSync(in: file.directory) }
            try file.set(.isFlushed, to: 1, calls: calls)
        }
        let after = current
        // The compaction holds the lock when it renames: once this has had it, the other file is the journal, or won't
        // be.
        if after.isBeingReplaced, after.file === file { try withFilesLocked {} }
        if stateLock.withLock({ state.file !== file }) { try flush() }
    }

    /// Syncs the file that a compaction is writing, so that this flush returns no sooner than the compaction's own
    /// sync.
    private func waitForSync(in directory: SuiteDirectory?) {
        guard let directory else { return }
        let file: JournalFile
        do throws(JournalError) {
            let opened = try directory.openFile(SuiteDirectory.compactionName)
            // One that has another name isn't the compaction's.
            guard opened.status.links == 1 else { return }
            file = JournalFile(opened.file, in: directory, id: opened.status.id, salt: 0)
        } catch {
            // It has ended, and this flush will find that.
            return
        }
        do throws(JournalError) {
            try calls.sync(file.raw, isDataOnly: true)
        } catch {
            // What the compaction has copied since its own sync may be lost, and it makes no other.
            file.noteFailedSync(calls: calls)
        }
    }

    /// Puts the file's name on the disk, and if the suite may be new, those of the directories above.
    func syncNames(of file: JournalFile, _ unsyncedNames: UInt64) throws(JournalError) {
        guard let directory = file.directory else { return }
        if unsyncedNames > 1 { try SuiteDirectory.syncNames(of: path, calls: calls) }
        if let refusal = try calls.syncNames(in: directory.raw), !isUnsyncedNameReported.exchange(true) {
            note(.nameNotSynced(refusal.withDirectory(path)))
        }
        file.noteSyncedNames(calls: calls)
    }

    private func rewriteAfterFailedSync(isPromise: Bool) throws(JournalError) {
        if !hasExclusiveAccess { return try rewrite(for: .failedSync(isPromise: isPromise)) }
        // As for a compaction within exclusive access. The entries are what was written; the file may have lost some.
        try withFilesLocked { () throws(JournalError) in
            if try state.file.words(calls: calls).hasSyncFailed { try replaceJournal() }
        }
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

    /// Frees the memory of an unusually long record, a second after it was written: the next one may be as long.
    private func shrinkBuffer() {
        guard exclusive.tryLock() else { return }
        defer { exclusive.unlock() }
        guard writer.depth == 0, writer.buffer.capacity > 1 << 18 else { return }
        do throws(JournalError) {
            try writer.buffer.resize(to: Writer.bufferSize)
        } catch {
            // The larger one stays if a smaller one can't be allocated.
        }
    }

    func flushInBackground() {
        defer { deliverReports() }
        isFlushScheduled.store(false)
        shrinkBuffer()
        do throws(JournalError) {
            try flush(isPromise: false)
            flushFailures.store(0)
        } catch {
            if error.kind == .replaced || error.kind == .forked { return }
            var delay = BackgroundWorker.retryInterval
            if !error.isBusy {
                flushFailures.wrappingAdd(1)
                let failures = flushFailures.load()
                if failures == 1 { note(.flushFailed(error.withDirectory(path))) }
                // A suite on a disk that is gone must not keep its journal and descriptors open forever.
                guard failures < 10 else { return }
                delay = 1_000_000_000 << UInt64(min(failures, 6))
            }
            scheduleFlush(after: delay)
        }
    }
}
