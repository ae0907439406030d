#if os(Linux)
import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("A suite that can't be written", .waits)
struct ReadOnlyTests {
    private let directory = TemporaryDirectory()
    private let files = FileManager.default
    private static let unprivilegedUser: uid_t = 65_534

    /// Makes a closed suite with one value, which belongs to the user that the helper becomes.
    private func prepare() throws {
        chmod(directory.path, 0o755)
        do {
            let journal = try Journal.openUnregistered(directory.suite)
            try journal.set("a", "1")
            try journal.synchronize()
        }
        giveToUser()
    }

    private func giveToUser() {
        guard geteuid() == 0 else { return }
        for name in ["", "/journal"] {
            chown(directory.suite + name, Self.unprivilegedUser, Self.unprivilegedUser)
        }
    }

    private struct Protection: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var modes: [String: mode_t]
        /// The files that must be made writable so that a write works.
        var remedy: String
    }

    private static let protections = [
        Protection(testDescription: "directory", modes: [".": 0o500], remedy: "."),
        Protection(testDescription: "journal", modes: ["journal": 0o400], remedy: "journal"),
        Protection(
            testDescription: "all",
            modes: ["journal": 0o400, ".": 0o500],
            remedy: ".,journal"
        ),
    ]

    @Test(
        "can be read without write permission; writes throw until there is one",
        arguments: protections
    )
    private func permissions(_ protection: Protection) throws {
        try prepare()
        // The directory comes last, so that the order doesn't matter without root's privileges.
        for (name, mode) in protection.modes.sorted(by: { $0.key > $1.key }) {
            chmod(directory.suite + "/" + name, mode)
        }
        let before = try fingerprints(of: directory.suite)
        let refused = "refused(code: \(EACCES))"
        let expected = [
            "read: 1", "again: true", "set: \(refused)", "exclusive: \(refused)", "compact: \(refused)", "flush: done",
            "read: 1",
        ]
        let outcome = try Helper(["read-only", directory.suite, ""]).finish()
        #expect(outcome.output.split(separator: "\n").map(String.init) == expected)
        #expect(try fingerprints(of: directory.suite) == before)

        let later = try Helper(["read-only", directory.suite, protection.remedy]).finish()
        #expect(
            later.output.split(separator: "\n").map(String.init)
                == expected + ["later: done", "read: 3 false", "other: 3"]
        )
        chmod(directory.suite, 0o700)
    }

    @Test("says of damage only what it knows: not that all keys have changed, when none had been read")
    func damaged() throws {
        let writer = try Journal.openUnregistered(directory.suite)
        for key in ["a", "b", "c", "d", "e"] { try writer.set(key, "the value of \(key)") }
        var bytes = try directory.bytes()
        let place = try #require(bytes.firstRange(of: Array("value of c".utf8)))
        bytes[place.lowerBound] ^= 1
        try directory.write(bytes, to: "suite/journal")
        let reports = ReportCollector()
        var options = reports.options
        options.isReadOnly = true
        let reader = try Journal.openTest(directory.suite, options)
        #expect(reader["b"] == "the value of b" && reader["c"] == nil)
        guard case .damaged(let damage)? = reports.all.first, reports.all.count == 1 else {
            Issue.record("\(reports.all)")
            return
        }
        #expect(damage.changedKeys.isEmpty && damage.possibleKeys == ["c"])
        #expect(damage.copy == nil && damage.copyError == nil)
    }

    @Test("is an error for a user who may not even read it")
    func unreadable() throws {
        try prepare()
        chmod(directory.suite + "/journal", 0o200)
        let outcome = try Helper(["read-only", directory.suite, ""]).finish()
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("open failed for \(directory.journal)"))
    }

    @Test(
        "of another user can be read by root, which writes nothing into it",
        .enabled(if: Machine.isRoot, "Needs root.")
    )
    func otherUser() throws {
        try prepare()
        let before = try fingerprints(of: directory.suite)
        let journal = try Journal.openTest(directory.suite)
        #expect(journal.isReadOnly)
        #expect(journal["a"] == "1")
        #expect(try Journal.openTest(directory.suite) === journal)
        let refusal = JournalError(.readOnly(.otherUser(Self.unprivilegedUser)), path: directory.suite)
        #expect(throws: refusal) { try journal.set("a", "2") }
        #expect(throws: refusal) { try journal.withExclusiveAccess {} }
        #expect(throws: refusal) { try journal.compact() }
        try journal.synchronize()
        #expect(try journal.verify().isIntact)
        #expect(try fingerprints(of: directory.suite) == before)

        for number in 2..<5 {
            #expect(try Helper(["set-unprivileged", directory.suite, "a", "\(number)"]).finish().status == 0)
            #expect(journal["a"] == "\(number)")
        }
        try journal.copy(to: directory.path + "/copy")
        #expect(try Journal.openTest(directory.path + "/copy")["a"] == "4")
        // From now on the suite belongs to root.
        for name in ["", "/journal"] { chown(directory.suite + name, 0, 0) }
        try journal.set("a", "5")
        #expect(!journal.isReadOnly)
        #expect(try Journal.openUnregistered(directory.suite)["a"] == "5")
    }

    @Test(
        "is refused as any other if it isn't what it seems: links, second names, other types",
        .enabled(if: Machine.isRoot, "Needs root.")
    )
    func hostile() throws {
        try prepare()
        try files.linkItem(atPath: directory.journal, toPath: directory.path + "/second")
        #expect(throws: JournalError(.linked, path: directory.journal)) { try Journal.openTest(directory.suite) }
        try files.removeItem(atPath: directory.journal)
        #expect(throws: JournalError(.linked, path: directory.journal)) {
            try files.linkItem(atPath: directory.path + "/second", toPath: directory.journal)
            _ = try Journal.openTest(directory.suite)
        }
        try files.removeItem(atPath: directory.journal)
        try files.createSymbolicLink(atPath: directory.journal, withDestinationPath: directory.path + "/second")
        let refusal = JournalError.Kind.linkRefused(.otherUsers(owner: Self.unprivilegedUser))
        #expect(throws: JournalError(refusal, path: directory.suite)) { try Journal.openTest(directory.suite) }
        try files.removeItem(atPath: directory.journal)
        mkfifo(directory.journal, 0o600)
        #expect(throws: JournalError(.notARegularFile, path: directory.journal)) {
            try Journal.openTest(directory.suite)
        }
        #expect(throws: JournalError(.notARegularFile, path: directory.journal)) {
            try Journal.inspect(at: directory.suite)
        }
        try files.createSymbolicLink(atPath: directory.path + "/link", withDestinationPath: directory.suite)
        #expect(throws: JournalError(refusal, path: directory.suite)) { try Journal.openTest(directory.path + "/link") }
    }

    @Test(
        "on a read-only disk shows what is written elsewhere, and can be written once the disk is writable",
        .enabled(if: Machine.canMount, "Needs to mount."),
        .waits
    )
    func mount() async throws {
        try files.createDirectory(atPath: directory.path + "/disk", withIntermediateDirectories: true)
        let original = directory.path + "/disk/suite"
        try Journal.openUnregistered(original).set("a", "1")
        let mount = try #require(try ReadOnlyMount(of: directory.path + "/disk", at: directory.path + "/mount"))
        defer { do { try mount.unmount() } catch { print("still mounted: \(mount.path)") } }
        let path = mount.path + "/suite"
        let reports = ReportCollector()
        let journal = try Journal.openUnregisteredForReading(path, reports.options)
        #expect(journal["a"] == "1")
        let refusal = JournalError(.readOnly(.refused(code: EROFS)), path: path + "/journal")
        #expect(throws: refusal) { try journal.set("a", "2") }
        #expect(refusal.description.contains("Read-only file system"))
        #expect(throws: JournalError(.readOnly(.refused(code: EROFS)), path: mount.path + "/none")) {
            try Journal.openTest(mount.path + "/none")
        }

        let notices = AsyncStream<Int>.makeStream()
        journal.startWatching { [weak journal] in notices.continuation.yield(journal?.all.count ?? 0) }
        #expect(try Helper(["keys", original, "p", "10"]).finish().status == 0)
        for await count in notices.stream where count == 11 { break }
        journal.stopWatching()

        // The changes are appends, compactions, a removed suite and a recreated one.
        let writer = try Journal.openUnregistered(original)
        for number in 0..<200 {
            try writer.set("a", "\(number)")
            #expect(journal["a"] == "\(number)")
            if number % 40 == 39 { try writer.compact() }
        }
        try files.removeItem(atPath: original)
        journal.forgetComparison()
        #expect(journal["a"] == "199")
        #expect(reports.all.isEmpty)
        #expect(throws: JournalError(.readOnly(.refused(code: EROFS)), path: path)) { try journal.set("a", "2") }
        try Journal.openUnregistered(original).set("b", "1")
        journal.forgetComparison()
        #expect(journal["a"] == nil)
        #expect(journal["b"] == "1")

        try #require(try mount.makeWritable())
        try journal.set("c", "1")
        #expect(!journal.isReadOnly)
        #expect(try Journal.openUnregistered(original).all.count == 2)
    }

    #if DEBUG
    @Test("is detected at each call that opens it for writing", arguments: [EROFS, EACCES, EPERM])
    func faults(code: Int32) throws {
        try prepare()
        for name in ["", "/journal"] { chown(directory.suite + name, geteuid(), getegid()) }
        // The refused call opens the directory or the journal.
        for number in 0..<2 {
            let probe = SystemCallProbe()
            probe.plan(.fail(code: code), call: .open, number: number)
            let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
            let journal = try Journal.openTest(directory.suite, options)
            #expect(probe.fired == 1)
            #expect(journal.isReadOnly)
            #expect(journal["a"] == "\(number + 1)")
            probe.clear()
            probe.plan(.fail(code: code), call: .open, number: 0)
            let refusal = JournalError(.readOnly(.refused(code: code)), path: directory.suite)
            #expect(throws: refusal) { try journal.set("a", "0") }
            // The journal may also be refused once the lock is taken, which is released then.
            probe.plan(.fail(code: code), call: .open, number: 1)
            let later = JournalError(.readOnly(.refused(code: code)), path: directory.journal)
            #expect(throws: later) { try journal.set("a", "0") }
            let impatient = JournalOptions(automaticMaintenance: false, lockTimeout: 0)
            try Journal.openUnregistered(directory.suite, impatient).set("b", "\(number)")
            #expect(journal["a"] == "\(number + 1)" && journal.isReadOnly)
            // Now the disk is writable again.
            try journal.set("a", "\(number + 2)")
            #expect(journal["a"] == "\(number + 2)")
        }
    }

    @Test("by request has its own journal object, which never becomes writable, whichever was opened first")
    func requested() throws {
        try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false)).set("a", "1")
        var reading = JournalOptions()
        reading.isReadOnly = true
        let first = try Journal.openTest(directory.suite, reading)
        let probe = SystemCallProbe()
        probe.plan(.fail(code: EROFS), call: .open, number: 0)
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openTest(directory.suite, options)
        #expect(journal !== first && journal.isReadOnly)
        let second = try Journal.openTest(directory.suite, reading)
        #expect(second !== journal && second !== first)
        try journal.set("a", "2")
        #expect(!journal.isReadOnly)
        #expect(try Journal.openTest(directory.suite) === journal)
        for reader in [first, second] {
            #expect(reader["a"] == "2")
            #expect(throws: JournalError(.readOnly(.requested), path: directory.suite)) { try reader.set("a", "3") }
            #expect(reader.isReadOnly)
        }
    }

    @Test("and doesn't exist is an error that says so")
    func missing() throws {
        for code in [EROFS, EACCES] {
            let probe = SystemCallProbe()
            probe.plan(.fail(code: code), call: .mkdir, number: 0)
            let options = JournalOptions(calls: SystemCalls(probe: probe))
            #expect(throws: JournalError(.readOnly(.refused(code: code)), path: directory.suite)) {
                try Journal.openTest(directory.suite, options)
            }
            #expect(!files.fileExists(atPath: directory.suite))
        }
        // Reading alone needs no permission to create the suite.
        var reading = JournalOptions()
        reading.isReadOnly = true
        let error = #expect(throws: JournalError.self) { try Journal.openTest(directory.suite, reading) }
        #expect(error?.isNotFound == true && error?.isReadOnlyDisk == false && error?.path == directory.suite)
    }

    @Test("and can't be read either is an error that says what writing needs, or reading if that was asked for")
    func unreadableEither() throws {
        try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false)).set("a", "1")
        let probe = SystemCallProbe()
        var options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        func failure(_ codes: Int32...) -> JournalError? {
            for (number, code) in codes.enumerated() { probe.plan(.fail(code: code), call: .open, number: number) }
            return #expect(throws: JournalError.self) { try Journal.openTest(directory.suite, options) }
        }
        #expect(failure(EACCES, EPERM) == JournalError(.system(.open, code: EACCES), path: directory.suite))
        #expect(failure(EROFS, EIO) == JournalError(.system(.open, code: EIO), path: directory.suite))
        options.isReadOnly = true
        #expect(failure(EPERM) == JournalError(.system(.open, code: EPERM), path: directory.suite))
        #expect(failure(EIO) == JournalError(.system(.open, code: EIO), path: directory.suite))
        #expect(try Journal.openTest(directory.suite, options)["a"] == "1")
    }

    @Test("is read without a system call while nothing changes, or with one where files aren't mapped")
    func callsPerRead() throws {
        try prepare()
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe))
        let journal = try Journal.openUnregisteredForReading(directory.suite, options)
        let expected: [SystemCall: Int] = directory.isMapped ? [:] : [.lseek: 10]
        // Once a second the files are compared, which makes more calls.
        repeat {
            probe.clear()
            for _ in 0..<10 { #expect(journal["a"] == "1") }
        } while probe.counts != expected
    }
    #endif

    @Test("is opened for reading only whatever others do to it, and has nothing to flush")
    func descriptors() throws {
        let writer = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try writer.set("a", "first")
        var options = JournalOptions()
        options.isReadOnly = true
        let journal = try Journal.openTest(directory.suite, options)
        let changes: [(name: String, make: () throws -> Void)] = [
            ("a write", {}),
            ("a compaction", { try writer.compact() }),
            ("two compactions", { for _ in 0..<2 { try writer.compact() } }),
            (
                "another suite",
                {
                    try files.removeItem(atPath: directory.suite)
                    writer.forgetComparison()
                }
            ),
        ]
        for change in changes {
            try change.make()
            try writer.set("a", change.name)
            journal.forgetComparison()
            #expect(journal["a"] == change.name)
            #expect(fcntl(journal.state.file.raw, F_GETFL) & O_ACCMODE == O_RDONLY, "\(change.name)")
            #expect(!journal.hasFlushScheduled, "\(change.name)")
            // Setting the stored value again is refused too.
            journal.noteComparison()
            #expect(throws: JournalError(.readOnly(.requested), path: directory.suite)) {
                try journal.set("a", change.name)
            }
        }
    }

    @Test("reports damage once, keeps the file, and has every valid record")
    func damage() throws {
        var sample = SampleJournal(records: 50)
        sample.bytes[sample.records[7].upperBound - 1] ^= 1
        try files.createDirectory(atPath: directory.suite, withIntermediateDirectories: true)
        try directory.write(sample.bytes)
        let before = try fingerprints(of: directory.suite)
        let reports = ReportCollector()
        let journal = try Journal.openUnregisteredForReading(directory.suite, reports.options)
        #expect(journal.all.count == 49)
        #expect(journal["key7"] == nil)
        let range = UInt64(sample.records[7].lowerBound)..<UInt64(sample.records[7].upperBound)
        #expect(reports.damage.map(\.ranges) == [[range]])
        #expect(reports.damage.map(\.copy) == [nil])
        #expect(try !journal.verify().isIntact)
        #expect(try fingerprints(of: directory.suite) == before)
        // A new look because of a change doesn't repeat the report.
        sample.set("more", [1])
        try directory.overwriteInPlace("suite/journal", with: sample.bytes)
        journal.forgetComparison()
        #expect(journal.all.count == 50)
        #expect(reports.all.count == 1)
        /// Puts another file in the journal's place, and reads it.
        func replace(_ bytes: [UInt8]) throws {
            try directory.write(bytes, to: "other")
            try #require(rename(directory.path + "/other", directory.journal) == 0)
            journal.forgetComparison()
            _ = journal.all
        }
        try replace(sample.bytes)
        #expect(reports.damage.count == 1)
        // Damage is new if the file was sound in between.
        try replace(SampleJournal(records: 50).bytes)
        #expect(journal.all.count == 50 && journal["key7"] != nil && reports.damage.count == 1)
        try replace(sample.bytes)
        #expect(reports.damage.count == 2)
        #expect(reports.damage.last?.changedKeys == ["key7", "more"] && reports.damage.last?.keptRecords == 50)
    }

    @Test("of a later format is refused, and without a header it is empty")
    func header() throws {
        try prepare()
        var bytes = try directory.bytes()
        for index in 0..<JournalHeader.size { bytes[index] = 0 }
        try directory.overwriteInPlace("suite/journal", with: bytes)
        let reports = ReportCollector()
        let journal = try Journal.openUnregisteredForReading(directory.suite, reports.options)
        #expect(journal.all.isEmpty)
        #expect(reports.damage.map(\.ranges) == [[0..<UInt64(bytes.count)]])
        try directory.overwriteInPlace("suite/journal", with: newer())
        #expect(throws: JournalError(.newerFormat(version: 9))) {
            try Journal.openUnregisteredForReading(directory.suite)
        }
        #expect(throws: JournalError(.newerFormat(version: 9), path: directory.journal)) { try journal.verify() }
    }

    private func newer() -> [UInt8] {
        var bytes = SampleJournal(records: 2).bytes
        bytes[8] = 9
        bytes.withUnsafeMutableBytes { bytes in
            let checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[0..<28]))
            bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 28, as: UInt32.self)
        }
        return bytes
    }

    @Test("Readers see every acknowledged write while another process writes and compacts")
    func busy() throws {
        try prepare()
        for name in ["", "/journal"] { chown(directory.suite + name, geteuid(), getegid()) }
        let reports = ReportCollector()
        let journal = try Journal.openUnregisteredForReading(directory.suite, reports.options)
        let helper = try Helper(["keys", directory.suite, "k", "400"])
        var count = 0
        while helper.process.isRunning {
            let now = journal.all.count
            #expect(now >= count)
            count = now
        }
        #expect(helper.finish().status == 0)
        #expect(journal.all.count == 401)
        #expect(reports.damage.isEmpty)
    }
}

extension Journal {
    /// Opens a suite only for reading, although it is writable, beside the journal that is open.
    static func openUnregisteredForReading(
        _ path: String,
        _ options: JournalOptions = JournalOptions()
    ) throws -> Journal {
        let suite = try SuiteDirectory.openExisting(path, calls: options.calls)
        let journal = try Journal.unopened(suite, at: path, options)
        journal.state.refusal = JournalError(.readOnly(.requested), path: path)
        try journal.load()
        journal.deliverReports()
        return journal
    }
}
#endif
