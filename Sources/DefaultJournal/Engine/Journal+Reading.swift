extension Journal {
    /// Nanoseconds after which a reader or watcher compares the open files with those at the path.
    ///
    /// A little less than a second: the watcher looks once a second, and then compares each time.
    static let readersInterval: UInt64 = 950_000_000

    /// Brings the entries up to date and keeps it so until ``unlockForReading()``.
    ///
    /// Costs a mutex, one load and a look at the clock when nothing changed. Until the matching unlock, the thread must
    /// make no other call to this journal. Never fails: if what others wrote can't be read, the entries stay unchanged
    /// and a report says why.
    package func lockForReading() {
        stateLock.lock()
        if !isCurrent { catchUpForReading() }
    }

    package func unlockForReading() {
        stateLock.unlock()
        if hasReports.load() { deliverReports() }
    }

    /// The same for any number of threads at once, until ``endReading(_:)``.
    ///
    /// - Returns: What ``endReading(_:)`` takes: the reader's slot, or nil if it excludes other readers.
    package func beginReading() -> Int? {
        if let slot = stateLock.tryLockShared() {
            if isCurrent { return slot }
            stateLock.unlockShared(slot)
        }
        lockForReading()
        return nil
    }

    package func endReading(_ slot: Int?) {
        if let slot { stateLock.unlockShared(slot) } else { unlockForReading() }
    }

    /// The open file, and the end of what is committed; for the engine itself, since it delivers no reports.
    var current: (file: JournalFile, position: UInt64, isMoving: Bool) {
        lockForReading()
        defer { stateLock.unlock() }
        return (state.file, state.position, state.move != nil)
    }

    /// Under `stateLock`, also shared: whether the entries are what a reader has to see.
    ///
    /// What a thread of this process is writing it applies to the entries itself. Until its call returns, the write
    /// hasn't happened.
    private var isCurrent: Bool {
        (state.seesNothingNew || appending.load() == state.position)
            && Clock.monotonicTick() < state.comparedAt &+ Self.readersInterval
    }

    /// Under `stateLock`, which it may release and take again.
    private func catchUpForReading() {
        if isForked { return noteFailure(JournalError(.forked, path: path)) }
        do throws(JournalError) {
            let now = Clock.monotonic()
            let progress = try catchUp()
            if now &- state.comparedAt >= Self.readersInterval || progress == .broken, try compareForReading(now) {
                return
            }
            guard progress != .complete || state.isDamaged || state.move != nil,
                state.repairTriedAt &+ Self.readersInterval < now,
                exclusive.tryLock()
            else { return }
            defer { exclusive.unlock() }
            state.repairTriedAt = now
            if state.refusal != nil {
                if progress == .broken { try load() }
                return
            }
            // Only under the lock is it known that no writer is about to complete it.
            stateLock.unlock()
            defer { stateLock.lock() }
            try withFilesLocked(followsPath: false, waitingAtMost: 0) {}
        } catch {
            // What was replaced is read when it is compared next.
            if error.isBusy || error.kind == .overwritten || error.kind == .replaced { return }
            noteFailure(error.located(in: path))
        }
    }

    private func noteFailure(_ error: JournalError) {
        guard state.failure != error else { return }
        state.failure = error
        note(.catchUpFailed(error))
    }

    /// Under `stateLock`: compares, and reads what is at the path if that is something else.
    ///
    /// - Returns: Whether it has read something else.
    private func compareForReading(_ now: UInt64) throws(JournalError) -> Bool {
        var finding = try compareIdentity()
        if finding == .otherJournal {
            // A compaction may have ended since the entries were brought up to date.
            _ = try catchUp()
            finding = try compareIdentity()
        }
        state.comparedAt = now
        if finding == .same {
            state.failure = nil
            return false
        }
        // The next writer compares at once. While there is nothing at the path, readers have what was there.
        state.comparedAt = now &- Self.writersInterval
        if finding == .missing { return false }
        // A thread that writes uses the open files without this lock, and goes on with what it began with. The first
        // read after that compares.
        guard exclusive.tryLock() else {
            state.comparedAt = 0
            return false
        }
        defer { exclusive.unlock() }
        guard writer.depth == 0 else {
            state.comparedAt = 0
            return false
        }
        do throws(JournalError) {
            if finding == .otherSuite { try openOtherSuite() } else { try load(isOverwritten: finding == .overwritten) }
        } catch {
            // What can't be read yet is looked at again soon.
            if error.kind == .overwritten { state.comparedAt = now &- Self.readersInterval &+ Self.stillness }
            // Not every file system renames in one step: a journal that isn't there is about to be.
            if error.isNotFound { return false }
            throw error
        }
        state.failure = nil
        note(.replaced(path: path))
        return true
    }

    /// Under `exclusive` and `stateLock`: reads the suite that is at the path now.
    private func openOtherSuite() throws(JournalError) {
        let before = suite
        suite = try SuiteDirectory.openExisting(path, for: purpose, calls: calls)
        do throws(JournalError) {
            try load()
        } catch {
            suite = before
            throw error
        }
        JournalRegistry.shared.move(self, from: before.id, to: suite.id)
    }
}

