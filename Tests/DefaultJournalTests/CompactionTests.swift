import Foundation
import Testing

@testable import DefaultJournal

@Suite("Compaction", .waits)
struct CompactionTests {
    private let directory = TemporaryDirectory()
    private static let value = String(repeating: "v", count: 200)

    /// What a survey keeps of some records, each of which is a list of operations.
    private func kept(_ records: [[(kind: String, key: String)]], finds: Bool = true) -> [Int] {
        var journal = SampleJournal()
        for record in records {
            var operations: [DefaultJournal.Operation] = []
            // The keys have to live as long as the operations.
            let keys = record.map { UnsafeMutableRawBufferPointer.copy(of: $0.key) }
            defer { for key in keys { key.deallocate() } }
            for (operation, key) in zip(record, keys) {
                let key = UnsafeRawBufferPointer(key)
                operations.append(
                    operation.kind == "set"
                        ? .set(key: key, value: key) : operation.kind == "remove" ? .remove(key: key) : .removeAll
                )
            }
            journal.append(operations)
        }
        let tail = Array(journal.bytes[JournalHeader.size...])
        return tail.withUnsafeBytes { tail in
            var survey = TailSurvey(finds: finds)
            let base = UInt64(JournalHeader.size)
            _ = Replay.run(tail, at: base, salt: journal.salt, visitor: &survey)
            let starts = journal.records.map { $0.lowerBound - JournalHeader.size + Record.headerSize }
            return survey.keptPayloads.compactMap { starts.firstIndex(of: $0.lowerBound) }
        }
    }

    @Test("Of the records appended meanwhile, those with one value that a later one replaces are left out")
    func survey() {
        #expect(kept([[("set", "a")], [("set", "b")], [("set", "a")]]) == [1, 2])
        #expect(kept([[("set", "a")], [("set", "b")], [("set", "a")]], finds: false) == [0, 1, 2])
        #expect(kept([[("set", "a")], [("remove", "a")]]) == [1])
        #expect(kept([[("set", "a")], [("set", "b")], [("all", "")]]) == [2])
        #expect(kept([[("set", "a"), ("set", "b")], [("set", "a")], [("set", "b")]]) == [0, 1, 2])
        #expect(kept([[("remove", "a"), ("set", "b")], [("set", "b")]]) == [0, 1])
        #expect(kept([[("set", "a")], [("set", "a"), ("set", "b")]]) == [1])
        #expect(kept([[("remove", "a")], [("set", "a")], [("remove", "a")]]) == [0, 2])
    }

