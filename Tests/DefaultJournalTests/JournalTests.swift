import Foundation
import JournalProbe
import Testing

@testable import DefaultJournal

@Suite("Journal", .waits)
struct JournalTests {
    private let directory = TemporaryDirectory()

    @Test(
        "An error's advice fits its cause",
        arguments: [
            (ENOSPC, "try again when there is room on the disk"), (EROFS, "The disk can only be read."),
            (EACCES, "Give this user permission"), (EPERM, "Give this user permission"),
            (EMFILE, "raise the limit of open files"), (EIO, "remove the cause"),
        ]
    )
    func advice(code: Int32, advice: String) {
        for kind in [JournalError.Kind.system(.open, code: code), .readOnly(.refused(code: code))] {
            let description = JournalError(kind, path: "/suite").description
            #expect(description.contains(advice))
            #expect(description.contains("permission") == [EACCES, EPERM].contains(code))
        }
    }

    @Test("A value that was set is stored, now and after reopening")
    func setAndReopen() throws {
        do {
            let journal = try Journal.openTest(directory.suite)
            try journal.set("a", "1")
            try journal.set("b", "2")
            try journal.set("a", "3")
            try journal.remove("b")
            try journal.set("é", "precomposed")
            try journal.set("e\u{301}", "decomposed")
            try journal.set("empty", "")
            #expect(journal["a"] == "3")
            #expect(journal["b"] == nil)
            try journal.synchronize()
        }
        let again = try Journal.openTest(directory.suite)
        #expect(again["a"] == "3")
        #expect(again["b"] == nil)
        #expect(again["é"] == "precomposed")
        #expect(again["e\u{301}"] == "decomposed")
        #expect(again["empty"] == "")
        #expect(again.all.count == 4)
        try again.removeAll()
        #expect(again.all.isEmpty)
        // The writer, a reader of another's writes, and an engine that opens the suite count the same size.
        let other = try Journal.openUnregistered(directory.suite)
        for number in 0..<20 { try again.set("key\(number % 7)", String(repeating: "x", count: number)) }
        try again.remove("key3")
        #expect(other.all == again.all)
        #expect(other.entries.journalSize == again.entries.journalSize)
        #expect(try Journal.openUnregistered(directory.suite).entries.journalSize == again.entries.journalSize)
        #expect(try again.verify().isIntact)
    }

    @Test("A value whose first byte is separate is stored as one, alone and in a batch")
    func prefixes() throws {
        let journal = try Journal.openTest(directory.suite)
        let other = try Journal.openUnregistered(directory.suite)
        let key = Array("a".utf8)
        try key.withUnsafeBytes { key in
            let value = UnsafeRawBufferPointer(rebasing: key[..<0])
            try journal.set(key: key, prefix: 7, value: key)
            #expect(other[bytes: "a"] == [7, 97])
            var batch = JournalBatch()
            batch.set(key: key, prefix: 8, value: key)
            try journal.append(batch)
            #expect(other[bytes: "a"] == [8, 97] && journal[bytes: "a"] == [8, 97])
            batch = JournalBatch()
            batch.set(key: key, prefix: 9, value: value)
            try journal.append(batch)
            #expect(other[bytes: "a"] == [9])
        }
        let size = try directory.bytes().count
        try journal.append(JournalBatch())
        // A value that is stored already isn't written again either.
        try key.withUnsafeBytes { key in
            for _ in 1...2 {
                try journal.set(key: key, prefix: 9, value: UnsafeRawBufferPointer(rebasing: key[..<0]))
                journal.forgetComparison()
            }
        }
        try journal.set("a", [9])
        #expect(try directory.bytes().count == size)
        #expect(try Journal.openUnregistered(directory.suite)[bytes: "a"] == [9])
        // A removal is always written, even if there is nothing to remove.
        for _ in 1...2 { try journal.remove("a") }
        #expect(try directory.bytes().count == size + 48)
    }

    @Test("A directory has one journal, however its path is spelled, until the last reference is gone")
    func oneJournalPerDirectory() throws {
        try FileManager.default.createSymbolicLink(
            atPath: directory.path + "/link",
            withDestinationPath: directory.path
        )
        let journal = try Journal.openTest(directory.suite)
        #expect(try Journal.openTest(directory.path + "/./suite//") === journal)
        #expect(try Journal.openTest(directory.path + "/link/suite") === journal)
        #expect(try Journal.openTest(directory.path + "/other") !== journal)
        // When another engine of the directory is closed, the registration stays.
        _ = try Journal.openUnregistered(directory.suite)
        #expect(try Journal.openTest(directory.suite) === journal)
    }

