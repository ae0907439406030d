// Suites that can't be written: on a read-only disk, without the permission to write, or, for root, another user's.
//
// Nothing is locked, since the lock is in a file that has to be written. The state of the suite is what the valid records of
// the journal give, from its beginning to its end. The file is looked at before each read, and read again when it has changed.

/// What a journal that can only be read needs instead of a lock and a shared page.
final class ReadOnlyView: @unchecked Sendable {
    // Mutable state is guarded by the journal's `stateLock`.

    /// The suite's journal.
    let journalPath: String
    /// The journal when it was last read.
    fileprivate var seen: FileIdentity?
    /// Whether a change after that reading has another time: file times advance in ticks.
    fileprivate var isSettled = false
    /// Kept open so that no other file gets its inode.
    fileprivate var file = OwnedDescriptor.none
    /// The last failure, which is reported once.
    fileprivate var failure: JournalError?
    /// The salt of the journal whose damage was reported.
    fileprivate var damagedID: UInt64?

    init(journalPath: String) {
        self.journalPath = journalPath
    }
}

/// What differs between two files, or two states of one.
private struct FileIdentity: Equatable {
    var device: UInt64
    var inode: UInt64
    var size: UInt64
    var modified: UInt64
    var changed: UInt64

    init(_ status: FileStatus) {
        device = status.device
        inode = status.inode
        size = status.size
        modified = status.modified
        changed = status.changed
    }
}

extension Journal {
    /// Whether writes throw ``JournalError/Kind/readOnly(_:)``, unless the suite can be written by then.
    package var isReadOnly: Bool {
        stateLock.lock()
        defer { stateLock.unlock() }
        return state.readOnly != nil
    }

    /// Opens a suite that can't be opened for writing.
    ///
    /// - Parameters:
    ///   - path: The suite's absolute path.
    ///   - refusal: Why it can't be, or is not to be, opened for writing.
    ///   - options: How to open it.
    ///   - makeIndex: Creates the empty index.
    /// - Returns: The journal with its index filled.
    /// - Throws: `readOnly` if there is no suite and one would have been created; otherwise why it can't be read.
    static func openForReading(
        at path: String,
        because refusal: JournalError,
        options: JournalOptions,
        makeIndex: () -> any JournalIndex
    ) throws(JournalError) -> Journal {
        do throws(JournalError) {
            let directory = try SuiteDirectory.openForReading(path, calls: options.calls)
            let suite = try SuiteDirectory.withoutLock(directory, path: path, calls: options.calls)
            if options.isReadOnly {
                // It is not registered: another object for the suite in this process may be about to write.
                let journal = Journal(suite: suite, path: path, options: options, index: makeIndex())
                try journal.beginReadOnly()
                return journal
            }
            let id = suite.id
            let slot = JournalRegistry.shared.slot(for: id)
            slot.opening.lock()
            defer {
                slot.opening.unlock()
                if slot.journal == nil { JournalRegistry.shared.forget(id) }
            }
            if let existing = slot.journal, existing.path == path, existing.isReadOnly { return existing }
            let journal = Journal(suite: suite, path: path, options: options, index: makeIndex())
            try journal.beginReadOnly()
            if slot.journal == nil { slot.journal = journal }
            return journal
        } catch  where error.isNotFound && !options.isReadOnly {
            throw refusal.readOnly
        } catch  where error.isReadOnlyPlace {
            // It can't even be read; what would have to be allowed is what writing needs.
            throw options.isReadOnly ? error : refusal
        }
    }

    /// Fills the index of a journal without a lock.
    func beginReadOnly() throws(JournalError) {
        let status = try calls.status(state.suite.directory.raw, path: path)
        if status.isWritableByOthers { note(.writableByOthers(path: path)) }
        stateLock.lock()
        defer { stateLock.unlock() }
        let view = ReadOnlyView(journalPath: journalPath)
        try readJournal(view)
        state.readOnly = view
        // So that each read asks for the journal's state.
        state.generation = page.generation &- 1
    }

    /// Under `stateLock`: reads the journal again if it has changed.
    ///
    /// If that fails, reads continue with the entries in memory, and the failure is reported once.
    func refresh(_ view: ReadOnlyView) {
        if state.isLoading { return }
        do throws(JournalError) {
            guard let status = try calls.status(of: view.journalPath, path: view.journalPath) else {
                throw JournalError(.replaced, path: path)
            }
            if view.isSettled, view.seen == FileIdentity(status) { return }
            try readJournal(view)
            view.failure = nil
        } catch {
            guard view.failure != error else { return }
            view.failure = error
            note(.catchUpFailed(error))
        }
    }

