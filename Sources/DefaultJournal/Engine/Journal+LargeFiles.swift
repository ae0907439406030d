// Journals that are so large that they are read in pieces. Most of such a file need not be records: a file can be extended by a
// hole of any size, or have gigabytes of anything behind its records.
extension Journal {
    /// Under the file lock: does for a large journal what ``reload()`` does for others.
    ///
    /// - Returns: false, since a journal that exists isn't new.
    func loadInPieces(
        _ file: consuming OwnedDescriptor,
        _ status: FileStatus,
        published: LockPage.Publication
    ) throws(JournalError) -> Bool {
        let size = status.size
        let found = try readHeader(of: file.raw, size: size, published: published)
        try checkForCopy(file.raw, status, header: found, published: published)
        let salt = found.header.salt
        let (report, keys) = try replayInPieces(file.raw, size: size, header: found)
        if !report.damage.isEmpty {
            let descriptor = file.raw
            let damage = FoundDamage(header: found.header, report: report, keys: keys)
            try recover(file, size: size, damage) { () throws(JournalError) in
                try rewriteInPieces(descriptor, size: size, salt: salt)
            }
            return false
        }
        let end = report.tornTail ?? size
        if published.journalID == salt, published.end > end {
            // As in a smaller journal: other processes have applied more than the file holds.
            note(.shortened(path: journalPath, bytes: published.end - end))
            try rewriteInPieces(file.raw, size: end, salt: salt)
            return false
        }
        if end < size { try calls.truncate(file.raw, to: end, path: journalPath) }
        try adopt(file, id: salt, end: end)
        return false
    }

    private func readHeader(
        of file: Int32,
        size: UInt64,
        published: LockPage.Publication
    ) throws(JournalError) -> FoundHeader {
        let start = try FileBytes(
            reading: 0..<min(size, UInt64(JournalHeader.size)),
            of: file,
            calls: calls,
            path: journalPath
        )
        return try readHeader(start.buffer, size: size, published: published) { salt throws(JournalError) in
            var replay = try fileReplay(file, size: size)
            var nothing = IgnoringVisitor()
            return try replay.run(salt: salt, visitor: &nothing).records > 0
        }
    }

    /// Fills the index; the report covers header and records.
    private func replayInPieces(
        _ file: Int32,
        size: UInt64,
        header: FoundHeader
    ) throws(JournalError) -> (ReplayReport, JournalReport.DamagedKeys) {
        let base = UInt64(JournalHeader.size)
        var replay = try fileReplay(file, size: size)
        stateLock.lock()
        defer { stateLock.unlock() }
        state.isLoading = true
        index.beginComparison()
        index.removeAll()
        var visitor = LoadVisitor(index)
        var report = ReplayReport(validEnd: base)
        if header.isKnown { report = try replay.run(salt: header.header.salt, visitor: &visitor) }
        report.damage = header.damage + report.damage
        state.liveBytes = visitor.entries.liveBytes
        return (report, visitor.keys(ifDamaged: !report.damage.isEmpty))
    }

    private func rewriteInPieces(_ file: Int32, size: UInt64, salt: UInt64) throws(JournalError) {
        try rewrite { stream throws(JournalError) in
            try copyEntries(of: file, size: size, salt: salt, to: &stream)
        }
    }
}
