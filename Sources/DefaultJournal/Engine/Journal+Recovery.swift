extension Journal {
    /// Reads the journal at the path from its beginning, and changes nothing in it; under `stateLock`.
    ///
    /// Repairs are left to the next process that has the lock; ``JournalState/isDamaged`` says whether damage asks for
    /// one.
    ///
    /// - Parameter isOverwritten: Whether it is the open file with other contents, which may be a part of a copy.
    /// - Throws: Why it can't be read; the entries are what they were before.
    func load(isOverwritten: Bool = false) throws(JournalError) {
        assert(hasStateLock)
        guard let opened = try suite.openJournal(for: purpose) else {
            // Without the lock it isn't known whether it is about to be created.
            throw JournalError(.system(.open, code: SystemCalls.notFound))
        }
        // To see whether it is whole, all of it has to be read: not at each look.
        if isOverwritten, Clock.monotonic() &- state.midCopySeenAt < Self.stillness {
            throw JournalError(.overwritten)
        }
        do throws(JournalError) {
            noteDamage(try replay(opened, isOverwritten: isOverwritten))
            state.mayBeMidCopy = isOverwritten
        } catch {
            if error.kind == .overwritten { state.midCopySeenAt = Clock.monotonic() }
            throw error
        }
    }

    /// A journal that was read from its beginning.
    struct LoadedJournal {
        var file: JournalFile
        var size: UInt64
        var report: ReplayReport
        /// The keys for ``JournalReport/Damage/changedKeys``.
        var changedKeys: [String] = []
        /// The keys for ``JournalReport/Damage/possibleKeys``.
        var possibleKeys: [String] = []
        /// Whether the salt is known, so that records can be read and appended.
        var isSaltKnown: Bool
        /// Whether there is nothing to repair.
        var isWhole: Bool { report.isClean && isSaltKnown }
    }

    /// Replaces the entries by those of a journal's valid records; under `stateLock`.
    ///
    /// - Throws: `overwritten` for a part of a copy: a file that isn't whole, and that was written over another one and
    ///   has changed within the last second. A part that ends where a record ends would be mistaken for a whole; no
    ///   record ends at a page's end.
    private func replay(_ opened: consuming OpenedFile, isOverwritten: Bool) throws(JournalError) -> LoadedJournal {
        assert(hasStateLock)
        let status = opened.status
        let base = UInt64(JournalHeader.size)
        // Of the file that is open, the salt is known even if both copies of the header are damaged.
        var salt = state.file.id == status.id ? state.file.salt : 0
        var isHeaderValid = true
        var damage: [Range<UInt64>] = []
        var window = try FileWindow(of: opened.file.raw, to: status.size, calls: calls)
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
        // Read into another table, so that the entries stay what they were if anything below throws.
        var table = EntryTable(freeForm: entries.freeForm)
        table.isFilling = true
        var successor: Successor?
        var replay = Replay(window, salt: salt)
        while salt != 0, let payload = try replay.next() {
            try Operation.forEach(in: payload) { operation throws(JournalError) in
                successor = operation.successor
                try table.apply(checking: operation)
            }
        }
        table.isFilling = false
        var report = replay.report
        let isWhole = isHeaderValid && damage.isEmpty && report.isClean
        if isOverwritten, !isWhole, mayStillBeCopied(status, damage: damage + report.damage) {
            throw JournalError(.overwritten)
        }
        // A valid record confirms the salt: it is an input of the checksums.
        let isSaltKnown = isHeaderValid || report.records > 0
        report.damage = isSaltKnown ? damage + report.damage : [0..<status.size]
        let position = isSaltKnown ? Record.start(from: report.tornTail ?? status.size) : base
        // Entries that were never read haven't changed.
        let hasRead = state.file.raw >= 0
        let file = JournalFile(opened.file, in: suite, id: status.id, salt: salt)
        let headerFingerprint = try RecordFingerprint(of: file.raw, calls: calls)
        state.use(
            file,
            position: position,
            fingerprint: report.lastRecord ?? headerFingerprint,
            headerFingerprint: headerFingerprint,
            size: min(status.size, report.validEnd),
            successor: successor
        )
        state.isDamaged = !report.damage.isEmpty || status.size < base
        state.lacksRecords = !report.damage.isEmpty
        // The directory may have been replaced since it was opened, and the file in it since that was.
        state.comparedAt = suite.openedAt
        let changed = replaceEntries(by: table, namesChanges: !report.damage.isEmpty && hasRead)
        return LoadedJournal(
            file: file,
            size: status.size,
            report: report,
            changedKeys: changed,
            possibleKeys: replay.damagedKeys.names(limit: JournalReport.Damage.keyLimit),
            isSaltKnown: isSaltKnown
        )
    }

    /// The part of a journal that the entries were those of, before it was read again.
    private struct KnownPart {
        var id: FileID
        var position: UInt64
        /// Where the last known record begins.
        var lastRecord: UInt64
    }

    /// Reads the suite's journal from its beginning, and repairs it if necessary; under the lock.
    ///
    /// - Parameter isOverwritten: Whether it is the open file with other contents, which may be a part of a copy.
    /// - Throws: Why it can't be read or repaired.
    func reload(isOverwritten: Bool = false) throws(JournalError) {
        assert(hasFileLock)
        let before = stateLock.withLock {
            KnownPart(
                id: state.file.id,
                position: state.position,
                lastRecord: state.fingerprint?.offset ?? 0
            )
        }
        var loaded = try loadUnderLock(isOverwritten: isOverwritten)
        if isOverwritten { stateLock.withLock { state.mayBeMidCopy = true } }
        // What was overwritten or isn't whole may be a part of a copy: it is read again once it has stood still.
        if let first = loaded, isOverwritten || !first.isWhole, try waitForCopy(of: first.file) {
            loaded = try loadUnderLock(isOverwritten: isOverwritten)
            // Only the first reading was compared with the old entries.
            loaded?.changedKeys = first.changedKeys
        }
        stateLock.withLock { state.mayBeMidCopy = false }
        guard let loaded, loaded.size > 0 else {
            if loaded != nil, before.id == loaded?.file.id, before.position > 0 {
                note(.shortened(path: journalPath, bytes: before.position))
            }
            return try startEmptyJournal()
        }
        if !loaded.report.damage.isEmpty || !loaded.isSaltKnown { return try recover(loaded) }
        let end = loaded.report.tornTail ?? loaded.size
        // The position may be past the end although nothing was lost: a tail that was being cut off can look like
        // damage to a process without the lock, which then takes the file's end for its position.
        if loaded.file.id == before.id, end <= before.lastRecord {
            // Other processes have read more than the file holds; a new one makes them read it.
            note(.shortened(path: journalPath, bytes: before.position - end))
            schedule(Repair(of: loaded))
        }
        if end < loaded.size {
            try calls.truncate(loaded.file.raw, to: end)
            stateLock.withLock { state.remapWordAtEnd() }
        }
    }

    /// - Returns: nil if there is no journal; one without a salt if it is empty, and has been for a second.
    private func loadUnderLock(isOverwritten: Bool) throws(JournalError) -> LoadedJournal? {
        assert(hasFileLock)
        stateLock.lock()
        defer {
            // With the lock, no other process is about to replace it.
            state.forgetSuccessor()
            stateLock.unlock()
        }
        guard let opened = try suite.openJournal(for: .writing) else { return nil }
        if opened.status.size == 0, !hasJustChanged(opened.status) {
            let file = JournalFile(opened.file, in: nil, id: opened.status.id, salt: 0)
            return LoadedJournal(file: file, size: 0, report: ReplayReport(validEnd: 0), isSaltKnown: false)
        }
        return try replay(opened, isOverwritten: isOverwritten)
    }

    /// Reports damage that this process can't repair, once for each journal; under `stateLock`.
    private func noteDamage(_ loaded: LoadedJournal) {
        assert(hasStateLock)
        guard state.refusal != nil else { return }
        if loaded.report.damage.isEmpty {
            state.reportedDamage = nil
        } else if state.reportedDamage != loaded.file.salt {
            state.reportedDamage = loaded.file.salt
            note(.damaged(damage(loaded)))
        }
    }

    /// The damage to report, before there is a copy.
    func damage(_ loaded: LoadedJournal) -> JournalReport.Damage {
        let report = loaded.report
        return JournalReport.Damage(
            path: journalPath,
            bytes: report.damagedBytes,
            ranges: report.damage,
            keptRecords: report.records,
            changedKeys: loaded.changedKeys,
            possibleKeys: loaded.possibleKeys
        )
    }
}