    #if DEBUG
    private func options(_ probe: SystemCallProbe, automaticMaintenance: Bool = false) -> JournalOptions {
        JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: automaticMaintenance)
    }

    /// Calls `body` once, at the first step of a kind that a compaction makes without the lock.
    private func during(
        _ journal: Journal,
        _ call: SystemCall,
        _ probe: SystemCallProbe,
        _ body: @escaping @Sendable () throws -> Void
    ) {
        let isDone = Guarded(false)
        probe.onStep { [unowned journal] step in
            guard step.call == call, !step.isHalf, journal.writer.depth == 0 else { return }
            let isFirst = isDone.withLock { isDone in
                defer { isDone = true }
                return !isDone
            }
            guard isFirst else { return }
            do { try body() } catch { Issue.record(error) }
        }
    }

    @Test("What is written during a compaction is in the new journal, without what was replaced meanwhile")
    func tail() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        let other = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        for key in 0..<4 { try journal.set("key\(key)", "old") }
        for call in [SystemCall.pwrite, .fsync] {
            let id = journal.state.journalID
            during(journal, call, probe) {
                for number in 0..<500 { try other.set("key\(number % 3)", "\(call) \(number) \(Self.value)") }
                try other.remove("key3")
                var batch = JournalBatch()
                batch.set("twin", "\(call)")
                batch.set("other twin", "\(call)")
                try other.append(batch)
            }
            try journal.compact()
            probe.onStep(nil)
            #expect(journal.state.journalID != id)
            #expect(journal["key2"]?.hasPrefix("\(call) 497") == true && journal["key3"] == nil)
            #expect(journal["other twin"] == "\(call)")
            #expect(journal.all == other.all)
            let fresh = try Journal.openUnregistered(directory.suite)
            #expect(fresh.all == journal.all)
            #expect(try fresh.verify().isIntact)
            #expect(try directory.bytes().count < 20_000)
        }
    }

    @Test("What another process has flushed meanwhile is flushed in the new journal too")
    func flushedTail() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        try journal.set("a", "1")
        probe.clear()
        during(journal, .fsync, probe) { [unowned journal] in try journal.set("a", "2", durability: .everyWrite) }
        try journal.compact()
        probe.onStep(nil)
        // One for the write itself, one for the new journal.
        #expect(probe.counts[.fdatasync] == 2)
        #expect(journal.isSynced)
        probe.clear()
        during(journal, .fsync, probe) { [unowned journal] in try journal.set("a", "3") }
        try journal.compact()
        probe.onStep(nil)
        #expect(probe.counts[.fdatasync] == nil)
        #expect(!journal.isSynced)
    }

    @Test("A journal that another one has replaced meanwhile is left alone")
    func replacedMeanwhile() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        for call in [SystemCall.pwrite, .fsync] {
            for number in 0..<10 { try journal.set("a", "\(number)") }
            let id = Guarded<UInt64>(0)
            during(journal, call, probe) { [unowned journal] in
                try journal.withExclusiveAccess { try journal.compact() }
                try journal.set("b", "\(call)")
                id.withLock { $0 = journal.state.journalID }
            }
            try journal.compact()
            probe.onStep(nil)
            #expect(journal.state.journalID == id.withLock { $0 })
            #expect(journal["a"] == "9" && journal["b"] == "\(call)")
            #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
        }
    }

    @Test("What a killed compaction has left is not in the next one's journal")
    func leftover() throws {
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        for name in ["suite/journal.new", "suite/journal.fresh"] {
            try directory.write([UInt8](repeating: 7, count: 50_000), to: name)
        }
        try journal.compact()
        #expect(try directory.bytes().count < 5_000)
        try journal.withExclusiveAccess { try journal.compact() }
        #expect(try directory.bytes().count < 5_000)
        #expect(try journal.verify().isIntact)
    }

    @Test("Damage that a compaction finds is backed up and reported once, and the valid records are kept")
    func damage() throws {
        let reports = ReportCollector()
        var options = reports.options
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        for key in 0..<4 { try journal.set("key\(key)", "value") }
        try journal.synchronize()
        try directory.overwriteInPlace("suite/journal", at: UInt64(JournalHeader.size + 20), with: [0xEE])
        try journal.compact()
        #expect(reports.damage.count == 1)
        #expect(try directory.damagedCopies.count == 1)
        #expect(journal.all.count == 3)
        try journal.compact()
        #expect(reports.damage.count == 1)
        #expect(try journal.verify().isIntact)
    }

    @Test("Reads go on while a damaged journal is replaced, and while a deleted suite is recreated")
    func readsDuringRecovery() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        try journal.set("damaged", "1")
        try journal.set("a", "1")
        try directory.overwriteInPlace("suite/journal", at: UInt64(JournalHeader.size + 20), with: [0xEE])
        let found = Guarded<[String?]>([])
        let isReading = Guarded(false)
        let read: @Sendable (SystemCallProbe.Step) -> Void = { [unowned journal] _ in
            guard !isReading.withLock({ $0 }) else { return }
            isReading.withLock { $0 = true }
            found.withLock { $0.append(journal["a"]) }
            isReading.withLock { $0 = false }
        }
        probe.onStep(read)
        try journal.compact()
        probe.onStep(nil)
        #expect(found.withLock(\.count) > 10)
        #expect(found.withLock { Set($0) } == ["1"])
        #expect(try directory.damagedCopies.count == 1)
        try FileManager.default.removeItem(atPath: directory.suite)
        probe.onStep(read)
        try journal.set("b", "1")
        probe.onStep(nil)
        #expect(found.withLock { Set($0) } == ["1", nil])
        #expect(journal["b"] == "1" && journal["a"] == nil)
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    @Test("A compaction that fails is tried again when the journal has twice the size, not at each write")
    func failing() throws {
        let probe = SystemCallProbe()
        let failures = Guarded(0)
        var options = options(probe, automaticMaintenance: true)
        options.report = { if case .compactionFailed = $0 { failures.withLock { $0 += 1 } } }
        let journal = try Journal.openTest(directory.suite, options)
        for number in 0..<200 { probe.plan(.fail(code: EIO), call: .fsync, number: number) }
        while failures.withLock({ $0 }) == 0 { try journal.set("a", Self.value) }
        let size = try directory.bytes().count
        while failures.withLock({ $0 }) == 1 { try journal.set("a", Self.value) }
        #expect(try directory.bytes().count > size + size / 2)
        probe.clear()
        let id = journal.page.publication()?.journalID
        while journal.page.publication()?.journalID == id { try journal.set("a", Self.value) }
        #expect(journal["a"] == Self.value)
        #expect(try directory.bytes().count < size)
    }
    #endif
}

extension UnsafeMutableRawBufferPointer {
    fileprivate static func copy(of text: String) -> UnsafeMutableRawBufferPointer {
        let bytes = Array(text.utf8)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        return copy
    }
}
