// Suites that other programs replace while they are in use: how that is noticed, and what follows.
//
// `comparePath` compares the open files with those at the path. `useFilesAtPath` does what follows, which is this
// table:
//
// | at the path                      | case           | a reader                    | a writer, under the lock    |
// | -------------------------------- | -------------- | --------------------------- | --------------------------- |
// | the open files                   | `same`         | keeps its entries           | keeps its entries           |
// | nothing                          | `missing`      | keeps its entries           | creates a suite, locks it   |
// | another directory                | `otherSuite`   | opens it, reads its journal | opens it, locks it, reads   |
// |                                  |                |                             | and repairs its journal     |
// | another journal                  | `otherJournal` | reads it                    | reads and repairs it        |
// | the directory without a journal  | `otherJournal` | keeps its entries           | creates an empty one        |
// | the open journal, with other     | `overwritten`  | reads it, unless it may be  | reads and repairs it; throws|
// | contents, or shorter             |                | a part of a copy            | while it may be a part      |
//
// When they are compared:
//
// - by a reader, a second after the last time, or when catching up finds something that isn't a record
//   (`compareForReading`);
// - by a writer, a second after the last time; a millisecond after it, unless two cheap calls show that nothing has
//   happened (`isUndisturbed`); and when catching up finds anything to repair (`catchUpUnderLock`);
// - by a call that has to know: the opening of a suite that is open already, a compaction on request, a check, a copy
//   (`comparesPath`).
//
// A writer that must not leave the open files, such as a compaction in the background, throws `replaced` or
// `overwritten` instead. `reload` and `load` are in Journal+Recovery, `follow`, for a compaction, in Journal+Reading.

extension Journal {
    /// Nanoseconds after which a reader or watcher compares the open files with those at the path.
    ///
    /// A little less than a second: the watcher looks once a second, and then compares each time.
    static let readersInterval: UInt64 = 950_000_000
    /// Nanoseconds after which a writer compares the open files with those at the path.
    static let writersInterval: UInt64 = 1_000_000
    /// Nanoseconds within which a copy that is under way changes its file again.
    static let stillness: UInt64 = 50_000_000
    /// Nanoseconds after which a file that hasn't changed is taken for the complete copy.
    static let copyingTime: UInt64 = 1_000_000_000

    /// How the suite at the path compares with the open files.
    enum PathComparison {
        case same
        /// Nothing is at the path.
        case missing
        /// Another journal has its name, or there is no journal.
        case otherJournal
        /// Another directory has its name, or its journal has become a link, or was one that has changed.
        case otherSuite
        /// The open journal has other contents than it had, or is shorter.
        case overwritten
    }

    /// Compares the suite as it is known with the one at its path; under `stateLock`.
    func comparePath() throws(JournalError) -> PathComparison {
        assert(hasStateLock)
        guard let directory = try calls.status(of: path, followsLinks: true) else { return .missing }
        guard directory.id == suite.entrance else { return .otherSuite }
        var found = try calls.status(of: journalPath, followsLinks: purpose.followsAnyLink)
        if let link = found, link.isLink || suite.hasLinkedJournal {
            found = try calls.status(of: journalPath, followsLinks: true)
            // Only opening the suite finds out which directory the journal is really in, and so which lock it has.
            guard link.isLink, suite.hasLinkedJournal, found?.id == state.file.id else { return .otherSuite }
        }
        guard let journal = found, journal.id == state.file.id else { return .otherJournal }
        // The same file: its contents are the same if the last record and the header are what they were.
        guard let fingerprint = state.fingerprint, let headerFingerprint = state.headerFingerprint,
            journal.size >= state.minimumSize,
            try isInFile(fingerprint), try isInFile(headerFingerprint)
        else { return .overwritten }
        if let compared = state.comparedFingerprint, compared != fingerprint, try !isInFile(compared) {
            return .overwritten
        }
        state.comparedFingerprint = fingerprint
        return .same
    }

    private func isInFile(_ fingerprint: RecordFingerprint) throws(JournalError) -> Bool {
        try RecordFingerprint(of: state.file.raw, at: fingerprint.offset, calls: calls) == fingerprint
    }

    /// A thread that has compared the files.
    private enum User {
        /// With `exclusive` and `stateLock`.
        case reader
        /// With the lock; it may wait for the lock of another suite.
        case writer(waitingAtMost: UInt64)
    }

    /// Uses what is at the path, by the table at the top of this file.
    private func useFilesAtPath(_ comparison: PathComparison, as user: User) throws(JournalError) {
        switch (comparison, user) {
        case (.same, _), (.missing, .reader): break
        case (.missing, .writer(let limit)), (.otherSuite, .writer(let limit)): try reattach(waitingAtMost: limit)
        case (.otherSuite, .reader): try openOtherSuite()
        case (.otherJournal, .reader): try load()
        case (.otherJournal, .writer): try reload()
        case (.overwritten, .reader): try load(isOverwritten: true)
        case (.overwritten, .writer): try reload(isOverwritten: true)
        }
    }
}

