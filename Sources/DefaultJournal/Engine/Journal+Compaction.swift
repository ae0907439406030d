extension Journal {
    /// How urgently the journal needs compaction.
    enum CompactionNeed: Int, Comparable {
        case none
        /// In the background, while writers go on.
        case soon
        /// Before the writer returns: the journal is at its bound.
        case now

        static func < (one: CompactionNeed, other: CompactionNeed) -> Bool { one.rawValue < other.rawValue }
    }

    /// Writes the live entries to a new journal, which replaces the old one.
    package func compact() throws(JournalError) {
        defer { deliverReports() }
        if owner.load(ordering: .relaxed) == Threads.current {
            // Inside exclusive access the order of the locks allows only the simple way, which blocks all writers.
            return try rewriteFromFile()
        }
        compaction.lock()
        defer { compaction.unlock() }
        _ = try compactFiles(waits: true, from: .none)
    }

    /// The size up to which a journal with so many live bytes may grow.
    package static func sizeBound(liveBytes: UInt64) -> UInt64 { 2 * liveBytes + 65_536 }

    /// With exclusive access: compares the journal's size with its bound.
    ///
    /// Background compaction is requested well before the bound, so that a fast writer seldom has to wait.
    func compactionNeed() -> CompactionNeed {
        let end = writer.published.end
        let live = state.liveBytes
        guard end > live + live / 10 * 7 + 36_864, options.automaticMaintenance,
            end >= writer.compactionRetrySize
        else { return .none }
        return end > Self.sizeBound(liveBytes: live) ? .now : .soon
    }

    /// After exclusive access: compacts the journal, or schedules its compaction.
    func compactIfNeeded(_ need: CompactionNeed) {
        if need == .now {
            compaction.lock()
            let old = compactUnlessDone(waits: true)
            compaction.unlock()
            return _ = consume old
        }
        guard !isCompactionScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        if !options.worker.compact(self) { isCompactionScheduled.store(false, ordering: .releasing) }
    }

    /// Compacts, on the background thread.
    func compactInBackground() {
        compaction.lock()
        isCompactionScheduled.store(false, ordering: .releasing)
        let old = compactUnlessDone(waits: false)
        compaction.unlock()
        _ = consume old
        deliverReports()
    }

    /// Compacts if there is still need.
    ///
    /// - Returns: The old journal, still open: closing it frees its blocks, which takes time that callers waiting for the
    ///   compaction don't have to spend.
    private func compactUnlessDone(waits: Bool) -> Source? {
        do throws(JournalError) {
            return try compactFiles(waits: waits, from: waits ? .now : .soon)
        } catch  where error.kind == .replaced {
            // There is nothing left to compact.
        } catch  where error.isBusy {
            // The next write sees the need again.
        } catch {
            exclusive.lock()
            writer.compactionRetrySize = writer.published.end * 2
            exclusive.unlock()
            note(.compactionFailed(error))
        }
        return nil
    }

    /// The journal that a compaction reads.
    private struct Source: ~Copyable {
        var directory: OwnedDescriptor
        var file: OwnedDescriptor
        var salt: UInt64
        var end: UInt64
        var liveBytes: UInt64
    }

    /// Compacts, blocking writers only while it reads the end and while it copies the last records appended since.
    ///
    /// - Parameters:
    ///   - waits: Whether to wait for another process that is compacting already.
    ///   - need: Nothing is done if the journal needs compaction less than this.
    /// - Returns: The old journal, if there was need.
    /// - Throws: Why it could not compact; the journal is unchanged then.
    private func compactFiles(waits: Bool, from need: CompactionNeed) throws(JournalError) -> Source? {
        let follows = need != .soon
        let limit = waits ? options.lockTimeout : BackgroundWorker.patience
        let found = try withFilesLocked(followsPath: follows, waitingAtMost: limit) {
            () throws(JournalError) -> Source? in
            guard need == .none || compactionNeed() >= need else { return nil }
            // Lets the writers of all processes know why the directory's change time is about to change.
            page.isCompacting = true
            return Source(
                directory: try calls.duplicate(state.suite.directory.raw, path: path),
                file: try calls.duplicate(state.journal.raw, path: journalPath),
                salt: state.journalID,
                end: writer.published.end,
                liveBytes: state.liveBytes
            )
        }
        guard let source = found else { return nil }
        var isFinished = false
        defer {
            if !isFinished {
                exclusive.lock()
                page.isCompacting = false
                exclusive.unlock()
            }
        }
        guard let target = try openCompactionTarget(in: source.directory.raw, waits: waits) else { return nil }
        let header = JournalHeader.random()
        let newPath = file(SuiteDirectory.compactionName)
        var stream = RecordStream(header: header, to: target.raw, calls: calls, path: newPath)
        guard try copyEntries(of: source, to: &stream) else {
            try reloadDamaged(source.salt)
            return nil
        }
        var progress = Progress(copied: source.end, entriesEnd: try stream.finish())
        // As much as possible is copied without blocking writers: first what was appended while the entries were
        // written, then what was appended during the sync.
        guard try copyCommitted(of: source, to: &stream, &progress) else { return nil }
        try calls.sync(target.raw, path: newPath)
        progress.synced = progress.copied
        progress.syncedEnd = stream.end
        guard try copyCommitted(of: source, to: &stream, &progress) else { return nil }
        var finished: OwnedDescriptor? = consume target
        try withFilesLocked(followsPath: follows, waitingAtMost: limit) { () throws(JournalError) in
            guard state.journalID == source.salt, let target = finished.take() else { return }
            try copyTail(to: writer.published.end, of: source, to: &stream, &progress)
            try exchange(for: target, header: header, end: stream.end, progress)
            page.isCompacting = false
            isFinished = true
        }
        return source
    }

    /// The progress of a compaction.
    private struct Progress {
        /// The end of the copied records in the old journal.
        var copied: UInt64
        /// The end of the first copy of the live entries in the new journal.
        var entriesEnd: UInt64
        /// The value of `copied` when the new journal was synchronized.
        var synced: UInt64 = 0
        /// The new journal's end when it was synchronized.
        var syncedEnd: UInt64 = 0
    }

    /// Writes the entries that were live when the compaction began.
    ///
    /// - Returns: false when the old journal is damaged.
    private func copyEntries(of source: borrowing Source, to stream: inout RecordStream) throws(JournalError) -> Bool {
        if source.end > max(Self.wholeFileLimit, Self.sizeBound(liveBytes: source.liveBytes)) {
            // Compactions have failed until now; the replaced values of all that time need not fit into memory.
            let report = try copyEntries(of: source.file.raw, size: source.end, salt: source.salt, to: &stream)
            return report.isClean && report.validEnd == source.end
        }
        let bytes = try FileBytes(
            reading: 0..<source.end,
            of: source.file.raw,
            isRepeated: true,
            calls: calls,
            path: journalPath
        )
        var table = LiveTable(bytes.buffer)
        let records = bytes.buffer(from: JournalHeader.size)
        let base = UInt64(JournalHeader.size)
        let report = Replay.run(records, at: base, salt: source.salt, visitor: &table)
        guard report.isClean, report.validEnd == source.end else { return false }
        try stream.append(table)
        return true
    }

    /// Copies what is committed so far, without the file lock.
    ///
    /// - Returns: false when the journal is no longer the one that is being compacted.
    private func copyCommitted(
        of source: borrowing Source,
        to stream: inout RecordStream,
        _ progress: inout Progress
    ) throws(JournalError) -> Bool {
        stateLock.lock()
        let publication = page.publication()
        stateLock.unlock()
        guard let publication, publication.journalID == source.salt, publication.end >= progress.copied else {
            return false
        }
        try copyTail(to: publication.end, of: source, to: &stream, &progress)
        return true
    }

    /// Copies the records between those copied before and `end`.
    private func copyTail(
        to end: UInt64,
        of source: borrowing Source,
        to stream: inout RecordStream,
        _ progress: inout Progress
    ) throws(JournalError) {
        guard end > progress.copied else { return }
        let range = progress.copied..<end
        let tail = try FileBytes(reading: range, of: source.file.raw, calls: calls, path: journalPath)
        // Finding overwritten records takes time, which pays only for a long tail.
        var survey = TailSurvey(finds: range.upperBound - range.lowerBound > progress.entriesEnd)
        let report = Replay.run(tail.buffer, at: range.lowerBound, salt: source.salt, visitor: &survey)
        guard report.isClean, report.validEnd == end else { throw JournalError(.unstable, path: journalPath) }
        for payload in survey.keptPayloads {
            try stream.append(payload: UnsafeRawBufferPointer(rebasing: tail.buffer[payload]))
        }
        _ = try stream.finish()
        progress.copied = end
    }

    /// Under the file lock: replaces the suite's journal by the complete new one.
    private func exchange(
        for target: consuming OwnedDescriptor,
        header: JournalHeader,
        end: UInt64,
        _ progress: Progress
    ) throws(JournalError) {
        var syncedEnd = progress.syncedEnd
        if writer.published.syncedEnd > progress.synced || needsRewrite {
            try calls.syncData(target.raw, path: file(SuiteDirectory.compactionName))
            syncedEnd = end
        }
        // Another compactor may have opened the file by this name already: it notices that its lock is on another file.
        try replaceJournal(by: SuiteDirectory.compactionName)
        let descriptor = target.raw
        try adopt(target, id: header.salt, end: end, syncedEnd: syncedEnd)
        calls.unlock(descriptor)
        writer.compactionRetrySize = 0
        scheduleFlush()
        let status = try calls.status(state.suite.directory.raw, path: path)
        markIdentityVerified(changed: status.changed, now: 0)
    }

    /// Opens the file that compactions write to and takes its lock, which the system releases if the process is killed.
    private func openCompactionTarget(in directory: Int32, waits: Bool) throws(JournalError) -> OwnedDescriptor? {
        let newPath = file(SuiteDirectory.compactionName)
        let wait = LockWait(atMost: options.lockTimeout)
        for _ in 0..<64 {
            let target: OwnedDescriptor
            do throws(JournalError) {
                target = try calls.open(SuiteDirectory.compactionName, in: directory, .create, path: newPath)
            } catch  where error.isWrongType {
                throw JournalError(.notARegularFile, path: newPath)
            } catch  where error.isNotFound {
                // Deleted since this compaction began.
                throw JournalError(.replaced, path: path)
            }
            let inode = try SuiteDirectory.checkFile(target.raw, path: newPath, calls: calls).inode
            while try !calls.tryLock(target.raw, path: newPath) {
                guard waits else { return nil }
                guard let pause = wait.pause else {
                    throw JournalError(.busy(process: LockHolder.process(of: target.raw)), path: path)
                }
                Threads.sleep(nanoseconds: min(pause, 500_000))
            }
            // During the wait the file may have become the journal.
            guard let status = try calls.status(of: SuiteDirectory.compactionName, in: directory, path: newPath),
                status.inode == inode
            else { continue }
            // ext4 flushes a file that was truncated to zero when it is closed, even if it has no name any more. A file
            // that is new needs no truncation and avoids this flush when it is replaced later.
            if status.size > 0 { try calls.truncate(target.raw, to: 0, path: newPath) }
            return target
        }
        throw JournalError(.unstable, path: newPath)
    }

    /// Backs up and reports damage that a compaction found, which would disappear with the old file.
    private func reloadDamaged(_ salt: UInt64) throws(JournalError) {
        try withFilesLocked(followsPath: false) { () throws(JournalError) in
            guard state.journalID == salt, writer.damagedID != salt else { return }
            try reload()
        }
    }
}
