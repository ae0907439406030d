import Foundation
import Testing

@testable import DefaultJournal

@Suite("The kept file lock", .waits)
struct FileLockTests {
    private let directory = TemporaryDirectory()

    @Test("A process that writes repeatedly keeps the lock; when it stops, others can write")
    func givenBack() throws {
        // A flush would release the lock too.
        let hot = try Journal.openTest(directory.suite, JournalOptions(backgroundActivity: { _ in false }))
        let other = try Journal.openUnregistered(directory.suite)
        for round in 0..<5 {
            try hot.writeUntilLockIsKept()
            try other.set("other", "\(round)")
            #expect(hot["other"] == "\(round)")
            try hot.writeUntilLockIsKept()
            _ = try Journal.openUnregistered(directory.suite)
        }
        #expect(other.all == hot.all)
        #expect(try other.verify().isIntact)
    }

    @Test("Two engines of a process write in bursts, on one thread and on two")
    func engines() throws {
        let engines = [
            try Journal.openTest(directory.suite), try Journal.openUnregistered(directory.suite),
        ]
        for round in 0..<6 {
            for number in 0..<200 { try engines[round % 2].set("\(round)-\(number)", "value") }
        }
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            do {
                for number in 0..<2_000 { try engines[thread].set("t\(thread)-\(number % 100)", "\(number)") }
            } catch {
                Issue.record(error)
            }
        }
        #expect(engines[0].all.count == 6 * 200 + 2 * 100)
        #expect(engines[0].all == engines[1].all)
        #expect(try engines[0].verify().isIntact)
    }

    @Test("Processes that take turns never keep the lock from each other")
    func turns() throws {
        let journal = try Journal.openTest(directory.suite)
        try journal.set("turn", "0")
        let helper = try Helper(["turns", directory.suite, "300"])
        for number in 0..<300 {
            try wait(for: "turn \(number)") { journal["turn"] == "\(2 * number)" }
            try journal.set("turn", "\(2 * number + 1)")
            #expect(!journal.keepsFileLock)
        }
        #expect(helper.finish().status == 0)
        #expect(journal["turn"] == "600")
    }

    @Test("Processes that write streams at the same time all make progress, and lose nothing")
    func streams() throws {
        let journal = try Journal.openTest(directory.suite)
        let helpers = try (0..<2).map { try Helper(["keys", directory.suite, "p\($0)", "2000"]) }
        for number in 0..<2_000 { try journal.set("own-\(number)", "value") }
        for helper in helpers { #expect(helper.finish().status == 0) }
        #expect(journal.all.count == 6_000)
        #expect(try journal.verify().isIntact)
    }

    @Test("A process that is killed while it keeps the lock blocks no other")
    func killed() throws {
        let journal = try Journal.openTest(directory.suite)
        try journal.set("filler", "")
        for _ in 0..<5 {
            let start = journal.generation
            let helper = try Helper(["stream", directory.suite])
            try wait(for: "2,000 writes") { journal.generation >= start + 2_000 || !helper.process.isRunning }
            helper.kill()
            try journal.set("after", "kill")
            #expect(journal["after"] == "kill")
            #expect(try journal.verify().isIntact)
        }
    }

    @Test("A suite that is deleted while its lock is kept is recreated by the next write")
    func deleted() throws {
        let reports = ReportCollector()
        let journal = try Journal.openTest(directory.suite, reports.options)
        for round in 0..<3 {
            try journal.writeUntilLockIsKept()
            try FileManager.default.removeItem(atPath: directory.suite)
            try journal.set("round", "\(round)")
            let fresh = try Journal.openUnregistered(directory.suite)
            #expect(fresh["round"] == "\(round)")
            #expect(fresh.all.count == 1)
        }
        #expect(reports.all == Array(repeating: .replaced(path: directory.suite), count: 3))
    }

    @Test("A waiting process that was killed prevents keeping the lock only for a short time")
    func abandonedWish() throws {
        let journal = try Journal.openTest(directory.suite)
        try journal.writeUntilLockIsKept()
        journal.page.waiters = .asleep
        try journal.set("a", "1")
        #expect(!journal.keepsFileLock)
        try journal.writeUntilLockIsKept()
    }

    @Test(
        "Without automatic maintenance, or in a process that may be suspended, the lock is never kept",
        arguments: [JournalOptions(automaticMaintenance: false), JournalOptions(keepsFileLock: false)]
    )
    func neverKept(options: JournalOptions) throws {
        let journal = try Journal.openTest(directory.suite, options)
        for number in 0..<200 {
            try journal.set("a", "\(number)")
            #expect(!journal.keepsFileLock)
        }
    }

    @Test("A flush that the system doesn't allow is tried again a second later", .waits)
    func postponedFlush() throws {
        let calls = Guarded<[Bool]>([])
        var options = JournalOptions(backgroundActivity: { work in
            let isAllowed = calls.withLock { calls in
                calls.append(calls.count == 1)
                return calls.count == 2
            }
            if isAllowed { work() }
            return isAllowed
        })
        // The queue of the one that all tests share may be full, and then a write flushes by itself.
        options.worker = BackgroundWorker()
        let journal = try Journal.openTest(directory.suite, options)
        try journal.set("a", "1")
        try wait(for: "a flush that was postponed") { calls.withLock { $0.count == 2 } }
        #expect(calls.withLock { $0 } == [false, true])
        try wait(for: "the end of the flush") { journal.isSynced }
    }

    #if DEBUG
    @Test("A short wait for the lock writes nothing for other processes to read; a longer one asks for the lock")
    func silentWait() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openTest(directory.suite, options)
        for (attempts, hints) in [(50, 0), (130, 2)] {
            probe.clear()
            for number in 0..<attempts { probe.plan(.fail(code: EWOULDBLOCK), call: .flock, number: number) }
            try journal.set("a", "\(attempts)")
            #expect(probe.fired == attempts)
            // The record and its publication, and the hints.
            #expect(probe.counts[.pwrite] == 2 + hints)
            #expect(journal.page.waiters == .none)
        }
    }

    @Test("A write that fails while the lock is kept releases it")
    func failing() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openTest(directory.suite, JournalOptions(calls: SystemCalls(probe: probe)))
        try journal.writeUntilLockIsKept()
        probe.plan(.fail(code: EIO), call: .fstat, number: 0)
        #expect(throws: JournalError.self) { try journal.set("a", "1") }
        #expect(!journal.keepsFileLock)
        try Journal.openUnregistered(directory.suite).set("a", "2")
        #expect(journal["a"] == "2")
    }
    #endif
}

extension Journal {
    /// Whether the file lock is held although no thread has exclusive access.
    fileprivate var keepsFileLock: Bool {
        exclusive.lock()
        defer { exclusive.unlock() }
        return writer.depth == 0 && writer.holdsFileLock
    }

    /// Writes until the lock is kept; the number of writes depends on other processes.
    fileprivate func writeUntilLockIsKept() throws {
        var number = 0
        while !keepsFileLock {
            try set("hot", "\(number)")
            number += 1
        }
    }
}