extension Journal {
    /// What the records after the position were like.
    enum Progress {
        /// All were whole.
        case complete
        /// The last one is shorter than it says: it is in flight, or its writer was killed.
        case torn
        /// There is something that isn't a record, or a damaged one, or the file is shorter than it was.
        case broken
    }

    /// Under `stateLock`: applies the records after the position, as far as they are whole.
    ///
    /// The record that a thread of this process is writing it applies to the entries itself.
    func catchUp() throws(JournalError) -> Progress {
        var hasApplied = false
        // What the last thread with exclusive access has read is read: no other process could write before it released
        // the `flock`.
        _ = owner.load()
        defer { if hasApplied { scheduleFlush() } }
        while true {
            let hasFollowed = try state.move.map { move throws(JournalError) in try follow(move) } ?? false
            guard state.look != 0,
                appending.load() != state.position
            else {
                if hasFollowed { continue }
                return .complete
            }
            // Where another program has written other records over those that are known, these follow them.
            guard let mark = state.mark, try JournalMark(of: state.file.raw, at: mark.offset, calls: calls) == mark
            else {
                return .broken
            }
            let before = state.position
            defer { hasApplied = hasApplied || state.position > before }
            let progress = try applyRecords()
            if progress != .complete { return progress }
            if state.position == before {
                // What the look saw has been cut off, or the mapping shows a page that the file once lacked.
                if state.look != 0 { state.renewLook() }
                return .complete
            }
        }
    }

    /// Bytes that are read at once: most records take a few hundred.
    private static let pieceSize = 8_192

    private func applyRecords() throws(JournalError) -> Progress {
        let (file, start) = (state.file, state.position)
        let size = try calls.size(of: file.raw)
        guard size > start else { return .broken }
        let window = try FileWindow(of: file.raw, to: size, calls: calls, pieceSize: Self.pieceSize)
        var replay = Replay(window, from: start, salt: file.salt, stopsAtDamage: true)
        var move: (salt: UInt64, end: UInt64)?
        do {
            var applied: ReplayReport?
            // What was applied is applied, even if the rest can't be read.
            defer {
                if let applied, let mark = applied.lastRecord {
                    state.advance(to: applied.validEnd, mark: mark, move: move)
                }
            }
            while let payload = try replay.next() {
                try Operation.forEach(in: payload) { operation throws(JournalError) in
                    move = operation.move
                    try applyRead(operation)
                }
                applied = replay.report
            }
        }
        if !replay.report.damage.isEmpty { return .broken }
        guard let tail = replay.report.tornTail else { return .complete }
        return ByteSearch.isZero(try replay.source.bytes(tail..<min(tail + 8, size))) ? .complete : .torn
    }

    /// Under `stateLock`: looks at the path, after the journal has said that another file is about to replace it.
    ///
    /// - Returns: Whether another file is used now.
    private func follow(_ move: (salt: UInt64, end: UInt64)) throws(JournalError) -> Bool {
        let status = try calls.status(
            of: SuiteDirectory.journalName,
            in: suite.raw,
            followsLinks: purpose.followsAnyLink
        )
        guard let status, status.id != state.file.id, appending.load() != state.position,
            let opened = try suite.openJournal(for: purpose)
        else { return false }
        let (id, size) = (opened.status.id, opened.status.size)
        var window = try FileWindow(of: opened.file.raw, to: size, calls: calls, pieceSize: JournalHeader.size)
        guard case .valid(let header, damage: []) = try JournalHeader.read(&window), header.salt == move.salt,
            size >= move.end
        else {
            // It was replaced more than once.
            try load()
            return true
        }
        let mark = try JournalMark(of: opened.file.raw, calls: calls)
        let file = JournalFile(opened.file, in: suite, id: id, salt: header.salt)
        state.use(file, position: move.end, mark: mark, headerMark: mark)
        return true
    }
}

/// What a directory is like: what happens to its name, its permissions or its entries changes its times.
struct DirectoryMark {
    private let changed, modified, links: UInt64

    /// - Returns: nil if it has just changed: it may do so again and get the same time.
    init?(_ status: FileStatus, now: UInt64) {
        // Five times as long as a kernel's tick may be. Some file systems know whole seconds only.
        guard now > status.changed &+ 20_000_000, status.changed % 1_000_000_000 != 0 else { return nil }
        (changed, modified, links) = (status.changed, status.modified, status.links)
    }

    /// Whether a directory is still like this.
    func isThat(of status: FileStatus) -> Bool {
        (changed, modified, links) == (status.changed, status.modified, status.links)
    }
}

extension Journal {
    /// Nanoseconds after which a writer compares the open files with those at the path.
    static let writersInterval: UInt64 = 1_000_000
    /// Nanoseconds in which a copy under way changes its file.
    static let stillness: UInt64 = 50_000_000
    /// Nanoseconds after which a file that hasn't changed is taken for what was to be copied.
    static let copyingTime: UInt64 = 1_000_000_000

