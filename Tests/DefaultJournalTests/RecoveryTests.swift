import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("Recovery", .waits)
struct RecoveryTests {
    private let sample = SampleJournal(records: 50)

    /// Creates a suite whose journal has this content, without a lock file.
    private func suite(_ bytes: [UInt8], in directory: TemporaryDirectory) throws {
        try FileManager.default.createDirectory(
            atPath: directory.suite,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try directory.write(bytes)
    }

    #if DEBUG
    @Test(
        "What is written behind damage and a record cut off at any length is kept, also if the repair fails",
        arguments: 1...15
    )
    func cutBehindDamage(length: Int) throws {
        let directory = TemporaryDirectory()
        let writer = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try writer.set("first", "1")
        let damaged = writer.state.position
        try writer.set("damaged", "1")
        let tail = writer.state.position
        try writer.set("cut", String(repeating: "1", count: 100))
        try expectWritesAreKept(in: directory, cutTo: tail + UInt64(length), damagedAt: damaged)
    }

    @Test("What is written behind damage and a header that zeros would complete is kept", arguments: 9...11)
    func headerCompletedByZeros(length: Int) throws {
        let directory = TemporaryDirectory()
        let writer = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try writer.set("first", "1")
        let damaged = writer.state.position
        try writer.set("damaged", "1")
        let tail = writer.state.position
        try writer.set("cut", String(repeating: "1", count: 100))
        let bytes = try directory.bytes("suite/journal")
        let number = UInt16(bytes[Int(tail) + 2]) | UInt16(bytes[Int(tail) + 3]) << 8
        let salt = writer.state.file.salt
        // Few checksums end in so many zeros, so the header gets a length with which it does.
        func checksum(_ length: UInt32) -> UInt32 {
            Record.headerChecksum(salt: salt, offset: tail, number: number, length: length)
        }
        let lengths = 1...UInt32(Record.maximumPayload)
        let payload = try #require(lengths.first { checksum($0) >> (8 * (length - 8)) == 0 })
        let header = [payload, checksum(payload)].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        }
        try directory.overwriteInPlace("suite/journal", at: tail + 4, with: header)
        try expectWritesAreKept(in: directory, cutTo: tail + UInt64(length), damagedAt: damaged)
    }