/// A repair that is due once no lock is held: of a journal that has damage, or has lost records that others may have
/// read.
final class Repair: @unchecked Sendable {
    // Used by one thread at a time. An object, because the compaction that it causes notes the copy in it.

    /// The salt of the journal.
    let salt: UInt64
    /// How much of it was read, and is to be backed up.
    let size: UInt64
    /// The damage to back up and to report, if there is any.
    var damage: JournalReport.Damage?
    /// Whether it has failed, and that was reported.
    var hasFailed = false

    init(of loaded: Journal.LoadedJournal, damage: JournalReport.Damage? = nil) {
        salt = loaded.file.salt
        size = loaded.size
        self.damage = damage
    }
}

extension Journal {
    /// Has a damaged journal backed up and replaced by a new one with every valid record, once the lock is released;
    /// under the lock.
    ///
    /// The damaged one stays in use until then, and also if the disk has no room for both files. Its valid records are
    /// among the entries, and new ones are appended.
    ///
    /// - Throws: Why the journal can be neither used nor replaced.
    private func recover(_ loaded: LoadedJournal) throws(JournalError) {
        assert(hasFileLock)
        // Without a valid record nothing confirms the salt: appended records might be unreadable later.
        guard loaded.report.records > 0 else { return try replaceUnusable(loaded) }
        let isKnown = state.reportedDamage == loaded.file.salt
        // The next record goes where a torn tail begins, which another process would cut off together with the record;
        // in a page that the file has.
        let position = Record.start(from: loaded.report.tornTail ?? loaded.size)
        if position != loaded.size { try calls.truncate(loaded.file.raw, to: position) }
        stateLock.withLock {
            state.isDamaged = false
            state.reportedDamage = loaded.file.salt
            state.skip(to: position)
        }
        if !isKnown { schedule(Repair(of: loaded, damage: damage(loaded))) }
    }

