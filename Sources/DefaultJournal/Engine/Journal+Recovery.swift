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
    /// - Throws: `overwritten` for a part of a copy: what isn't whole, where it was written over another file within
    ///   the last second. A part that ends where a record ends would be mistaken for a whole; no record ends at a
    ///   page's end.
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
        var move: (salt: UInt64, end: UInt64)?
        var replay = Replay(window, salt: salt)
        while salt != 0, let payload = try replay.next() {
            try Operation.forEach(in: payload) { operation throws(JournalError) in
                move = operation.move
                try table.apply(checking: operation)
            }
        }
        var report = replay.report
        let isWhole = isHeaderValid && damage.isEmpty && report.isClean
        if isOverwritten, !isWhole, hasJustChanged(status) { throw JournalError(.overwritten) }
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
            if found == nil { try SuiteDirectory.syncNames(of: path, calls: calls) }
            return try replaceJournal(by: EntryTable())
        }
        if !found.report.damage.isEmpty || !found.isSaltKnown { return try recover(found) }
        let end = found.report.tornTail ?? found.size
        // The position may be behind the end although nothing was lost: a tail that was being cut off can look like
        // damage to a process without the lock, which then takes the file's end for its position.
        if found.file.id == before.id, end <= before.lastRecord {
            // Other processes have read more than the file holds; a new one makes them read it.
            note(.shortened(path: journalPath, bytes: before.position - end))
            try replaceJournal(by: entries, isSame: true)
        } else if end < found.size {
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

extension Journal {
    /// Under the lock: backs up a damaged journal and continues with a new one that holds every valid record.
    ///
    /// If there is no room for either file, the damaged one stays in use unchanged: its valid records are among the
    /// entries, and new ones are appended.
    ///
    /// - Throws: Why there is neither a copy nor a way to go on.
    func recover(_ found: Found) throws(JournalError) {
        var damage = damage(found)
        let isFirstReport = state.reportedDamage != found.file.salt
        do throws(JournalError) {
            let copy = try backUp(found.file.raw, size: found.size)
            do throws(JournalError) {
                try replaceJournal(by: entries)
            } catch {
                // The damaged journal stays. Without room for both, the copy must not take what there is.
                do throws(JournalError) { try calls.unlink(copy, in: suite.raw) } catch {}
                throw error
            }
            damage.copy = suite.path + "/" + copy
            note(.damaged(damage))
            stateLock.withLock { state.reportedDamage = nil }
        } catch {
            damage.copyError = error.located(in: path)
            // Without a valid record nothing confirms the salt: appended records might be unreadable later.
            guard found.report.records > 0 else { throw error }
            let end = found.report.tornTail ?? found.size
            if end < found.size { try calls.truncate(found.file.raw, to: end) }
            stateLock.withLock {
                state.isDamaged = false
                state.reportedDamage = found.file.salt
                state.renewLook()
            }
            if isFirstReport { note(.damaged(damage)) }
        }
    }

    /// How many backups of damaged journals are kept: the oldest one, and the newest ones.
    static let maximumBackups = 8

    /// Copies a damaged journal to a file of its own, and returns its name.
    private func backUp(_ file: Int32, size: UInt64) throws(JournalError) -> String {
        let directory = suite.raw
        let names = try calls.names(in: directory).filter { $0.hasPrefix(SuiteDirectory.damagedPrefix) }.inOrder()
        let name = SuiteDirectory.damagedPrefix + Clock.stamp()
        let copy = try suite.createNewFile(name)
        do throws(JournalError) {
            try copyContent(of: file, size: size, to: copy.file.raw)
            try calls.sync(copy.file.raw)
            try calls.syncNames(in: directory)
        } catch {
            // An incomplete copy is useless; if it can't be removed either, it is harmless.
            do throws(JournalError) { try calls.unlink(name, in: directory) } catch {}
            throw error.about(name)
        }
        // Their names begin with the time. One that can't be removed is tried again with the next.
        for name in names.dropFirst().dropLast(Self.maximumBackups - 2) {
            do throws(JournalError) { try calls.unlink(name, in: directory) } catch {}
        }
        return name
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

    /// Under the lock: replaces the journal by a new one with these entries, which are none or this process's; see
    /// ``exchange(for:isSame:)``.
    func replaceJournal(by table: borrowing EntryTable, isSame: Bool = false) throws(JournalError) {
        // The table may be the entries, so no reader may change them by what another program writes meanwhile.
        stateLock.withLock { appending.store(state.position) }
        defer { appending.store(0) }
        let fresh = try NewJournal.make(of: table, in: suite)
        try exchange(for: fresh, isSame: isSame)
    }

    /// Under the lock: renames a complete file over the journal, and uses it.
    ///
    /// If this throws, the old one is still in use. The file has no entries, or those that this process has; it is the
    /// same if every other process has them too.
    func exchange(for fresh: NewJournal, isSame: Bool) throws(JournalError) {
        let (mark, old) = (try JournalMark(of: fresh.file.raw, calls: calls), state.file)
        let comparedAt = stateLock.withLock {
            state.comparedAt = max(state.comparedAt, suite.openedAt)
            return state.comparedAt
        }
        try appendMove(salt: isSame ? fresh.file.salt : 0, end: isSame ? fresh.end : 0)
        // No writer has to wait for the disk, unless some of the new file's tail was promised to be on it. From here on
        // every flush sees that the file is about to replace the journal.
        if fresh.end > fresh.syncedEnd, try old.flags(calls: calls).isFlushed { try fresh.sync() }
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
    }
}
