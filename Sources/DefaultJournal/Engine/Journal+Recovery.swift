extension Journal {
    /// Under `stateLock`: reads the journal at the path from its beginning, and changes nothing in it.
    ///
    /// What has to be repaired is left to the next process that has the lock; ``JournalState/isDamaged`` says so.
    ///
    /// - Parameter isOverwritten: Whether it is the open file with other contents, which may be a part of a copy.
    /// - Throws: Why it can't be read; the entries are what they were before.
    func load(isOverwritten: Bool = false) throws(JournalError) {
        guard let opened = try suite.openJournal(for: purpose) else {
            // Without the lock it isn't known whether it is about to be created.
            throw JournalError(.system(.open, code: SystemCalls.notFound))
        }
        // To see whether it is whole, all of it has to be read: not at each look.
        if isOverwritten, Clock.monotonic() &- state.unsettledAt < Self.stillness { throw JournalError(.overwritten) }
        do throws(JournalError) {
            noteDamage(try replay(opened, isOverwritten: isOverwritten))
            state.isUnsettled = isOverwritten
        } catch {
            if error.kind == .overwritten { state.unsettledAt = Clock.monotonic() }
            throw error
        }
    }

    /// What was found in a journal that was read from its beginning.
    struct Found {
        var file: JournalFile
        var size: UInt64
        var report: ReplayReport
        /// As in ``JournalReport/Damage``.
        var changedKeys: [String] = []
        var possibleKeys: [String] = []
        /// Whether the salt is known, so that records can be read and appended.
        var isSaltKnown: Bool
        /// Whether there is nothing to repair.
        var isWhole: Bool { report.isClean && isSaltKnown }
    }

    /// Under `stateLock`: replaces the entries by those of a journal's valid records.
    ///
    /// - Throws: `overwritten` for a part of a copy: what isn't whole, where it was written over another file and has
    ///   become another part within the last second. A part that ends where a record ends would be mistaken for a
    ///   whole; no record ends at a page's end.
    private func replay(_ opened: consuming OpenedFile, isOverwritten: Bool) throws(JournalError) -> Found {
        let (status, raw) = (opened.status, opened.file.raw)
        let base = UInt64(JournalHeader.size)
        var salt = state.file.id == status.id ? state.file.salt : 0
        var isHeaderValid = true
        var damage: [Range<UInt64>] = []
        var window = try FileWindow(of: raw, to: status.size, calls: calls)
        switch try JournalHeader.read(&window) {
        case .newer(let version): throw JournalError(.newerFormat(version: version))
        case .valid(let header, let ranges):
            salt = header.salt
            damage = ranges
        case .unusable:
            isHeaderValid = false
            damage = [0..<min(status.size, base)]
        }
        guard status.size >= base || !hasJustChanged(status) else {
            // A journal gets its name when it has its header: this is a part of a copy.
            throw JournalError(.overwritten)
        }
        var table = EntryTable(freeForm: entries.freeForm)
        table.isFilling = true
        var move: (salt: UInt64, end: UInt64)?
        var replay = Replay(window, salt: salt)
        while salt != 0, let payload = try replay.next() {
            try Operation.forEach(in: payload) { operation throws(JournalError) in
                move = operation.move
                try table.apply(checking: operation)
            }
        }
        table.isFilling = false
        var report = replay.report
        let isWhole = isHeaderValid && damage.isEmpty && report.isClean
        if isOverwritten, !isWhole, mayBeCopied(status, damage: damage + report.damage) {
            throw JournalError(.overwritten)
        }
        let isSaltKnown = isHeaderValid || report.records > 0
        report.damage = isSaltKnown ? damage + report.damage : [0..<status.size]
        let position = isSaltKnown ? Record.start(from: report.tornTail ?? status.size) : base
        // What was never read hasn't changed.
        let hasRead = state.file.raw >= 0
        let file = JournalFile(opened.file, in: suite, id: status.id, salt: salt)
        let headerMark = try JournalMark(of: file.raw, calls: calls)
        state.use(
            file,
            position: position,
            mark: report.lastRecord ?? headerMark,
            headerMark: headerMark,
            size: min(status.size, report.validEnd),
            move: move
        )
        state.isDamaged = !report.damage.isEmpty || status.size < base
        // The directory may have been replaced since it was opened, and the file in it since that was.
        state.comparedAt = suite.openedAt
        let changed = replaceEntries(by: table, namesChanges: !report.damage.isEmpty && hasRead)
        return Found(
            file: file,
            size: status.size,
            report: report,
            changedKeys: changed,
            possibleKeys: replay.damagedKeys.names(limit: JournalReport.Damage.keyLimit),
            isSaltKnown: isSaltKnown
        )
    }

    /// Under `stateLock`: whether an overwritten journal that isn't whole may still be written by a program that
    /// copies.
    ///
    /// A process that hasn't noticed the copy goes on appending to it, which changes the file, but not what is damaged.
    private func mayBeCopied(_ status: FileStatus, damage: [Range<UInt64>]) -> Bool {
        let now = Clock.monotonic()
        if damage != state.overwrittenDamage.ranges { state.overwrittenDamage = (damage, since: now) }
        let isSame = !damage.isEmpty && now &- state.overwrittenDamage.since >= Self.copyingTime
        return hasJustChanged(status) && !isSame
    }

    /// Under the lock: reads the suite's journal from its beginning, and repairs it if necessary.
    ///
    /// - Parameter isOverwritten: Whether it is the open file with other contents, which may be a part of a copy.
    /// - Throws: Why it can't be read or repaired.
    func reload(isOverwritten: Bool = false) throws(JournalError) {
        let before = stateLock.withLock {
            (id: state.file.id, position: state.position, lastRecord: state.mark?.offset ?? 0)
        }
        var found = try loadUnderLock(isOverwritten: isOverwritten)
        if isOverwritten { stateLock.withLock { state.isUnsettled = true } }
        if let first = found, isOverwritten || !first.isWhole, try waitForCopy(of: first.file) {
            found = try loadUnderLock(isOverwritten: isOverwritten)
            // The entries were those of the first reading by then.
            found?.changedKeys = first.changedKeys
        }
        stateLock.withLock { state.isUnsettled = false }
        guard let found, found.size > 0 else {
            if found != nil, before.id == found?.file.id, before.position > 0 {
                note(.shortened(path: journalPath, bytes: before.position))
            }
            return try startAnew()
        }
        if !found.report.damage.isEmpty || !found.isSaltKnown { return try recover(found) }
        let end = found.report.tornTail ?? found.size
        // The position may be behind the end although nothing was lost: a tail that was being cut off can look like
        // damage to a process without the lock, which then takes the file's end for its position.
        if found.file.id == before.id, end <= before.lastRecord {
            // Other processes have read more than the file holds; a new one makes them read it.
            note(.shortened(path: journalPath, bytes: before.position - end))
            schedule(Repair(of: found))
        }
        if end < found.size {
            try calls.truncate(found.file.raw, to: end)
            stateLock.withLock { state.renewLook() }
        }
    }

    private func loadUnderLock(isOverwritten: Bool) throws(JournalError) -> Found? {
        stateLock.lock()
        defer { stateLock.unlock() }
        guard let opened = try suite.openJournal(for: .writing) else { return nil }
        if opened.status.size == 0, !hasJustChanged(opened.status) {
            let file = JournalFile(opened.file, in: nil, id: opened.status.id, salt: 0)
            return Found(file: file, size: 0, report: ReplayReport(validEnd: 0), isSaltKnown: false)
        }
        return try replay(opened, isOverwritten: isOverwritten)
    }

    /// Reports damage that this process can't repair, once for each journal.
    private func noteDamage(_ found: Found) {
        guard state.refusal != nil else { return }
        if found.report.damage.isEmpty {
            state.reportedDamage = nil
        } else if state.reportedDamage != found.file.salt {
            state.reportedDamage = found.file.salt
            note(.damaged(damage(found)))
        }
    }

    /// What to report of damage, before there is a copy.
    func damage(_ found: Found) -> JournalReport.Damage {
        let report = found.report
        return JournalReport.Damage(
            path: journalPath,
            bytes: report.damagedBytes,
            ranges: report.damage,
            keptRecords: report.records,
            changedKeys: found.changedKeys,
            possibleKeys: found.possibleKeys
        )
    }
}