    private func schedule(_ due: Repair) {
        _ = repair.exchange(due)
        hasReports.store(true)
    }

    /// Has a repair that failed made again.
    func scheduleFailedRepair() {
        if let failed = failedRepair.exchange(nil), failed.salt == state.file.salt { schedule(failed) }
    }

    /// Backs a damaged journal up, writes the entries to a new one, and reports it; with no lock held.
    func perform(_ repair: Repair) {
        assert(isForked || !hasFileLock)
        do throws(JournalError) {
            try rewrite(for: .repair(repair))
        } catch  where stateLock.withLock({ state.file.salt == repair.salt }) {
            // The damaged journal stays in use, and the copy would take the room that it needs.
            if let copy = repair.damage?.copy { unlinkIfPossible(copy) }
            repair.damage?.copy = nil
            repair.damage?.copyError = error.withDirectory(path)
            if !repair.hasFailed {
                note(repair.damage.map { .damaged($0) } ?? .compactionFailed(error.withDirectory(path)))
            }
            repair.hasFailed = true
            _ = failedRepair.exchange(repair)
            return
        } catch {
            // The journal is another file already. If its name isn't on the disk, the next flush sees to that.
        }
        // Without a copy, another process has repaired it.
        if let damage = repair.damage, damage.copy != nil { note(.damaged(damage)) }
    }

    /// Copies a journal without a valid record, and starts a new one; under the lock.
    ///
    /// It keeps its name until the new one has that: processes that have it open go on writing to it for a millisecond.
    private func replaceUnusable(_ loaded: LoadedJournal) throws(JournalError) {
        assert(hasFileLock)
        let copy = try backUp(loaded.file, size: loaded.size, isSynced: false)
        do throws(JournalError) {
            try startEmptyJournal(insteadOf: loaded.file)
        } catch {
            unlinkIfPossible(copy)
            throw error
        }
        var damage = damage(loaded)
        damage.copy = copy
        note(.damaged(damage))
    }

