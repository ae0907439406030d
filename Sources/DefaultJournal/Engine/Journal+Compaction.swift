extension Journal {
    /// Writes the live entries to a new journal, which replaces the old one.
    package func compact() throws(JournalError) {
        defer { deliverReports() }
        try withPathInErrors { () throws(JournalError) in
            if hasExclusiveAccess {
                // Inside exclusive access the order of the locks allows only the simple way, which blocks all writers.
                guard try stateLock.withLock({ () throws(JournalError) in try comparePath() }) == .same else {
                    throw JournalError(.replaced, path: path)
                }
                // If it fails after "moved" was appended, the open file is still the journal, and this access goes on
                // writing to it.
                defer { stateLock.withLock { state.forgetSuccessor() } }
                return try replaceJournal()
            }
            // The suite that is compacted is the one at the path.
            try withFilesLocked(comparesPath: true) {}
            try rewrite(for: .request)
        }
    }

    /// Bytes that a journal may have in addition to twice those of its live entries.
    static let slack: UInt64 = 512 << 10
    /// How many times its bound a journal may reach before a write compacts it.
    static let largestExcess: UInt64 = 8

    /// Whether the journal is about to be larger than its bound; with exclusive access.
    ///
    /// The compaction begins a little earlier, so that it has usually ended when the bound is reached.
    @inline(__always)  // See Journal.acquire.
    var needsCompaction: Bool {
        assert(hasExclusiveAccess)
        let live = entries.journalSize
        return state.position > live + live / 10 * 7 + Self.slack / 5 * 4 && options.automaticMaintenance
            && state.position >= writer.compactionRetrySize
            && (writer.compactionRetryTime == 0 || Clock.monotonic() > writer.compactionRetryTime)
    }

    func scheduleCompaction() {
        guard !isCompactionScheduled.exchange(true) else { return }
        if !worker.compact(self) { isCompactionScheduled.store(false) }
    }

    func compactInBackground() {
        defer { deliverReports() }
        do throws(JournalError) {
            try rewrite(for: .size)
        } catch  where error.kind == .replaced || error.kind == .forked {
            // Nothing is left to compact, or this process may not do it.
        } catch  where error.isBusy || error.kind == .overwritten || error.kind == .unstable {
            // A later write tries again, but not within a second: the process that is in the way may be stopped.
            exclusive.lock()
            writer.compactionRetryTime = Clock.monotonic() + 1_000_000_000
            writer.compactingProcess = error.busyProcess
            exclusive.unlock()
        } catch {
            exclusive.lock()
            writer.compactionRetrySize = stateLock.withLock { state.position * 2 }
            exclusive.unlock()
            note(.compactionFailed(error.withDirectory(path)))
        }
        isCompactionScheduled.store(false)
    }

    /// Compacts a journal that has grown far beyond its bound; at the end of exclusive access.
    ///
    /// That happens if the background can't compact it, or not as fast as it grows. All writers wait for the disk
    /// meanwhile. The write that has led to it has been made: a failure is only reported.
    @inline(__always)  // See Journal.acquire.
    func compactIfOverdue() {
        assert(hasExclusiveAccess)
        guard state.position > Self.largestExcess * (2 * entries.journalSize + Self.slack),
            options.automaticMaintenance, state.position >= writer.compactionRetrySize,
            // Otherwise its repair is due, or has failed.
            state.reportedDamage != state.file.salt
        else { return }
        do throws(JournalError) {
            try replaceJournal()
            if !isCompactionByWriteReported.exchange(true) {
                note(.compactedByWrite(path: path, process: writer.compactingProcess))
            }
        } catch {
            writer.compactionRetrySize = state.position * 2
            note(.compactionFailed(error.withDirectory(path)))
        }
    }
}

extension Journal {
    /// Why a journal is written to another file.
    enum Occasion {
        /// It is mostly replaced values.
        case size
        case request
        /// A sync has failed, after which only another file can be trusted.
        ///
        /// Only a flush that a caller relies on, a promise, may go on with another suite at the path.
        case failedSync(isPromise: Bool)
        case repair(Repair)

        /// Whether to wait for another process that compacts.
        var waits: Bool {
            if case .size = self { return false }
            return true
        }

        var isRepair: Bool {
            if case .repair = self { return true }
            return false
        }

