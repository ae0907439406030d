/// Replay of a journal of any size, which is read in pieces.
///
/// The operations and the report are those of ``Replay/run(_:at:salt:visitor:)`` over the bytes of the whole file. The memory
/// that it takes is that of the ``FileWindow``, or of the longest valid record if that is larger.
struct FileReplay: ~Copyable {
    /// The file's size.
    let size: UInt64
    private var window: FileWindow

    /// - Parameters:
    ///   - window: The file.
    ///   - size: The file's size; what is behind it isn't read.
    init(_ window: consuming FileWindow, size: UInt64) {
        self.window = window
        self.size = size
    }

    /// Reads the header at the beginning of the file.
    mutating func header() throws(JournalError) -> JournalHeader.Reading {
        JournalHeader.parse(try window.bytes(0..<min(size, UInt64(JournalHeader.size))))
    }

    /// Delivers the operations of every valid record behind the header.
    ///
    /// - Parameters:
    ///   - salt: The salt of the journal.
    ///   - visitor: Receives the operations.
    /// - Returns: Where the records end, and what is damaged or unfinished.
    /// - Throws: The system call that failed.
    mutating func run(salt: UInt64, visitor: inout some ReplayVisitor) throws(JournalError) -> ReplayReport {
        var position = UInt64(JournalHeader.size)
        var report = ReplayReport(validEnd: position)
        while position < size {
            let head = try window.bytes(position..<min(position + UInt64(Record.headerSize), size))
            switch Replay.header(head, at: 0, base: position, salt: salt) {
            case .valid(let length, let checksum):
                let stored = head.littleEndian(at: 12, as: UInt32.self)
                let start = position + UInt64(Record.headerSize)
                let end = start + UInt64(length)
                guard end <= size else {
                    report.tornTail = position
                    return report
                }
                if try hasChecksum(stored, start..<end, continuing: checksum),
                    Replay.deliver(try window.bytes(start..<end), at: start, to: &visitor)
                {
                    report.records += 1
                    report.validEnd = end
                    visitor.finishRecord(at: position, size: Int(end - position))
                } else {
                    visitor.visitDamaged(try window.piece(from: start, to: end))
                    report.addDamage(position..<end)
                }
                position = end
            case .short:
                if let last = report.damage.last, last.upperBound == position {
                    report.addDamage(position..<size)
                } else {
                    report.tornTail = position
                }
                return report
            case .invalid:
                guard let data = try window.firstData(from: position, to: size) else {
                    report.tornTail = position
                    return report
                }
                let next = try nextHeader(from: max(position + 1, data), salt: salt)
                report.addDamage(position..<next)
                position = next
            }
        }
        return report
    }

    /// Whether a payload is valid, found out piece by piece: no memory is needed for a long one that isn't.
    private mutating func hasChecksum(
        _ stored: UInt32,
        _ payload: Range<UInt64>,
        continuing header: UInt32
    ) throws(JournalError) -> Bool {
        var checksum = header
        var cursor = payload.lowerBound
        while cursor < payload.upperBound {
            let piece = try window.piece(from: cursor, to: payload.upperBound)
            // The file was truncated meanwhile.
            guard !piece.isEmpty else { return false }
            checksum = CRC32C.checksum(piece, continuing: checksum)
            cursor += UInt64(piece.count)
        }
        // Longer ones are never written.
        return checksum == stored && payload.count <= Record.maximumPayload
    }

    /// The offset of the next valid record header from `start` on, or the end of the file.
    private mutating func nextHeader(from start: UInt64, salt: UInt64) throws(JournalError) -> UInt64 {
        let headerSize = Record.headerSize
        let first = UInt8(truncatingIfNeeded: Record.marker)
        var cursor = start
        while let data = try window.firstData(from: cursor, to: size) {
            cursor = data
            let piece = try window.piece(from: cursor, to: size)
            guard piece.count >= headerSize else { return size }
            var index = 0
            while index <= piece.count - headerSize {
                let candidates = UnsafeRawBufferPointer(rebasing: piece[index...(piece.count - headerSize)])
                guard let found = ByteSearch.firstIndex(of: first, in: candidates) else { break }
                if case .valid = Replay.header(piece, at: index + found, base: cursor, salt: salt) {
                    return cursor + UInt64(index + found)
                }
                index += found + 1
            }
            // A header may begin in the last bytes of a piece.
            cursor += UInt64(piece.count - headerSize + 1)
        }
        return size
    }
}
