/// What was found in a damaged journal.
struct FoundDamage {
    var header: JournalHeader
    var report: ReplayReport
    var keys: JournalReport.DamagedKeys
}

extension Journal {
    /// Backs up a damaged journal and continues with a new one that holds every valid record.
    ///
    /// If there is no room for either file, the damaged one stays in use unchanged: its valid records are in the index, and
    /// new ones are appended.
    ///
    /// - Parameters:
    ///   - file: The damaged journal.
    ///   - size: Its size.
    ///   - found: What was found in it.
    ///   - rewrite: Replaces it by a new one with its live entries.
    /// - Throws: Why there is neither a copy nor a way to go on.
    func recover(
        _ file: consuming OwnedDescriptor,
        size: UInt64,
        _ found: FoundDamage,
        rewrite: () throws(JournalError) -> Void
    ) throws(JournalError) {
        let (header, report) = (found.header, found.report)
        var damage = JournalReport.Damage(
            path: journalPath,
            bytes: report.damagedBytes,
            ranges: report.damage,
            keptRecords: report.records,
            copy: nil,
            copyError: nil,
            keys: found.keys
        )
        let isFirstReport = writer.damagedID != header.salt
        do throws(JournalError) {
            damage.copy = try backUp(file.raw, size: size)
            try rewrite()
            note(.damaged(damage))
            writer.damagedID = 0
        } catch {
            damage.copyError = error
            // Without a valid record nothing confirms the salt: appended records might be unreadable later.
            guard report.records > 0, page.publication()?.isReplacing == false else { throw error }
            let end = report.tornTail ?? size
            if end < size { try calls.truncate(file.raw, to: end, path: journalPath) }
            try adopt(file, id: header.salt, end: end)
            if isFirstReport { note(.damaged(damage)) }
            writer.damagedID = header.salt
        }
    }

    /// Copies a damaged journal to a file of its own, unless a copy with the same content exists already.
    ///
    /// - Returns: The copy's path.
    private func backUp(_ file: Int32, size: UInt64) throws(JournalError) -> String {
        let directory = state.suite.directory.raw
        let names = try calls.names(in: directory, path: path).filter { $0.hasPrefix(SuiteDirectory.damagedPrefix) }
        for name in names where try hasContent(of: file, size: size, in: name) { return self.file(name) }
        let stem = SuiteDirectory.damagedPrefix + Clock.stamp() + "-"
        var number = 1
        while names.contains(stem + String(number)) { number += 1 }
        let name = stem + String(number)
        let copyPath = self.file(name)
        let copy = try calls.open(name, in: directory, .createNew, path: copyPath)
        do throws(JournalError) {
            try copyContent(of: file, size: size, to: copy.raw, path: copyPath)
            try calls.sync(copy.raw, path: copyPath)
            try calls.sync(directory, path: path)
        } catch {
            // An incomplete copy is useless; if it can't be removed either, it is harmless.
            do throws(JournalError) { try calls.unlink(name, in: directory, path: copyPath) } catch {}
            throw error
        }
        return copyPath
    }

    /// Copies a file in pieces; what is 0 in it becomes a hole.
    private func copyContent(of file: Int32, size: UInt64, to copy: Int32, path: String) throws(JournalError) {
        var window = try FileWindow(of: file, calls: calls, path: journalPath)
        var end: UInt64 = 0
        while let data = try window.firstData(from: end, to: size) {
            let piece = try window.piece(from: data, to: size)
            try calls.write(piece, to: copy, at: data, path: path)
            end = data + UInt64(piece.count)
        }
        if end < size { try calls.truncate(copy, to: size, path: path) }
    }

    /// Whether a file in the suite's directory has the content of an open one.
    private func hasContent(of file: Int32, size: UInt64, in name: String) throws(JournalError) -> Bool {
        let directory = state.suite.directory.raw
        let copyPath = self.file(name)
        guard let status = try calls.status(of: name, in: directory, path: copyPath), status.isRegular,
            status.size == size
        else { return false }
        let copy = try calls.open(name, in: directory, .read, path: copyPath)
        var one = try FileWindow(of: file, calls: calls, path: journalPath)
        var other = try FileWindow(of: copy.raw, calls: calls, path: copyPath)
        var position: UInt64 = 0
        while true {
            let first = try one.firstData(from: position, to: size)
            let second = try other.firstData(from: position, to: size)
            guard first != nil || second != nil else { return true }
            let start = min(first ?? size, second ?? size)
            let piece = try one.piece(from: start, to: size)
            guard ByteSearch.isSame(piece, try other.piece(from: start, to: size)) else { return false }
            // Both files have become shorter.
            guard !piece.isEmpty else { return true }
            position = start + UInt64(piece.count)
        }
    }

    /// Under the file lock: replaces the journal by a new one with the live entries in `bytes`; all but the directory's
    /// entry is durable.
    ///
    /// - Parameters:
    ///   - bytes: A whole journal, damaged or not, or nothing.
    ///   - salt: Its salt.
    /// - Throws: The system call that failed; the old journal is still in use then.
    func rewrite(_ bytes: UnsafeRawBufferPointer, salt: UInt64) throws(JournalError) {
        var table = LiveTable(bytes)
        if bytes.count > JournalHeader.size {
            let records = UnsafeRawBufferPointer(rebasing: bytes[JournalHeader.size...])
            _ = Replay.run(records, at: UInt64(JournalHeader.size), salt: salt, visitor: &table)
        }
        try rewrite { stream throws(JournalError) in try stream.append(table) }
    }

    /// Under the file lock: replaces the journal by a new one, all but whose directory entry is durable.
    ///
    /// - Parameter fill: Adds the records.
    /// - Throws: What failed; the old journal is still in use then.
    func rewrite(_ fill: (inout RecordStream) throws(JournalError) -> Void) throws(JournalError) {
        let directory = state.suite.directory.raw
        let freshPath = file(SuiteDirectory.replacementName)
        let fresh: OwnedDescriptor
        do throws(JournalError) {
            fresh = try calls.open(SuiteDirectory.replacementName, in: directory, .create, path: freshPath)
        } catch  where error.isWrongType {
            throw JournalError(.notARegularFile, path: freshPath)
        }
        try SuiteDirectory.checkFile(fresh.raw, path: freshPath, calls: calls)
        try calls.truncate(fresh.raw, to: 0, path: freshPath)
        let header = JournalHeader.random()
        var stream = RecordStream(header: header, to: fresh.raw, calls: calls, path: freshPath)
        try fill(&stream)
        let end = try stream.finish()
        try calls.sync(fresh.raw, path: freshPath)
        try replaceJournal(by: SuiteDirectory.replacementName)
        try adopt(fresh, id: header.salt, end: end, syncedEnd: end)
        scheduleFlush()
    }

    /// Renames a finished journal over the one in use.
    ///
    /// Until the page names the new journal, it says that a replacement is under way: a process that is killed in between
    /// leaves a page that names a file without a name.
    func replaceJournal(by name: String) throws(JournalError) {
        let before = page.publication() ?? LockPage.Publication()
        var during = before
        during.isReplacing = true
        try page.publish(during, path: lockPath)
        do throws(JournalError) {
            try calls.rename(name, to: SuiteDirectory.journalName, in: state.suite.directory.raw, path: file(name))
        } catch {
            // If this fails too, the next writer reads the journal, and finds the one that it was.
            do throws(JournalError) { try page.publish(before, path: lockPath) } catch {}
            throw error
        }
    }
}
