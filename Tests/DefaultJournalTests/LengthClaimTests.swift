#if DEBUG
import Foundation
import JournalProbe
import Testing

@testable import DefaultJournal

@Suite("Lengths that a file only claims", .waits)
struct LengthClaimTests {
    private static let giga: UInt64 = 1 << 30

    /// A journal that is a hole, except for the bytes that a test writes.
    private struct SparseJournal {
        let directory = TemporaryDirectory()
        private let file: FileHandle

        init(size: UInt64) throws {
            try FileManager.default.createDirectory(atPath: directory.suite, withIntermediateDirectories: true)
            try directory.write(SampleJournal().bytes)
            file = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.journal))
            try file.truncate(atOffset: size)
        }

        func write(_ bytes: [UInt8], at offset: UInt64) throws {
            try file.seek(toOffset: offset)
            try file.write(contentsOf: Data(bytes))
        }

        /// Writes a record's header with a correct checksum, and returns where the record would end.
        @discardableResult
        func claim(_ length: UInt32, at offset: UInt64, payloadChecksum: UInt32 = 0) throws -> UInt64 {
            let salt = SampleJournal().salt
            let header = Record.header(claiming: length, at: offset, salt: salt, payloadChecksum: payloadChecksum)
            try write(header, at: offset)
            return offset + UInt64(Record.size(payload: Int(length), at: offset))
        }

        static func checksum(_ length: UInt32, at offset: UInt64) -> UInt32 {
            Record.headerChecksum(salt: SampleJournal().salt, offset: offset, number: 0, length: length)
        }

        /// Opens the journal, and returns the first report of damage and how many bytes were read for it.
        func open() throws -> (damage: JournalReport.Damage?, bytesRead: Int) {
            let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
            let reports = ReportCollector()
            var options = reports.options(probe)
            options.automaticMaintenance = false
            probe.startRecording()
            let journal = try Journal.openUnregistered(directory.suite, options)
            #expect(journal.all.isEmpty)
            let reads = probe.records.filter { $0.call == .pread }
            return (reports.damage.first, reads.reduce(0) { $0 + max(0, $1.result) })
        }
    }

    private let start = UInt64(JournalHeader.size)

    @Test("A length beyond the longest payload makes no record, and nothing is read for it")
    func beyondMaximum() throws {
        for length in [UInt32.max, UInt32(Record.maximumPayload) + 1] {
            let journal = try SparseJournal(size: 6 * Self.giga)
            try journal.claim(length, at: start)
            let (damage, bytesRead) = try journal.open()
            #expect(damage?.ranges == [start..<6 * Self.giga])
            #expect(bytesRead < 16 << 20)
        }
    }

    @Test("The longest payload without an operation is damage, even if its checksum is right")
    func zeros() throws {
        let journal = try SparseJournal(size: 4 * Self.giga)
        let length = UInt32(Record.maximumPayload)
        let header = SparseJournal.checksum(length, at: start)
        let size = Record.size(payload: Int(length), at: start) - Record.headerSize
        let piece = [UInt8](repeating: 0, count: 1 << 24)
        let checksum = piece.withUnsafeBytes { piece in
            stride(from: 0, to: size, by: piece.count).reduce(header) { checksum, cursor in
                let part = UnsafeRawBufferPointer(rebasing: piece.prefix(size - cursor))
                return CRC32C.checksum(part, continuing: checksum)
            }
        }
        let end = try journal.claim(length, at: start, payloadChecksum: checksum)
        let (damage, bytesRead) = try journal.open()
        #expect(damage?.ranges == [start..<end])
        #expect(bytesRead < 16 << 20)
    }

    @Test("Many claims in a row cost a few pieces each")
    func manyClaims() throws {
        let journal = try SparseJournal(size: 20 * Self.giga)
        var end = start
        for _ in 0..<12 { end = try journal.claim(UInt32(Record.maximumPayload), at: end) }
        let (damage, bytesRead) = try journal.open()
        #expect(damage?.ranges == [start..<end])
        #expect(bytesRead < 12 * 8 << 20)
    }

    @Test("Of a long record whose operations don't end where it does, only their lengths are read")
    func chains() throws {
        let value = DefaultJournal.Operation.maximumValue
        func set(_ length: Int) -> [UInt8] {
            [1, 1, 0] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + [65]
        }
        let step = UInt64(set(value).count + value)
        // Operations that are too short, too long, without a key, of an unknown kind, and with a value longer than is
        // ever written.
        for last in [set(100), set(1 << 20 + 1), [1, 0, 0, 0, 0, 0, 0], [9], set(value + 1)] {
            let journal = try SparseJournal(size: 2 * Self.giga)
            let body = start + UInt64(Record.headerSize)
            for number in 0..<UInt64(7) { try journal.write(set(value), at: body + number * step) }
            try journal.write(last, at: body + 7 * step)
            let rest = last == set(value + 1) ? value + 9 : 1 << 20
            let end = try journal.claim(UInt32(7 * step) + UInt32(rest), at: start)
            let (damage, bytesRead) = try journal.open()
            #expect(damage?.ranges == [start..<end], "\(last)")
            // The backup reads one piece for each of the file's operations.
            #expect(bytesRead < 32 << 20, "\(last)")
        }
    }

    @Test("A long record whose operations fit is read as any other")
    func longRecord() throws {
        var sample = SampleJournal(records: 1)
        let values = [3 << 20, 10, 1 << 20, 5].map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0) }
        var payload: [UInt8] = [3]
        for (number, value) in values.enumerated() {
            let key = Array("long\(number)".utf8)
            let size = (0..<4).map { UInt8(truncatingIfNeeded: value.count >> (8 * $0)) }
            payload += [1, UInt8(key.count), 0] + size + key + value + [2, 3, 0] + Array("key".utf8)
        }
        sample.append(payload: payload)
        sample.set("after", [1])
        let (found, report) = replay(sample.bytes)
        #expect(report.isClean && report.records == 3)
        #expect(found.entries.count == 5 && (0..<4).allSatisfy { found.entries["long\($0)"] == values[$0] })
        let middle = sample.records[1].lowerBound + 2 << 20
        sample.bytes[middle] ^= 1
        let damaged = replay(sample.bytes)
        let record = sample.records[1]
        #expect(damaged.1.damage == [UInt64(record.lowerBound)..<UInt64(record.upperBound)])
        #expect(damaged.0.entries.keys.sorted() == ["after", "key0"])
    }

    @Test("A value longer than is ever written makes no operation")
    func longValue() {
        var payload: [UInt8] =
            [1, 1, 0, 0, 0, 0, 0, 65] + [UInt8](repeating: 0, count: DefaultJournal.Operation.maximumValue + 1)
        func parses(_ length: Int) -> Bool {
            payload.withUnsafeMutableBytes { payload in
                payload.baseAddress?.storeLittleEndian(UInt32(length), at: 3)
                var cursor = 0
                return DefaultJournal.Operation.parse(UnsafeRawBufferPointer(payload), at: &cursor) != nil
            }
        }
        #expect(parses(DefaultJournal.Operation.maximumValue))
        #expect(!parses(DefaultJournal.Operation.maximumValue + 1))
    }
}
#endif
