extension Journal {
    /// Under the lock: backs up a damaged journal and continues with a new one that holds every valid record.
    ///
    /// If there is no room for either file, the damaged one stays in use unchanged: its valid records are among the entries, and
    /// new ones are appended.
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
            damage.copy = path + "/" + copy
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
                state.renewLook(calls: calls)
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
        let copy = try calls.open(name, in: directory, .createNew)
        do throws(JournalError) {
            try copyContent(of: file, size: size, to: copy.raw)
            try calls.sync(copy.raw)
            try calls.sync(directory, name: ".")
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

    /// Under the lock: replaces the journal by a new one with these entries, as ``exchange(for:isSame:apply:)`` does.
    func replaceJournal(
        by table: borrowing EntryTable,
        isSame: Bool = false,
        apply: () -> Void = {}
    ) throws(JournalError) {
        // The table may be the entries, so no reader may change them by what another program writes meanwhile.
        stateLock.withLock { appending.store(state.position) }
        defer { appending.store(0) }
        let fresh = try NewJournal.make(of: table, in: suite, calls: calls)
        try exchange(for: fresh, isSame: isSame, apply: apply)
    }

    /// Under the lock: renames a complete file over the journal, and uses it.
    ///
    /// If this throws, the old one is still in use. The file is the same if it has the entries that this process has, and every other
    /// process; otherwise `apply` changes the entries.
    func exchange(for fresh: NewJournal, isSame: Bool, apply: () -> Void = {}) throws(JournalError) {
        let (mark, old) = (try JournalMark(of: fresh.file.raw, calls: calls), state.file)
        try appendMove(salt: isSame ? fresh.file.salt : 0, end: isSame ? fresh.end : 0)
        // No writer has to wait for the disk, unless some of the new file's tail was promised to be on it. From here on every flush
        // sees that the file is about to replace the journal.
        if fresh.end > fresh.syncedEnd, try old.flags(calls: calls).isFlushed { try fresh.sync() }
        try calls.rename(fresh.name, to: SuiteDirectory.journalName, in: suite.raw)
        flusher.noteSynced(fresh.file, to: fresh.syncedEnd)
        stateLock.withLock {
            apply()
            state.use(fresh.file, position: fresh.end, mark: mark, headerMark: mark, calls: calls)
            state.comparedAt = Clock.monotonic()
        }
        scheduleFlush()
    }
}