/// What has to be done about a journal once no lock is held: it has damage, or has lost what others may have read.
final class Repair: @unchecked Sendable {
    // Used by one thread at a time.

    /// That of the journal.
    let salt: UInt64
    /// How much of it was read, which is what is backed up.
    let size: UInt64
    /// What is to be backed up for, and reported.
    var damage: JournalReport.Damage?

    init(of found: Journal.Found, damage: JournalReport.Damage? = nil) {
        salt = found.file.salt
        size = found.size
        self.damage = damage
    }
}

extension Journal {
    /// Under the lock: has a damaged journal backed up and replaced by a new one with every valid record, once the lock
    /// is released.
    ///
    /// The damaged one stays in use until then, and also if the disk has no room for both files. Its valid records are
    /// among the entries, and new ones are appended.
    ///
    /// - Throws: Why the journal can be neither used nor replaced.
    private func recover(_ found: Found) throws(JournalError) {
        // Without a valid record nothing confirms the salt: appended records might be unreadable later.
        guard found.report.records > 0 else { return try replaceUnusable(found) }
        let isKnown = state.reportedDamage == found.file.salt
        // Without a torn tail, which another process would cut off, with what follows it; in a page that the file has.
        let position = Record.start(from: found.report.tornTail ?? found.size)
        if position != found.size { try calls.truncate(found.file.raw, to: position) }
        stateLock.withLock {
            state.isDamaged = false
            state.reportedDamage = found.file.salt
            state.skip(to: position)
        }
        if !isKnown { schedule(Repair(of: found, damage: damage(found))) }
    }

