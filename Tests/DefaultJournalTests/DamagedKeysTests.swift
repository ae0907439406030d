import Foundation
import JournalProbe
import Testing

@testable import DefaultJournal

@Suite("Keys in damaged records")
struct DamagedKeysTests {
    private func damagedKeys(_ sample: SampleJournal, damaging records: [Int], at offset: Int = -1) -> [String] {
        var bytes = sample.bytes
        for record in records {
            let range = sample.records[record]
            bytes[offset < 0 ? range.upperBound + offset : range.lowerBound + offset] ^= 0x80
        }
        return bytes.withUnsafeBytes { bytes in
            let records = UnsafeRawBufferPointer(rebasing: bytes[JournalHeader.size...])
            return Replay.with(records, at: UInt64(JournalHeader.size), salt: sample.salt) {
                replay throws(JournalError) in
                while try replay.next() != nil {}
                return replay.damagedKeys.names(limit: JournalReport.Damage.keyLimit)
            }
        }
    }

    @Test("are named if their names can be read and nothing valid follows, in the order of the file")
    func names() {
        var sample = SampleJournal(records: 5)
        #expect(damagedKeys(sample, damaging: []) == [])
        #expect(damagedKeys(sample, damaging: [3, 1]) == ["key1", "key3"])
        sample.set("key1", [1])
        #expect(damagedKeys(sample, damaging: [3, 1]) == ["key3"])
        Array("key3".utf8).withUnsafeBytes { sample.append([.remove(key: $0)]) }
        #expect(damagedKeys(sample, damaging: [3, 1]) == [])
        #expect(damagedKeys(sample, damaging: [6], at: 12) == ["key3"])
        #expect(damagedKeys(sample, damaging: [1, 5]) == ["key1"])
        sample.append([.removeAll])
        #expect(damagedKeys(sample, damaging: [1, 2, 3, 6]) == [])
    }

    @Test("are not named beyond a record's bounds, without UTF-8, or if they are the library's own")
    func unreadable() {
        let sample = SampleJournal(records: 1)
        // The offsets of the kind, the key's length, the value's length, the key, and the value.
        #expect(damagedKeys(sample, damaging: [0], at: 16) == [])
        #expect(damagedKeys(sample, damaging: [0], at: 18) == [])
        #expect(damagedKeys(sample, damaging: [0], at: 19) == ["key0"])
        #expect(damagedKeys(sample, damaging: [0], at: 23) == [])
        #expect(damagedKeys(sample, damaging: [0], at: 27) == ["key0"])
        // If the header is damaged, the record's bounds are unknown.
        #expect(damagedKeys(sample, damaging: [0], at: 8) == [])
        var own = SampleJournal()
        own.set("\0imported", [4])
        #expect(damagedKeys(own, damaging: [0]) == [])
        var empty = SampleJournal()
        empty.append(payload: [2, 0, 0, 65])
        #expect(damagedKeys(empty, damaging: []) == [])
        for length in 1..<12 {
            var short = SampleJournal()
            short.append(payload: [1] + [UInt8](repeating: 1, count: length))
            #expect(damagedKeys(short, damaging: [0]).count <= 1)
        }
    }

    @Test("of a transaction are named one by one, at most twenty, and without end")
    func many() {
        var sample = SampleJournal()
        let names = (0..<1_000).map { "key \($0)" }
        var payload: [UInt8] = []
        for name in names {
            Array(name.utf8).withUnsafeBytes { key in
                let operation = DefaultJournal.Operation.set(key: key, value: key)
                var encoded = [UInt8](repeating: 0, count: operation.encodedSize)
                encoded.withUnsafeMutableBytes { if let base = $0.baseAddress { operation.encode(to: base) } }
                payload += encoded
            }
        }
        sample.append(payload: payload)
        #expect(damagedKeys(sample, damaging: [0]) == Array(names.prefix(20)))
        for name in names.prefix(20) { sample.set(name, [1]) }
        #expect(damagedKeys(sample, damaging: [0]) == Array(names[20..<40]))
    }

    @Test("are in the report, also of a journal that is read in pieces or can't be written")
    func reports() throws {
        for size in [0, 20 << 20] {
            var sample = SampleJournal(records: 3)
            sample.set("large", [UInt8](repeating: 1, count: size))
            sample.set("last", [1])
            var bytes = sample.bytes
            // Damages the checksums of two records.
            for record in [1, 3] { bytes[sample.records[record].lowerBound + 12] ^= 1 }
            let directory = TemporaryDirectory()
            try FileManager.default.createDirectory(atPath: directory.suite, withIntermediateDirectories: true)
            try directory.write(bytes)
            let possible = ["key1", "large"]
            #if os(Linux)
            let looking = ReportCollector()
            let reader = try Journal.openUnregisteredForReading(directory.suite, looking.options)
            #expect(reader.all.count == 3)
            #expect(looking.damage.map(\.possibleKeys) == [possible])
            #endif
            let reports = ReportCollector()
            #expect(try Journal.openUnregistered(directory.suite, reports.options).all.count == 3)
            #expect(reports.damage.map(\.possibleKeys) == [possible])
            #expect(reports.damage.map(\.changedKeys) == [[]])
        }
    }
}