extension Journal {
    /// Compares, and reads what is at the path if that is something else; under `stateLock`.
    ///
    /// - Returns: Whether it has read something else.
    func compareForReading(_ now: UInt64) throws(JournalError) -> Bool {
        assert(stateLock.isHeldByThisThread)
        var comparison = try comparePath()
        if comparison == .otherJournal {
            // A compaction may have ended since the entries were brought up to date.
            _ = try catchUp()
            comparison = try comparePath()
        }
        state.comparedAt = now
        if comparison == .same {
            state.failure = nil
            return false
        }
        // The next writer compares immediately. While there is nothing at the path, readers keep what was there.
        state.comparedAt = now &- Self.writersInterval
        if comparison == .missing { return false }
        // A thread that is writing uses the open files without `stateLock`, so they must stay. The first read after it
        // is done compares again.
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
            try useFilesAtPath(comparison, as: .reader)
        } catch {
            // What can't be read yet is looked at again soon.
            if error.kind == .overwritten { state.comparedAt = now &- Self.readersInterval &+ Self.stillness }
            // Not every file system renames in one step: a missing journal may be about to appear.
            if error.isNotFound { return false }
            throw error
        }
        state.failure = nil
        note(.replaced(path: path))
        return true
    }

    /// Reads the suite that is at the path now; under `exclusive` and `stateLock`.
    private func openOtherSuite() throws(JournalError) {
        assert(exclusive.isHeldByThisThread && stateLock.isHeldByThisThread)
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
    /// Why a writer has to read the journal from its beginning.
    private enum RereadReason: Equatable {
        /// It hasn't changed since it was read, but another program had just overwritten it then.
        case mayBeMidCopy
        /// It ends in a record that isn't whole.
        case tornTail
        /// It has something that isn't a record, or has become shorter.
        case damage
        case replaced(PathComparison)
    }

    /// Verifies that the open files are the suite's, catches up, and repairs what was left; under the lock.
    @inline(__always)  // See Journal.acquire.
    func recoverAndCatchUp(
        followsPath: Bool,
        waitingAtMost limit: UInt64,
        comparesPath: Bool
    ) throws(JournalError) {
        assert(hasFileLock)
        var reason = try catchUpUnderLock(comparingPath: comparesPath)
        if reason == .tornTail {
            // A program that copies a backup over the journal may be writing it: only a tail that stays is cut off.
            _ = try waitForCopy(of: state.file)
            reason = try catchUpUnderLock(comparingPath: comparesPath, truncatingTail: true)
        }
        switch reason {
        case nil: break
        case .damage, .tornTail: try reload()
        case .mayBeMidCopy: try reload(isOverwritten: true)
        case .replaced(let comparison):
            guard followsPath else {
                throw JournalError(comparison == .overwritten ? .overwritten : .replaced, path: path)
            }
            let isFirst = state.file.salt == 0
            try useFilesAtPath(comparison, as: .writer(waitingAtMost: limit))
            if !isFirst { note(.replaced(path: path)) }
        }
    }

    /// Catches up, and compares the files with those at the path if that is due or asked for; under the lock.
    ///
    /// - Returns: Why the journal has to be read from its beginning; nil if the entries are current.
    @inline(__always)  // See Journal.acquire.
    private func catchUpUnderLock(
        comparingPath: Bool,
        truncatingTail: Bool = false
    ) throws(JournalError) -> RereadReason? {
        if !comparingPath, let token = stateLock.tryLockShared() {
            defer { stateLock.unlockShared(token) }
            if isKnownCurrent(at: writer.lockedAt), state.failure == nil { return nil }
        }
        stateLock.lock()
        defer { stateLock.unlock() }
        let now = writer.lockedAt
        let outcome = try state.isDamaged ? .broken : catchUp()
        state.failure = nil
        // A process that had read what is damaged may have cut off, or written over, what this one takes for damage.
        if outcome == .complete, state.lacksRecords, state.successor == nil,
            try calls.size(of: state.file.raw) != state.position
        {
            return .damage
        }
        // Not with "moved" at the end: that compaction has failed, or has yet to replace the journal.
        if outcome == .complete, !comparingPath, !state.mayBeMidCopy, state.successor == nil {
            if now &- state.checkedAt < Self.writersInterval { return nil }
            if now &- state.comparedAt < Self.readersInterval, try isUndisturbed() {
                state.checkedAt = now
                return nil
            }
        }
        // Before the comparison: anything that happens in the directory meanwhile changes its times again.
        let directory =
            try state.mappedFingerprint == nil
            ? nil : DirectoryFingerprint(calls.status(suite.raw), now: calls.fileTime)
        let comparison = try comparePath()
        guard comparison == .same else { return .replaced(comparison) }
        if state.mayBeMidCopy { return .mayBeMidCopy }
        state.comparedAt = now
        state.directory = directory
        state.forgetSuccessor()
        switch outcome {
        case .complete: return nil
        case .broken: return .damage
        case .torn where !truncatingTail: return .tornTail
        case .torn:
            // No other process can be writing it.
            try calls.truncate(state.file.raw, to: state.position)
            state.remapWordAtEnd()
            return nil
        }
    }

    /// Whether the directory and the journal's end are known to be as they were when they were last compared.
    ///
    /// Called under `stateLock` and the lock.
    ///
    /// It takes fewer calls than a comparison, and doesn't ask for the journal's times: asking for a file's times, or
    /// reading it, makes its next write update them, which costs as much as the write. It can't see that a directory
    /// above was replaced, or a link on the way.
    private func isUndisturbed() throws(JournalError) -> Bool {
        assert(hasFileLock && stateLock.isHeldByThisThread)
        guard let directory = state.directory, let fingerprint = state.fingerprint,
            state.mappedFingerprint == fingerprint,
            try directory.matches(calls.status(suite.raw))
        else { return false }
        return try calls.size(of: state.file.raw) >= state.minimumSize
    }

    /// Reopens the suite at the path, creating it if there is none, and takes its lock; under `exclusive`.
    ///
    /// If that fails, reads continue with the entries in memory.
    func reattach(waitingAtMost limit: UInt64) throws(JournalError) {
        // The directory at the path may be the locked one, reached in another way. With the lock still held, taking it
        // again would never succeed.
        releaseFileLock()
        let present = try SuiteDirectory.open(path, calls: calls)
        try present.checkPermissions(at: path)
        let old = suite.id
        stateLock.withLock {
            suite = present
            // The journal that is there is read under the lock.
            state.isDamaged = true
        }
        JournalRegistry.shared.move(self, from: old, to: present.id)
        try takeFileLock(waitingAtMost: limit)
        try reload()
    }

    /// An error, or `replaced` if it says that a file is missing, and the suite isn't at its path any more.
    func orReplaced(_ error: JournalError, in directory: SuiteDirectory) throws(JournalError) -> JournalError {
        guard error.isNotFound, try calls.status(of: path, followsLinks: true)?.id != directory.entrance else {
            return error
        }
        return JournalError(.replaced, path: path)
    }
}

