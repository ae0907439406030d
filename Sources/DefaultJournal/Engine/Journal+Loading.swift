extension Journal {
    /// Under the file lock: reads the suite's journal from its beginning, repairs it if necessary, and corrects the shared
    /// page.
    ///
    /// Every inconsistency between page, journal and index is resolved here.
    ///
    /// - Returns: Whether a new, empty journal was created.
    @discardableResult
    func reload() throws(JournalError) -> Bool {
        do throws(JournalError) {
            return try load()
        } catch  where error.kind == .overwritten {
            // Nothing has changed: the open file is looked at again later.
            throw error
        } catch {
            stateLock.lock()
            state.isLoading = false
            // The next access must not mistake the open file for the suite's journal.
            state.journalID = 0
            state.generation = page.generation &- 1
            stateLock.unlock()
            writer.published = LockPage.Publication()
            throw error
        }
    }

    private func load() throws(JournalError) -> Bool {
        guard let file = try openJournal() else {
            try restorePage()
            return try startEmpty()
        }
        let status = try SuiteDirectory.checkFile(file.raw, path: journalPath, calls: calls)
        // Before the page is restored: a blank one would hide from other processes what they can check here.
        try checkForCopy(status)
        try restorePage()
        let published = page.publication() ?? LockPage.Publication()
        guard status.size > 0 else {
            // A new suite's journal gets its name with its header.
            try checkForCopy(file.raw, status, header: nil, published: published)
            if published.end > UInt64(JournalHeader.size) { note(.shortened(path: journalPath, bytes: published.end)) }
            return try startEmpty()
        }
        if status.size > Self.wholeFileLimit { return try loadInPieces(file, status, published: published) }
        let bytes = try FileBytes(reading: 0..<status.size, of: file.raw, calls: calls, path: journalPath)
        // It was cut meanwhile.
        if UInt64(bytes.count) < status.size { throw JournalError(.overwritten, path: journalPath) }
        guard bytes.count > 0 else { return try startEmpty() }
        let found = try readHeader(bytes.buffer, published: published)
        try checkForCopy(file.raw, status, header: found, published: published)
        let (report, keys) = replay(bytes.buffer, header: found)
        if !report.damage.isEmpty {
            let size = UInt64(bytes.count)
            let damage = FoundDamage(header: found.header, report: report, keys: keys)
            try recover(file, size: size, damage) { () throws(JournalError) in
                try rewrite(bytes.buffer, salt: found.header.salt)
            }
            return false
        }
        let end = report.tornTail ?? UInt64(bytes.count)
        if published.journalID == found.header.salt, published.end > end {
            // Other processes have applied more than the file holds; a new journal makes them reload.
            note(.shortened(path: journalPath, bytes: published.end - end))
            try rewrite(bytes.buffer, salt: found.header.salt)
            return false
        }
        if end < UInt64(bytes.count) { try calls.truncate(file.raw, to: end, path: journalPath) }
        try adopt(file, id: found.header.salt, end: end)
        return false
    }

    /// Throws if the suite's journal was cut or overwritten in place within the last second.
    ///
    /// A backup may be on its way back. What is written meanwhile would be lost, and a repair would put a new file in its place.
    /// While the suite is being opened, only what is missing can be seen.
    private func checkForCopy(_ status: FileStatus) throws(JournalError) {
        var published = page.publication() ?? LockPage.Publication()
        // A reader may be catching up at this moment.
        stateLock.lock()
        defer { stateLock.unlock() }
        // The page was cut as well, or is blank since then. With another journal at the path, its writer was killed instead.
        if published.journalID == 0, status.inode == state.journalInode { published = writer.published }
        guard published.journalID != 0, !published.isReplacing else { return }
        let isOverwritten = status.inode == state.journalInode && state.header?.isUnchanged == false
        guard isOverwritten || status.size < published.end else { return }
        if hasJustChanged(status) { throw JournalError(.overwritten, path: journalPath) }
    }

    /// Throws if a journal that this process has not read yet, and that the page doesn't name, isn't whole, and has changed
    /// within the last second.
    ///
    /// A part of a copy may be larger than the journal before already, and a copy may have emptied the page as well. A journal
    /// that replaces another is whole before it gets its name.
    ///
    /// - Parameters:
    ///   - file: The journal.
    ///   - status: The file's.
    ///   - header: The journal's; nil if the file is empty.
    ///   - published: What the page says.
    /// - Throws: `overwritten`, or the system call that failed.
    func checkForCopy(
        _ file: Int32,
        _ status: FileStatus,
        header: FoundHeader?,
        published: LockPage.Publication
    ) throws(JournalError) {
        stateLock.lock()
        let isUnread = state.journalID == 0 || state.journalInode != status.inode
        stateLock.unlock()
        guard isUnread, header?.header.salt != published.journalID, !published.isReplacing, hasJustChanged(status)
        else { return }
        if let header, status.size >= JournalHeader.size {
            guard header.isKnown else { return }
            var replay = try fileReplay(file, size: status.size)
            var nothing = IgnoringVisitor()
            guard try replay.run(salt: header.header.salt, visitor: &nothing).tornTail != nil else { return }
        }
        throw JournalError(.overwritten, path: journalPath)
    }

    /// Whether a file has changed within the last second.
    private func hasJustChanged(_ status: FileStatus) -> Bool {
        // Both may be a tick ahead of the other. A time that is far in the future has been there for long.
        abs(Int64(clamping: calls.fileTime) - Int64(clamping: status.changed)) < 1_000_000_000
    }

    /// Makes an unusable page a blank one.
    private func restorePage() throws(JournalError) {
        if page.publication() == nil { try page.restore(path: lockPath) }
    }

    private func openJournal() throws(JournalError) -> OwnedDescriptor? {
        let directory = state.suite.directory.raw
        do throws(JournalError) {
            return try calls.open(SuiteDirectory.journalName, in: directory, .readWrite, path: journalPath)
        } catch  where error.isNotFound {
            return nil
        } catch  where error.isWrongType {
            throw JournalError(.notARegularFile, path: journalPath)
        }
    }

    /// A header and its damaged parts.
    struct FoundHeader {
        var header: JournalHeader
        var damage: [Range<UInt64>]
        /// Whether records can be read with it.
        var isKnown = true
    }

    private func readHeader(
        _ bytes: UnsafeRawBufferPointer,
        published: LockPage.Publication
    ) throws(JournalError) -> FoundHeader {
        try readHeader(bytes, size: UInt64(bytes.count), published: published) { salt in
            guard bytes.count > JournalHeader.size else { return false }
            let records = UnsafeRawBufferPointer(rebasing: bytes[JournalHeader.size...])
            var nothing = IgnoringVisitor()
            let report = Replay.run(records, at: UInt64(JournalHeader.size), salt: salt, visitor: &nothing)
            return report.records > 0
        }
    }

    /// The header, or one with the salt from the shared page if it is damaged and records are valid with that salt.
    ///
    /// - Parameters:
    ///   - bytes: The beginning of the journal.
    ///   - size: The journal's size.
    ///   - published: What the shared page says.
    ///   - hasRecords: Whether the journal has records that are valid with a salt.
    /// - Returns: The header.
    /// - Throws: `newerFormat`, or what `hasRecords` throws.
    func readHeader(
        _ bytes: UnsafeRawBufferPointer,
        size: UInt64,
        published: LockPage.Publication,
        hasRecords: (_ salt: UInt64) throws(JournalError) -> Bool
    ) throws(JournalError) -> FoundHeader {
        switch JournalHeader.parse(bytes) {
        case .newer(let version):
            throw JournalError(.newerFormat(version: version), path: journalPath)
        case .valid(let header, let damage):
            return FoundHeader(header: header, damage: damage)
        case .unusable:
            let salt = published.journalID
            if salt != 0, try hasRecords(salt) {
                let damage = [0..<min(size, UInt64(JournalHeader.size))]
                return FoundHeader(header: JournalHeader(salt: salt), damage: damage)
            }
            return FoundHeader(header: .random(), damage: [0..<size], isKnown: false)
        }
    }

    /// Fills the index with the records of a whole journal; the report covers header and records.
    private func replay(
        _ bytes: UnsafeRawBufferPointer,
        header: FoundHeader
    ) -> (ReplayReport, JournalReport.DamagedKeys) {
        let base = UInt64(JournalHeader.size)
        let records = UnsafeRawBufferPointer(rebasing: bytes[min(bytes.count, JournalHeader.size)...])
        stateLock.lock()
        defer { stateLock.unlock() }
        state.isLoading = true
        index.beginComparison()
        index.removeAll()
        index.prepare(forBytes: records.count)
        var visitor = LoadVisitor(index)
        var report = ReplayReport(validEnd: base)
        if header.isKnown {
            report = Replay.run(records, at: base, salt: header.header.salt, visitor: &visitor)
        }
        report.damage = header.damage + report.damage
        state.liveBytes = visitor.entries.liveBytes
        return (report, visitor.keys(ifDamaged: !report.damage.isEmpty))
    }

    /// Creates an empty journal.
    private func startEmpty() throws(JournalError) -> Bool {
        stateLock.lock()
        state.isLoading = true
        index.removeAll()
        state.liveBytes = UInt64(JournalHeader.size)
        stateLock.unlock()
        try rewrite(UnsafeRawBufferPointer(start: nil, count: 0), salt: 0)
        return true
    }

    /// Uses a journal that the index already reflects, and publishes it to the other processes.
    func adopt(
        _ file: consuming OwnedDescriptor,
        id: UInt64,
        end: UInt64,
        syncedEnd: UInt64 = 0
    ) throws(JournalError) {
        let inode = try calls.status(file.raw, path: journalPath).inode
        let watch = try HeaderWatch(of: file.raw, calls: calls, path: journalPath)
        var next = page.publication() ?? LockPage.Publication()
        if next.journalID != id {
            next = LockPage.Publication(generation: next.generation, journalID: id, syncedEnd: syncedEnd)
            next.isRenameUnsynced = true
            writer.syncFailed = false
        }
        if next.end != end || next.isReplacing {
            next.end = end
            next.syncedEnd = min(next.syncedEnd, end)
            next.isReplacing = false
            try publishCommit(next)
        } else {
            writer.published = next
        }
        stateLock.lock()
        defer { stateLock.unlock() }
        finishCommit()
        state.journal = file
        state.journalInode = inode
        state.header = consume watch
        state.journalID = id
        state.isLoading = false
    }
}
