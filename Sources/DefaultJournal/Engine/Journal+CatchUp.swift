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
    /// The record that a thread of this process is writing it applies to the index itself.
    func catchUp() throws(JournalError) -> Progress {
        var hasApplied = false
        // What the last thread with exclusive access has read is read: nobody else could write before it released the `flock`.
        _ = owner.load(ordering: .acquiring)
        defer { if hasApplied { scheduleFlush() } }
        while true {
            let hasFollowed = try state.move.map { move throws(JournalError) in try follow(move) } ?? false
            guard state.look.load(ordering: .acquiring) != 0,
                appending.load(ordering: .acquiring) != state.position
            else {
                if hasFollowed { continue }
                return .complete
            }
            // Where another program has written other records over those that are known, these follow them.
            guard let mark = state.mark, try JournalMark(of: state.file.raw, at: mark.offset, calls: calls) == mark
            else {
                return .broken
            }
            let (progress, count) = try applyRecords()
            hasApplied = hasApplied || count > 0
            if progress != .complete { return progress }
            if count == 0 {
                // What the look saw has been cut off, or the mapping shows a page that the file once lacked.
                if state.look.load(ordering: .acquiring) != 0 { state.renewLook(calls: calls) }
                return .complete
            }
        }
    }

    /// Bytes that are read at once.
    private static let pieceSize = 8_192

    /// Applies the next records: one, or as many as a piece has.
    private func applyRecords() throws(JournalError) -> (Progress, count: Int) {
        let file = state.file
        let start = state.position
        var wanted = Self.pieceSize
        while true {
            state.buffer.reserve(wanted)
            defer { state.buffer.trim() }
            let target = UnsafeMutableRawBufferPointer(start: state.buffer.memory, count: wanted)
            let count = try calls.read(into: target, from: file.raw, at: start)
            guard count > 0 else { return (.broken, 0) }
            let piece = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(target)[..<count])
            let found = apply(piece, at: start, of: file, isLast: count < wanted)
            guard found.records == 0, let size = found.missing else { return (found.progress, found.records) }
            // No memory is needed for what the file doesn't have.
            guard try calls.size(of: file.raw) >= start + UInt64(size) else { return (.torn, 0) }
            wanted = size
        }
    }

    /// Applies the records in a piece of the journal.
    ///
    /// - Returns: How many there are, what follows them, and the size of the one that follows if the piece is too short for it.
    private func apply(
        _ piece: UnsafeRawBufferPointer,
        at start: UInt64,
        of file: JournalFile,
        isLast: Bool
    ) -> (records: Int, progress: Progress, missing: Int?) {
        var visitor = IndexVisitor(index, from: .journal, liveBytes: state.liveBytes)
        var mark: JournalMark?
        var cursor = 0
        var found = (records: 0, progress: Progress.complete, missing: Int?.none)
        reading: while cursor < piece.count {
            let offset = start + UInt64(cursor)
            let left = piece.count - cursor
            if left >= 8, piece.littleEndian(at: cursor, as: UInt64.self) == 0 { break }
            switch Replay.header(piece, at: cursor, base: start, salt: file.salt) {
            case .short:
                if isLast { found.progress = .torn }
                break reading
            case .invalid:
                found.progress = .broken
                break reading
            case .valid(let length, let checksum):
                let size = Record.size(payload: length, at: offset)
                guard size <= left else {
                    if isLast { found.progress = .torn } else { found.missing = size }
                    break reading
                }
                let record = UnsafeRawBufferPointer(rebasing: piece[cursor..<(cursor + size)])
                let body = UnsafeRawBufferPointer(rebasing: record[Record.headerSize...])
                guard CRC32C.checksum(body, continuing: checksum) == record.littleEndian(at: 12, as: UInt32.self),
                    Replay.deliver(UnsafeRawBufferPointer(rebasing: body[..<length]), to: &visitor)
                else {
                    found.progress = .broken
                    break reading
                }
                mark = record.baseAddress.map { JournalMark($0, at: offset) }
                cursor += size
                found.records += 1
            }
        }
        if let mark {
            state.liveBytes = visitor.liveBytes
            state.advance(to: start + UInt64(cursor), mark: mark, move: visitor.move, calls: calls)
        }
        return found
    }

    /// Under `stateLock`: looks at the path, after the journal has said that another file is about to replace it.
    ///
    /// - Returns: Whether another file is used now.
    private func follow(_ move: (salt: UInt64, end: UInt64)) throws(JournalError) -> Bool {
        let status = try calls.status(of: SuiteDirectory.journalName, in: suite.raw)
        guard let status, status.id != state.file.id,
            let opened = try suite.openJournal(isReadOnly: state.refusal != nil, calls: calls)
        else { return false }
        let (id, size) = (opened.status.id, opened.status.size)
        let header = try readHeader(of: opened.file.raw, size: size)
        guard case .valid(let header, damage: []) = header, header.salt == move.salt, size >= move.end else {
            // It was replaced more than once.
            try load()
            return true
        }
        let mark = try JournalMark(of: opened.file.raw, at: nil, calls: calls)
        let file = JournalFile(opened.file, in: suite, id: id, salt: header.salt)
        state.use(file, position: move.end, mark: mark, headerMark: mark, calls: calls)
        return true
    }
}