    private func schedule(_ found: Repair) {
        _ = repair.exchange(found)
        hasReports.store(true)
    }

    /// With no lock held: backs a damaged journal up, writes the entries to a new one, and reports it.
    func perform(_ repair: Repair) {
        do throws(JournalError) {
            try rewrite(for: .repair(repair))
        } catch  where stateLock.withLock({ state.file.salt == repair.salt }) {
            // The damaged journal stays. Without room for both, the copy must not take what there is.
            if let copy = repair.damage?.copy { do throws(JournalError) { try calls.unlink(copy) } catch {} }
            repair.damage?.copy = nil
            repair.damage?.copyError = error.located(in: path)
            return note(repair.damage.map { .damaged($0) } ?? .compactionFailed(error.located(in: path)))
        } catch {
            // Only the new name isn't on the disk, which the next flush sees to.
        }
        // Without a copy, another process has repaired it.
        if let damage = repair.damage, damage.copy != nil { note(.damaged(damage)) }
    }

    /// Under the lock: copies a journal without a valid record, and starts a new one.
    ///
    /// It keeps its name until the new one has that: processes that have it open go on writing to it for a millisecond.
    private func replaceUnusable(_ found: Found) throws(JournalError) {
        let copy = try backUp(found.file, size: found.size, isSynced: false)
        do throws(JournalError) {
            try startAnew(insteadOf: found.file)
        } catch {
            do throws(JournalError) { try calls.unlink(copy) } catch {}
            throw error
        }
        var damage = damage(found)
        damage.copy = copy
        note(.damaged(damage))
    }

    /// Under the lock: starts a journal without entries.
    ///
    /// Nothing in it has been promised, so the first flush syncs it, and its name.
    private func startAnew(insteadOf unusable: JournalFile? = nil) throws(JournalError) {
        let fresh = try NewJournal.make(in: suite, isFirst: true)
        do throws(JournalError) {
            try fresh.finish()
            // Without its salt, no record can tell those who have it open that it is replaced. If what they look at is
            // gone, they compare at once.
            if let unusable, unusable.salt == 0 { try calls.truncate(unusable.raw, to: 0) }
            try exchange(for: fresh, isSame: false)
        } catch {
            do throws(JournalError) { try calls.unlink(fresh.name, in: suite.raw) } catch {}
            throw error.about(fresh.name)
        }
    }

    /// How many backups of damaged journals are kept: the oldest one, and the newest ones.
    static let maximumBackups = 8

