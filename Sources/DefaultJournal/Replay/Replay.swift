/// Receives the operations of a journal in the order in which they happened.
package protocol ReplayVisitor {
    /// Takes one operation; its buffers are valid during the call only.
    mutating func visit(_ operation: Operation)
    /// Announces a valid record: its payload, which contains the operations of the following calls, and where that is in the
    /// file.
    mutating func beginRecord(_ payload: UnsafeRawBufferPointer, at offset: UInt64)
    /// Takes the payload of a damaged record, or the beginning of it; nothing in it can be trusted.
    mutating func visitDamaged(_ payload: UnsafeRawBufferPointer)
    /// Marks the end of the record that held the operations since the previous call.
    mutating func finishRecord(at offset: UInt64, size: Int)
}

extension ReplayVisitor {
    package mutating func beginRecord(_ payload: UnsafeRawBufferPointer, at offset: UInt64) {}
    package mutating func visitDamaged(_ payload: UnsafeRawBufferPointer) {}
    package mutating func finishRecord(at offset: UInt64, size: Int) {}
}

/// Ignores every operation, for validation only.
package struct IgnoringVisitor: ReplayVisitor {
    // All values of an empty type share an address, which the thread sanitizer would report as a race between replays.
    private var isNotEmpty = true

    package init() {}
    package mutating func visit(_ operation: Operation) {}
}

/// Replay: from bytes to operations and a report, without side effects of its own.
///
/// Time is linear in the number of bytes for any content, and the only memory used is the report's list of damaged ranges.
package enum Replay {
    /// Delivers the operations of every valid record in `bytes`.
    ///
    /// - Parameters:
    ///   - bytes: A part of a journal that begins where a record begins.
    ///   - base: The file offset of the first byte.
    ///   - salt: The salt of the journal.
    ///   - visitor: Receives the operations. A record is delivered only if all of it is valid.
    /// - Returns: Where the records end, and what is damaged or unfinished.
    package static func run(
        _ bytes: UnsafeRawBufferPointer,
        at base: UInt64,
        salt: UInt64,
        visitor: inout some ReplayVisitor
    ) -> ReplayReport {
        var report = ReplayReport(validEnd: base)
        var cursor = 0
        while cursor < bytes.count {
            let start = base &+ UInt64(cursor)
            switch header(bytes, at: cursor, base: base, salt: salt) {
            case .valid(let length, let checksum):
                let payloadStart = cursor + Record.headerSize
                guard length <= bytes.count - payloadStart else {
                    report.tornTail = start
                    return report
                }
                let end = payloadStart + length
                let payload = UnsafeRawBufferPointer(rebasing: bytes[payloadStart..<end])
                let stored = bytes.littleEndian(at: cursor + 12, as: UInt32.self)
                let offset = start + UInt64(Record.headerSize)
                if CRC32C.checksum(payload, continuing: checksum) == stored,
                    deliver(payload, at: offset, to: &visitor)
                {
                    report.records += 1
                    report.validEnd = base &+ UInt64(end)
                    visitor.finishRecord(at: start, size: end - cursor)
                } else {
                    visitor.visitDamaged(payload)
                    report.addDamage(start..<(base &+ UInt64(end)))
                }
                cursor = end
            case .short:
                if let last = report.damage.last, last.upperBound == start {
                    report.addDamage(start..<(base &+ UInt64(bytes.count)))
                } else {
                    report.tornTail = start
                }
                return report
            case .invalid:
                if isZero(bytes, from: cursor) {
                    report.tornTail = start
                    return report
                }
                cursor = nextHeader(bytes, after: cursor, base: base, salt: salt)
                report.addDamage(start..<(base &+ UInt64(cursor)))
            }
        }
        return report
    }

    /// The result of reading a record header.
    enum HeaderReading {
        case valid(length: Int, checksum: UInt32)
        case short
        case invalid
    }

    /// Reads the record header at `cursor`.
    static func header(
        _ bytes: UnsafeRawBufferPointer,
        at cursor: Int,
        base: UInt64,
        salt: UInt64
    ) -> HeaderReading {
        guard bytes.count - cursor >= Record.headerSize else { return .short }
        guard bytes.littleEndian(at: cursor, as: UInt32.self) == Record.marker else { return .invalid }
        let length = bytes.littleEndian(at: cursor + 4, as: UInt32.self)
        let checksum = Record.headerChecksum(salt: salt, offset: base &+ UInt64(cursor), length: length)
        guard length > 0, bytes.littleEndian(at: cursor + 8, as: UInt32.self) == checksum else { return .invalid }
        return .valid(length: Int(length), checksum: checksum)
    }

    /// Delivers a payload's operations if all of them are known and well-formed, otherwise none.
    static func deliver(
        _ payload: UnsafeRawBufferPointer,
        at offset: UInt64,
        to visitor: inout some ReplayVisitor
    ) -> Bool {
        var cursor = 0
        guard let first = Operation.parse(payload, at: &cursor) else { return false }
        if cursor == payload.count {
            visitor.beginRecord(payload, at: offset)
            visitor.visit(first)
            return true
        }
        while cursor < payload.count {
            guard Operation.parse(payload, at: &cursor) != nil else { return false }
        }
        visitor.beginRecord(payload, at: offset)
        visit(payload, with: &visitor)
        return true
    }

    /// Delivers the operations of a payload that is known to be well-formed.
    static func visit(_ payload: UnsafeRawBufferPointer, with visitor: inout some ReplayVisitor) {
        var cursor = 0
        while cursor < payload.count, let operation = Operation.parse(payload, at: &cursor) {
            visitor.visit(operation)
        }
    }

    /// The offset of the next valid record header after `cursor`, or the end of the bytes.
    private static func nextHeader(
        _ bytes: UnsafeRawBufferPointer,
        after cursor: Int,
        base: UInt64,
        salt: UInt64
    ) -> Int {
        var candidate = cursor + 1
        while bytes.count - candidate >= Record.headerSize {
            if case .valid = header(bytes, at: candidate, base: base, salt: salt) { return candidate }
            candidate += 1
        }
        return bytes.count
    }

    private static func isZero(_ bytes: UnsafeRawBufferPointer, from cursor: Int) -> Bool {
        for index in cursor..<bytes.count where bytes[index] != 0 { return false }
        return true
    }
}