    /// Under `stateLock`: fills the index with the valid records of the journal that is at the path now.
    private func readJournal(_ view: ReadOnlyView) throws(JournalError) {
        for attempt in 0..<8 {
            let now = Clock.fileTime()
            let directory = try SuiteDirectory.openForReading(path, calls: calls)
            let file = try SuiteDirectory.openJournalForReading(in: directory.raw, path: journalPath, calls: calls)
            let before = try calls.status(file.raw, path: journalPath)
            let content = try readContent(of: file.raw, size: before.size, in: directory.raw)
            let after = try calls.status(file.raw, path: journalPath)
            // While it changes, what a writer takes back may look like damage.
            if FileIdentity(before) != FileIdentity(after), !content.damage.isEmpty, attempt < 7 { continue }
            view.seen = FileIdentity(before)
            view.isSettled = now > before.changed && now > before.modified
            view.file = file
            noteDamage(content, view)
            return
        }
    }

    private struct ReadOnlyContent {
        var id: UInt64 = 0
        var damage: [Range<UInt64>] = []
        var records = 0
        var keys = JournalReport.DamagedKeys()
        /// Bytes that are missing, in a file that is empty.
        var missing: UInt64 = 0
    }

    private func readContent(
        of file: Int32,
        size: UInt64,
        in directory: Int32
    ) throws(JournalError) -> ReadOnlyContent {
        var content = ReadOnlyContent()
        guard size > 0 else {
            let page = try SuiteDirectory.readPage(in: directory, path: path, calls: calls)
            if let page, page.end > UInt64(JournalHeader.size) { content.missing = page.end }
            index.removeAll()
            return content
        }
        var replay = try fileReplay(file, size: size)
        var salt: UInt64?
        var isHeaderValid = false
        switch try replay.header() {
        case .newer(let version): throw JournalError(.newerFormat(version: version), path: journalPath)
        case .valid(let header, let damage):
            salt = header.salt
            isHeaderValid = true
            content.damage = damage
        case .unusable:
            salt = try SuiteDirectory.readPage(in: directory, path: path, calls: calls)?.journalID
            content.damage = [0..<min(size, UInt64(JournalHeader.size))]
        }
        // A failure in the middle of a replay must not leave an index with half of the entries.
        var nothing = IgnoringVisitor()
        let report = try replay.run(salt: salt ?? 0, visitor: &nothing)
        index.beginComparison()
        index.removeAll()
        var visitor = LoadVisitor(index)
        guard let salt, isHeaderValid || report.records > 0 else {
            content.damage = [0..<size]
            content.keys = visitor.keys(ifDamaged: true)
            return content
        }
        _ = try replay.run(salt: salt, visitor: &visitor)
        content.id = salt
        content.damage += report.damage
        content.keys = visitor.keys(ifDamaged: !content.damage.isEmpty)
        content.records = report.records
        return content
    }

    private func noteDamage(_ content: ReadOnlyContent, _ view: ReadOnlyView) {
        if content.damage.isEmpty, content.missing == 0 {
            view.damagedID = nil
        } else if view.damagedID != content.id {
            view.damagedID = content.id
            if content.missing > 0 { return note(.shortened(path: journalPath, bytes: content.missing)) }
            let damage = JournalReport.Damage(
                path: journalPath,
                bytes: content.damage.reduce(0) { sum, range in sum + UInt64(range.count) },
                ranges: content.damage,
                keptRecords: content.records,
                copy: nil,
                copyError: nil,
                keys: content.keys
            )
            note(.damaged(damage))
        }
    }

    /// Under `exclusive`: opens a suite for writing that could only be read until now, and takes its file lock.
    ///
    /// - Throws: `readOnly` while it still can't be written, and other reasons why it can't be opened.
    func becomeWritable() throws(JournalError) {
        do throws(JournalError) {
            if options.isReadOnly { throw JournalError(.readOnly(.requested), path: path) }
            try SuiteDirectory.checkPermissions(path, calls: calls)
            try reattach()
        } catch {
            releaseFileLock()
            throw error.isReadOnlyPlace ? error.readOnly : error
        }
        stateLock.lock()
        state.readOnly = nil
        stateLock.unlock()
    }
}

extension SuiteDirectory {
    /// Refuses a suite without the permission to write its directory or its journal.
    ///
    /// In such a directory compactions could create no file: its files could be written even so, but the journal could grow
    /// without limit. The journal's permissions are looked at before the lock is taken, which writes to the file `lock`.
    static func checkPermissions(_ path: String, calls: SystemCalls) throws(JournalError) {
        for name in [path, path + "/" + journalName] {
            guard let status = try calls.status(of: name, path: name), status.owner == SystemCalls.user,
                !status.isWritableByUser
            else { continue }
            throw .noPermission(path: name)
        }
    }
}

extension JournalError {
    /// For a suite that can be read: why it can't be written.
    fileprivate var readOnly: JournalError {
        switch kind {
        case .notOwned: JournalError(.readOnly(.otherUser), path: path)
        case .system(_, let code): JournalError(.readOnly(.refused(code: code)), path: path)
        default: self
        }
    }
}
