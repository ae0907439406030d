/// Replay: from bytes to the payloads of records and a report, without other side effects.
///
/// Time is linear in the number of bytes for any content, and the only memory used is that of the window, of the
/// report's list of damaged ranges, and of the damaged keys.
struct Replay: ~Copyable {
    var source: FileWindow
    /// The result so far.
    private(set) var report: ReplayReport
    private(set) var damagedKeys = DamagedKeys()
    private let salt: UInt64
    private let stopsAtDamage: Bool
    private var position: UInt64

    /// The length from which on a payload isn't read before its operations are known to fit.
    private static let longPayload = 1 << 20

    /// - Parameters:
    ///   - source: The journal.
    ///   - start: Where a record begins.
    ///   - salt: The salt of the journal's header.
    ///   - stopsAtDamage: Whether the first byte that can't be used is the end.
    init(
        _ source: consuming FileWindow,
        from start: UInt64 = UInt64(JournalHeader.size),
        salt: UInt64,
        stopsAtDamage: Bool = false
    ) {
        self.source = source
        report = ReplayReport(validEnd: start)
        self.salt = salt
        self.stopsAtDamage = stopsAtDamage
        position = start
    }

    /// The payload of the next valid record, until the next call; nil at the end.
    ///
    /// Damage before it, or an unfinished append, is in the report then. A record is valid if its checksums are right
    /// and this version knows all of its operations.
    mutating func next() throws(JournalError) -> UnsafeRawBufferPointer? {
        let size = source.end
        while position < size, !stopsAtDamage || report.damage.isEmpty {
            let head = try source.bytes(position..<min(position + UInt64(Record.headerSize), size))
            guard head.count == Record.headerSize else {
                // Too short for a header: a torn tail, unless it continues damage and isn't known to be a header.
                let isHeader = header(head, at: 0, base: position) != nil
                if !isHeader, let last = report.damage.last, last.upperBound == position {
                    report.addDamage(position..<size)
                } else {
                    report.tornTail = position
                }
                return nil
            }
            guard let header = header(head, at: 0, base: position) else {
                // Only zeros follow: a file that was extended, and whose content was never written.
                guard let data = try source.firstData(from: position) else {
                    report.tornTail = position
                    return nil
                }
                // Without a header that can be trusted, the next record is the next header with a valid checksum.
                let next = stopsAtDamage ? size : try nextHeader(from: max(position + 1, data))
                report.addDamage(position..<next)
                position = next
                continue
            }
            let stored = head.littleEndian(at: 12, as: UInt32.self)
            let fingerprint = head.baseAddress.map { RecordFingerprint($0, at: position) }
            let end = position + UInt64(Record.size(payload: header.length, at: position))
            guard end <= size else {
                report.tornTail = position
                return nil
            }
            let body = position + UInt64(Record.headerSize)..<end
            let fits = try operationsFit(body.lowerBound..<body.lowerBound + UInt64(header.length))
            let isIntact = fits ? try hasChecksum(stored, body, continuing: header.checksum) : false
            let payload = isIntact ? try source.bytes(body).prefix(header.length) : nil
            if let payload, payload.count == header.length, Operation.areValid(in: .init(rebasing: payload)) {
                report.records += 1
                report.validEnd = end
                report.lastRecord = fingerprint
                position = end
                damagedKeys.visit(UnsafeRawBufferPointer(rebasing: payload))
                return UnsafeRawBufferPointer(rebasing: payload)
            }
            // The last append may have reached the disk in part: it was never synced, and so never promised.
            if !isIntact, end == size, try endsInLostBlock(body) {
                report.tornTail = position
                return nil
            }
            // The header says where the next record is: exactly this one is lost.
            damagedKeys.add(try source.piece(from: body.lowerBound, to: end))
            report.addDamage(position..<end)
            position = end
        }
        return nil
    }

    /// A record header whose checksum is right.
    private struct RecordHeader {
        /// The length of the payload.
        var length: Int
        var checksum: UInt32
    }

