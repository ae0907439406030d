extension Journal {
    /// Looks at a suite's files, without opening it: takes no lock, and changes and creates nothing.
    ///
    /// While programs write to the suite, the result is its state at some time during the call.
    package static func inspect(
        at path: String,
        calls: SystemCalls = SystemCalls()
    ) throws(JournalError) -> SuiteInspection {
        let path = try SuiteDirectory.absolutePath(path, calls: calls)
        do throws(JournalError) {
            let suite = try SuiteDirectory.openExisting(path, calls: calls)
            var found = SuiteInspection()
            for _ in 0..<8 {
                found = SuiteInspection()
                guard let opened = try suite.openJournal(for: .inspecting) else { break }
                found = try inspect(opened.file.raw, to: opened.status.size, calls: calls)
                // While it changes, an append that a writer cuts off may look like damage.
                let after = try calls.status(opened.file.raw)
                let isStable = after.size == opened.status.size && after.changed == opened.status.changed
                if isStable || found.damage.isEmpty { break }
            }
            try found.findDamagedCopies(in: suite)
            return found
        } catch {
            throw error.withDirectory(path)
        }
    }

    /// Reads a journal up to an offset, with the salt of its header if it isn't known otherwise.
    static func inspect(
        _ file: Int32,
        to end: UInt64,
        salt: UInt64? = nil,
        calls: SystemCalls
    ) throws(JournalError) -> SuiteInspection {
        var found = SuiteInspection(fileBytes: end)
        guard end > 0 else { return found }
        let base = UInt64(JournalHeader.size)
        var salt = salt
        var window = try FileWindow(of: file, to: end, calls: calls)
        switch try JournalHeader.read(&window) {
        case .valid(let header, let damage):
            found.formatVersion = JournalHeader.currentVersion
            found.damage = damage
            salt = salt ?? header.salt
        case .newer(let version):
            found.formatVersion = version
            salt = nil
        case .unusable:
            // Without the salt no record can be told from anything else.
            found.damage = [0..<(salt == nil ? end : min(end, base))]
        }
        found.isReadable = salt != nil
        guard let salt, end > base else { return found }
        var table = EntryTable()
        let report = try table.replay(window, salt: salt)
        found.damage += report.damage
        if let torn = report.tornTail { found.tornBytes = end - torn }
        found.records = report.records
        // The library's own keys begin with NUL.
        table.forEach { entry in if entry.key.first != 0 { found.settings += 1 } }
        found.liveBytes = table.journalSize
        return found
    }
}

extension Journal {
    /// Reads the whole journal from the disk and checks it, changing nothing.
    ///
    /// Writers don't wait for it; records that they write meanwhile aren't checked.
    package func verify() throws(JournalError) -> SuiteInspection {
        defer { deliverReports() }
        return try withPathInErrors { () throws(JournalError) in
            let found = try isReadOnly ? Self.inspect(at: path, calls: calls) : inspectOpenJournal()
            if let version = found.formatVersion, version > JournalHeader.currentVersion {
                throw JournalError(.newerFormat(version: version))
            }
            return found
        }
    }

    private func inspectOpenJournal() throws(JournalError) -> SuiteInspection {
        let journal = try snapshot()
        let file = journal.file
        let size = try calls.size(of: file.raw)
        var found = try Self.inspect(file.raw, to: min(journal.end, size), salt: file.salt, calls: calls)
        // Everything before the position was whole once: a torn tail there is damage.
        let validEnd = min(journal.end, size) - found.tornBytes
        if validEnd < journal.end { found.damage.append(validEnd..<journal.end) }
        found.fileBytes = size
        try found.findDamagedCopies(in: journal.directory)
        return found
    }

    /// The journal that is at the path now, and the end of the records that are committed in it.
    private func snapshot() throws(JournalError) -> Snapshot {
        if isReadOnly {
            lockForReading()
            defer { stateLock.unlock() }
            return Snapshot(file: state.file, end: state.position, directory: suite)
        }
        return try withFilesLocked(comparesPath: true) {
            Snapshot(file: state.file, end: state.position, directory: suite)
        }
    }

    /// Writes a suite with the same entries to a new directory, durably.
    ///
    /// - Parameter destination: A path where nothing exists yet. Missing parents are created.
    /// - Throws: `alreadyExists`, or the system call that failed; nothing is left at the destination then.
    package func copy(to destination: String) throws(JournalError) {
        defer { deliverReports() }
        let target = try SuiteDirectory.absolutePath(destination, calls: calls)
        var table = EntryTable()
        try withPathInErrors { () throws(JournalError) in
            let journal = try snapshot()
            let window = try FileWindow(of: journal.file.raw, to: journal.end, calls: calls)
            _ = try table.replay(window, salt: journal.file.salt)
        }
        do throws(JournalError) {
            guard try calls.status(of: target) == nil else { throw JournalError(.alreadyExists, path: target) }
            do throws(JournalError) {
                try SuiteDirectory.checkFolder(around: target, calls: calls)
                try SuiteDirectory.makeDirectory(target, calls: calls)
                try SuiteDirectory.syncNames(of: target, calls: calls)
                try write(table, to: SuiteDirectory.open(target, calls: calls))
            } catch {
                unlinkIfPossible(target, isDirectory: true)
                throw error
            }
        } catch {
            throw error.withDirectory(target)
        }
    }

    /// Makes an empty directory a suite with these entries.
    ///
    /// - Throws: The system call that failed; the directory is empty then.
    private func write(_ table: borrowing EntryTable, to suite: SuiteDirectory) throws(JournalError) {
        do throws(JournalError) {
            let fresh = try NewJournal.make(in: suite)
            try fresh.append(table)
            try fresh.sync()
            try calls.rename(fresh.name, to: SuiteDirectory.journalName, in: suite.raw)
            try calls.syncNames(in: suite.raw)
        } catch {
            // A directory that can't be removed isn't mistaken for a suite: the journal gets its name last.
            for name in [SuiteDirectory.replacementName, SuiteDirectory.journalName] {
                unlinkIfPossible(name, in: suite)
            }
            throw error
        }
    }
}
