extension Journal {
    /// Opens the suite in a directory, creating it when it doesn't exist.
    ///
    /// A suite that can't be written, because of the disk, of permissions, or because it is another user's and this
    /// process is root's, is opened for reading; see ``isReadOnly``.
    ///
    /// Opening the same directory twice within a process returns the same journal, with the options and the observer of
    /// the first call. It is closed with the last reference; all that was written still reaches the disk.
    ///
    /// Parents that are missing are created for this user alone, unless they would be in another user's folder. Parents
    /// may be links; the directory and the journal may be links that are trusted (``SuiteLink``).
    ///
    /// - Parameters:
    ///   - path: The path of the directory.
    ///   - options: The options.
    ///   - waits: Whether to wait for other processes.
    ///   - makeObserver: Makes the observer, if the suite isn't open yet.
    /// - Returns: The journal.
    /// - Throws: An error that names the unusable file and the reason; `readOnly` when the suite doesn't exist and
    ///   can't be created.
    package static func open(
        at path: String,
        options: JournalOptions = .standard,
        waits: Bool = true,
        makeObserver: () -> (any JournalObserver)? = { nil }
    ) throws(JournalError) -> Journal {
        let absolute = try SuiteDirectory.absolutePath(path, calls: options.calls)
        let calls = options.calls
        do throws(JournalError) {
            if options.isReadOnly { throw JournalError(.readOnly(.requested), path: absolute) }
            let suite = try SuiteDirectory.open(absolute, calls: calls)
            if let existing = JournalRegistry.shared.slot(for: suite.id).journal, try existing.isUsable(for: suite) {
                existing.deliverReports()
                return existing
            }
            try suite.checkPermissions(at: absolute)
            let limit = waits ? options.lockTimeout : 0
            return try register(suite, at: absolute, waitingAtMost: limit, options: options, makeObserver: makeObserver)
        } catch  where error.isReadOnlyPlace {
            let refusal = error.withDirectory(absolute)
            return try openForReading(at: absolute, because: refusal, options: options, makeObserver: makeObserver)
        } catch {
            throw error.withDirectory(absolute)
        }
    }

    /// Opens and registers a journal, only for reading if there is a refusal, unless another thread has been faster and
    /// its journal is usable.
    ///
    /// A journal is usable if it is this directory's. That is found out under the slot's lock, since another thread
    /// may have opened it by another path. A journal that isn't usable stays registered, and this one is opened beside
    /// it.
    private static func register(
        _ suite: SuiteDirectory,
        at path: String,
        refusal: JournalError? = nil,
        waitingAtMost limit: UInt64 = 0,
        options: JournalOptions,
        makeObserver: () -> (any JournalObserver)?
    ) throws(JournalError) -> Journal {
        let slot = JournalRegistry.shared.slot(for: suite.id)
        var made: Journal?
        // Last of all, with no lock held.
        defer { made?.deliverReports() }
        slot.opening.lock()
        defer {
            slot.opening.unlock()
            if slot.journal == nil { JournalRegistry.shared.forget(suite.id) }
        }
        // A journal that is only read by request isn't shared: another object for the suite may be about to write.
        if let existing = slot.journal, refusal == nil || existing.isReadOnly && !options.isReadOnly,
            try existing.isOpen(in: suite)
        {
            return existing
        }
        let journal = Journal(
            suite: suite,
            path: path,
            options: options,
            observer: makeObserver(),
            state: try JournalState(calls: options.calls),
            buffer: try Buffer(capacity: Writer.bufferSize)
        )
        made = journal
        journal.state.refusal = refusal
        try journal.openFirst(waitingAtMost: limit)
        if !options.isReadOnly, slot.journal == nil { slot.journal = journal }
        return journal
    }

    /// Whether the journal's path leads to a directory, and the journal has that directory open.
    private func isOpen(in found: SuiteDirectory) throws(JournalError) -> Bool {
        try leads(to: found) && stateLock.withLock { suite.id == found.id }
    }

    /// Whether the journal's path leads to a directory, which it may reach by another link than the directory's own
    /// path.
    private func leads(to found: SuiteDirectory) throws(JournalError) -> Bool {
        let there = try calls.status(of: path, followsLinks: true)?.id
        return there == found.entrance || stateLock.withLock { suite.id == found.id && suite.entrance == there }
    }

