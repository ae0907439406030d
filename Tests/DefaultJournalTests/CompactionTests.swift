import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("Compaction", .waits)
struct CompactionTests {
    private let directory = TemporaryDirectory()
    private static let value = String(repeating: "v", count: 200)

    #if DEBUG
    private func options(_ probe: SystemCallProbe, automaticMaintenance: Bool = false) -> JournalOptions {
        JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: automaticMaintenance)
    }

    /// Calls `body` once, at the first call of a kind that a compaction makes without holding the lock.
    private func during(
        _ journal: Journal,
        _ call: SystemCall,
        _ probe: SystemCallProbe,
        _ body: @escaping @Sendable () throws -> Void
    ) {
        let isDone = Locked(false)
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

    @Test(
        "A compaction whose file became another one's while it waited for its lock begins with the file that is there now"
    )
    func exchangedTarget() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        for key in 0..<4 { try journal.set("key\(key)", "value") }
        let path = directory.suite + "/journal.new"
        let exchanges = Locked(0)
        probe.onStep { step in
            guard step.call == .flock, FileManager.default.fileExists(atPath: path),
                exchanges.withLock({
                    $0 += 1; return $0
                }) == 1
            else { return }
            do {
                try FileManager.default.removeItem(atPath: path)
                try Data().write(to: URL(filePath: path))
            } catch {
                Issue.record(error)
            }
        }
        try journal.compact()
        probe.onStep(nil)
        #expect(exchanges.withLock { $0 } > 1)
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh.all.count == 4 && fresh.all == journal.all)
    }

    @Test("What is damaged between the two readings of a tail is reported, whenever that happens")
    func damagedBetweenReadings() throws {
        var number = 0
        var reachesEnd = false
        while !reachesEnd {
            let directory = TemporaryDirectory()
            let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
            let reports = ReportCollector()
            let journal = try Journal.openTest(directory.suite, reports.options(probe))
            try journal.set("key", "value")
            let tail = journal.state.position
            // This descriptor stays that of the replaced file after the compaction.
            let file = try FileHandle(forUpdating: URL(filePath: directory.journal))
            let counts = Locked((syncs: 0, readings: 0))
            probe.onStep { [number] step in
                let isTime = counts.withLock { counts in
                    if step.call == .fsync { counts.syncs += 1 }
                    if step.call == .pread, counts.syncs > 0 { counts.readings += 1 }
                    return counts.readings == number + 1 && step.call == .pread
                }
                do {
                    if step.call == .fsync, counts.withLock({ $0.syncs }) == 1 {
                        try Journal.openUnregistered(directory.suite).set("tail", "value")
                    }
                    guard isTime else { return }
                    try file.seek(toOffset: tail + 20)
                    try file.write(contentsOf: [0xEE])
                } catch {
                    Issue.record(error)
                }
            }
            try journal.compact()
            probe.onStep(nil)
            let hasTail = try Journal.openUnregistered(directory.suite)["tail"] == "value"
            #expect(hasTail || !reports.damage.isEmpty, "\(number)")
            reachesEnd = counts.withLock { $0.readings } <= number
            number += 1
        }
        #expect(number > 3)
    }

    @Test("A process that skipped a damaged record has it again when a compaction had copied it before")
    func damagedAfterCopy() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        try journal.set("first", "1")
        try journal.set("damaged", "1")
        let skipping = Locked<Journal?>(nil)
        during(journal, .fsync, probe) { [directory] in
            let value = try #require(Data(directory.bytes()).range(of: Data("damaged".utf8)))
            try directory.overwriteInPlace("suite/journal", at: UInt64(value.lowerBound), with: [0])
            // Can't repair it, since another compaction is under way.
            let impatient = JournalOptions(automaticMaintenance: false, lockTimeout: 0)
            let other = try Journal.openUnregistered(directory.suite, impatient)
            #expect(other["first"] == "1" && other["damaged"] == nil)
            skipping.withLock { $0 = other }
        }
        try journal.compact()
        probe.onStep(nil)
        let other = try #require(skipping.withLock { $0 })
        #expect(other.all == journal.all && other["damaged"] == "1")
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    @Test(
        "After a rewrite by a process that skipped a damaged record, no process has it any more",
        arguments: [false, true]
    )
    func rewrittenWithoutDamaged(hasSyncFailed: Bool) throws {
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        let other = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try other.set("first", "1")
        try other.set("damaged", "1")
        let value = try #require(Data(directory.bytes()).range(of: Data("damaged".utf8)))
        try directory.overwriteInPlace("suite/journal", at: UInt64(value.lowerBound), with: [0])
        // The disk has no room for the repair, so the damaged journal stays in use.
        probe.plan(.fail(code: ENOSPC), call: .pwrite, number: 0)
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        #expect(probe.fired == 1 && journal["damaged"] == nil && other["damaged"] == "1")
        if hasSyncFailed {
            try journal.set("last", "1")
            probe.clear()
            probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
            #expect(throws: JournalError.self) { try journal.synchronize() }
            try journal.synchronize()
        } else {
            try journal.withExclusiveAccess { try journal.compact() }
        }
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh["first"] == "1" && fresh["damaged"] == nil)
        #expect(journal.all == fresh.all && other.all == fresh.all)
    }

    @Test("What is damaged while a compaction copies it is backed up and reported, and the rest is there")
    func damagedTail() throws {
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        let reports = ReportCollector()
        let journal = try Journal.openTest(directory.suite, reports.options(probe))
        for number in 0..<10 { try journal.set("key\(number)", "value") }
        let path = directory.suite + "/journal"
        let isDone = Locked(false)
        // The new file contains what was written until its sync, and the rest is copied.
        probe.onStep { step in
            guard step.call == .fsync, !isDone.withLock({ $0 }) else { return }
            isDone.withLock { $0 = true }
            do {
                let other = try Journal.openUnregistered(String(path.dropLast("/journal".count)))
                try other.set("tail", String(repeating: "t", count: 100))
                try other.set("last", "value")
                #expect(journal["last"] == "value")
                let file = try FileHandle(forUpdating: URL(filePath: path))
                let range = try #require(try file.readToEnd()?.range(of: Data("ttt".utf8)))
                try file.seek(toOffset: UInt64(range.lowerBound))
                try file.write(contentsOf: Data([0]))
                try file.close()
            } catch {
                Issue.record(error)
            }
        }
        try journal.compact()
        probe.onStep(nil)
        guard isDone.withLock({ $0 }), case .damaged(let damage) = reports.all.first else {
            Issue.record("\(reports.all)")
            return
        }
        #expect(damage.copy != nil && damage.copyError == nil)
        let reopened = try Journal.openUnregistered(directory.suite)
        #expect(reopened["last"] == "value" && reopened.all == journal.all && reopened.all.count == 11)
    }

    @Test("After a compaction that failed, the next one comes at twice the size, and later ones at the usual size")
    func failedCompaction() throws {
        let probe = SystemCallProbe()
        let reports = ReportCollector()
        let journal = try Journal.openTest(directory.suite, reports.options(probe))
        // Four fifths of the 512 KiB of slack take 42 values, so 60 of them make a compaction due.
        let value = String(repeating: "v", count: 10_000)
        func write(_ count: Int) throws { for number in 0..<count { try journal.set("a", "\(number) \(value)") } }
        probe.plan(.fail(code: EIO), call: .rename, number: 0)
        let first = journal.currentID
        try write(60)
        try wait(for: "a failed compaction") { !reports.all.isEmpty }
        guard case .compactionFailed = reports.all.first else {
            Issue.record("\(reports.all)")
            return
        }
        #expect(journal.currentID == first)
        try write(150)
        try wait(for: "a compaction of twice the size") { journal.currentID != first }
        // Compacts what was written during that compaction.
        try journal.compact()
        let second = journal.currentID
        try write(60)
        try wait(for: "a compaction of the usual size") { journal.currentID != second }
        #expect(reports.all.count == 1)
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    @Test("A compaction begins when a journal is larger than 1.7 times its live bytes and 419 kB, and not before")
    func bound() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openTest(directory.suite, ReportCollector().options(probe))
        probe.clear()
        let first = journal.currentID
        // The header takes 4,128 bytes, this record 1,000,032, and each of the others 10,024: 1,014,184 bytes are live.
        try journal.set("big", String(repeating: "b", count: 1_000_000))
        let value = String(repeating: "v", count: 9_996)
        for number in 1_001...1_113 { try journal.set("a", "\(number)\(value)") }
        #expect(try directory.bytes().count == 2_136_872)
        #expect(probe.counts[.rename] == nil && journal.currentID == first)
        try journal.set("a", "1114\(value)")
        try wait(for: "a compaction") { journal.currentID != first }
        #expect(try directory.bytes().count == 1_014_184)
        #expect(probe.counts[.rename] == 1)
    }

    @Test("A compaction waits for another one no longer than for a lock, and one in the background not at all")
    func busy() throws {
        let reports = ReportCollector()
        var options = reports.options(SystemCallProbe())
        // Compacts only when this test does so.
        options.backgroundActivity = { _ in false }
        options.lockTimeout = .max
        let journal = try Journal.openUnregistered(directory.suite, options)
        let impatient = JournalOptions(automaticMaintenance: false, lockTimeout: 0)
        let other = try Journal.openUnregistered(directory.suite, impatient)
        let value = String(repeating: "v", count: 10_000)
        for number in 0..<60 { try journal.set("a", "\(number) \(value)") }
        let id = journal.currentID
        let file = open(directory.suite + "/journal.new", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        try #require(flock(file, LOCK_EX) == 0)
        let error = JournalError(.busy(process: getpid()), path: directory.suite)
        #expect(throws: error) { try other.compact() }
        journal.compactInBackground()
        #expect(journal.currentID == id && reports.all.isEmpty)
        try #require(flock(file, LOCK_UN) == 0)
        // A compaction that found another one in progress isn't due again at the next write.
        #expect(try !journal.withExclusiveAccess { journal.needsCompaction })
        journal.writer.compactionRetryTime = 1
        journal.compactInBackground()
        #expect(journal.currentID != id && other.all == journal.all)
    }

    @Test("A compaction that waits for another process's one ends with it, since it has done the same work")
    func waiting() throws {
        let probe = SystemCallProbe()
        let otherProbe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        var patient = options(otherProbe)
        patient.lockTimeout = .max
        let other = try Journal.openUnregistered(directory.suite, patient)
        try journal.set("a", "1")
        let isCompacted = Locked(false)
        during(journal, .fsync, probe) {
            var impatient = options(SystemCallProbe())
            impatient.lockTimeout = 0
            let error = #expect(throws: JournalError.self) {
                try Journal.openUnregistered(directory.suite, impatient).compact()
            }
            #expect(error?.isBusy == true && error?.path == directory.suite)
            otherProbe.clear()
            Thread.detachNewThread {
                do { try other.compact() } catch { Issue.record(error) }
                isCompacted.withLock { $0 = true }
            }
            // More than the calls for the suite's own lock: these are for the lock of the new file.
            try wait(for: "a compaction that waits") { otherProbe.counts[.flock, default: 0] > 10 }
            #expect(!isCompacted.withLock { $0 })
        }
        try journal.compact()
        probe.onStep(nil)
        try wait(for: "the other compaction") { isCompacted.withLock { $0 } }
        #expect(otherProbe.counts[.rename, default: 0] == 0)
        #expect(other["a"] == "1" && journal.currentID == other.currentID)
    }

    @Test("What is written meanwhile is in the new journal: values, removals, and what happens together")
    func tail() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        let other = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        for key in 0..<4 { try journal.set("key\(key)", "old") }
        for call in [SystemCall.pwrite, .fsync] {
            let id = journal.state.file.salt
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
            #expect(journal.state.file.salt != id)
            #expect(journal["key2"]?.hasPrefix("\(call) 497") == true && journal["key3"] == nil)
            #expect(journal["other twin"] == "\(call)")
            #expect(journal.all == other.all)
            let fresh = try Journal.openUnregistered(directory.suite)
            #expect(fresh.all == journal.all)
            #expect(try fresh.verify().isIntact)
        }
    }

    @Test("What is written meanwhile may remove everything: only what follows the last such removal is there")
    func removalsInTail() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        let other = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        for follows in [false, true] {
            for key in 0..<4 { try journal.set("key\(key)", "old") }
            let id = journal.state.file.salt
            during(journal, .fsync, probe) {
                try other.set("key0", "before")
                try other.removeAll()
                try other.set("key1", "between")
                try other.removeAll()
                if follows { try other.set("key2", "after") }
            }
            try journal.compact()
            probe.onStep(nil)
            #expect(journal.state.file.salt != id)
            let fresh = try Journal.openUnregistered(directory.suite)
            #expect(fresh.all.count == (follows ? 1 : 0) && fresh["key2"] == (follows ? "after" : nil))
            #expect(journal.all == fresh.all && other.all == fresh.all)
            #expect(try fresh.verify().isIntact)
        }
    }

    @Test("What is written meanwhile is on the disk before the new journal has its name")
    func flushedTail() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        try journal.set("a", "1")
        probe.clear()
        during(journal, .fsync, probe) { [unowned journal] in try journal.set("a", "2", durability: .everyWrite) }
        try journal.compact()
        probe.onStep(nil)
        // The flush syncs the journal and the new file as far as it was copied; the compaction syncs the new file, its
        // tail, and its name.
        #expect(probe.counts[.fdatasync] == 2 && probe.counts[.fsync] == 3)
        #expect(journal.isSynced)
        probe.clear()
        try journal.compact()
        #expect(probe.counts[.fsync] == 2)
    }

    @Test("Writers wait for the copy of at most 64 KiB: a longer one is copied and synced first", arguments: [0, 1])
    func longTail(excess: Int) throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        try journal.set("a", "1")
        let end = try directory.bytes().count
        // The value together with the record's header, the operation and the key.
        let value = String(repeating: "t", count: 65_512 + excess)
        let tail = Locked(0)
        during(journal, .fsync, probe) { [unowned journal, directory] in
            try journal.set("b", value)
            try tail.withLock { $0 = try directory.bytes().count - end }
        }
        probe.clear()
        try journal.compact()
        probe.onStep(nil)
        #expect(tail.withLock { $0 } == (excess == 0 ? 65_536 : 65_544))
        // Syncs of the new file, its tail if that was too long to copy under the lock, and the new name.
        #expect(probe.counts[.fsync] == (excess == 0 ? 2 : 3))
        #expect(journal["b"] == value)
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    @Test("A compaction beside writers that never rest copies sixteen tails, and the last one while they wait")
    func restlessWriters() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        let other = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        let id = journal.currentID
        let value = String(repeating: "t", count: 70_000)
        let count = Locked(0)
        probe.onStep { [unowned journal] step in
            guard step.call == .fsync, journal.writer.depth == 0, journal.currentID == id else { return }
            let number = count.withLock { count in
                count += 1
                return count
            }
            do { try other.set("b", "\(number) \(value)") } catch { Issue.record(error) }
        }
        probe.clear()
        try journal.compact()
        probe.onStep(nil)
        #expect(count.withLock { $0 } == 16)
        // One sync for each tail, and one for the new name.
        #expect(probe.counts[.fsync] == 17)
        #expect(journal["b"] == "16 \(value)" && other.all == journal.all)
    }

    @Test("After a compaction that failed, one is due when the journal has exactly twice the size")
    func retrySize() throws {
        let probe = SystemCallProbe()
        let reports = ReportCollector()
        var options = reports.options(probe)
        // Compacts only when this test does so.
        options.backgroundActivity = { _ in false }
        let journal = try Journal.openTest(directory.suite, options)
        func isDue() throws -> Bool { try journal.withExclusiveAccess { journal.needsCompaction } }
        let value = String(repeating: "v", count: 9_996)
        func write(_ numbers: ClosedRange<Int>) throws {
            for number in numbers { try journal.set("a", "\(number)\(value)") }
        }
        try write(1_001...1_050)
        #expect(try directory.bytes().count == 505_328 && isDue())
        probe.plan(.fail(code: EIO), call: .rename, number: 0)
        journal.compactInBackground()
        let error = JournalError(.system(.rename, code: EIO), path: directory.suite + "/journal.new")
        #expect(reports.all == [.compactionFailed(error)])
        // The failed compaction has added a record that announced the replacement.
        #expect(try directory.bytes().count == 505_368 && !isDue())
        try write(1_051...1_100)
        try journal.set("a", String(repeating: "v", count: 4_112))
        #expect(try directory.bytes().count == 1_010_704 && !isDue())
        try journal.set("a", "12345678")
        #expect(try directory.bytes().count == 1_010_736 && isDue())
        journal.compactInBackground()
        #expect(try directory.bytes().count == 4_160)
        try write(1_001...1_050)
        #expect(try isDue())
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
        #expect(try directory.damagedCopies.isEmpty)
        #expect(try journal.verify().isIntact)
    }

    @Test(
        "Damage that a compaction finds is backed up and reported once, and the valid records are kept",
        arguments: [(JournalHeader.size + 20, 3), (0, 4), (4_096, 4)]
    )
    func damage(at offset: Int, kept: Int) throws {
        let reports = ReportCollector()
        var options = reports.options
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        for key in 0..<4 { try journal.set("key\(key)", "value") }
        try journal.synchronize()
        try directory.overwriteInPlace("suite/journal", at: UInt64(offset), with: [0xEE])
        try journal.compact()
        #expect(reports.damage.count == 1)
        #expect(reports.damage.first?.ranges.first?.contains(UInt64(offset)) == true)
        #expect(try directory.damagedCopies.count == 1)
        #expect(journal.all.count == kept)
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
        let found = Locked<[String?]>([])
        let isReading = Locked(false)
        let read: @Sendable (SystemCallProbe.Step) -> Void = { [unowned journal] _ in
            guard !isReading.withLock({ $0 }), journal.canBeRead else { return }
            isReading.withLock { $0 = true }
            found.withLock { $0.append(journal["a"]) }
            isReading.withLock { $0 = false }
        }
        probe.onStep(read)
        try journal.compact()
        probe.onStep(nil)
        #expect(found.withLock(\.count) > 5)
        #expect(found.withLock { Set($0) } == ["1"])
        #expect(try directory.damagedCopies.count == 1)
        try FileManager.default.removeItem(atPath: directory.suite)
        journal.forgetComparison()
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
        let failures = Locked(0)
        var options = options(probe, automaticMaintenance: true)
        options.report = { if case .compactionFailed = $0 { failures.withLock { $0 += 1 } } }
        let journal = try Journal.openTest(directory.suite, options)
        for number in 0..<200 { probe.plan(.fail(code: EIO), call: .fsync, number: number) }
        var number = 0
        func set() throws {
            number += 1
            try journal.set("a", "\(number) \(Self.value)")
        }
        while failures.withLock({ $0 }) == 0 { try set() }
        let size = try directory.bytes().count
        while failures.withLock({ $0 }) == 1 { try set() }
        #expect(try directory.bytes().count > size + size / 2)
        probe.clear()
        let id = journal.currentID
        while journal.currentID == id { try set() }
        #expect(journal["a"] == "\(number) \(Self.value)")
    }
    #endif
}