        /// Whether to go on with the suite at the path if the open one was deleted or replaced.
        ///
        /// A compaction or flush in the background doesn't: it must not create a suite again that was deleted.
        var followsPath: Bool {
            switch self {
            case .size: false
            case .request, .repair: true
            case .failedSync(let isPromise): isPromise
            }
        }
    }

    /// The longest tail, in bytes, that is copied under the lock right away; writers wait for that.
    ///
    /// A longer one is first copied while writers go on, for a number of rounds.
    private static let shortTail: UInt64 = 64 << 10
    /// The most syncs that a compaction makes while it waits for a short tail.
    private static let shortTailRounds = 16
    /// How many syncs it makes in all, while flushes promise records that it has yet to copy.
    private static let maximumRounds = 100

    /// Writes the entries to another file, which replaces the journal, if the reason for that still holds.
    ///
    /// While the disk works, no lock is held that a writer needs. A writer waits only while the last records are
    /// copied or, after damage or a failed sync, while all entries are written.
    /// If it throws, no entry is lost; the new file may already have replaced the journal.
    func rewrite(for occasion: Occasion) throws(JournalError) {
        if isForked { throw JournalError(.forked, path: path) }
        compaction.lock()
        defer { compaction.unlock() }
        // The reason may have gone while this waited for another thread's compaction.
        let need = try withFilesLocked(followsPath: occasion.followsPath) { () throws(JournalError) in
            try isNeeded(for: occasion) ? Snapshot(file: state.file, end: state.position, directory: suite) : nil
        }
        guard let need else { return }
        do throws(JournalError) {
            guard let target = try openCompactionTarget(in: need.directory, insteadOf: need.file, for: occasion) else {
                return
            }
            // Whether the names of the directories above aren't known to be on the disk either.
            let isFirst = try need.file.words(calls: calls).unsyncedNames > 1
            let name = SuiteDirectory.compactionName
            let fresh = try NewJournal(target, named: name, in: need.directory, isFirst: isFirst)
            guard let copied = try fill(fresh, from: need.file, to: need.end, occasion) else {
                return try reloadDamaged(need.file, followsPath: occasion.followsPath)
            }
            guard try publish(fresh, insteadOf: need.file, copied: copied, occasion) else {
                return try reloadDamaged(need.file, followsPath: occasion.followsPath)
            }
        } catch {
            // No flush has to wait for this compaction any more.
            do throws(JournalError) {
                try need.file.set(.copied, to: 0, calls: calls)
            } catch {
                // A flush then syncs once more than it has to.
            }
            throw try orReplaced(error, in: need.directory).withFileName(SuiteDirectory.compactionName)
        }
        // Writers don't wait for this. A flush that needs the name on the disk earlier syncs it itself.
        let used = current.file
        if used !== need.file { try syncNames(of: used, used.words(calls: calls).unsyncedNames) }
    }

    /// A journal, and the end of the records that were committed in it.
    struct Snapshot {
        var file: JournalFile
        var end: UInt64
        var directory: SuiteDirectory
    }

    /// Whether the reason for a compaction still holds; under the lock.
    private func isNeeded(for occasion: Occasion) throws(JournalError) -> Bool {
        assert(hasFileLock)
        return switch occasion {
        case .size: needsCompaction
        case .request: true
        // If a compaction has replaced the file meanwhile, the flush starts over with the other one, and syncs the tail
        // that the compaction has copied last.
        case .failedSync: try state.file.words(calls: calls).hasSyncFailed
        case .repair(let repair): state.file.salt == repair.salt
        }
    }

    /// Writes the entries to a new file.
    ///
    /// - Returns: The offset in the old file up to which the new one has the entries; nil if the old file isn't whole,
    ///   or was found to be replaced.
    private func fill(
        _ fresh: NewJournal,
        from file: JournalFile,
        to end: UInt64,
        _ occasion: Occasion
    ) throws(JournalError) -> UInt64? {
        assert(compaction.isHeldByThisThread)
        switch occasion {
        case .size, .request:
            // From the file and not from this process's entries, so that damage is found while the file is still there.
            var table = EntryTable()
            var window = try FileWindow(of: file.raw, to: end, calls: calls)
            let header = try JournalHeader.read(&window)
            let report = try table.replay(window, salt: file.salt)
            guard report.isClean, report.validEnd == end, header == .valid(JournalHeader(salt: file.salt), damage: [])
            else { return nil }
            try fresh.append(table)
            return end
        case .failedSync, .repair:
            if case .repair(let repair) = occasion, repair.damage != nil {
                // The process that was waited for may have repaired it.
                guard try withFilesLocked({ state.file === file }) else { return nil }
                repair.damage?.copy = try backUp(file, size: repair.size)
                repair.damage?.copyError = nil
            }
            // The entries are what was written and is valid; the file may have lost some of it.
            return try withFilesLocked(followsPath: occasion.followsPath) { () throws(JournalError) in
                guard state.file === file else { return nil }
                try appendEntries(to: fresh)
                return state.position
            }
        }
    }

