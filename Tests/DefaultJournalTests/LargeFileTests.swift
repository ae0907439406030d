import Foundation
import JournalProbe
import Testing

@testable import DefaultJournal

@Suite("Large files", .waits)
struct LargeFileTests {
    /// Replays a file in pieces of the smallest possible size.
    private func replayInPieces(_ path: String, salt: UInt64) throws -> (CollectedOperations, ReplayReport) {
        let calls = SystemCalls()
        let file = try calls.open(path, .read)
        let size = try calls.status(file.raw).size
        let window = try FileWindow(of: file.raw, to: size, calls: calls, pieceSize: 48)
        var collected = CollectedOperations()
        var replay = Replay(window, salt: salt)
        while let payload = try replay.next() { collected.add(payload) }
        return (collected, replay.report)
    }

    private func expectSameReplay(_ bytes: [UInt8], in directory: TemporaryDirectory, _ comment: Comment) throws {
        try directory.write(bytes, to: "file")
        let whole = replay(bytes)
        let pieces = try replayInPieces(directory.path + "/file", salt: SampleJournal().salt)
        #expect(pieces.0.entries == whole.0.entries, comment)
        #expect(pieces.0.operations == whole.0.operations, comment)
        #expect(pieces.1 == whole.1, comment)
    }

    @Test("Replay in pieces has the same result as replay of the whole file: for each prefix, byte, and hole")
    func pieces() throws {
        let directory = TemporaryDirectory()
        var sample = SampleJournal(records: 6)
        sample.set("long", [UInt8](repeating: 0xF5, count: 300))
        sample.append([.removeAll])
        sample.set("last", Array("1".utf8))
        let bytes = sample.bytes
        for count in [0, 1, 4_000] + Array(JournalHeader.size...bytes.count) {
            try expectSameReplay(Array(bytes[..<count]), in: directory, "prefix of \(count)")
        }
        for index in JournalHeader.size..<bytes.count {
            var changed = bytes
            changed[index] ^= 0x11
            try expectSameReplay(changed, in: directory, "byte \(index)")
        }
        for start in stride(from: JournalHeader.size, to: bytes.count, by: 5) {
            for length in [7, 16, 100, 400] {
                var changed = bytes
                for index in start..<min(start + length, bytes.count) { changed[index] = 0 }
                try expectSameReplay(changed, in: directory, "\(length) zeros at \(start)")
            }
        }
        for tail in [[UInt8](repeating: 0, count: 200), [1] + [UInt8](repeating: 0, count: 200), [0, 0, 1], [0xF5]] {
            try expectSameReplay(bytes + tail, in: directory, "tail of \(tail.count)")
        }
    }

    @Test("A table's entries are written as a journal of the size that it says")
    func writtenTable() throws {
        let directory = TemporaryDirectory()
        var sample = SampleJournal(records: 4)
        sample.set("key1", [UInt8](repeating: 7, count: 100))
        Array("key2".utf8).withUnsafeBytes { sample.append([.remove(key: $0)]) }
        var table = EntryTable()
        sample.bytes.withUnsafeBytes { bytes in
            let records = UnsafeRawBufferPointer(rebasing: bytes[JournalHeader.size...])
            _ = Replay.run(records, at: UInt64(JournalHeader.size), salt: sample.salt) { table.apply($0) }
        }
        #expect(table.count == 3)
        let calls = SystemCalls()
        let target = try calls.open(directory.path + "/copy", .createNew)
        let suite = try SuiteDirectory.openExisting(directory.path, calls: calls)
        let journal = try NewJournal(target, named: "copy", in: suite)
        try journal.append(table)
        try journal.finish()
        #expect(journal.end == table.journalSize)
        let copy = DefaultJournalTests.replay(try directory.bytes("copy"), salt: journal.file.salt)
        #expect(copy.1.isClean)
        #expect(copy.0.entries == DefaultJournalTests.replay(sample.bytes).0.entries)
    }

    private static let live = 8 << 20

    /// A closed suite with eight values of a mebibyte.
    private func prepare(in directory: TemporaryDirectory) throws {
        // A flush in the background would notice the later changes to the file.
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        for number in 0..<8 { try journal.set("key\(number)", [UInt8](repeating: UInt8(number), count: 1 << 20)) }
        try journal.synchronize()
    }

    /// Opens the suite in its own process, and expects it to use at most three times the live data and a constant.
    private func expectBoundedMemory(_ directory: TemporaryDirectory, _ comment: Comment) throws {
        let outcome = try Helper(["memory", directory.suite]).finish()
        #expect(outcome.status == 0, comment)
        let peak = try #require(Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)), comment)
        #expect(peak < 3 * Self.live + 64 << 20, comment)
        let journal = try Journal.openUnregistered(directory.suite)
        #expect(journal.all.count == 9, comment)
        #expect(journal[bytes: "key7"] == [UInt8](repeating: 7, count: 1 << 20), comment)
        #expect(try directory.size() < 2 * Self.live, comment)
    }

