extension Journal {
    /// What the records after the position were like.
    enum Progress {
        /// All were whole.
        case complete
        /// The last one is shorter than it says: it is in flight, or its writer was killed.
        case torn
        /// There is something that isn't a record, or a damaged one, or the file is shorter than it was.
        case broken
    }

    /// Under `stateLock`: applies the records after the position, as far as they are whole.
    ///
    /// The record that a thread of this process is writing it applies to the entries itself.
    func catchUp() throws(JournalError) -> Progress {
        var hasApplied = false
        // What the last thread with exclusive access has read is read: no other process could write before it released the `flock`.
        _ = owner.load()
        defer { if hasApplied { scheduleFlush() } }
        while true {
            let hasFollowed = try state.move.map { move throws(JournalError) in try follow(move) } ?? false
            guard state.look != 0,
                appending.load() != state.position
            else {
                if hasFollowed { continue }
                return .complete
            }
            // Where another program has written other records over those that are known, these follow them.
            guard let mark = state.mark, try JournalMark(of: state.file.raw, at: mark.offset, calls: calls) == mark
            else {
                return .broken
            }
            let before = state.position
            defer { hasApplied = hasApplied || state.position > before }
            let progress = try applyRecords()
            if progress != .complete { return progress }
            if state.position == before {
                // What the look saw has been cut off, or the mapping shows a page that the file once lacked.
                if state.look != 0 { state.renewLook(calls: calls) }
                return .complete
            }
        }
    }

    /// Bytes that are read at once: most records take a few hundred.
    private static let pieceSize = 8_192

    private func applyRecords() throws(JournalError) -> Progress {
        let (file, start) = (state.file, state.position)
        let size = try calls.size(of: file.raw)
        guard size > start else { return .broken }
        var window = try FileWindow(of: file.raw, to: size, calls: calls, pieceSize: Self.pieceSize)
        var move: (salt: UInt64, end: UInt64)?
        var report = ReplayReport(validEnd: start)
        do {
            // What was applied is applied, even if the rest can't be read.
            defer {
                if let mark = report.lastRecord {
                    state.advance(to: report.validEnd, mark: mark, move: move, calls: calls)
                }
            }
            try Replay.run(&window, salt: file.salt, stopsAtDamage: true, report: &report) { payload in
                Operation.forEach(in: payload) { operation in
                    move = operation.move
                    apply(operation, by: .journal)
                }
            }
        }
        if !report.damage.isEmpty { return .broken }
        guard let tail = report.tornTail else { return .complete }
        return ByteSearch.isZero(try window.bytes(tail..<min(tail + 8, size))) ? .complete : .torn
    }

    /// Under `stateLock`: looks at the path, after the journal has said that another file is about to replace it.
    ///
    /// - Returns: Whether another file is used now.
    private func follow(_ move: (salt: UInt64, end: UInt64)) throws(JournalError) -> Bool {
        let status = try calls.status(of: SuiteDirectory.journalName, in: suite.raw)
        guard let status, status.id != state.file.id, appending.load() != state.position,
            let opened = try suite.openJournal(isReadOnly: state.refusal != nil, calls: calls)
        else { return false }
        let (id, size) = (opened.status.id, opened.status.size)
        var window = try FileWindow(of: opened.file.raw, to: size, calls: calls, pieceSize: JournalHeader.size)
        guard case .valid(let header, damage: []) = try JournalHeader.read(&window), header.salt == move.salt,
            size >= move.end
        else {
            // It was replaced more than once.
            try load()
            return true
        }
        let mark = try JournalMark(of: opened.file.raw, calls: calls)
        let file = JournalFile(opened.file, in: suite, id: id, salt: header.salt)
        state.use(file, position: move.end, mark: mark, headerMark: mark, calls: calls)
        return true
    }
}
