extension Journal {
    /// Writes the live entries to a new journal, which replaces the old one.
    package func compact() throws(JournalError) {
        defer { deliverReports() }
        try located { () throws(JournalError) in
            if hasExclusiveAccess {
                // Inside exclusive access the order of the locks allows only the simple way, which blocks all writers.
                stateLock.lock()
                let finding = Result { () throws(JournalError) in try compareIdentity() }
                stateLock.unlock()
                guard try finding.get() == .same else { throw JournalError(.replaced, path: path) }
                return try rewrite(state.file, to: state.position)
            }
            compaction.lock()
            defer { compaction.unlock() }
            // Whoever asks for it has what is there checked too.
            try withFilesLocked(compares: true) {}
            try compactFiles(limit: options.lockTimeout, isAsked: true)
        }
    }

    /// Bytes that a journal may have beside twice those of its live entries.
    package static let slack: UInt64 = 512 << 10

    /// With exclusive access: whether the journal is about to be larger than its bound.
    ///
    /// The compaction begins a little earlier, so that it has usually ended when the bound is reached.
    var needsCompaction: Bool {
        let live = state.liveBytes
        return state.position > live + live / 10 * 7 + Self.slack / 5 * 4 && options.automaticMaintenance
            && state.position >= writer.compactionRetrySize
    }

    /// Has the journal compacted on a background thread.
    func scheduleCompaction() {
        guard !isCompactionScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        if !worker.compact(self) { isCompactionScheduled.store(false, ordering: .releasing) }
    }

    /// Compacts, on a background thread, if there is still need.
    func compactInBackground() {
        defer { deliverReports() }
        compaction.lock()
        defer { compaction.unlock() }
        isCompactionScheduled.store(false, ordering: .releasing)
        do throws(JournalError) {
            try compactFiles(limit: options.lockTimeout, isAsked: false)
        } catch  where error.kind == .replaced || error.kind == .forked {
            // There is nothing left to compact.
        } catch  where error.isBusy {
            // The next write sees the need again.
        } catch {
            exclusive.lock()
            stateLock.lock()
            writer.compactionRetrySize = state.position * 2
            stateLock.unlock()
            exclusive.unlock()
            note(.compactionFailed(error.located(in: path)))
        }
    }

    /// The new file of a compaction.
    private struct Target: ~Copyable {
        let file: OwnedDescriptor
        let salt: UInt64
        var stream: RecordStream
        /// The end of what was copied, in the old journal.
        var copied: UInt64
        /// The new file's end when it was last synced.
        var syncedEnd: UInt64 = 0
    }

    /// How long a tail may be that is copied while writers wait.
    private static let shortTail: UInt64 = 64 << 10

    /// Compacts; writers wait while what they have just written is copied and synced.
    ///
    /// - Parameters:
    ///   - limit: Nanoseconds to wait for other processes.
    ///   - isAsked: Whether to compact in any case, and to wait for another process that is compacting already.
    /// - Throws: Why it could not compact; the journal is unchanged then.
    private func compactFiles(limit: UInt64, isAsked: Bool) throws(JournalError) {
        if isForked { throw JournalError(.forked, path: path) }
        let need = try withFilesLocked(followsPath: isAsked, waitingAtMost: limit) { () throws(JournalError) in
            isAsked || needsCompaction ? (file: state.file, end: state.position, directory: suite) : nil
        }
        guard let need, let file = try openCompactionTarget(in: need.directory.raw, waits: isAsked) else { return }
        do throws(JournalError) {
            var visitor = TableVisitor()
            var window = try FileWindow(of: need.file.raw, to: need.end, calls: calls)
            let base = UInt64(JournalHeader.size)
            let header = JournalHeader.parse(try window.bytes(0..<min(base, need.end)))
            let report = try Replay.run(&window, from: base, salt: need.file.salt, visitor: &visitor)
            guard report.isClean, report.validEnd == need.end,
                header == .valid(JournalHeader(salt: need.file.salt), damage: [])
            else {
                return try reloadDamaged(need.file)
            }
            let salt = UInt64.random(in: 1...UInt64.max)
            let stream = RecordStream(salt: salt, to: file.raw, calls: calls)
            var target: Target? = Target(file: file, salt: salt, stream: stream, copied: need.end)
            try target?.stream.append(visitor.table)
            try synchronizeTarget(&target, with: need.file)
            try withFilesLocked(followsPath: isAsked, waitingAtMost: limit) { () throws(JournalError) in
                guard state.file === need.file, var target = target.take() else { return }
                try copyTail(of: need.file, to: state.position, &target)
                let end = target.stream.end
                let syncedEnd = target.syncedEnd
                let descriptor = target.file.raw
                let name = SuiteDirectory.compactionName
                try exchange(for: target.file, named: name, salt: target.salt, end: end, isSame: true) {
                    () throws(JournalError) in
                    // Nobody has to wait for the disk, unless some of the tail was promised to be on it.
                    guard end > syncedEnd, try need.file.flags(calls: calls).isFlushed else { return syncedEnd }
                    try calls.sync(descriptor)
                    return end
                }
                writer.compactionRetrySize = 0
                calls.unlock(descriptor)
            }
        } catch {
            throw error.about(SuiteDirectory.compactionName)
        }
        // Whoever needs the name on the disk sooner syncs it as well.
        lockForReading()
        let used = state.file
        stateLock.unlock()
        if used !== need.file { try syncRename(of: used) }
    }

