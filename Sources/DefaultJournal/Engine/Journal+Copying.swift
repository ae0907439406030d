/// The result of checking a suite's journal on disk.
package struct JournalVerification: Sendable, Hashable {
    /// The journal's size.
    package var fileBytes: UInt64
    /// Valid records.
    package var records: Int
    /// Live entries.
    package var entries: Int
    /// Parts that could not be used.
    package var damage: [Range<UInt64>]

    /// Whether every byte is as it was written.
    package var isIntact: Bool { damage.isEmpty }
}

extension Journal {
    /// Reads the whole journal from the disk and checks it, changing nothing.
    package func verify() throws(JournalError) -> JournalVerification {
        defer { deliverReports() }
        if isReadOnly {
            let found = try Self.inspect(at: path, calls: calls)
            if let version = found.formatVersion, version > JournalHeader.currentVersion {
                throw JournalError(.newerFormat(version: version), path: journalPath)
            }
            return JournalVerification(
                fileBytes: found.fileBytes,
                records: found.records,
                entries: found.entries,
                damage: found.damage
            )
        }
        return try withFilesLocked { () throws(JournalError) in
            let size = try calls.size(of: state.journal.raw, path: journalPath)
            let end = writer.published.end
            var replay = try fileReplay(state.journal.raw, size: size)
            var damage: [Range<UInt64>] = []
            switch try replay.header() {
            case .valid(_, let ranges): damage = ranges
            case .newer(let version): throw JournalError(.newerFormat(version: version), path: journalPath)
            case .unusable: damage = [0..<min(size, UInt64(JournalHeader.size))]
            }
            var entries = LiveEntries()
            let report = try replay.run(salt: state.journalID, visitor: &entries)
            damage += report.damage
            // The page says where committed records end: a torn tail before that end is damage.
            if let torn = report.tornTail, torn < end { damage.append(torn..<end) }
            if end > size { damage.append(size..<end) }
            return JournalVerification(
                fileBytes: size,
                records: report.records,
                entries: entries.count,
                damage: damage
            )
        }
    }

    /// Writes a suite with the same entries to a new directory, durably.
    ///
    /// - Parameter destination: A path where nothing exists yet. Missing parents are created.
    /// - Throws: `alreadyExists`, or the system call that failed; nothing is left at the destination then.
    package func copy(to destination: String) throws(JournalError) {
        defer { deliverReports() }
        let target = try SuiteDirectory.absolutePath(destination, calls: calls)
        let content = isReadOnly ? try readOnlyContent() : try currentContent()
        guard try calls.status(of: target, path: target) == nil else {
            throw JournalError(.alreadyExists, path: target)
        }
        try SuiteDirectory.makeDirectory(target, calls: calls)
        let directory = try SuiteDirectory.openDirectory(target, calls: calls)
        do throws(JournalError) {
            try writeCopy(of: content.bytes.buffer, salt: content.salt, to: directory.raw, path: target)
            try calls.sync(directory.raw, path: target)
        } catch {
            // A directory that can't be removed isn't mistaken for a suite: the journal gets its name last.
            for name in [SuiteDirectory.replacementName, SuiteDirectory.journalName] {
                do throws(JournalError) { try calls.unlink(name, in: directory.raw, path: target) } catch {}
            }
            do throws(JournalError) { try calls.unlink(target, isDirectory: true, path: target) } catch {}
            throw error
        }
    }

    /// The journal's bytes at one moment.
    private struct Content: ~Copyable {
        let bytes: FileBytes
        let salt: UInt64
    }

    private func currentContent() throws(JournalError) -> Content {
        try withFilesLocked { () throws(JournalError) in
            let journal = state.journal.raw
            let bytes = try FileBytes(reading: 0..<writer.published.end, of: journal, calls: calls, path: journalPath)
            return Content(bytes: bytes, salt: state.journalID)
        }
    }

    /// The same without the lock: what is at the end may be a write that isn't complete, which the copy leaves out.
    private func readOnlyContent() throws(JournalError) -> Content {
        let directory = try SuiteDirectory.openForReading(path, calls: calls)
        let file = try SuiteDirectory.openJournalForReading(in: directory.raw, path: journalPath, calls: calls)
        var replay = try fileReplay(file.raw, size: try calls.status(file.raw, path: journalPath).size)
        guard case .valid(let header, _) = try replay.header() else {
            throw JournalError(.unstable, path: journalPath)
        }
        var nothing = IgnoringVisitor()
        let end = try replay.run(salt: header.salt, visitor: &nothing).validEnd
        let bytes = try FileBytes(reading: 0..<end, of: file.raw, calls: calls, path: journalPath)
        return Content(bytes: bytes, salt: header.salt)
    }

    private func writeCopy(
        of bytes: UnsafeRawBufferPointer,
        salt: UInt64,
        to directory: Int32,
        path: String
    ) throws(JournalError) {
        var table = LiveTable(bytes)
        let records = UnsafeRawBufferPointer(rebasing: bytes[min(bytes.count, JournalHeader.size)...])
        _ = Replay.run(records, at: UInt64(JournalHeader.size), salt: salt, visitor: &table)
        let name = SuiteDirectory.replacementName
        let filePath = path + "/" + name
        let file = try calls.open(name, in: directory, .createNew, path: filePath)
        var stream = RecordStream(header: .random(), to: file.raw, calls: calls, path: filePath)
        try stream.append(table)
        _ = try stream.finish()
        try calls.sync(file.raw, path: filePath)
        try calls.rename(name, to: SuiteDirectory.journalName, in: directory, path: filePath)
    }
}
