import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("Replay")
struct ReplayTests {
    private let sample = SampleJournal(records: 50)

    @Test("Every prefix yields every complete record, and never counts as damaged")
    func prefixes() {
        for count in JournalHeader.size...sample.bytes.count {
            let (found, report) = replay(Array(sample.bytes[..<count]))
            let complete = sample.records.filter { $0.upperBound <= count }.count
            #expect(report.records == complete)
            #expect(
                report.validEnd == UInt64(complete == 0 ? JournalHeader.size : sample.records[complete - 1].upperBound)
            )
            #expect(found.entries.count == complete)
            #expect(report.damage.isEmpty)
            let isWhole = count == JournalHeader.size || sample.records.contains { $0.upperBound == count }
            #expect((report.tornTail == nil) == isWhole)
        }
    }

    @Test("A changed byte costs its record and no other")
    func changedBytes() {
        for index in JournalHeader.size..<sample.bytes.count {
            var bytes = sample.bytes
            bytes[index] ^= 1 << UInt8(index % 8)
            expectOneLoss(bytes, index, of: sample)
        }
    }

    @Test("Every byte of a small journal costs its record and no other when any of its bits differ")
    func allValues() {
        let small = SampleJournal(records: 3)
        let changes = TestExtent.pick(brief: [1, 2, 4, 8, 16, 32, 64, 128, 255], full: Array(UInt8(1)...255))
        for index in JournalHeader.size..<small.bytes.count {
            for change in changes {
                var bytes = small.bytes
                bytes[index] ^= change
                expectOneLoss(bytes, index, of: small)
            }
        }
    }

    private func expectOneLoss(_ bytes: [UInt8], _ index: Int, of sample: SampleJournal) {
        let (found, report) = replay(bytes)
        let lost = sample.records.firstIndex { $0.contains(index) } ?? -1
        let range = sample.records[lost]
        let expected = (0..<sample.records.count).filter { $0 != lost }
        #expect(found.entries.count == expected.count)
        #expect(expected.allSatisfy { found.entries["key\($0)"] == Array("value \($0)".utf8) })
        #expect(report.damage == [UInt64(range.lowerBound)..<UInt64(range.upperBound)])
    }

    @Test("A last record that ends in zeros was lost with the power if its checksum is wrong, and is damage otherwise")
    func zerosAtEnd() {
        var sample = sample
        let end = UInt64(sample.bytes.count)
        // An operation of a later release, with a correct checksum.
        sample.append(payload: [9] + [UInt8](repeating: 0, count: 2_000))
        let whole = replay(sample.bytes).1
        #expect(whole.tornTail == nil && whole.damage == [end..<UInt64(sample.bytes.count)])
        sample.bytes[Int(end) + Record.headerSize] = 0
        let lost = replay(sample.bytes).1
        #expect(lost.tornTail == end && lost.damage.isEmpty)
        // Only the last record can be lost in this way.
        sample.set("after", [1])
        let (found, damaged) = replay(sample.bytes)
        #expect(damaged.tornTail == nil && damaged.damage == [end..<UInt64(sample.records[50].upperBound)])
        #expect(found.entries["after"] == [1])
    }

    @Test("A last record is taken for lost if all of its last sector is zeros, and for damaged if part of it isn't")
    func zerosInLastSector() {
        var meaninglessCount = 0
        // Among the lengths between 400 and 1,000, some end right behind the beginning of a sector.
        for length in [3, 12, 30, 2_980, 3_000, 3_400, 3_480, 3_500] + stride(from: 400, to: 1_000, by: 3) {
            var sample = sample
            let start = sample.bytes.count
            sample.append(payload: [UInt8](repeating: 1, count: length))
            let end = sample.bytes.count
            let body = start + Record.headerSize
            let lastSector = max((end - 1) / 512 * 512, body)
            for zeros in (1...20).map({ $0 * 32 }) + [end - lastSector, end - lastSector - 1, 1_024, 2_048]
            where (1...end - body).contains(zeros) && zeros > end - body - length {
                var bytes = sample.bytes
                for index in (end - zeros)..<end { bytes[index] = 0 }
                let report = replay(bytes).1
                // A last sector that hardly holds more than padding proves nothing, unless it is the whole record.
                let saysNothing = end - lastSector <= 2 * Record.alignment && lastSector != body
                if saysNothing { meaninglessCount += 1 }
                let isLost = end - zeros <= lastSector && !saysNothing
                #expect(report.tornTail == (isLost ? UInt64(start) : nil), "\(length), \(zeros)")
                #expect(report.damage == (isLost ? [] : [UInt64(start)..<UInt64(end)]), "\(length), \(zeros)")
            }
        }
        #expect(meaninglessCount > 0)
    }

    @Test("Records that were moved or duplicated aren't accepted")
    func movedRecords() {
        let first = sample.records[3]
        let second = sample.records[4]
        var swapped = sample.bytes
        swapped.replaceSubrange(first.lowerBound..<second.upperBound, with: sample.bytes[second] + sample.bytes[first])
        #expect(replay(swapped).1.records == 48)
        let doubled = sample.bytes + sample.bytes[first]
        #expect(replay(doubled).1.records == 50)
        #expect(replay(doubled).1.damage.count == 1)
        #expect(replay(sample.bytes, salt: 1).1.records == 0)
    }

    @Test("A value that holds a journal stays a value, even when the record around it is damaged")
    func nestedJournal() {
        var outer = SampleJournal()
        outer.set("inner", sample.bytes)
        outer.set("after", [1])
        #expect(replay(outer.bytes).0.entries == ["inner": sample.bytes, "after": [1]])
        for index in outer.records[0].lowerBound..<(outer.records[0].lowerBound + 30) {
            var damaged = outer.bytes
            damaged[index] ^= 0xFF
            #expect(replay(damaged).0.entries == ["after": [1]])
        }
    }

    @Test("Operations of one record are delivered together or not at all")
    func operationsTogether() {
        var journal = SampleJournal()
        journal.append(payload: [1, 1, 0, 1, 0, 0, 0, 97, 5] + [2, 1, 0, 98] + [3] + [1, 1, 0, 0, 0, 0, 0, 99])
        #expect(replay(journal.bytes).0.entries == ["c": []])
        #expect(replay(journal.bytes).0.operations == 4)
        journal.append(payload: [1, 1, 0, 1, 0, 0, 0, 97, 5] + [9, 1, 2])
        journal.append(payload: [1, 1, 0, 255, 255, 255, 255, 97, 5])
        journal.append(payload: [1, 0, 0, 1, 0, 0, 0, 5])
        journal.set("d", [1])
        let (found, report) = replay(journal.bytes)
        #expect(found.entries == ["c": [], "d": [1]])
        #expect(report.damage.count == 1)
        #expect(report.damagedBytes == UInt64(journal.records[1...3].reduce(0) { $0 + $1.count }))
    }

    @Test("Zeros at the end are an unfinished append, zeros in between are damage")
    func zeros() {
        let tail = replay(sample.bytes + [UInt8](repeating: 0, count: 5000)).1
        #expect(tail.tornTail == UInt64(sample.bytes.count))
        #expect(tail.damage.isEmpty)
        var hole = sample.bytes
        for index in sample.records[10] { hole[index] = 0 }
        #expect(replay(hole).1.records == 49)
        #expect(replay(hole).1.damage.count == 1)
    }

    @Test("Too few bytes for a record are an unfinished append, but part of the damage right behind damage")
    func shortEnd() {
        let end = UInt64(sample.bytes.count)
        #expect(replay(sample.bytes + [1, 2, 3]).1.tornTail == end)
        var damaged = sample.bytes
        damaged[damaged.count - 1] ^= 1
        let report = replay(damaged + [1, 2, 3]).1
        #expect(report.tornTail == nil)
        #expect(report.damage == [UInt64(sample.records[49].lowerBound)..<end + 3])
    }

    @Test("Arbitrary bytes yield a report and nothing else")
    func garbage() {
        var random = SystemRandomNumberGenerator()
        for count in 0..<600 {
            let bytes = (0..<count).map { _ in random.next() as UInt8 }
            let (found, report) = replay(sample.bytes + bytes)
            #expect(found.entries.count == 50)
            #expect(report.records == 50)
            #expect(report.isClean == (count == 0))
        }
        let markers =
            [UInt8](repeating: 0, count: 16) + (0..<40_000).flatMap { _ in [0xF5, 0x52, 0x65, 0x63] as [UInt8] }
        #expect(replay(sample.bytes + markers).1.records == 50)
    }

    @Test("The table of live entries agrees with a dictionary")
    func liveTable() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            var journal = SampleJournal()
            for step in 0..<2000 {
                let key = "k\(Int.random(in: 0..<150, using: &random))"
                if step % 701 == 700 {
                    journal.append(payload: [3])
                } else if step % 3 == 0 {
                    journal.append(payload: [2, UInt8(key.utf8.count), 0] + Array(key.utf8))
                } else {
                    journal.set(key, Array(repeating: UInt8(step % 256), count: step % 9))
                }
            }
            let expected = replay(journal.bytes).0.entries
            journal.bytes.withUnsafeBytes { bytes in
                var table = EntryTable()
                let records = UnsafeRawBufferPointer(rebasing: bytes[JournalHeader.size...])
                _ = Replay.run(records, at: UInt64(JournalHeader.size), salt: journal.salt) { table.apply($0) }
                var found: [String: [UInt8]] = [:]
                var size = 0
                table.forEach { entry in
                    found[String(decoding: entry.key, as: UTF8.self)] = Array(entry.value)
                    // The headers of a record and of a set, and the padding to a multiple of eight.
                    size += (16 + 7 + entry.contentSize + 7) / 8 * 8
                    #expect(table.entry(entry.key) == entry)
                }
                #expect(table.journalSize == UInt64(JournalHeader.size + size))
                let count = table.count
                #expect(found == expected)
                #expect(count == expected.count)
            }
        }
    }
}