    /// Starts a journal without entries; under the lock.
    ///
    /// Nothing in it has been promised, so the first flush syncs it, and its name.
    private func startEmptyJournal(insteadOf unusable: JournalFile? = nil) throws(JournalError) {
        assert(hasFileLock)
        let fresh = try NewJournal.make(in: suite, isFirst: true)
        do throws(JournalError) {
            try fresh.finish()
            // Without its salt, no record can be written that says to others that it is replaced. If the word that they
            // look at is gone, they compare immediately.
            if let unusable, unusable.salt == 0 { try calls.truncate(unusable.raw, to: 0) }
            try swapIn(fresh, keepingEntries: false)
        } catch {
            unlinkIfPossible(fresh.name, in: suite)
            throw error.withFileName(fresh.name)
        }
    }

    /// Removes a file that is of no use, and harmless if it can't be removed.
    func unlinkIfPossible(_ name: String, in directory: SuiteDirectory? = nil, isDirectory: Bool = false) {
        do throws(JournalError) {
            try calls.unlink(name, in: directory?.raw, isDirectory: isDirectory)
        } catch {
            // It stays.
        }
    }

    /// How many backups of damaged journals are kept: the oldest one, and the newest ones.
    static let maximumBackups = 8

    /// Removes all backups but the oldest one and the newest ones.
    private func removeOldBackups(in directory: SuiteDirectory) {
        var names: [String] = []
        do throws(JournalError) {
            names = try calls.names(in: directory.raw)
        } catch {
            // Tried again with the next backup.
        }
        // Their names begin with the time.
        names = names.filter { $0.hasPrefix(SuiteDirectory.damagedPrefix) }.sorted()
        for name in names.dropFirst().dropLast(Self.maximumBackups - 1) { unlinkIfPossible(name, in: directory) }
    }

    /// Copies a damaged journal to another file, puts that on the disk unless a lock is held, and returns its
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
            unlinkIfPossible(name, in: directory)
            throw error.withFileName(name)
        }
        removeOldBackups(in: directory)
        return directory.path + "/" + name
    }

    /// Copies a file in pieces; zeros in it become holes.
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

    /// Writes the entries to a new journal, and syncs it; under the lock, which all writers wait for meanwhile.
    func replaceJournal() throws(JournalError) {
        assert(hasFileLock)
        let fresh = try NewJournal.make(in: suite, isFirst: state.file.words(calls: calls).unsyncedNames > 1)
        do throws(JournalError) {
            try appendEntries(to: fresh)
            try fresh.sync()
        } catch {
            throw error.withFileName(fresh.name)
        }
        try swapIn(fresh, keepingEntries: true)
    }

    /// Renames a complete file over the journal, and uses it; under the lock.
    ///
    /// - Parameters:
    ///   - fresh: The file: without entries, or with those that this process has.
    ///   - keepingEntries: Whether every other process has the same entries when it has read the old journal, unless
    ///     records of that are damaged.
    /// - Returns: False if a flush has promised some of what isn't synced in the new file; then nothing was renamed.
    /// - Throws: The call that failed; the old file is still in use then.
    @discardableResult
    func swapIn(_ fresh: NewJournal, keepingEntries: Bool) throws(JournalError) -> Bool {
        assert(hasFileLock)
        let fingerprint = try RecordFingerprint(of: fresh.file.raw, calls: calls)
        let old = state.file
        let keepingEntries = keepingEntries && !state.lacksRecords
        stateLock.withLock { state.comparedAt = max(state.comparedAt, suite.openedAt) }
        defer { appending.store(0) }
        // Before the rename: a process that has the old file open finds the new one by this record.
        try appendMove(salt: keepingEntries ? fresh.file.salt : 0, end: keepingEntries ? fresh.end : 0)
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
            state.use(fresh.file, position: fresh.end, fingerprint: fingerprint, headerFingerprint: fingerprint)
        }
        scheduleFlush()
        return true
    }
}
