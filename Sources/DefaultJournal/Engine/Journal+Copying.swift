extension Journal {
    /// Reads the whole journal from the disk and checks it, changing nothing.
    ///
    /// Writers don't wait for it; what they write meanwhile isn't checked.
    package func verify() throws(JournalError) -> SuiteInspection {
        defer { deliverReports() }
        return try located { () throws(JournalError) in
            let found = try isReadOnly ? Self.inspect(at: path, calls: calls) : inspectOpenJournal()
            if let version = found.formatVersion, version > JournalHeader.currentVersion {
                throw JournalError(.newerFormat(version: version))
            }
            return found
        }
    }

    private func inspectOpenJournal() throws(JournalError) -> SuiteInspection {
        let (file, end, directory) = try withFilesLocked(compares: true) { (state.file, state.position, suite) }
        let size = try calls.size(of: file.raw)
        var found = try Self.inspect(file.raw, to: min(end, size), salt: file.salt, calls: calls)
        // What is before the position was whole once: a torn tail there is damage.
        let validEnd = min(end, size) - found.tornBytes
        if validEnd < end { found.damage.append(validEnd..<end) }
        found.fileBytes = size
        try found.findDamagedCopies(in: directory, calls: calls)
        return found
    }

    /// The journal, compared with the one at the path, and the end of what is committed.
    private func snapshot() throws(JournalError) -> (JournalFile, UInt64) {
        if isReadOnly {
            let (file, position, _) = current
            return (file, position)
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
        var table = EntryTable()
        try located { () throws(JournalError) in
            let (file, end) = try snapshot()
            var window = try FileWindow(of: file.raw, to: end, calls: calls)
            _ = try table.replay(&window, salt: file.salt)
        }
        do throws(JournalError) {
            guard try calls.status(of: target) == nil else { throw JournalError(.alreadyExists, path: target) }
            try SuiteDirectory.makeDirectory(target, calls: calls)
            let suite = try SuiteDirectory.open(target, calls: calls)
            do throws(JournalError) {
                let name = try NewJournal.make(of: table, in: suite, calls: calls).name
                try calls.rename(name, to: SuiteDirectory.journalName, in: suite.raw)
                try calls.sync(suite.raw, name: ".")
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
}