    /// Cuts a journal off and damages a record before that, and expects what is written then to be kept.
    private func expectWritesAreKept(
        in directory: TemporaryDirectory,
        cutTo size: UInt64,
        damagedAt damaged: UInt64
    ) throws {
        try #require(truncate(directory.journal, off_t(size)) == 0)
        try directory.overwriteInPlace("suite/journal", at: damaged, with: [0])
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        // The disk has no room for the repair, so the damaged journal stays in use.
        probe.plan(.fail(code: ENOSPC), call: .pwrite, number: 0)
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        #expect(probe.fired == 1)
        try journal.set("next", "1")
        try journal.set("last", "1")
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh.all == journal.all && fresh["next"] == "1" && fresh["last"] == "1")
    }
    #endif

    @Test("Every prefix opens with every complete record")
    func prefixes() throws {
        let records = JournalHeader.size
        for count in 0...sample.bytes.count
        where count < 40
            || records - 40 < count && (count < records + 80 || count % 7 == 0 || count > sample.bytes.count - 40)
        {
            let directory = TemporaryDirectory()
            let reports = ReportCollector()
            try suite(Array(sample.bytes[..<count]), in: directory)
            let journal = try Journal.openTest(directory.suite, reports.options.later)
            #expect(journal.all.count == sample.records.filter { $0.upperBound <= count }.count)
            // A journal is created with its whole header; a file with only a part of it was truncated later.
            let isDamaged = count > 0 && count < JournalHeader.size
            #expect(reports.damage.count == (isDamaged ? 1 : 0))
            try journal.set("more", "1")
            #expect(try journal.verify().isIntact)
            #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
            try journal.synchronize()
        }
    }

    @Test("A changed byte costs one record; the damaged file is backed up once and reported once")
    func changedBytes() throws {
        // The bytes between the two copies of the header have no meaning.
        let (head, stride) = TestExtent.pick(brief: (4_150, 20), full: (4_200, 5))
        for index in Array(0..<32) + Array(4096..<sample.bytes.count) where index < head || index % stride == 0 {
            let directory = TemporaryDirectory()
            let reports = ReportCollector()
            var bytes = sample.bytes
            bytes[index] ^= 0x04
            try suite(bytes, in: directory)
            let journal = try Journal.openTest(directory.suite, reports.options.later)
            let lost = sample.records.firstIndex { $0.contains(index) }
            #expect(journal.all.count == (lost == nil ? 50 : 49))
            #expect(lost.map { journal["key\($0)"] == nil } ?? true)
            let damage = try #require(reports.damage.first)
            #expect(reports.all.count == 1)
            #expect(damage.ranges.contains { $0.contains(UInt64(index)) })
            let copies = try directory.damagedCopies
            #expect(copies.map { directory.suite + "/" + $0 } == [damage.copy])
            #expect(try directory.bytes("suite/" + copies[0]) == bytes)
            #expect(try journal.verify().isIntact)
            #expect(try Journal.openUnregistered(directory.suite, reports.options.later).all == journal.all)
            #expect(reports.all.count == 1)
        }
    }

    @Test("A backup is as long as the damaged file, if that ends in a hole too")
    func hole() throws {
        let directory = TemporaryDirectory()
        var bytes = sample.bytes
        bytes[4_200] ^= 1
        try suite(bytes, in: directory)
        // The size is more than is read in one call.
        let size = 3 << 20
        #expect(truncate(directory.journal, off_t(size)) == 0)
        #expect(try Journal.openTest(directory.suite, ReportCollector().options.later).all.count == 49)
        let copy = try directory.bytes("suite/" + #require(directory.damagedCopies.first))
        #expect(copy.count == size && copy.starts(with: bytes))
        #expect(copy.withUnsafeBytes { ByteSearch.isZero(UnsafeRawBufferPointer(rebasing: $0[bytes.count...])) })
    }

    @Test("A lost sector loses the records that lie in it, and the first sector loses none", arguments: [512, 4096])
    func lostSectors(size: Int) throws {
        let sample = SampleJournal(records: 300)
        for start in stride(from: 0, to: sample.bytes.count, by: size) {
            let directory = TemporaryDirectory()
            var bytes = sample.bytes
            let sector = start..<min(start + size, bytes.count)
            for index in sector { bytes[index] = 0xE5 }
            try suite(bytes, in: directory)
            let lost = sample.records.indices.filter { sample.records[$0].overlaps(sector) }
            let reports = ReportCollector()
            let journal = try Journal.openTest(directory.suite, reports.options.later)
            #expect(journal.all.count == 300 - lost.count)
            #expect(lost.allSatisfy { journal["key\($0)"] == nil })
            #expect(reports.damage.count == (sector.contains(0) || sector.upperBound > 4_096 ? 1 : 0))
        }
    }

    @Test("With both copies of the header gone, only a process that has read the journal can save its records")
    func headerGone() throws {
        for isOpen in [true, false] {
            let directory = TemporaryDirectory()
            let reports = ReportCollector()
            let journal = try Journal.openUnregistered(directory.suite, reports.options.later)
            try journal.set("a", "1")
            var bytes = try directory.bytes()
            for index in 0..<JournalHeader.size { bytes[index] = 0 }
            try directory.overwriteInPlace("suite/journal", with: bytes)
            if isOpen {
                journal.forgetComparison()
                try journal.set("b", "1")
                #expect(reports.damage.map(\.ranges) == [[0..<UInt64(JournalHeader.size)]])
            }
            let fresh = try Journal.openUnregistered(directory.suite, JournalOptions().later)
            #expect(fresh["a"] == (isOpen ? "1" : nil))
            #expect(try directory.damagedCopies.count == 1)
        }
    }

    @Test("The report of damage says of which file, how much of it, what is kept, and which keys may have lost a value")
    func damageReport() throws {
        let directory = TemporaryDirectory()
        let reports = ReportCollector()
        var bytes = sample.bytes
        for record in [3, 7] { bytes[sample.records[record].upperBound - 1] ^= 1 }
        try suite(bytes, in: directory)
        _ = try Journal.openUnregistered(directory.suite, reports.options.later)
        let ranges = [3, 7].map { UInt64(sample.records[$0].lowerBound)..<UInt64(sample.records[$0].upperBound) }
        let damage = JournalReport.Damage(
            path: directory.journal,
            bytes: 80,
            ranges: ranges,
            keptRecords: 48,
            copy: directory.suite + "/" + (try #require(directory.damagedCopies.first)),
            copyError: nil,
            changedKeys: [],
            possibleKeys: ["key3", "key7"]
        )
        #expect(reports.all == [.damaged(damage)])
    }

    #if DEBUG
    @Test(
        "A file that is not a journal stays as it is without room for its copy or a journal, and isn't opened",
        arguments: [0, 1]
    )
    func noRoomForForeignFile(failing: Int) throws {
        let directory = TemporaryDirectory()
        let text = Array(String(repeating: "this is no journal\n", count: 300).utf8)
        try suite(text, in: directory)
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        let options = ReportCollector().options(probe)
        probe.plan(.fail(code: ENOSPC), call: .pwrite, number: failing)
        let error = #expect(throws: JournalError.self) { try Journal.openTest(directory.suite, options) }
        #expect(error?.kind == .system(.pwrite, code: ENOSPC))
        let name = failing == 0 ? "/journal.damaged-2" : "/journal.fresh"
        #expect(error?.path.hasPrefix(directory.suite + name) == true)
        #expect(try directory.bytes() == text && directory.names() == ["journal"])
        #expect(try Journal.openTest(directory.suite, options).all.isEmpty)
        #expect(try directory.bytes("suite/" + #require(directory.damagedCopies.first)) == text)
    }

    @Test("A damaged journal is replaced when its backup is on the disk by its name, and not before")
    func backupOnDisk() throws {
        let directory = TemporaryDirectory()
        var bytes = sample.bytes
        bytes[4_200] ^= 1
        try suite(bytes, in: directory)
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        probe.startRecording()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        #expect(journal.all.count == 49)
        let backup = directory.suite + "/" + (try #require(try directory.damagedCopies.first))
        let calls = probe.records.compactMap { record -> String? in
            switch record.call {
            case .pwrite where record.path == backup: "write"
            case .fsync where record.path == backup: "sync"
            case .fsync where record.path == directory.suite: "sync name"
            case .rename: "replace"
            default: nil
            }
        }
        #expect(calls == ["write", "sync", "sync name", "replace", "sync name"])
    }
    #endif

    @Test("A file that is not a journal is backed up, and the suite starts empty")
    func noJournal() throws {
        let directory = TemporaryDirectory()
        let reports = ReportCollector()
        let text = Array(String(repeating: "this is no journal\n", count: 30).utf8)
        try suite(text, in: directory)
        let journal = try Journal.openTest(directory.suite, reports.options.later)
        #expect(journal.all.isEmpty)
        #expect(reports.damage.map(\.bytes) == [UInt64(text.count)])
        try journal.set("a", "1")
        #expect(try Journal.openUnregistered(directory.suite)["a"] == "1")
        #expect(try directory.bytes("suite/" + directory.damagedCopies[0]) == text)
    }

    @Test("A journal of a later format is neither opened nor changed")
    func newerFormat() throws {
        let directory = TemporaryDirectory()
        let bytes = ofLaterFormat(sample.bytes)
        try suite(bytes, in: directory)
        #expect(throws: JournalError(.newerFormat(version: 9), path: directory.journal)) {
            try Journal.openTest(directory.suite)
        }
        #expect(try directory.bytes() == bytes)
        #expect(try Set(directory.names()) == ["journal"])
    }

    private func ofLaterFormat(_ journal: [UInt8]) -> [UInt8] {
        var bytes = journal
        bytes[8] = 9
        bytes.withUnsafeMutableBytes { bytes in
            let checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[0..<28]))
            bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 28, as: UInt32.self)
        }
        return bytes
    }

    @Test("Readers keep what they had while a suite of a later format is in the place of theirs")
    func replacedByNewerFormat() throws {
        let directory = TemporaryDirectory()
        let reports = ReportCollector()
        var options = reports.options
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("key", "value")
        let (own, newer) = (directory.path + "/own", directory.path + "/newer")
        try #require(rename(directory.suite, own) == 0)
        try suite(ofLaterFormat(sample.bytes), in: directory)
        journal.forgetComparison()
        #expect(journal["key"] == "value")
        try #require(rename(directory.suite, newer) == 0 && rename(own, directory.suite) == 0)
        journal.forgetComparison()
        #expect(journal["key"] == "value")
        // It has never given that suite up.
        #expect(!reports.all.contains(.replaced(path: directory.suite)))

        try #require(rename(directory.suite, own) == 0 && rename(newer, directory.suite) == 0)
        journal.forgetComparison()
        #expect(throws: JournalError(.newerFormat(version: 9), path: directory.journal)) {
            try journal.set("key", "other")
        }
        try #require(rename(directory.suite, newer) == 0 && rename(own, directory.suite) == 0)
        journal.forgetComparison()
        try journal.set("new", "1")
        #expect(journal["key"] == "value" && journal["new"] == "1")
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    @Test("Damage that appears while the suite is open is found by other processes and repaired")
    func damageWhileOpen() throws {
        let directory = TemporaryDirectory()
        let first = try Journal.openTest(directory.suite)
        for number in 0..<20 { try first.set("key\(number)", "value") }
        let size = try directory.bytes().count
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.journal))
        try file.seek(toOffset: UInt64(size - 3))
        try file.write(contentsOf: Data([0xEE]))
        try file.close()
        let reports = ReportCollector()
        let second = try Journal.openUnregistered(directory.suite, reports.options)
        #expect(second.all.count == 19)
        #expect(reports.damage.count == 1)
        #expect(first.all == second.all)
        #expect(try first.verify().isIntact)
    }

    @Test("Damage in front of a sound record is found by the process that catches up with both")
    func damageBeforeCatchingUp() throws {
        let directory = TemporaryDirectory()
        let reports = ReportCollector()
        let writer = try Journal.openUnregistered(directory.suite)
        let reader = try Journal.openUnregistered(directory.suite, reports.options)
        try writer.set("a", "1")
        #expect(reader["a"] == "1")
        // Each record is applied once.
        let end = try directory.bytes().count
        #expect(reader.state.position == UInt64(end) && writer.state.position == UInt64(end))
        try writer.set("lost", "1")
        try writer.set("kept", "1")
        try directory.overwriteInPlace("suite/journal", at: UInt64(end + Record.headerSize + 8), with: [0xEE])
        #expect(reader["kept"] == "1" && reader["lost"] == nil)
        #expect(reports.damage.count == 1)
        #expect(writer.all == reader.all)
    }

    #if DEBUG
    @Test("What was read before an error in the middle of catching up is applied and counted once", arguments: 0..<8)
    func errorWhileCatchingUp(number: Int) throws {
        let directory = TemporaryDirectory()
        let probe = SystemCallProbe()
        let writer = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        var options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        options.report = { _ in }
        let reader = try Journal.openUnregistered(directory.suite, options)
        for size in [5_000, 6_000, 20_000, 100_000] {
            try writer.set("\(size)", String(repeating: "x", count: size))
        }
        probe.plan(.fail(code: EIO), call: .pread, number: number)
        _ = reader.all
        probe.clear()
        #expect(reader.all == writer.all)
        #expect(reader.entries.journalSize == writer.entries.journalSize)
    }
    #endif

    @Test("A record that was cut short is cut off when the suite is opened")
    func tornRecord() throws {
        let directory = TemporaryDirectory()
        let end = try {
            let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
            try journal.set("a", "1")
            let end = try directory.bytes().count
            try journal.set("a", String(repeating: "2", count: 1_000))
            return end
        }()
        truncate(directory.journal, off_t(end + 500))
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions().later)
        #expect(try directory.bytes().count == end)
        #expect(journal["a"] == "1")
    }

    @Test("A journal without a byte counts as empty, and processes that had read it report that")
    func emptied() throws {
        let directory = TemporaryDirectory()
        let reports = ReportCollector()
        var options = reports.options.later
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        for number in 0..<3 { try journal.set("key\(number)", "value") }
        let size = try directory.bytes().count
        try directory.overwriteInPlace("suite/journal", with: [])
        #expect(try Journal.inspect(at: directory.suite).settings == 0)
        journal.forgetComparison()
        try journal.set("new", "1")
        #expect(journal.all.count == 1)
        #expect(
            reports.all == [.shortened(path: directory.journal, bytes: UInt64(size)), .replaced(path: directory.suite)]
        )
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    #if DEBUG
    @Test("A tail that is cut off under the lock isn't lost data, although it looked like damage without the lock")
    func cutWhileRead() throws {
        let directory = TemporaryDirectory()
        try Journal.openUnregistered(directory.suite).set("key", "value")
        let bytes = try directory.bytes()
        let inode = try directory.journalInode
        try directory.overwriteInPlace("suite/journal", with: bytes + Array(repeating: 0xFF, count: 100))
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        let reports = ReportCollector()
        var options = reports.options
        options.calls = SystemCalls(probe: probe)
        options.automaticMaintenance = false
        let journalPath = directory.journal
        let isCut = Locked(false)
        probe.onStep { step in
            guard step.call == .flock, !isCut.exchange(true) else { return }
            truncate(journalPath, off_t(bytes.count))
        }
        let journal = try Journal.openUnregistered(directory.suite, options)
        probe.onStep(nil)
        #expect(isCut.exchange(true) && journal["key"] == "value")
        #expect(reports.all.isEmpty, "\(reports.all)")
        #expect(try directory.journalInode == inode)
    }
    #endif

    @Test("A suite counts as compared from before its directory was opened, also after a compaction")
    func comparedAt() throws {
        let directory = TemporaryDirectory()
        try Journal.openUnregistered(directory.suite).set("key", "value")
        let probe = SystemCallProbe()
        var options = JournalOptions(automaticMaintenance: false)
        options.calls = SystemCalls(probe: probe)
        // The first time of each kind of call: another program may replace the suite just after it.
        let times = Locked<[SystemCall: UInt64]>([:])
        probe.onStep { step in
            times.withLock { $0[step.call] = $0[step.call] ?? Clock.monotonic() }
        }
        let journal = try Journal.openUnregistered(directory.suite, options)
        let opened = try #require(times.withLock { $0[.open] })
        #expect(journal.state.comparedAt <= opened)
        try journal.compact()
        probe.onStep(nil)
        let renamed = try #require(times.withLock { $0[.rename] })
        #expect(journal.state.comparedAt <= renamed)
    }

    @Test("A read sees a suite that was replaced during exclusive access as soon as that has ended")
    func replacedInExclusiveAccess() throws {
        let directory = TemporaryDirectory()
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("key", "old")
        let backup = try directory.bytes()
        try journal.set("key", "new")
        try journal.withExclusiveAccess {
            try directory.write(backup, to: "suite/other")
            rename(directory.suite + "/other", directory.journal)
            journal.forgetComparison()
            #expect(journal["key"] == "new")
        }
        #expect(journal["key"] == "old")
    }

    @Test("A journal that gave way to a file without a byte was replaced, not shortened")
    func replacedByEmpty() throws {
        let directory = TemporaryDirectory()
        let reports = ReportCollector()
        var options = reports.options.later
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("key", "value")
        try directory.write([], to: "suite/other")
        rename(directory.suite + "/other", directory.journal)
        journal.forgetComparison()
        try journal.set("new", "1")
        #expect(journal.all.count == 1)
        #expect(reports.all == [.replaced(path: directory.suite)])
    }

    @Test("All engines notice a journal that was truncated while it was open")
    func cutWhileOpen() throws {
        let directory = TemporaryDirectory()
        let first = try Journal.openTest(directory.suite, JournalOptions(automaticMaintenance: false))
        for number in 0..<20 { try first.set("key\(number)", "value") }
        truncate(directory.journal, off_t(JournalHeader.size + 100))
        let second = try Journal.openSettled(directory.suite)
        try second.set("new", "1")
        first.forgetComparison()
        // While the file has just changed, readers keep the entries they have.
        while first.all != second.all { first.forgetComparison() }
        #expect(first["new"] == "1")
    }

    @Test("A journal that was cut within its last record is noticed by the next write")
    func cutWithinRecord() throws {
        let directory = TemporaryDirectory()
        let reports = ReportCollector()
        var options = reports.options.later
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        try journal.set("b", String(repeating: "x", count: 100))
        let bytes = try directory.bytes()
        try directory.overwriteInPlace("suite/journal", with: Array(bytes.dropLast(40)))
        journal.forgetComparison()
        try journal.set("c", "1")
        #expect(journal["a"] == "1" && journal["b"] == nil)
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh.all == journal.all)
        #expect(try fresh.verify().isIntact)
        #expect(!reports.all.isEmpty)
    }

    @Test("The next writer removes what a killed writer left after the committed end")
    func interruptedAppend() throws {
        let directory = TemporaryDirectory()
        let journal = try Journal.openTest(directory.suite)
        try journal.set("a", "1")
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.journal))
        try file.seekToEnd()
        try file.write(contentsOf: Data(repeating: 7, count: 500))
        try file.close()
        try journal.set("b", "2")
        #expect(try journal.verify().isIntact)
        let other = try Journal.openUnregistered(directory.suite)
        try journal.set("c", "3")
        #expect(other["c"] == "3")
        #expect(other.all.count == 3)
    }

    #if DEBUG
    @Test(
        "The backup of a damaged journal that was replaced stays, whatever fails after that",
        arguments: [(SystemCall.fsync, 3), (.opendir, 0)]
    )
    func failureAfterRepair(call: SystemCall, number: Int) throws {
        let directory = TemporaryDirectory()
        var bytes = sample.bytes
        bytes[4_200] ^= 1
        try suite(bytes, in: directory)
        let probe = SystemCallProbe()
        let reports = ReportCollector()
        var options = reports.options
        options.calls = SystemCalls(probe: probe)
        options.automaticMaintenance = false
        // Syncs: the backup, its name, the new journal, and then the new journal's name, which fails here.
        probe.plan(.fail(code: EMFILE), call: call, number: number)
        let journal = try Journal.openTest(directory.suite, options)
        #expect(probe.fired == 1)
        #expect(try journal.verify().isIntact)
        let copy = try #require(try directory.damagedCopies.first)
        #expect(try directory.bytes("suite/" + copy) == bytes)
        #expect(reports.damage.map(\.copy) == [directory.suite + "/" + copy])
    }

    @Test("A journal without a valid record has its name until another one gets it, and its processes change to that")
    func unusable() throws {
        let directory = TemporaryDirectory()
        let other = try Journal.openTest(directory.suite, JournalOptions(automaticMaintenance: false))
        for offset in JournalHeader.offsets {
            try directory.overwriteInPlace("suite/journal", at: UInt64(offset), with: [0xEE])
        }
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        let path = directory.journal
        probe.onStep { _ in #expect(FileManager.default.fileExists(atPath: path)) }
        let journal = try Journal.openUnregistered(directory.suite, ReportCollector().options(probe))
        probe.onStep(nil)
        other.noteComparison()
        try other.set("a", "1")
        #expect(journal["a"] == "1")
        #expect(try Journal.openUnregistered(directory.suite)["a"] == "1")
    }

    @Test("A writer of a damaged journal cuts off its torn tail, so that no other process cuts off later records")
    func tornTailBehindDamage() throws {
        let directory = TemporaryDirectory()
        let other = try Journal.openTest(directory.suite, JournalOptions(automaticMaintenance: false))
        try other.set("damaged", "1")
        try other.set("a", "1")
        let end = other.state.position
        // A writer was killed after it had written a part of a long record.
        var record = [UInt8](repeating: 0, count: 2_000)
        record.withUnsafeMutableBytes {
            _ = Record.seal($0.baseAddress!, number: 1, payload: 1_900, salt: other.state.file.salt, offset: end)
        }
        try directory.overwriteInPlace("suite/journal", at: end, with: Array(record[..<900]))
        try directory.overwriteInPlace("suite/journal", at: UInt64(JournalHeader.size + 20), with: [0xEE])
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        // This engine's repair fails, so that it continues with this journal.
        probe.plan(.fail(code: EIO), call: .fsync, number: 0)
        let journal = try Journal.openUnregistered(directory.suite, ReportCollector().options(probe))
        try journal.set("b", "1")
        #expect(probe.fired == 1)
        other.noteComparison()
        try other.set("c", "1")
        #expect(other["b"] == "1")
        let reopened = try Journal.openUnregistered(directory.suite)
        #expect(reopened["a"] == "1" && reopened["b"] == "1" && reopened["c"] == "1")
    }

    @Test("A damaged journal stays in use unchanged without room for its copy or for its successor", arguments: [0, 1])
    func noRoomForCopy(failing: Int) throws {
        let directory = TemporaryDirectory()
        var bytes = sample.bytes
        bytes[4_200] ^= 1
        try suite(bytes, in: directory)
        let probe = SystemCallProbe()
        let reports = ReportCollector()
        var options = reports.options
        options.calls = SystemCalls(probe: probe)
        // A flush would change the header's flags.
        options.automaticMaintenance = false
        probe.plan(.fail(code: ENOSPC), call: .pwrite, number: failing)
        let journal = try Journal.openTest(directory.suite, options)
        #expect(probe.fired == 1)
        #expect(journal.all.count == 49)
        #expect(reports.damage.count == 1)
        #expect(reports.damage[0].copy == nil)
        #expect(reports.damage[0].copyError?.code == ENOSPC)
        let name = failing == 0 ? "/journal.damaged-2" : "/journal.new"
        #expect(reports.damage[0].copyError?.path.hasPrefix(directory.suite + name) == true)
        #expect(try directory.bytes() == bytes)
        #expect(try directory.damagedCopies.isEmpty)
        try journal.set("new", "1")
        #expect(try Array(directory.bytes()[..<bytes.count]) == bytes)
        // A compaction tries again. Without room it leaves the file alone, doesn't report it again, and the next one
        // isn't due until the file is twice as large.
        probe.plan(.fail(code: ENOSPC), call: .pwrite, number: failing)
        try journal.compact()
        #expect(probe.fired == 2)
        #expect(try Array(directory.bytes()[..<bytes.count]) == bytes)
        #expect(try reports.all.count == 1 && directory.damagedCopies.isEmpty)
        let (position, retrySize) = (journal.state.position, journal.writer.compactionRetrySize)
        #expect(retrySize == 2 * position)
        let later = try Journal.openUnregistered(directory.suite)
        #expect(later["new"] == "1")
        #expect(later.all.count == 50)
        #expect(try directory.damagedCopies.count == 1)
        #expect(journal.all == later.all)
    }

    @Test("A repair that failed for lack of room is made by a later compaction, and reported", arguments: [0, 1])
    func repairWithRoom(failing: Int) throws {
        let directory = TemporaryDirectory()
        var bytes = sample.bytes
        bytes[4_200] ^= 1
        try suite(bytes, in: directory)
        let probe = SystemCallProbe()
        let reports = ReportCollector()
        probe.plan(.fail(code: ENOSPC), call: .pwrite, number: failing)
        let journal = try Journal.openTest(directory.suite, reports.options(probe))
        #expect(probe.fired == 1 && reports.damage.count == 1)
        let damaged = journal.currentID
        // The journal grows until a compaction is due, which the background makes.
        let value = String(repeating: "v", count: 10_000)
        for number in 0..<60 { try journal.set("a", "\(number) \(value)") }
        try wait(for: "the repair") { journal.currentID != damaged }
        try wait(for: "its report") { reports.damage.count == 2 }
        #expect(reports.damage[1].copy != nil && reports.damage[1].copyError == nil)
        #expect(try directory.damagedCopies.count == 1)
        #expect(journal.all.count == 50 && journal["a"] == "59 \(value)")
        let later = try Journal.openUnregistered(directory.suite)
        #expect(later.all == journal.all)
    }
    #endif
}
