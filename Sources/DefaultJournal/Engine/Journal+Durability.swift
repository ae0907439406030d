extension Journal {
    /// Flushes everything written so far to the disk: when it returns, the data survives a power loss.
    ///
    /// In a suite that can only be read there is nothing to flush.
    package func synchronize() throws(JournalError) {
        defer { deliverReports() }
        if isReadOnly { return }
        try withFilesLocked { () throws(JournalError) in try synchronizeFiles() }
    }

    /// Under the file lock: journal data first, then the directory, if a rename isn't known to be on the disk.
    func synchronizeFiles() throws(JournalError) {
        if needsRewrite {
            // After a failed sync the system may mark pages clean that never reached the disk, and the next sync would
            // succeed without writing them. Only rewriting everything to another file is safe.
            try rewriteFromFile()
        } else if writer.published.syncedEnd < writer.published.end {
            do throws(JournalError) {
                try calls.syncData(state.journal.raw, path: journalPath)
            } catch {
                noteFailedSync()
                throw error
            }
            try publish { $0.syncedEnd = $0.end }
        }
        try syncRename()
        writer.isDirty = false
    }

    /// Under the file lock: makes the journal's rename durable, if it may not be.
    func syncRename() throws(JournalError) {
        guard writer.published.isRenameUnsynced else { return }
        try calls.sync(state.suite.directory.raw, path: path)
        try publish { $0.isRenameUnsynced = false }
    }

    /// Under the file lock: whether only a new file makes everything durable; see ``synchronizeFiles()``.
    var needsRewrite: Bool { writer.published.syncFailed || writer.syncFailed }

    /// Under the file lock, after a failed sync.
    func noteFailedSync() {
        writer.syncFailed = true
        // If this fails too, at least this process knows.
        do throws(JournalError) { try publish { $0.syncFailed = true } } catch {}
    }

    /// Under the file lock: rewrites the live entries of the journal to a new one.
    func rewriteFromFile() throws(JournalError) {
        let end = writer.published.end
        let bytes = try FileBytes(reading: 0..<end, of: state.journal.raw, calls: calls, path: journalPath)
        let salt = state.journalID
        var nothing = IgnoringVisitor()
        let base = UInt64(JournalHeader.size)
        let report = Replay.run(bytes.buffer(from: JournalHeader.size), at: base, salt: salt, visitor: &nothing)
        guard report.isClean, report.validEnd == end else {
            try reload()
            return
        }
        try rewrite(bytes.buffer, salt: salt)
    }

    /// Schedules a flush, so that writes reach the disk within about a second.
    func scheduleFlush() {
        if !writer.isDirty, options.automaticMaintenance { scheduleFirstFlush() }
    }

    private func scheduleFirstFlush() {
        writer.isDirty = true
        if options.worker.flush(self, after: 1_000_000_000) { return }
        do throws(JournalError) {
            try synchronizeFiles()
        } catch {
            // The write itself succeeded; the next write schedules a flush again.
            writer.isDirty = false
            note(.flushFailed(error))
        }
    }

    /// Flushes, on the background thread.
    ///
    /// - Parameter limit: Nanoseconds to wait for other processes, after which it is tried again.
    func flushInBackground(waitingAtMost limit: UInt64) {
        defer { deliverReports() }
        do throws(JournalError) {
            try withFilesLocked(followsPath: false, waitingAtMost: limit) { () throws(JournalError) in
                try synchronizeFiles()
                writer.flushFailures = 0
            }
        } catch {
            exclusive.lock()
            defer { exclusive.unlock() }
            if error.kind == .replaced {
                writer.isDirty = false
                return
            }
            if case .busy = error.kind {
                writer.isDirty = options.worker.flush(self, after: BackgroundWorker.retryInterval)
                return
            }
            writer.flushFailures += 1
            if writer.flushFailures == 1 { note(.flushFailed(error)) }
            // A suite on a disk that is gone must not keep its journal and descriptors open forever.
            guard writer.flushFailures < 10 else {
                writer.isDirty = false
                return
            }
            let delay: UInt64 = 1_000_000_000 << UInt64(min(writer.flushFailures, 6))
            writer.isDirty = options.worker.flush(self, after: delay)
        }
    }
}
