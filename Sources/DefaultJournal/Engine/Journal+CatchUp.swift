extension Journal {
    /// Applies what other engines have committed since the index was last current; called under `stateLock`.
    ///
    /// This needs no file lock: the committed part of a journal never changes, and a journal that was replaced stays
    /// readable through its descriptor.
    ///
    /// - Returns: Whether the index is current; if not, page and journal are inconsistent, and the caller needs the file lock.
    func catchUp() throws(JournalError) -> Bool {
        if state.isLoading { return true }
        for _ in 0..<16 {
            guard let publication = page.publication() else { continue }
            // The writing thread of this process is about to apply it. Until its call returns, the write hasn't happened.
            if publication.generation == announced.load(ordering: .acquiring) { return true }
            guard publication.journalID == state.journalID else {
                if try reopen(publication) { return true }
                continue
            }
            let applied = state.applied
            guard publication.end >= applied else { return false }
            if publication.end > applied {
                guard try apply(applied..<publication.end) else { return false }
            }
            state.generation = publication.generation
            return true
        }
        return false
    }

    /// Applies one more range of the open journal, or nothing if a part of it is invalid.
    private func apply(_ range: Range<UInt64>) throws(JournalError) -> Bool {
        let journal = state.journal.raw
        guard try calls.status(journal, path: journalPath).size >= range.upperBound else { return false }
        let bytes = try FileBytes(reading: range, of: journal, calls: calls, path: journalPath)
        let salt = state.journalID
        var nothing = IgnoringVisitor()
        let report = Replay.run(bytes.buffer, at: range.lowerBound, salt: salt, visitor: &nothing)
        guard report.isClean, report.validEnd == range.upperBound else { return false }
        var visitor = IndexVisitor(index: index, liveBytes: state.liveBytes)
        _ = Replay.run(bytes.buffer, at: range.lowerBound, salt: salt, visitor: &visitor)
        state.liveBytes = visitor.liveBytes
        state.applied = range.upperBound
        return true
    }

    /// Switches to the journal that has replaced the open one.
    ///
    /// - Returns: false when it isn't the one that the page names, or a part of it is invalid.
    private func reopen(_ publication: LockPage.Publication) throws(JournalError) -> Bool {
        let directory = state.suite.directory.raw
        let file: OwnedDescriptor
        do throws(JournalError) {
            file = try calls.open(SuiteDirectory.journalName, in: directory, .readWrite, path: journalPath)
        } catch  where error.isNotFound {
            return false
        }
        let status = try calls.status(file.raw, path: journalPath)
        guard status.isRegular, status.owner == SystemCalls.user, status.size >= publication.end,
            publication.end <= Self.wholeFileLimit
        else { return false }
        let bytes = try FileBytes(reading: 0..<publication.end, of: file.raw, calls: calls, path: journalPath)
        guard case .valid(let header, damage: []) = JournalHeader.parse(bytes.buffer),
            header.salt == publication.journalID
        else { return false }
        let records = bytes.buffer(from: JournalHeader.size)
        let base = UInt64(JournalHeader.size)
        var nothing = IgnoringVisitor()
        let report = Replay.run(records, at: base, salt: header.salt, visitor: &nothing)
        guard report.isClean, report.validEnd == publication.end else { return false }
        let watch = try HeaderWatch(of: file.raw, calls: calls, path: journalPath)
        index.removeAll()
        index.prepare(forBytes: records.count)
        var visitor = IndexVisitor(index: index, liveBytes: base)
        _ = Replay.run(records, at: base, salt: header.salt, visitor: &visitor)
        state.journal = file
        state.journalInode = status.inode
        state.header = consume watch
        state.journalID = header.salt
        state.applied = publication.end
        state.liveBytes = visitor.liveBytes
        state.generation = publication.generation
        return true
    }
}
