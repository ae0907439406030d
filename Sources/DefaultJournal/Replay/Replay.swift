/// Replay: from bytes to the payloads of records and a report, without side effects of its own.
///
/// Time is linear in the number of bytes for any content, and the only memory used is that of the window, of the
/// report's list of damaged ranges, and of the damaged keys.
struct Replay: ~Copyable {
    var source: FileWindow
    /// What was found so far.
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
    ///   - salt: That of the journal's header.
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
    /// What is damaged before it, or unfinished, is in the report then. A record is valid if its checksums are right
    /// and this version knows all of its operations.
    mutating func next() throws(JournalError) -> UnsafeRawBufferPointer? {
        let size = source.end
        while position < size, !stopsAtDamage || report.damage.isEmpty {
            let head = try source.bytes(position..<min(position + UInt64(Record.headerSize), size))
            guard head.count == Record.headerSize else {
                if let last = report.damage.last, last.upperBound == position {
                    report.addDamage(position..<size)
                } else {
                    report.tornTail = position
                }
                return nil
            }
            guard let (length, checksum) = header(head, at: 0, base: position) else {
                guard let data = try source.firstData(from: position) else {
                    report.tornTail = position
                    return nil
                }
                let next = stopsAtDamage ? size : try nextHeader(from: max(position + 1, data))
                report.addDamage(position..<next)
                position = next
                continue
            }
            let stored = head.littleEndian(at: 12, as: UInt32.self)
            let mark = head.baseAddress.map { JournalMark($0, at: position) }
            let end = position + UInt64(Record.size(payload: length, at: position))
            guard end <= size else {
                report.tornTail = position
                return nil
            }
            let body = position + UInt64(Record.headerSize)..<end
            let fits = try operationsFit(body.lowerBound..<body.lowerBound + UInt64(length))
            let isIntact = fits ? try hasChecksum(stored, body, continuing: checksum) : false
            let payload = isIntact ? try source.bytes(body).prefix(length) : nil
            if let payload, payload.count == length, Operation.areValid(in: .init(rebasing: payload)) {
                report.records += 1
                report.validEnd = end
                report.lastRecord = mark
                position = end
                damagedKeys.visit(UnsafeRawBufferPointer(rebasing: payload))
                return UnsafeRawBufferPointer(rebasing: payload)
            }
            if !isIntact, end == size, try endsInLostBlock(body) {
                report.tornTail = position
                return nil
            }
            damagedKeys.add(try source.piece(from: body.lowerBound, to: end))
            report.addDamage(position..<end)
            position = end
        }
        return nil
    }

    /// What the record header at `cursor` says; nil if there is none.
    private func header(
        _ bytes: UnsafeRawBufferPointer,
        at cursor: Int,
        base: UInt64
    ) -> (length: Int, checksum: UInt32)? {
        guard bytes.littleEndian(at: cursor, as: UInt16.self) == Record.marker else { return nil }
        let number = bytes.littleEndian(at: cursor + 2, as: UInt16.self)
        let length = bytes.littleEndian(at: cursor + 4, as: UInt32.self)
        let offset = base &+ UInt64(cursor)
        let checksum = Record.headerChecksum(salt: salt, offset: offset, number: number, length: length)
        // Longer ones are never written.
        guard length > 0, length <= Record.maximumPayload,
            bytes.littleEndian(at: cursor + 8, as: UInt32.self) == checksum
        else { return nil }
        return (Int(length), checksum)
    }

    /// Whether the operations of a long payload end where it does, by what they say of their lengths.
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

    /// Whether a body ends in zeros from the start of a disk's sector on: what a loss of power leaves of a write that
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
            guard piece.count >= Record.headerSize else { return size }
            var index = 0
            while index <= piece.count - Record.headerSize {
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

/// The result of replaying a journal, besides its operations.
struct ReplayReport: Equatable, Sendable {
    /// Offset after the last valid record.
    var validEnd: UInt64
    /// Where an unfinished append begins, if the file ends in one; it was never acknowledged.
    var tornTail: UInt64?
    /// Ranges of the file that hold neither valid records nor an unfinished append, in order.
    var damage: [Range<UInt64>] = []
    var records = 0
    var lastRecord: JournalMark?

    var isClean: Bool { damage.isEmpty && tornTail == nil }

    var damagedBytes: UInt64 { damage.reduce(0) { sum, range in sum + UInt64(range.count) } }

    mutating func addDamage(_ range: Range<UInt64>) {
        if let last = damage.last, last.upperBound == range.lowerBound {
            damage[damage.count - 1] = last.lowerBound..<range.upperBound
        } else {
            damage.append(range)
        }
    }
}

/// Sixteen bytes of a journal that differ in any other one: the header of the last record, or of the journal.
struct JournalMark: Equatable, Sendable {
    static let size: UInt64 = 16
    let offset: UInt64
    private let words: (UInt64, UInt64)

    /// The mark of a record that is in memory.
    init(_ record: UnsafeRawPointer, at offset: UInt64) {
        self.offset = offset
        words = record.loadUnaligned(as: (UInt64, UInt64).self)
    }

    /// Reads the mark at an offset, by default that of the journal's header.
    init(of file: Int32, at offset: UInt64 = UInt64(JournalHeader.saltOffset), calls: SystemCalls) throws(JournalError)
    {
        self.offset = offset
        words = try calls.readWords((0, 0), from: file, at: offset)
    }

    static func == (one: JournalMark, other: JournalMark) -> Bool {
        one.offset == other.offset && one.words == other.words
    }
}

/// Keys whose newest operation may have been in a damaged record.
///
/// Nothing in such a record can be trusted: a name may be damaged itself. A key is named if its bytes lie within the
/// record and are UTF-8, and no valid operation on it follows.
struct DamagedKeys {
    private var keys: [[UInt8]] = []

    /// So that a journal full of damage takes no memory for names.
    private static let maximum = 200

    /// Takes the keys of a damaged record, or of its beginning, as far as they can be read.
    mutating func add(_ payload: UnsafeRawBufferPointer) {
        var cursor = 0
        while cursor < payload.count, keys.count < Self.maximum {
            let start: Int
            switch payload[cursor] {
            case 1: start = cursor + Operation.setOverhead
            case 2: start = cursor + Operation.removeOverhead
            default: return
            }
            guard start <= payload.count else { return }
            let length = Int(payload.littleEndian(at: cursor + 1, as: UInt16.self))
            // Keys that begin with NUL are the library's own.
            guard length > 0, length <= payload.count - start, payload[start] != 0 else { return }
            let key = Array(payload[start..<start + length])
            guard String(decoding: key, as: UTF8.self).utf8.elementsEqual(key) else { return }
            if !keys.contains(key) { keys.append(key) }
            if Operation.parse(payload, at: &cursor) == nil { return }
        }
    }

    /// Forgets the keys whose value a later record's operations give.
    mutating func visit(_ payload: UnsafeRawBufferPointer) {
        if keys.isEmpty { return }
        Operation.forEach(in: payload) { operation in
            switch operation {
            case .set(let key, _, _), .remove(let key): keys.removeAll { $0.elementsEqual(key) }
            case .removeAll: keys = []
            case .moved: break
            }
        }
    }

    func names(limit: Int) -> [String] { keys.prefix(limit).map { String(decoding: $0, as: UTF8.self) } }
}