extension Journal {
    /// Whether a file may have changed within the last `limit` nanoseconds, a second by default.
    func hasJustChanged(_ status: FileStatus, within limit: UInt64 = copyingTime) -> Bool {
        // Some file systems store whole seconds only. Either clock may be a tick ahead of the other. A time far in the
        // future isn't that of a recent change.
        let precision: Int64 = status.changed % 1_000_000_000 == 0 ? 1_000_000_000 : 0
        return abs(Int64(clamping: calls.fileTime) - Int64(clamping: status.changed)) < Int64(limit) + precision
    }

    /// Returns when a file that has to be repaired hasn't changed for 50 milliseconds; under the lock.
    ///
    /// Bytes that look like damage, or like the tail of a killed writer, may be a part of a copy that another program
    /// is making. The library's own writers wait for the lock. A flush may change the header's words, and with them the
    /// file's time, which only makes this wait longer.
    ///
    /// - Returns: Whether that took time, so that the file has to be read again.
    /// - Throws: `overwritten` if it still changes after fifty looks, which take half a second. Looks are counted
    ///   because a clock would also count the time for which this process was stopped.
    func waitForCopy(of file: JournalFile) throws(JournalError) -> Bool {
        assert(hasFileLock)
        let stillness = Self.stillness
        var status = try calls.status(file.raw)
        var seen = calls.fileTime
        var looks = 0
        while hasJustChanged(status, within: stillness), calls.fileTime &- seen < stillness {
            guard looks < 50 else { throw JournalError(.overwritten) }
            looks += 1
            Threads.sleep(nanoseconds: stillness / 5)
            let last = status
            status = try calls.status(file.raw)
            if status.size != last.size || status.changed != last.changed { seen = calls.fileTime }
        }
        return looks > 0
    }

    /// Whether the program that has overwritten the journal may still be writing it; under `stateLock`.
    ///
    /// A process that hasn't noticed the copy goes on appending to it, which changes the file, but not the damaged
    /// ranges.
    func mayStillBeCopied(_ status: FileStatus, damage: [Range<UInt64>]) -> Bool {
        assert(hasStateLock)
        let now = Clock.monotonic()
        if damage != state.overwrittenDamage.ranges {
            state.overwrittenDamage = JournalState.OverwrittenDamage(ranges: damage, since: now)
        }
        let isSame = !damage.isEmpty && now &- state.overwrittenDamage.since >= Self.copyingTime
        return hasJustChanged(status) && !isSame
    }
}

/// The times of a directory, which change with its name, its permissions and its entries.
struct DirectoryFingerprint {
    private let changed: UInt64
    private let modified: UInt64
    private let links: UInt64

    /// - Returns: nil if it has just changed, since it may do so again and get the same time; or if its times are in
    ///   whole seconds.
    init?(_ status: FileStatus, now: UInt64) {
        guard status.isSettled(at: now), status.changed % 1_000_000_000 != 0 else { return nil }
        changed = status.changed
        modified = status.modified
        links = status.links
    }

    /// Whether a directory is still like this.
    func matches(_ status: FileStatus) -> Bool {
        changed == status.changed && modified == status.modified && links == status.links
    }
}
