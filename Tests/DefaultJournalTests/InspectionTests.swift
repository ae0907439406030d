#if os(Linux)
import Foundation
import Testing

@testable import DefaultJournal

@Suite("A look at a suite's files", .waits)
struct InspectionTests {
    private let directory = TemporaryDirectory()
    private let files = FileManager.default

    /// Inspects the suite, and expects that nothing about its files changes.
    private func inspect() throws -> SuiteInspection {
        let before = try fingerprints(of: directory.suite)
        let found = try Journal.inspect(at: directory.suite)
        #expect(try fingerprints(of: directory.suite) == before)
        return found
    }

    /// Makes a suite that has this journal and nothing else.
    private func suite(_ bytes: [UInt8]) throws {
        try files.createDirectory(atPath: directory.suite, withIntermediateDirectories: true)
        try directory.write(bytes)
    }

    @Test("counts keys and bytes of a sound suite, while it is open and closed")
    func sound() throws {
        let journal = try Journal.openTest(directory.suite)
        for number in 0..<10 { try journal.set("key\(number % 3)", "value \(number)") }
        try journal.set("\0own", "1")
        let found = try inspect()
        #expect(found.formatVersion == 1)
        #expect(found.isReadable)
        #expect(found.records == 11)
        #expect(found.settings == 3)
        #expect(found.damage.isEmpty)
        #expect(found.tornBytes == 0)
        #expect(found.damagedCopies.isEmpty)
        #expect(found.fileBytes == UInt64(try directory.bytes().count))
        // Verifying the open suite gives the same result.
        #expect(try journal.verify() == found)
        try journal.compact()
        let compacted = try inspect()
        #expect(compacted.fileBytes - found.liveBytes < 16)
        #expect(compacted.liveBytes == found.liveBytes)
    }

