extension Journal {
    /// Backs up a damaged journal and continues with a new one that holds every valid record.
    ///
    /// If there is no room for either file, the damaged one stays in use unchanged: its valid records are in the index, and
    /// new ones are appended.
    func recover(
        _ bytes: UnsafeRawBufferPointer,
        of file: consuming OwnedDescriptor,
        header: JournalHeader,
        report: ReplayReport
    ) throws(JournalError) {
        var damage = JournalReport.Damage(
            path: journalPath,
            bytes: report.damagedBytes,
            ranges: report.damage,
            keptRecords: report.records,
            copy: nil,
            copyError: nil
        )
        let isFirstReport = writer.damagedID != header.salt
        do throws(JournalError) {
            damage.copy = try backUp(bytes)
            try rewrite(bytes, salt: header.salt)
            note(.damaged(damage))
            writer.damagedID = 0
        } catch {
            damage.copyError = error
            // Without a valid record nothing confirms the salt: appended records might be unreadable later.
            guard report.records > 0, page.publication()?.isReplacing == false else { throw error }
            let end = report.tornTail ?? UInt64(bytes.count)
            if end < UInt64(bytes.count) { try calls.truncate(file.raw, to: end, path: journalPath) }
            try adopt(file, id: header.salt, end: end)
            if isFirstReport { note(.damaged(damage)) }
            writer.damagedID = header.salt
        }
    }

    /// Copies a damaged journal to a file of its own, unless a copy with the same content exists already.
    ///
    /// - Returns: The copy's path.
    private func backUp(_ bytes: UnsafeRawBufferPointer) throws(JournalError) -> String {
        let directory = state.suite.directory.raw
        let names = try calls.names(in: directory, path: path).filter { $0.hasPrefix(SuiteDirectory.damagedPrefix) }
        for name in names where try hasContent(bytes, file: name) { return file(name) }
        let stem = SuiteDirectory.damagedPrefix + Clock.stamp() + "-"
        var number = 1
        while names.contains(stem + String(number)) { number += 1 }
        let name = stem + String(number)
        let copy = try calls.open(name, in: directory, .createNew, path: file(name))
        do throws(JournalError) {
            try calls.write(bytes, to: copy.raw, at: 0, path: file(name))
            try calls.sync(copy.raw, path: file(name))
            try calls.sync(directory, path: path)
        } catch {
            // An incomplete copy is useless; if it can't be removed either, it is harmless.
            do throws(JournalError) { try calls.unlink(name, in: directory, path: file(name)) } catch {}
            throw error
        }
        return file(name)
    }

    private func hasContent(_ bytes: UnsafeRawBufferPointer, file name: String) throws(JournalError) -> Bool {
        let directory = state.suite.directory.raw
        guard let status = try calls.status(of: name, in: directory, path: file(name)), status.isRegular,
            status.size == UInt64(bytes.count)
        else { return false }
        let copy = try calls.open(name, in: directory, .read, path: file(name))
        let content = try FileBytes(reading: 0..<status.size, of: copy.raw, calls: calls, path: file(name))
        return content.count == bytes.count && content.buffer.elementsEqual(bytes)
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
        try stream.append(table)
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