    @Test("Keys and values that are too long are rejected, and nothing is stored")
    func limits() throws {
        let journal = try Journal.openTest(directory.suite)
        let size = try directory.bytes().count
        #expect(throws: JournalError(.keyInvalid(bytes: 0), path: directory.journal)) { try journal.set("", "x") }
        let longKey = String(repeating: "k", count: 65_536)
        #expect(throws: JournalError(.keyInvalid(bytes: 65_536), path: directory.journal)) {
            try journal.set(longKey, "")
        }
        let longValue = [UInt8](repeating: 1, count: 67_108_866)
        #expect(throws: JournalError(.valueTooLarge(bytes: 67_108_865), path: directory.journal)) {
            try journal.set("x", longValue)
        }
        // A batch is checked before it is encoded.
        #expect(throws: JournalError(.valueTooLarge(bytes: 67_108_865), path: directory.journal)) {
            try JournalBatch.check(valueSize: 67_108_866, path: directory.journal)
        }
        try JournalBatch.check(valueSize: 67_108_865, path: directory.journal)
        for key in ["", longKey] {
            let error = JournalError(.keyInvalid(bytes: key.utf8.count), path: directory.journal)
            #expect(throws: error) { try journal.remove(key) }
            var batch = JournalBatch()
            batch.set("sound", "1")
            batch.remove(key)
            batch.set("also sound", "1")
            #expect(throws: error) { try journal.append(batch) }
        }
        #expect(journal.all.isEmpty)
        #expect(try directory.bytes().count == size)
        try journal.set("x", Array(longValue.dropLast()))
        // The buffer for a long record is released by the next flush in the background.
        journal.flushInBackground()
        let capacity = journal.writer.buffer.capacity
        #expect(capacity == 4_096)
        try journal.set(String(longKey.dropLast()), "longest")
        #expect(journal[String(longKey.dropLast())] == "longest")
        #expect(journal[bytes: "x"]?.count == 67_108_865)
        try journal.synchronize()
    }

    @Test("What is stored at the ends of pages is seen by others immediately, and when the suite is opened again")
    func pageEnds() throws {
        let reports = ReportCollector()
        var options = reports.options
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        let other = try Journal.openUnregistered(directory.suite, options)
        // Each record takes 32 bytes, so that one of them would end exactly where the second page does.
        for number in 100..<400 {
            try journal.set("k\(number)", "1")
            #expect(other["k\(number)"] == "1")
            #expect(try directory.bytes().count % 4_096 != 0)
            if (220..<230).contains(number) {
                #expect(try Journal.openUnregistered(directory.suite, options).all == journal.all)
            }
        }
        try journal.compact()
        try journal.set("k400", "1")
        #expect(try Journal.openUnregistered(directory.suite, options).all.count == 301)
        #expect(try journal.verify().isIntact)
        #expect(reports.all.isEmpty)
    }

    @Test("A thread has exclusive access from the first of its nested calls to the last, also if one throws")
    func exclusiveAccess() throws {
        let journal = try Journal.openTest(directory.suite, JournalOptions(automaticMaintenance: false))
        struct Failure: Error {}
        #expect(!journal.hasExclusiveAccess)
        let result = try journal.withExclusiveAccess {
            #expect(journal.hasExclusiveAccess)
            #expect(throws: Failure.self) {
                try journal.withExclusiveAccess {
                    #expect(journal.hasExclusiveAccess)
                    throw Failure()
                }
            }
            try journal.set("a", "1")
            #expect(journal.hasExclusiveAccess)
            let isOthers = Locked<Bool?>(nil)
            Thread.detachNewThread { isOthers.withLock { $0 = journal.hasExclusiveAccess } }
            try wait(for: "another thread") { isOthers.withLock { $0 != nil } }
            #expect(isOthers.withLock { $0 } == false)
            return 5
        }
        #expect(result == 5 && !journal.hasExclusiveAccess && journal["a"] == "1")
        // The lock is free.
        try Journal.openUnregistered(directory.suite, JournalOptions(lockTimeout: 0)).set("b", "2")
    }

    @Test("By default a journal maintains itself, and waits five seconds for others")
    func options() {
        let options = JournalOptions.standard
        #expect(options.lockTimeout == 5_000_000_000)
        #expect(options.automaticMaintenance && !options.isReadOnly && options.worker == nil)
        let isDone = Locked(false)
        let isAllowed = options.backgroundActivity { isDone.withLock { $0 = true } }
        #expect(isAllowed && isDone.withLock { $0 })
    }

    @Test("A program that is started later doesn't inherit a suite's descriptors, and with them its lock")
    func inheritance() throws {
        let journal = try Journal.openTest(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        for _ in 1...2 {
            for descriptor in [journal.suite.raw, journal.suite.lockedDescriptor, journal.state.file.raw] {
                #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            }
            try journal.compact()
        }
    }

    @Test("A batch is one record and becomes visible as a whole")
    func batches() throws {
        let journal = try Journal.openTest(directory.suite)
        try journal.set("old", "1")
        var batch = JournalBatch()
        batch.set("a", "1")
        batch.remove("old")
        batch.set("a", "2")
        batch.set("b", "3")
        try journal.append(batch)
        try journal.append(JournalBatch())
        #expect(journal.all.count == 2)
        #expect(journal["a"] == "2")
        #expect(try journal.verify().records == 2)
    }

    @Test("Compaction keeps the entries and drops the rest; the background keeps the bound")
    func compaction() throws {
        let journal = try Journal.openTest(directory.suite)
        for round in 0..<600 {
            for key in 0..<20 {
                try journal.set("key\(key)", "\(round) \(key) " + String(repeating: "x", count: 100))
            }
        }
        // Twice the entries and 512 KiB.
        let bound = 2 * (4_128 + 20 * 144) + 524_288
        try wait(for: "a compaction") { try directory.bytes().count <= bound }
        try journal.compact()
        let report = try journal.verify()
        #expect(report.isIntact)
        #expect(report.records == 20)
        #expect(report.settings == 20)
        for key in 0..<20 { #expect(journal["key\(key)"]?.hasPrefix("599 \(key) ") == true) }
        try journal.withExclusiveAccess {
            try journal.set("inside", "exclusive access")
            try journal.compact()
        }
        #expect(try journal.verify().records == 21)
        #expect(journal.all.count == 21)
    }

    @Test("Two engines on one suite see each other's writes, compactions and removals")
    func twoEngines() throws {
        // A second engine in this process behaves like another process: it has its own descriptors and mappings.
        let first = try Journal.openTest(directory.suite)
        let second = try Journal.openUnregistered(directory.suite)
        try first.set("a", "1")
        #expect(second["a"] == "1")
        try second.set("b", "2")
        #expect(first["b"] == "2")
        for round in 0..<2000 {
            try (round % 2 == 0 ? first : second).set("k\(round % 7)", String(repeating: "v", count: 200) + "\(round)")
        }
        #expect(first.all == second.all)
        try first.compact()
        #expect(second.all == first.all)
        try second.compact()
        try second.remove("a")
        #expect(first["a"] == nil)
        try first.removeAll()
        #expect(second.all.isEmpty)
        #expect(try second.verify().isIntact)
    }

    @Test("A copy has the entries of the moment it was made and overwrites nothing")
    func copying() throws {
        let journal = try Journal.openTest(directory.suite)
        try journal.set("a", "1")
        try journal.set("\0own", "2")
        try journal.copy(to: directory.path + "/deep/copy")
        try journal.set("a", "2")
        let copy = try Journal.openTest(directory.path + "/deep/copy")
        #expect(copy["a"] == "1" && copy["\0own"] == "2")
        #expect(throws: JournalError(.alreadyExists, path: directory.path + "/deep/copy")) {
            try journal.copy(to: directory.path + "/deep/copy")
        }
        #expect(journal["a"] == "2")
        // Anything at the path stays, even an empty directory or a link that leads nowhere.
        let files = FileManager.default
        try files.createDirectory(atPath: directory.path + "/directory", withIntermediateDirectories: false)
        try directory.write([], to: "file")
        try files.createSymbolicLink(atPath: directory.path + "/link", withDestinationPath: directory.path + "/nowhere")
        for name in ["directory", "file", "link"] {
            let path = directory.path + "/" + name
            #expect(throws: JournalError(.alreadyExists, path: path)) { try journal.copy(to: path + "/") }
            #expect(try files.attributesOfItem(atPath: path)[.type] != nil)
        }
        #expect(throws: JournalError(.invalidPath, path: "")) { try journal.copy(to: "") }
        #expect(throws: JournalError(.system(.stat, code: ENOTDIR), path: directory.path + "/file/copy")) {
            try journal.copy(to: directory.path + "/file/copy")
        }
        #expect(try directory.names(in: "directory").isEmpty && !files.fileExists(atPath: directory.path + "/nowhere"))
    }

    #if DEBUG
    @Test(
        "A copy that fails at any call leaves nothing, so that it can be made afterwards",
        arguments: [false, true]
    )
    func failingCopy(hadLongTurn: Bool) throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        for number in 0..<9 { try journal.set("key\(number)", "1") }
        let target = directory.path + "/copy"
        /// Makes a copy with the same calls each time, however long the last turn at the lock took.
        func copy() throws {
            journal.writer.hadLongTurn = hadLongTurn
            journal.forgetComparison()
            try journal.copy(to: target)
        }
        // The first comparison makes one more call than later ones, so it is made before counting.
        journal.forgetComparison()
        try journal.set("key0", "1")
        probe.clear()
        try copy()
        let counts = probe.counts
        #expect(counts[.fcntl] == (hadLongTurn ? 1 : nil))
        for (call, count) in counts {
            for number in 0..<count {
                try FileManager.default.removeItem(atPath: target)
                probe.clear()
                probe.plan(.fail(code: ENOSPC), call: call, number: number)
                let isRefused = (try? copy()) == nil
                #expect(probe.fired == 1, "\(call) \(number)")
                // If nothing is mapped and the look at the size fails, the file is read instead. If the turnstile can't
                // be entered, the lock is taken without it.
                #expect(isRefused != [.lseek, .fcntl].contains(call), "\(call) \(number)")
                #expect(FileManager.default.fileExists(atPath: target) != isRefused, "\(call) \(number)")
                if isRefused { try journal.copy(to: target) }
                #expect(try Journal.openUnregistered(target).all == journal.all)
            }
        }
    }
    #endif

    @Test("Files are private to the user")
    func modes() throws {
        let journal = try Journal.openTest(directory.path + "/parent/suite")
        try journal.set("a", "1")
        for (name, mode) in [
            ("parent", 0o700), ("parent/suite", 0o700), ("parent/suite/journal", 0o600),
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
    }

    @Test("Thousands of openings leak no descriptor")
    func descriptors() throws {
        func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        // A scheduled flush would keep a journal open.
        let options = JournalOptions(automaticMaintenance: false)
        try Journal.openTest(directory.suite, options).set("a", "1")
        try Journal.openTest(directory.suite, options).synchronize()
        let mine = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { isMine($0) }.count
        for _ in 0..<TestExtent.pick(brief: 2_000, full: 10_000) {
            let journal = try Journal.openTest(directory.suite, options)
            #expect(journal["a"] == "1")
        }
        let after = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { isMine($0) }.count
        #expect(after <= mine)
    }

    /// Whether a descriptor belongs to this test's suite; other tests run in the same process.
    private func isMine(_ name: String) -> Bool {
        let target = readlink("/proc/self/fd/" + name)
        return target?.hasPrefix(directory.path) ?? false
    }

    private func readlink(_ path: String) -> String? {
        do { return try FileManager.default.destinationOfSymbolicLink(atPath: path) } catch { return nil }
    }
}

extension Journal {
    /// Opens a second engine on a suite that this process has open, as another process would.
    static func openUnregistered(_ path: String, _ options: JournalOptions = JournalOptions()) throws -> Journal {
        do throws(JournalError) {
            let suite = try SuiteDirectory.open(path, calls: options.calls)
            let journal = try Journal.unopened(suite, at: path, options)
            defer { journal.deliverReports() }
            try journal.openFirst(waitingAtMost: options.lockTimeout)
            return journal
        } catch {
            throw error.withDirectory(path)
        }
    }

    /// Opens a second engine on a journal that a test has cut or overwritten, once it has not changed for a second.
    static func openSettled(_ path: String, _ options: JournalOptions = JournalOptions()) throws -> Journal {
        var journal: Journal?
        try wait(for: "an opening that is accepted") {
            do {
                journal = try openUnregistered(path, options)
                return true
            } catch let error as JournalError where error.kind == .overwritten {
                return false
            }
        }
        return try #require(journal)
    }
}
