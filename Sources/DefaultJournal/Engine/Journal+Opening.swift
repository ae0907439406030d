extension Journal {
    /// Opens the suite in a directory, creating it when it doesn't exist.
    ///
    /// A suite that can't be written, because of the disk, of permissions, or because it is another user's and this process
    /// is root's, is opened for reading; see ``isReadOnly``.
    ///
    /// Opening the same directory twice within a process returns the same journal, with the options and the index of the
    /// first call. It is closed with the last reference; what was written before still reaches the disk.
    ///
    /// - Parameters:
    ///   - path: The suite's directory. Parents that are missing are created for this user alone; parents may be links,
    ///     the directory itself may not.
    ///   - options: How to open it.
    ///   - isPatient: Whether to wait for other processes.
    ///   - makeIndex: Creates the empty index that the journal fills and keeps current.
    /// - Returns: The journal with its index filled.
    /// - Throws: An error that names the unusable file and the reason; `readOnly` when there is no suite and none can be
    ///   created.
    package static func open(
        at path: String,
        options: JournalOptions = JournalOptions(),
        isPatient: Bool = true,
        makeIndex: () -> any JournalIndex
    ) throws(JournalError) -> Journal {
        let absolute = try SuiteDirectory.absolutePath(path, calls: options.calls)
        let journal: Journal
        if options.isReadOnly {
            let reason = JournalError(.readOnly(.requested), path: absolute)
            journal = try openForReading(at: absolute, because: reason, options: options, makeIndex: makeIndex)
            journal.deliverReports()
            return journal
        }
        do throws(JournalError) {
            let limit = isPatient ? options.lockTimeout : 0
            journal = try openForWriting(at: absolute, waitingAtMost: limit, options: options, makeIndex: makeIndex)
        } catch  where error.isReadOnlyPlace {
            journal = try openForReading(at: absolute, because: error, options: options, makeIndex: makeIndex)
        }
        journal.deliverReports()
        return journal
    }

    private static func openForWriting(
        at path: String,
        waitingAtMost limit: UInt64,
        options: JournalOptions,
        makeIndex: () -> any JournalIndex
    ) throws(JournalError) -> Journal {
        let calls = options.calls
        let directory = try SuiteDirectory.openDirectory(path, calls: calls)
        let status = try calls.status(directory.raw, path: path)
        let id = SuiteDirectory.ID(device: status.device, inode: status.inode)
        if let existing = try existing(id, waitingAtMost: limit) { return existing }
        try SuiteDirectory.checkPermissions(path, calls: calls)
        let place = (id: id, path: path, limit: limit)
        return try openFirst(place, directory: directory, options: options, makeIndex: makeIndex)
    }

    /// The journal that is open for a directory, brought up to date.
    private static func existing(
        _ id: SuiteDirectory.ID,
        waitingAtMost limit: UInt64
    ) throws(JournalError) -> Journal? {
        guard let journal = JournalRegistry.shared.slot(for: id).journal,
            let current = try journal.calls.status(of: journal.path, path: journal.path),
            current.device == id.device, current.inode == id.inode
        else { return nil }
        try journal.withFilesLocked(waitingAtMost: limit) {}
        return journal.state.suite.id == id ? journal : nil
    }

    private static func openFirst(
        _ place: (id: SuiteDirectory.ID, path: String, limit: UInt64),
        directory: consuming OwnedDescriptor,
        options: JournalOptions,
        makeIndex: () -> any JournalIndex
    ) throws(JournalError) -> Journal {
        let (id, path, limit) = place
        let slot = JournalRegistry.shared.slot(for: id)
        slot.opening.lock()
        defer {
            slot.opening.unlock()
            if slot.journal == nil { JournalRegistry.shared.forget(id) }
        }
        // Another thread may have been faster. If its journal has another path, this one is opened beside it.
        if let faster = slot.journal, faster.path == path { return faster }
        let suite = try SuiteDirectory.openLocked(
            directory: directory,
            path: path,
            waitingAtMost: limit,
            calls: options.calls
        )
        let journal = Journal(suite: suite, path: path, options: options, index: makeIndex())
        journal.writer.holdsFileLock = true
        do throws(JournalError) {
            // The file lock is held since `openLocked`, and goes with the descriptor if this fails.
            let isNew = try journal.reload()
            if isNew { try journal.syncRename() }
            let status = try options.calls.status(journal.state.suite.directory.raw, path: path)
            if status.isWritableByOthers { journal.note(.writableByOthers(path: path)) }
            journal.markIdentityVerified(changed: status.changed, now: Clock.fileTime())
        } catch {
            journal.deliverReports()
            throw error
        }
        journal.releaseFileLock()
        if slot.journal == nil { slot.journal = journal }
        return journal
    }
}