    /// Removes all backups but the oldest one and the newest ones.
    private func removeOldBackups(in directory: SuiteDirectory) {
        // What can't be listed or removed is tried again with the next.
        var names: [String] = []
        do throws(JournalError) { names = try calls.names(in: directory.raw) } catch {}
        // Their names begin with the time.
        names = names.filter { $0.hasPrefix(SuiteDirectory.damagedPrefix) }.inOrder()
        for name in names.dropFirst().dropLast(Self.maximumBackups - 1) {
            do throws(JournalError) { try calls.unlink(name, in: directory.raw) } catch {}
        }
    }

    /// Copies a damaged journal to a file of its own, puts that on the disk unless a lock is held, and returns its
    /// path.
    func backUp(_ file: JournalFile, size: UInt64, isSynced: Bool = true) throws(JournalError) -> String {
        guard let directory = file.directory else { throw JournalError(.replaced, path: path) }
        let name = SuiteDirectory.damagedPrefix + Clock.stamp()
        let copy = try directory.createNewFile(name)
        do throws(JournalError) {
            try copyContent(of: file.raw, size: size, to: copy.file.raw)
            if isSynced {
                try calls.sync(copy.file.raw)
                try calls.syncNames(in: directory.raw)
            }
        } catch {
            // An incomplete copy is useless; if it can't be removed either, it is harmless.
            do throws(JournalError) { try calls.unlink(name, in: directory.raw) } catch {}
            throw error.about(name)
        }
        removeOldBackups(in: directory)
        return directory.path + "/" + name
    }

    /// Copies a file in pieces; what is 0 in it becomes a hole.
    private func copyContent(of file: Int32, size: UInt64, to copy: Int32) throws(JournalError) {
        var window = try FileWindow(of: file, to: size, calls: calls)
        var end: UInt64 = 0
        while let data = try window.firstData(from: end) {
            let piece = try window.piece(from: data, to: size)
            try calls.write(piece, to: copy, at: data)
            end = data + UInt64(piece.count)
        }
        if end < size { try calls.truncate(copy, to: size) }
    }

    /// Under the lock, which all writers wait for meanwhile: writes the entries to a new journal, and syncs it.
    func replaceJournal() throws(JournalError) {
        let fresh = try NewJournal.make(in: suite, isFirst: state.file.words(calls: calls).unsyncedNames > 1)
        do throws(JournalError) {
            try appendEntries(to: fresh)
            try fresh.sync()
        } catch {
            throw error.about(fresh.name)
        }
        try exchange(for: fresh, isSame: true)
    }

    /// Under the lock: renames a complete file over the journal, and uses it.
    ///
    /// If this throws, the old one is still in use. The file has no entries, or those that this process has; it is the
    /// same if every other process has them too.
    ///
    /// - Returns: False if a flush has promised some of what isn't synced in the new file; then nothing was renamed.
    @discardableResult
    func exchange(for fresh: NewJournal, isSame: Bool) throws(JournalError) -> Bool {
        let (mark, old) = (try JournalMark(of: fresh.file.raw, calls: calls), state.file)
        let comparedAt = stateLock.withLock {
            state.comparedAt = max(state.comparedAt, suite.openedAt)
            return state.comparedAt
        }
        try appendMove(salt: isSame ? fresh.file.salt : 0, end: isSame ? fresh.end : 0)
        // From here on every flush sees that the file is about to replace the journal.
        if fresh.end > fresh.syncedEnd, !fresh.isEmpty, try old.words(calls: calls).isFlushed { return false }
        // In a directory that others may write to it may have been exchanged. If it is missing, the next call says so.
        if let status = try calls.status(of: fresh.name, in: suite.raw), status.id != fresh.file.id || status.links != 1
        {
            throw JournalError(.unstable, path: fresh.name)
        }
        try calls.rename(fresh.name, to: SuiteDirectory.journalName, in: suite.raw)
        fresh.file.flusher.noteSynced(to: fresh.syncedEnd)
        stateLock.withLock {
            if fresh.isEmpty {
                _ = replaceEntries(by: EntryTable(freeForm: entries.freeForm), namesChanges: false)
            }
            state.use(fresh.file, position: fresh.end, mark: mark, headerMark: mark)
            // Once it is renamed, another thread may follow "moved" to what has replaced it since, and compare that.
            state.comparedAt = min(state.comparedAt, comparedAt)
        }
        scheduleFlush()
        return true
    }
}