    /// Writes this process's entries; under the lock.
    func appendEntries(to fresh: NewJournal) throws(JournalError) {
        assert(hasFileLock)
        // Keeps readers from applying records that another program may write while the entries are copied.
        stateLock.withLock { appending.store(state.position) }
        defer { appending.store(0) }
        try fresh.append(entries)
    }

    /// Completes a new file while writers go on, and replaces the journal with it.
    ///
    /// It is synced, and the records written meanwhile are copied, in turn, until few are left, and no flush has
    /// promised that these are on the disk.
    ///
    /// - Returns: False if the records written meanwhile aren't whole. If another file has replaced the journal,
    ///   nothing is left to do, and that is success.
    private func publish(
        _ fresh: NewJournal,
        insteadOf file: JournalFile,
        copied: UInt64,
        _ occasion: Occasion
    ) throws(JournalError) -> Bool {
        assert(compaction.isHeldByThisThread)
        var copied = copied
        for round in 0..<Self.maximumRounds {
            // Before the look: a flush that sets the flag after this may have promised later records.
            try file.set(.isFlushed, to: 0, calls: calls)
            var known = current
            guard known.file === file else { return true }
            guard try copyTail(of: file, from: copied, to: known.position, into: fresh) else { return false }
            copied = known.position
            // Before the sync: from now on, a flush of later records syncs the new file too, and then sets the flag.
            try file.set(.copied, to: copied, calls: calls)
            try fresh.sync()
            known = current
            guard known.file === file else { return true }
            // Writers would wait for the copy of a long tail; the next one is shorter.
            if known.position - copied > Self.shortTail, round + 1 < Self.shortTailRounds { continue }
            // After a flush, the next copy has to be synced before the rename.
            if try file.words(calls: calls).isFlushed { continue }
            // False if the flag is set, for another round; nil if the records aren't whole.
            let isDone = try withFilesLocked(followsPath: occasion.followsPath) { () throws(JournalError) -> Bool? in
                guard state.file === file else { return true }
                guard try copyTail(of: file, from: copied, to: state.position, into: fresh) else { return nil }
                copied = state.position
                // A backup that was restored since the last comparison must not be replaced. One that gets the name
                // after this look, but before the rename, is replaced all the same.
                let present = try calls.status(of: SuiteDirectory.journalName, in: suite.raw)
                guard present?.id == file.id else { return true }
                guard try swapIn(fresh, keepingEntries: !occasion.isRepair) else { return false }
                // The reasons to put compactions off were about the old file.
                writer.compactionRetrySize = 0
                writer.compactionRetryTime = 0
                writer.compactingProcess = nil
                calls.unlock(fresh.file.raw)
                return true
            }
            guard let isDone else { return false }
            if isDone { return true }
        }
        // In each round a flush has set the flag before the compaction was done.
        throw JournalError(.unstable)
    }