    /// Syncs the new file, and copies what is written meanwhile, until little is left.
    private func synchronizeTarget(_ target: inout Target?, with file: JournalFile) throws(JournalError) {
        guard var current = target.take() else { return }
        var rounds = 0
        while true {
            // From here on a flush may promise what isn't in the new file yet.
            try file.set(.isFlushed, to: false, calls: calls)
            lockForReading()
            let known = state.file === file ? state.position : current.copied
            stateLock.unlock()
            try copyTail(of: file, to: known, &current)
            try current.stream.finish()
            try calls.sync(current.file.raw)
            current.syncedEnd = current.stream.end
            lockForReading()
            let end = state.file === file ? state.position : current.copied
            stateLock.unlock()
            rounds += 1
            if end - current.copied <= Self.shortTail || rounds == 16 { break }
        }
        target = consume current
    }

    /// Copies the records between those copied before and `end`.
    private func copyTail(of file: JournalFile, to end: UInt64, _ target: inout Target) throws(JournalError) {
        guard end > target.copied else { return }
        var window = try FileWindow(of: file.raw, to: end, calls: calls)
        var position = target.copied
        while position < end {
            let head = try window.bytes(position..<min(position + UInt64(Record.headerSize), end))
            guard case .valid(let length, let checksum) = Replay.header(head, at: 0, base: position, salt: file.salt)
            else { throw JournalError(.unstable) }
            let size = Record.size(payload: length, at: position)
            let record = try window.bytes(position..<position + UInt64(size))
            guard record.count == size else { throw JournalError(.unstable) }
            let body = UnsafeRawBufferPointer(rebasing: record[Record.headerSize...])
            guard CRC32C.checksum(body, continuing: checksum) == record.littleEndian(at: 12, as: UInt32.self) else {
                throw JournalError(.unstable)
            }
            // A compaction that failed has left "moved".
            if !Operation.isMove(body) {
                try target.stream.append(payload: UnsafeRawBufferPointer(rebasing: body[..<length]))
            }
            position += UInt64(size)
        }
        try target.stream.finish()
        target.copied = end
    }

    /// Opens the file that compactions write to and takes its lock, which the system releases if the process is killed.
    private func openCompactionTarget(in directory: Int32, waits: Bool) throws(JournalError) -> OwnedDescriptor? {
        let name = SuiteDirectory.compactionName
        let wait = LockWait(atMost: options.lockTimeout)
        do throws(JournalError) {
            for _ in 0..<64 {
                let target = try calls.open(name, in: directory, .create)
                let id = try SuiteDirectory.checkFile(target.raw, calls: calls).id
                while try !calls.tryLock(target.raw) {
                    guard waits else { return nil }
                    guard let pause = wait.pause else {
                        throw JournalError(.busy(process: LockHolder.process(of: target.raw)), path: path)
                    }
                    Threads.sleep(nanoseconds: pause)
                }
                // During the wait the file may have become the journal.
                guard let status = try calls.status(of: name, in: directory), status.id == id else { continue }
                // ext4 flushes a file that was truncated to zero when it is closed, even if it has no name any more. A file
                // that is new needs no truncation and avoids this flush when it is replaced later.
                if status.size > 0 { try calls.truncate(target.raw, to: 0) }
                return target
            }
            throw JournalError(.unstable)
        } catch {
            if error.isWrongType { throw JournalError(.notARegularFile, path: name) }
            // Deleted since this compaction began.
            if error.isNotFound { throw JournalError(.replaced, path: path) }
            throw error.about(name)
        }
    }

    /// Backs up and reports damage that a compaction found, which would disappear with the old file.
    private func reloadDamaged(_ file: JournalFile) throws(JournalError) {
        try withFilesLocked(followsPath: false) { () throws(JournalError) in
            guard state.file === file else { return }
            if state.reportedDamage == file.salt {
                // There was no room for a copy.
                writer.compactionRetrySize = state.position * 2
            } else {
                try reload()
            }
        }
    }
}