    /// How the suite at the path compares with the open files.
    enum Finding {
        case same
        /// Nothing is at the path.
        case missing
        /// Another journal has its name.
        case otherJournal
        /// Another directory has its name.
        case otherSuite
        /// The open journal has other contents than it had, or is shorter.
        case overwritten
        /// The same, with a tail that isn't whole.
        case torn
        /// The same, which was overwritten when it was read.
        case unsettled
    }

    /// Under `stateLock`: compares what is known of the suite with what is at its path.
    func compareIdentity() throws(JournalError) -> Finding {
        guard let directory = try calls.status(of: path, followsLinks: true) else { return .missing }
        guard directory.id == suite.entrance else { return .otherSuite }
        var found = try calls.status(of: journalPath, followsLinks: purpose.followsAnyLink)
        if let link = found, link.isLink || suite.hasLinkedJournal {
            found = try calls.status(of: journalPath, followsLinks: true)
            // Where the journal really is, and with that its lock, is found out when the suite is opened.
            guard link.isLink, suite.hasLinkedJournal, found?.id == state.file.id else { return .otherSuite }
        }
        guard let journal = found, journal.id == state.file.id else { return .otherJournal }
        guard let mark = state.mark, let headerMark = state.headerMark, journal.size >= state.minimumSize,
            try isInFile(mark), try isInFile(headerMark)
        else { return .overwritten }
        if let compared = state.comparedMark, compared != mark, try !isInFile(compared) { return .overwritten }
        state.comparedMark = mark
        return .same
    }

    private func isInFile(_ mark: JournalMark) throws(JournalError) -> Bool {
        try JournalMark(of: state.file.raw, at: mark.offset, calls: calls) == mark
    }

    /// Under `stateLock` and the lock: whether nothing has happened in the directory, nor to the journal's end, since
    /// they were last compared.
    ///
    /// Two calls instead of four, and the journal isn't asked for its times. A file whose times were asked for, or that
    /// was read, gets new ones with the next write, which takes as long as the write itself. What this can't see is
    /// that a directory above was replaced, or a link on the way.
    func isUndisturbed() throws(JournalError) -> Bool {
        guard let directory = state.directory, let mark = state.mark, state.mappedMark == mark,
            try directory.isThat(of: calls.status(suite.raw))
        else { return false }
        return try calls.size(of: state.file.raw) >= state.minimumSize
    }

    /// An error of an operation in a directory: `replaced` if a file is missing because the suite was deleted
    /// meanwhile.
    func explained(_ error: JournalError, from directory: SuiteDirectory) throws(JournalError) -> JournalError {
        guard error.isNotFound, try calls.status(of: path, followsLinks: true)?.id != directory.entrance else {
            return error
        }
        return JournalError(.replaced, path: path)
    }

    /// Whether a file may have changed within the last nanoseconds, by default within the last second.
    func hasJustChanged(_ status: FileStatus, within limit: UInt64 = copyingTime) -> Bool {
        // Some file systems know whole seconds only. Both clocks may be a tick ahead of the other, and a time that is
        // far in the future has been there for long.
        let precision: Int64 = status.changed % 1_000_000_000 == 0 ? 1_000_000_000 : 0
        return abs(Int64(clamping: calls.fileTime) - Int64(clamping: status.changed)) < Int64(limit) + precision
    }

    /// Under the lock: returns when a file that has to be repaired hasn't changed for 50 milliseconds.
    ///
    /// What looks like damage, or like what a killed writer left, may be a part of a copy that another program is
    /// making. Writers wait for the lock; a flush changes only what the header says.
    ///
    /// - Returns: Whether that took time, so that the file has to be read again.
    /// - Throws: `overwritten` if it still changes after fifty looks, which take half a second. Looks are counted
    ///   because a clock would also count the time for which this process was stopped.
    func waitForCopy(of file: JournalFile) throws(JournalError) -> Bool {
        let stillness = Self.stillness
        var status = try calls.status(file.raw)
        var seen = calls.fileTime
        var looks = 0
        while hasJustChanged(status, within: stillness), calls.fileTime &- seen < stillness {
            guard looks < 50 else { throw JournalError(.overwritten) }
            looks += 1
            Threads.sleep(nanoseconds: stillness / 5)
            let last = (status.size, status.changed)
            status = try calls.status(file.raw)
            if (status.size, status.changed) != last { seen = calls.fileTime }
        }
        return looks > 0
    }

    /// Reopens the suite at the path, creating it if there is none, and takes its lock.
    ///
    /// If that fails, reads continue with the entries in memory.
    func reattach(waitingAtMost limit: UInt64) throws(JournalError) {
        // If only the directory's name changed, the new lock may be the same file: keeping it would be a deadlock.
        releaseFileLock()
        let present = try SuiteDirectory.open(path, calls: calls)
        try present.checkPermissions(at: path)
        let (old, new) = (suite.id, present.id)
        stateLock.withLock {
            suite = present
            // Whatever is there is read under the lock.
            state.isDamaged = true
        }
        JournalRegistry.shared.move(self, from: old, to: new)
        try takeFileLock(waitingAtMost: limit)
        try reload()
    }
}
