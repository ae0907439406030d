#if DEBUG
import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("Power loss", .waits)
struct PowerLossTests {
    private static let value = String(repeating: "v", count: 90)

    @Test("After a few durable writes and a compaction, every possible disk image keeps what was promised")
    func smallTrace() throws {
        try checkImages(samples: 24, exhaustiveUpTo: 7) { journal, trace in
            try trace.set(journal, "a", "1", .everyWrite)
            try trace.set(journal, "b", "1", .background)
            try trace.set(journal, "a", "2", .everyWrite)
            try journal.compact()
            try trace.set(journal, "a", "3", .background)
            try trace.synchronize(journal)
        }
    }

    @Test("Many writes, removals, compactions of both kinds, and syncs")
    func largeTrace() throws {
        try checkImages(samples: 16, exhaustiveUpTo: 4) { journal, trace in
            for round in 0..<4 {
                for key in 0..<12 { try trace.set(journal, "key\(key)", "\(round) \(Self.value)", .background) }
                try trace.remove(journal, "key\(round)")
                if round % 2 == 0 { try journal.compact() }
                try trace.set(journal, "between", "\(round)", .background)
                try trace.synchronize(journal)
                try trace.set(journal, "durable", "\(round)", .everyWrite)
                if round % 2 == 1 { try journal.withExclusiveAccess { try journal.compact() } }
                try trace.set(journal, "durable", "\(round) again", .everyWrite)
            }
        }
    }

    @Test("A failed sync is recovered from by a rewrite, so that a later success is real")
    func failedSync() throws {
        try checkImages(samples: 16, exhaustiveUpTo: 4) { journal, trace in
            try trace.set(journal, "a", "1", .background)
            try trace.set(journal, "kept", "1", .background)
            trace.probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
            #expect(throws: JournalError.self) { try journal.synchronize() }
            try trace.set(journal, "a", "2", .everyWrite)
            try trace.set(journal, "b", "2", .background)
            try trace.synchronize(journal)
        }
    }

    @Test("Compactions during which two engines write")
    func writersAtWork() throws {
        try checkImages(samples: 6, exhaustiveUpTo: 3) { journal, trace in
            let engines = [journal, try Journal.openUnregistered(journal.path, journal.options)]
            for key in 0..<8 { try trace.set(journal, "key\(key)", "0 \(Self.value)", .background) }
            for round in 1...3 {
                let id = journal.currentID
                let writes = Locked(0)
                let isWriting = Locked(false)
                trace.probe.onStep { step in
                    // A compaction makes these calls without holding the lock, which the writes need.
                    guard [.pwrite, .fsync].contains(step.call), engines.allSatisfy({ $0.writer.depth == 0 }),
                        !isWriting.withLock({ $0 }), writes.withLock({ $0 }) < 9
                    else { return }
                    isWriting.withLock { $0 = true }
                    defer { isWriting.withLock { $0 = false } }
                    let number = writes.withLock { writes in
                        writes += 1
                        return writes
                    }
                    let durability = number % 4 == 0 ? JournalDurability.everyWrite : .background
                    do {
                        let value = "\(round) \(number) \(Self.value)"
                        try trace.set(engines[number % 2], "key\(number % 8)", value, durability)
                    } catch {
                        Issue.record(error)
                    }
                }
                try engines[round % 2].compact()
                trace.probe.onStep(nil)
                #expect(writes.withLock { $0 } >= 3)
                #expect(engines.allSatisfy { $0.all.count == 8 })
                #expect(journal.currentID != id)
                if round == 2 { try trace.synchronize(journal) }
            }
        }
    }

    @Test("A suite in directories that don't exist yet")
    func creation() throws {
        try checkImages(of: "a/b/suite", opening: "a/b/suite", samples: 16, exhaustiveUpTo: 6) { journal, trace in
            try trace.set(journal, "a", "1", .everyWrite)
            try trace.set(journal, "b", "1", .background)
            try trace.synchronize(journal)
        }
    }

    @Test("A copy is there as a whole or not at all, and is there for good when the call has returned")
    func copy() throws {
        try checkImages(of: "copies/copy", samples: 32, exhaustiveUpTo: 6) { journal, trace in
            trace.isAtomic = true
            for key in 0..<30 { try trace.set(journal, "key\(key)", Self.value, .background) }
            try journal.copy(to: SuiteDirectory.parent(of: journal.path) + "/copies/copy")
            trace.promise()
        }
    }

    private func checkImages(
        of observed: String = "suite",
        opening opened: String = "suite",
        samples: Int,
        exhaustiveUpTo limit: Int,
        _ scenario: (Journal, PowerLossTrace) throws -> Void
    ) throws {
        let directory = TemporaryDirectory()
        let trace = PowerLossTrace()
        trace.probe.startRecording()
        let options = JournalOptions(calls: SystemCalls(probe: trace.probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.path + "/" + opened, options)
        try scenario(journal, trace)
        var disk = PessimisticDisk(suite: directory.path + "/" + observed)
        var random = SeededGenerator(state: TestExtent.seed)
        let limit = TestExtent.pick(brief: min(limit, 3), full: limit)
        let samples = TestExtent.pick(brief: (samples + 3) / 4, full: samples)
        for (number, record) in trace.probe.records.enumerated() {
            disk.apply(record)
            // Only these calls change what a loss of power may leave.
            guard [.mkdir, .open, .pwrite, .ftruncate, .fsync, .fdatasync, .rename].contains(record.call) else {
                continue
            }
            let count = disk.pendingCount
            // Every combination of few pending changes is checked; of many, all, none and random samples.
            if count <= limit {
                for choice in 0..<(1 << count) {
                    var bits = choice
                    try check(
                        disk.image {
                            defer { bits >>= 1 }; return bits & 1 == 1
                        },
                        trace,
                        number + 1
                    )
                }
            } else {
                try check(disk.image { true }, trace, number + 1)
                try check(disk.image { false }, trace, number + 1)
                for _ in 0..<samples { try check(disk.image { Bool.random(using: &random) }, trace, number + 1) }
            }
        }
    }

    private func check(_ image: [String: [UInt8]]?, _ trace: PowerLossTrace, _ record: Int) throws {
        let directory = TemporaryDirectory()
        if image != nil {
            try FileManager.default.createDirectory(atPath: directory.suite, withIntermediateDirectories: true)
        }
        for (name, bytes) in image ?? [:] {
            try directory.write(bytes, to: "suite/" + name)
        }
        // The suite is opened some time later, since the system has to start first.
        let later = JournalOptions(automaticMaintenance: false).later
        let journal = try Journal.openUnregistered(directory.suite, later)
        let problem = trace.problem(at: record, found: journal)
        #expect(problem == nil, "after record \(record)")
        if trace.isAtomic { #expect([0, trace.current.count].contains(journal.all.count), "after record \(record)") }
        try journal.set("next", "works")
        #expect(try Journal.openUnregistered(directory.suite, later).all == journal.all)
        #expect(try journal.verify().isIntact)
    }

}
#endif