    /// The record header at `cursor`, as far as its own checksum; nil if there is none.
    ///
    /// What the end of the file has cut off counts as zeros: those are there once the next record is written behind it.
    private func header(_ bytes: UnsafeRawBufferPointer, at cursor: Int, base: UInt64) -> RecordHeader? {
        let missing = Record.checkedSize - (bytes.count - cursor)
        if missing > 0 {
            let completed = bytes[cursor...] + Array(repeating: 0, count: missing)
            return completed.withUnsafeBytes { header($0, at: 0, base: base &+ UInt64(cursor)) }
        }
        guard bytes.littleEndian(at: cursor, as: UInt16.self) == Record.marker else { return nil }
        let number = bytes.littleEndian(at: cursor + 2, as: UInt16.self)
        let length = bytes.littleEndian(at: cursor + 4, as: UInt32.self)
        let offset = base &+ UInt64(cursor)
        let checksum = Record.headerChecksum(salt: salt, offset: offset, number: number, length: length)
        // Longer ones are never written.
        guard length > 0, length <= Record.maximumPayload,
            bytes.littleEndian(at: cursor + 8, as: UInt32.self) == checksum
        else { return nil }
        return RecordHeader(length: Int(length), checksum: checksum)
    }

    /// Whether the operations of a long payload end where it does, by the lengths that they state.
    ///
    /// A file may have a hole where a value is, but not where an operation begins. So for each block that it has on the
    /// disk, at most the longest value is read and kept.
    private mutating func operationsFit(_ payload: Range<UInt64>) throws(JournalError) -> Bool {
        guard payload.count > Self.longPayload else { return true }
        var cursor = payload.lowerBound
        var size = 0
        while cursor < payload.upperBound {
            let head = cursor..<min(cursor + UInt64(Operation.headSize), payload.upperBound)
            // After a short operation, the next ones are likely to be short too.
            guard let next = Operation.size(head: try source.bytes(head, readsAhead: size < Self.longPayload)),
                UInt64(next) <= payload.upperBound - cursor
            else { return false }
            size = next
            cursor += UInt64(size)
        }
        return true
    }

    /// Whether a body is valid, found out piece by piece: no memory is needed for a long one that isn't.
    private mutating func hasChecksum(
        _ stored: UInt32,
        _ body: Range<UInt64>,
        continuing header: UInt32
    ) throws(JournalError) -> Bool {
        var checksum = header
        var cursor = body.lowerBound
        while cursor < body.upperBound {
            let piece = try source.piece(from: cursor, to: body.upperBound)
            // The file was truncated meanwhile.
            guard !piece.isEmpty else { return false }
            checksum = CRC32C.checksum(piece, continuing: checksum)
            cursor += UInt64(piece.count)
        }
        return checksum == stored
    }

    /// Whether a body ends in zeros from the start of a disk's sector on, as a loss of power may leave a write that
    /// wasn't flushed.
    private mutating func endsInLostBlock(_ body: Range<UInt64>) throws(JournalError) -> Bool {
        let sector: UInt64 = 512
        let lastSector = max((body.upperBound - 1) / sector * sector, body.lowerBound)
        // The padding alone may be zeros.
        guard body.upperBound - lastSector > UInt64(2 * Record.alignment) || lastSector == body.lowerBound else {
            return false
        }
        return ByteSearch.isZero(try source.bytes(lastSector..<body.upperBound))
    }

    /// The offset of the next valid record header from `start` on, or the end.
    private mutating func nextHeader(from start: UInt64) throws(JournalError) -> UInt64 {
        let size = source.end
        let step = Record.alignment
        var cursor = (start + UInt64(step) - 1) / UInt64(step) * UInt64(step)
        while cursor < size, let data = try source.firstData(from: cursor) {
            cursor = data / UInt64(step) * UInt64(step)
            let piece = try source.piece(from: cursor, to: size)
            let isLast = cursor + UInt64(piece.count) == size
            guard piece.count >= Record.checkedSize || isLast else { return size }
            var index = 0
            // One that is cut off counts as well: the next record must not go where it reaches.
            while index <= piece.count - Record.checkedSize || isLast && index < piece.count {
                if header(piece, at: index, base: cursor) != nil { return cursor + UInt64(index) }
                index += step
            }
            // A header may begin in the last bytes of a piece.
            cursor += UInt64(index)
        }
        return size
    }
}

extension EntryTable {
    /// Applies the records of a journal, from its beginning to the end of the window.
    mutating func replay(_ window: consuming FileWindow, salt: UInt64) throws(JournalError) -> ReplayReport {
        isFilling = true
        defer { isFilling = false }
        var replay = Replay(window, salt: salt)
        while let payload = try replay.next() {
            try Operation.forEach(in: payload) { operation throws(JournalError) in try apply(checking: operation) }
        }
        return replay.report
    }
}

extension JournalHeader {
    static func read(_ window: inout FileWindow) throws(JournalError) -> Reading {
        parse(try window.bytes(0..<min(window.end, UInt64(size))))
    }
}