    /// Extends the journal to this size, and writes bytes at offsets.
    private func grow(_ directory: TemporaryDirectory, to size: UInt64, garbage: [UInt64: [UInt8]] = [:]) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.journal))
        defer { file.closeFile() }
        try file.truncate(atOffset: size)
        for (offset, bytes) in garbage {
            try file.seek(toOffset: offset)
            try file.write(contentsOf: Data(bytes))
        }
    }

    @Test("A journal of 8 GB that is a hole behind its records is opened in bounded memory")
    func hole() throws {
        let directory = TemporaryDirectory()
        try prepare(in: directory)
        try grow(directory, to: 8 << 30)
        try expectBoundedMemory(directory, "a hole")
        // As far as anyone can tell, this was an append that was cut short.
        #expect(try directory.damagedCopies.isEmpty)
    }

    @Test("Garbage in gigabytes behind the records is backed up, and opened in bounded memory")
    func garbage() throws {
        let directory = TemporaryDirectory()
        try prepare(in: directory)
        let size = try directory.size()
        let noise = (0..<1 << 20).map { _ in UInt8.random(in: 0...255) }
        try grow(directory, to: 8 << 30, garbage: [size + 100: noise, 5 << 30: noise, 8 << 30 - 1: [1]])
        try expectBoundedMemory(directory, "a hole with garbage")
        let copy = try #require(try directory.damagedCopies.first)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.suite + "/" + copy)
        #expect((attributes[.size] as? NSNumber)?.uint64Value == 8 << 30)
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: directory.suite + "/" + copy))
        defer { file.closeFile() }
        try file.seek(toOffset: 5 << 30)
        #expect(try file.read(upToCount: noise.count) == Data(noise))
    }

    @Test("Hundreds of megabytes without a hole, and of replaced values, are read in bounded memory")
    func dense() throws {
        let directory = TemporaryDirectory()
        try prepare(in: directory)
        let size = try directory.size()
        let piece = [UInt8](repeating: 0xA5, count: 1 << 20)
        try grow(
            directory,
            to: size + 200 << 20,
            garbage: Dictionary(uniqueKeysWithValues: (0..<200).map { (size + $0 << 20, piece) })
        )
        try expectBoundedMemory(directory, "dense garbage")
        let other = TemporaryDirectory()
        try prepare(in: other)
        do {
            let journal = try Journal.openUnregistered(other.suite, JournalOptions(automaticMaintenance: false))
            for _ in 0..<200 { try journal.set("key0", piece) }
        }
        try expectBoundedMemory(other, "replaced values")
    }

    @Test("Damage between the records of a large journal loses only the record that it hits")
    func damage() throws {
        let directory = TemporaryDirectory()
        try prepare(in: directory)
        let place = UInt64(JournalHeader.size + 2 << 20)
        try grow(directory, to: 64 << 20, garbage: [place: [0xEE]])
        let reports = ReportCollector()
        let journal = try Journal.openUnregistered(directory.suite, reports.options)
        #expect(journal.all.count == 7)
        #expect(reports.damage.map(\.keptRecords) == [7])
        #expect(try directory.damagedCopies.count == 1)
    }

    @Test("Bytes that are missing from a large journal are reported, and a later format is left alone")
    func headerAndEnd() throws {
        let directory = TemporaryDirectory()
        let reports = ReportCollector()
        var options = reports.options.later
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        for number in 0..<20 { try journal.set("key\(number)", [UInt8](repeating: 1, count: 1 << 20)) }
        try grow(directory, to: directory.size() - 100)
        journal.forgetComparison()
        try journal.set("new", "1")
        #expect(journal.all.count == 20)
        #expect(reports.all.contains { if case .shortened = $0 { true } else { false } })
        try grow(directory, to: 32 << 20)
        try directory.overwriteInPlace("suite/journal", at: 8, with: [9])
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: directory.journal))
        let header = Array(try file.read(upToCount: 28) ?? Data())
        file.closeFile()
        let checksum = header.withUnsafeBytes { CRC32C.checksum($0) }
        try directory.overwriteInPlace(
            "suite/journal",
            at: 28,
            with: (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt32($0))) }
        )
        #expect(throws: JournalError(.newerFormat(version: 9), path: directory.journal)) {
            try Journal.openUnregistered(directory.suite)
        }
    }
}

extension TemporaryDirectory {
    /// The journal's size.
    fileprivate func size() throws -> UInt64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: journal)
        return (attributes[.size] as? NSNumber)?.uint64Value ?? 0
    }
}