    /// Copies a tail's operations, without those that a later one in the tail replaces.
    ///
    /// - Returns: Whether the tail is whole; otherwise a part of it may have been copied.
    private func copyTail(
        of file: JournalFile,
        from start: UInt64,
        to end: UInt64,
        into fresh: NewJournal
    ) throws(JournalError) -> Bool {
        guard start < end else { return true }
        // The number of each key's last operation, and of the last one that removes all keys.
        var last = EntryTable()
        var lastRemoval = 0
        var count = 0
        let wholeEnd = try forEachRecord(of: file, from: start, to: end) { payload throws(JournalError) in
            try Operation.forEach(in: payload) { operation throws(JournalError) in
                count += 1
                switch operation {
                case .set(let key, _, _), .remove(let key):
                    try withUnsafeBytes(of: count) { number throws(JournalError) in
                        try last.apply(checking: .set(key: key, value: number))
                    }
                case .removeAll: lastRemoval = count
                // A compaction that failed has left it.
                case .moved: break
                }
            }
        }
        guard wholeEnd == end else { return false }
        count = 0
        // The file may be damaged between the two readings.
        let copiedEnd = try forEachRecord(of: file, from: start, to: end) { payload throws(JournalError) in
            try fresh.append(payload) { operation in
                count += 1
                return switch operation {
                case .set(let key, _, _), .remove(let key):
                    count > lastRemoval && last.entry(key)?.value.loadUnaligned(as: Int.self) == count
                case .removeAll: count == lastRemoval
                case .moved: false
                }
            }
        }
        try fresh.finish()
        return copiedEnd == end
    }

    /// - Returns: The end of the whole records.
    private func forEachRecord(
        of file: JournalFile,
        from start: UInt64,
        to end: UInt64,
        _ body: (UnsafeRawBufferPointer) throws(JournalError) -> Void
    ) throws(JournalError) -> UInt64 {
        let window = try FileWindow(of: file.raw, to: end, calls: calls)
        var replay = Replay(window, from: start, salt: file.salt, stopsAtDamage: true)
        while let payload = try replay.next() { try body(payload) }
        return replay.report.validEnd
    }

    /// Opens the file that compactions write to and takes its lock, which the system releases if the process is killed.
    ///
    /// - Returns: The file; nil if a request isn't needed any more, since another process has replaced the journal. So
    ///   if several processes compact at the same time, none waits for all others.
    private func openCompactionTarget(
        in directory: SuiteDirectory,
        insteadOf journal: JournalFile,
        for occasion: Occasion
    ) throws(JournalError) -> OwnedDescriptor? {
        let name = SuiteDirectory.compactionName
        var wait = LockWait(limit: options.lockTimeout)
        var hasWaited = false
        for _ in 0..<64 {
            let opened = try directory.createFile(name)
            // The lock of another compaction; the system releases it when that process ends.
            while try !calls.tryLock(opened.file.raw) {
                hasWaited = true
                guard occasion.waits, let pause = wait.pause(atMost: 500_000) else {
                    throw JournalError(.busy(process: LockHolder.process(of: opened.file.raw)), path: path)
                }
                Threads.sleep(nanoseconds: pause)
                if try isReplaced(journal, in: directory, occasion) { return nil }
            }
            if hasWaited, try isReplaced(journal, in: directory, occasion) { return nil }
            // During the wait the file may have become the journal. One call looks up both the file that has the name
            // now, and how many names it has: one that has no other name isn't another program's.
            guard let status = try calls.status(of: name, in: directory.raw), status.id == opened.status.id else {
                continue
            }
            guard status.links == 1 else { throw JournalError(.linked, path: name) }
            // ext4 flushes a file that was truncated to zero when it is closed, even if it has no name any more. A file
            // that is new needs no truncation and avoids this flush when it is replaced later.
            if status.size > 0 { try calls.truncate(opened.file.raw, to: 0) }
            return opened.file
        }
        throw JournalError(.unstable)
    }

    /// Whether another file has replaced the journal, so that a request to compact it isn't needed any more.
    private func isReplaced(
        _ journal: JournalFile,
        in directory: SuiteDirectory,
        _ occasion: Occasion
    ) throws(JournalError) -> Bool {
        guard case .request = occasion else { return false }
        guard let present = try calls.status(of: SuiteDirectory.journalName, in: directory.raw) else { return false }
        return present.id != journal.id
    }

    /// Has damage that a compaction found backed up and reported before the old file disappears.
    ///
    /// Unless the path is followed, it throws `replaced` if another journal is there by now.
    private func reloadDamaged(_ file: JournalFile, followsPath: Bool) throws(JournalError) {
        try withFilesLocked(followsPath: followsPath) { () throws(JournalError) in
            guard state.file === file else { return }
            if state.reportedDamage == file.salt {
                // Its repair is due, or has failed and is tried again, for example on a disk that has room by now.
                writer.compactionRetrySize = state.position * 2
                scheduleFailedRepair()
            } else {
                try reload()
            }
        }
    }
}
