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
    ///
    /// Writers don't wait for it; what they write meanwhile isn't checked.
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
        return try located { () throws(JournalError) in
            let (file, end) = try snapshot()
            let size = try calls.size(of: file.raw)
            let base = UInt64(JournalHeader.size)
            var window = try FileWindow(of: file.raw, to: min(end, size), calls: calls)
            var damage: [Range<UInt64>] = []
            switch JournalHeader.parse(try window.bytes(0..<min(window.end, base))) {
            case .valid(_, let ranges): damage = ranges
            case .newer(let version): throw JournalError(.newerFormat(version: version))
            case .unusable: damage = [0..<min(size, base)]
            }
            var visitor = TableVisitor()
            var report = ReplayReport(validEnd: base)
            if window.end > base {
                report = try Replay.run(&window, from: base, salt: file.salt, visitor: &visitor)
            }
            damage += report.damage
            // What is before the position was whole once: a torn tail there is damage.
            if let torn = report.tornTail { damage.append(torn..<window.end) }
            if end > size { damage.append(size..<end) }
            return JournalVerification(
                fileBytes: size,
                records: report.records,
                entries: visitor.table.count,
                damage: damage
            )
        }
    }

    /// The journal, compared with the one at the path, and the end of what is committed.
    private func snapshot() throws(JournalError) -> (JournalFile, UInt64) {
        if isReadOnly {
            lockForReading()
            defer { stateLock.unlock() }
            return (state.file, state.position)
        }
        return try withFilesLocked(compares: true) { (state.file, state.position) }
    }

    /// Writes a suite with the same entries to a new directory, durably.
    ///
    /// - Parameter destination: A path where nothing exists yet. Missing parents are created.
    /// - Throws: `alreadyExists`, or the system call that failed; nothing is left at the destination then.
    package func copy(to destination: String) throws(JournalError) {
        defer { deliverReports() }
        let target = try SuiteDirectory.absolutePath(destination, calls: calls)
        var visitor = TableVisitor()
        try located { () throws(JournalError) in
            let (file, end) = try snapshot()
            let base = UInt64(JournalHeader.size)
            if end > base {
                var window = try FileWindow(of: file.raw, to: end, calls: calls)
                _ = try Replay.run(&window, from: base, salt: file.salt, visitor: &visitor)
            }
        }
        do throws(JournalError) {
            guard try calls.status(of: target) == nil else { throw JournalError(.alreadyExists, path: target) }
            try SuiteDirectory.makeDirectory(target, calls: calls)
            let suite = try SuiteDirectory.open(target, calls: calls)
            do throws(JournalError) {
                try writeCopy(of: visitor.table, to: suite.raw)
            } catch {
                // A directory that can't be removed isn't mistaken for a suite: the journal gets its name last.
                for name in [SuiteDirectory.replacementName, SuiteDirectory.journalName] {
                    do throws(JournalError) { try calls.unlink(name, in: suite.raw) } catch {}
                }
                do throws(JournalError) { try calls.unlink(target, isDirectory: true) } catch {}
                throw error
            }
        } catch {
            throw error.located(in: target)
        }
    }

    private func writeCopy(of table: borrowing EntryTable, to directory: Int32) throws(JournalError) {
        let name = SuiteDirectory.replacementName
        do throws(JournalError) {
            let file = try calls.open(name, in: directory, .createNew)
            var stream = RecordStream(salt: UInt64.random(in: 1...UInt64.max), to: file.raw, calls: calls)
            try stream.append(table)
            try stream.finish()
            try calls.sync(file.raw)
            try calls.rename(name, to: SuiteDirectory.journalName, in: directory)
        } catch {
            throw error.about(name)
        }
        do throws(JournalError) { try calls.sync(directory) } catch { throw error.about(".") }
    }
}