    /// Whether the journal is that of a directory, after it was brought up to date.
    private func isUsable(for found: SuiteDirectory) throws(JournalError) -> Bool {
        guard try leads(to: found) else { return false }
        do throws(JournalError) {
            try withFilesLocked(waitingAtMost: 0, comparesPath: true) {}
        } catch  where error.isBusy {
            // Its readers compare it within a second.
        }
        return stateLock.withLock { suite.id == found.id }
    }

    /// Reads the journal for the first time; takes the lock only if there is something to create or to repair.
    func openFirst(waitingAtMost limit: UInt64) throws(JournalError) {
        if suite.status.isWritableByOthers { note(.writableByOthers(path: path)) }
        do throws(JournalError) {
            try load()
        } catch  where error.isNotFound && state.refusal == nil {
            state.isDamaged = true
        }
        #if DEBUG
        isOpening = false
        #endif
        if state.refusal != nil { return }
        if state.isDamaged {
            try withFilesLocked(waitingAtMost: limit) {}
            // A suite that is new is to be found after a power loss.
            if state.position == UInt64(JournalHeader.size) { try flush() }
        } else if !state.isCaughtUp {
            // A tail that a killed writer has left is cut off, if no process is writing.
            do throws(JournalError) {
                try withFilesLocked(waitingAtMost: 0) {}
            } catch  where error.isBusy || error.kind == .overwritten {
                // The next writer does it.
            }
        }
        // Records that others wrote shortly before they were killed may not be on the disk.
        let file = stateLock.withLock { state.file }
        if try isYoung(calls.status(file.raw)) { scheduleFlush() }
    }

    /// Whether the system may not have written all of a file to the disk: Linux does so after 30 seconds.
    private func isYoung(_ status: FileStatus) -> Bool {
        status.size > UInt64(JournalHeader.size) && calls.fileTime < status.modified &+ 60_000_000_000
    }

    /// Whether writes throw ``JournalError/Kind/readOnly(_:)``, unless the suite can be written by then.
    var isReadOnly: Bool { stateLock.withLock { state.refusal != nil } }

    /// The purpose for which the suite's files are opened; under `stateLock`.
    var purpose: SuiteDirectory.Purpose {
        assert(hasStateLock)
        if options.isReadOnly { return .inspecting }
        return state.refusal == nil ? .writing : .reading
    }

    /// Opens a suite that can't be opened for writing, because of the disk, of permissions, or of its owner.
    ///
    /// Nothing is created, changed or locked. Otherwise it is read as every other suite.
    private static func openForReading(
        at path: String,
        because refusal: JournalError,
        options: JournalOptions,
        makeObserver: () -> (any JournalObserver)?
    ) throws(JournalError) -> Journal {
        do throws(JournalError) {
            let purpose = options.isReadOnly ? SuiteDirectory.Purpose.inspecting : .reading
            let suite = try SuiteDirectory.openExisting(path, for: purpose, calls: options.calls)
            return try register(suite, at: path, refusal: refusal, options: options, makeObserver: makeObserver)
        } catch  where error.isNotFound && !options.isReadOnly {
            throw refusal.readOnly
        } catch  where error.isReadOnlyPlace {
            // It can't even be read; the refusal names what writing needs.
            throw options.isReadOnly ? error.withDirectory(path) : refusal
        } catch {
            throw error.withDirectory(path)
        }
    }

    /// Opens a suite for writing that could only be read until now, and takes its lock; under `exclusive`.
    ///
    /// - Throws: `readOnly` while it still can't be written, and other reasons why it can't be opened.
    func becomeWritable(waitingAtMost limit: UInt64) throws(JournalError) {
        assert(exclusive.isHeldByThisThread)
        do throws(JournalError) {
            if options.isReadOnly { throw JournalError(.readOnly(.requested), path: path) }
            try reattach(waitingAtMost: limit)
        } catch {
            releaseFileLock()
            throw error.isReadOnlyPlace ? error.withDirectory(path).readOnly : error
        }
        stateLock.withLock { state.refusal = nil }
    }
}

extension JournalError {
    /// The reason why a suite that can be read can't be written.
    fileprivate var readOnly: JournalError {
        switch kind {
        case .notOwned(let owner): JournalError(.readOnly(.otherUser(owner)), path: path)
        case .system(_, let code): JournalError(.readOnly(.refused(code: code)), path: path)
        default: self
        }
    }
}