    @Test("names the damaged parts, a write that was cut short, and the backups there are")
    func damaged() throws {
        var sample = SampleJournal(records: 20)
        sample.bytes[sample.records[3].upperBound - 1] ^= 1
        sample.bytes[100] = 1
        sample.bytes[4_100] ^= 1
        try suite(sample.bytes + [0xF5, 0x52])
        try directory.write([1, 2, 3], to: "suite/journal.damaged-20260101T000000-2")
        try directory.write([1], to: "suite/journal.damaged-20260101T000000-1")
        let found = try inspect()
        let record = UInt64(sample.records[3].lowerBound)..<UInt64(sample.records[3].upperBound)
        #expect(found.damage == [4_096..<4_128, record])
        #expect(found.tornBytes == 2)
        #expect(found.settings == 19)
        #expect(found.records == 19)
        #expect(found.isReadable)
        #expect(
            found.damagedCopies == [
                .init(name: "journal.damaged-20260101T000000-1", bytes: 1),
                .init(name: "journal.damaged-20260101T000000-2", bytes: 3),
            ]
        )
    }

    @Test("of an open suite reports a torn tail as damage, since all before the end was whole")
    func tornInOpenSuite() throws {
        let journal = try Journal.openTest(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        let start = UInt64(try directory.bytes().count)
        try journal.set("b", String(repeating: "2", count: 10_000))
        var bytes = try directory.bytes()
        let end = UInt64(bytes.count)
        #expect(try journal.verify().damage.isEmpty)
        // Clears the record's last block, as a disk that lost it would.
        for index in (bytes.count - 1) / 4_096 * 4_096..<bytes.count { bytes[index] = 0 }
        try directory.overwriteInPlace("suite/journal", with: bytes)
        let found = try journal.verify()
        #expect(found.damage == [start..<end])
        #expect(!found.isIntact)
        #expect(found.records == 1)
        #expect(found.damagedCopies.isEmpty)
        try directory.write([1, 2], to: "suite/journal.damaged-20260101T000000-1")
        #expect(try journal.verify().damagedCopies == [.init(name: "journal.damaged-20260101T000000-1", bytes: 2)])
    }

    @Test("reads nothing without a header, and an empty or missing journal as an empty suite")
    func headless() throws {
        var sample = SampleJournal(records: 5)
        for index in 0..<JournalHeader.size { sample.bytes[index] = 0 }
        try suite(sample.bytes)
        let lost = try inspect()
        #expect(lost.formatVersion == nil && !lost.isReadable)
        #expect(lost.damage == [0..<UInt64(sample.bytes.count)])
        #expect(lost.settings == 0)
        try directory.overwriteInPlace("suite/journal", with: [])
        #expect(try inspect() == SuiteInspection())
        try files.removeItem(atPath: directory.journal)
        #expect(try inspect() == SuiteInspection())
        try directory.write([1, 2, 3], to: "suite/journal.damaged-20260101T000000-1")
        try directory.write([1], to: "suite/other")
        let without = try inspect()
        #expect(without.damagedCopies == [.init(name: "journal.damaged-20260101T000000-1", bytes: 3)])
        #expect(without.fileBytes == 0 && without.liveBytes == 4_128 && without.isIntact && without.isReadable)
    }

    @Test("gives only the version of a later format, and the contents of a journal of gigabytes")
    func otherFormats() throws {
        var sample = SampleJournal(records: 3)
        try suite(sample.bytes)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.journal))
        try file.truncate(atOffset: 8 << 30)
        file.closeFile()
        let large = try Journal.inspect(at: directory.suite)
        #expect(large.settings == 3)
        #expect(large.fileBytes == 8 << 30)
        #expect(large.tornBytes == 8 << 30 - UInt64(sample.bytes.count))

        sample.bytes[8] = 9
        sample.bytes.withUnsafeMutableBytes { bytes in
            let checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[0..<28]))
            bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 28, as: UInt32.self)
        }
        try directory.overwriteInPlace("suite/journal", with: sample.bytes)
        let newer = try inspect()
        #expect(newer.formatVersion == 9)
        #expect(!newer.isReadable)
        #expect(newer.settings == 0)
        #expect(newer.damage.isEmpty)
    }

    @Test("at a path where nothing exists throws, and creates nothing")
    func missing() throws {
        #expect(throws: JournalError(.system(.open, code: ENOENT), path: directory.suite)) {
            try Journal.inspect(at: directory.suite)
        }
        #expect(!files.fileExists(atPath: directory.suite))
        try directory.write([1], to: "suite")
        try files.createSymbolicLink(atPath: directory.path + "/link", withDestinationPath: directory.suite)
        for path in [directory.suite, directory.path + "/link"] {
            #expect(throws: JournalError(.notADirectory, path: path)) { try Journal.inspect(at: path + "/") }
        }
        #expect(throws: JournalError(.invalidPath, path: "")) { try Journal.inspect(at: "") }
    }

    @Test("works for root in another user's suite, and in a suite that can't be written")
    func protected() throws {
        do { try Journal.openUnregistered(directory.suite).set("a", "1") }
        if geteuid() == 0 {
            for name in ["", "/journal"] { chown(directory.suite + name, 65_534, 65_534) }
        }
        chmod(directory.journal, 0o400)
        chmod(directory.suite, 0o500)
        #expect(try inspect().settings == 1)
        chmod(directory.suite, 0o700)
    }

    @Test("while another process writes and compacts finds no damage")
    func busy() throws {
        do { try Journal.openUnregistered(directory.suite).set("a", "1") }
        let helper = try Helper(["keys", directory.suite, "k", "400"])
        var count = 0
        while helper.process.isRunning {
            let found = try Journal.inspect(at: directory.suite)
            #expect(found.damage.isEmpty)
            #expect(found.settings >= count)
            count = found.settings
        }
        #expect(helper.finish().status == 0)
        #expect(try Journal.inspect(at: directory.suite).settings == 401)
    }
}
#endif
