import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("The file lock", .waits)
struct FileLockTests {
    private let directory = TemporaryDirectory()

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

    @Test("Processes that take turns see each other's writes")
    func turns() throws {
        let journal = try Journal.openTest(directory.suite)
        try journal.set("turn", "0")
        let helper = try Helper(["turns", directory.suite, "300"])
        for number in 0..<300 {
            try wait(for: "turn \(number)") { journal["turn"] == "\(2 * number)" }
            try journal.set("turn", "\(2 * number + 1)")
        }
        #expect(helper.finish().status == 0)
        #expect(journal["turn"] == "600")
    }

    @Test("Processes that write streams at the same time all make progress, and lose nothing")
    func streams() throws {
        let journal = try Journal.openTest(directory.suite)
        let count = TestExtent.pick(brief: 600, full: 2_000)
        let helpers = try (0..<2).map { try Helper(["keys", directory.suite, "p\($0)", "\(count)"]) }
        for number in 0..<count { try journal.set("own-\(number)", "value") }
        for helper in helpers { #expect(helper.finish().status == 0) }
        #expect(journal.all.count == 3 * count)
        #expect(try journal.verify().isIntact)
    }

    @Test("A process that is killed while it writes blocks no other")
    func killed() throws {
        let journal = try Journal.openTest(directory.suite)
        try journal.set("filler", "")
        for _ in 0..<5 {
            let start = journal.changeCount
            let helper = try Helper(["stream", directory.suite])
            try wait(for: "500 writes") { journal.changeCount >= start + 500 || !helper.process.isRunning }
            helper.kill()
            try journal.set("after", "kill")
            #expect(journal["after"] == "kill")
            #expect(try journal.verify().isIntact)
        }
    }

    @Test("A process that is killed in exclusive access blocks no other, even if a child made with fork lives on")
    func killedBesideChild() throws {
        let helper = try Helper(["die-beside-child", directory.suite])
        #expect(helper.nextLine() == "held")
        #expect(throws: Never.self) { try Journal.openTest(directory.suite).set("after", "1") }
        try helper.closeInput()
        #expect(helper.finish().status == SIGKILL)
        #expect(try Journal.openUnregistered(directory.suite)["before"] == "1")
    }

    @Test("A suite that is deleted between two writes is recreated by the second")
    func deleted() throws {
        let reports = ReportCollector()
        let journal = try Journal.openTest(directory.suite, reports.options)
        for round in 0..<3 {
            try journal.set("deleted", "\(round)")
            try FileManager.default.removeItem(atPath: directory.suite)
            journal.forgetComparison()
            try journal.set("round", "\(round)")
            let fresh = try Journal.openUnregistered(directory.suite)
            #expect(fresh["round"] == "\(round)")
            #expect(fresh.all.count == 1)
        }
        #expect(reports.all == Array(repeating: .replaced(path: directory.suite), count: 3))
    }

    @Test("A flush that the system doesn't allow is tried again a second later")
    func postponedFlush() throws {
        let calls = Locked<[Bool]>([])
        var options = JournalOptions(backgroundActivity: { work in
            let isAllowed = calls.withLock { calls in
                calls.append(calls.count == 1)
                return calls.count == 2
            }
            if isAllowed { work() }
            return isAllowed
        })
        // The queue of the worker that all tests share may be full, and then a write flushes by itself.
        options.worker = BackgroundWorker()
        let journal = try Journal.openTest(directory.suite, options)
        try journal.set("a", "1")
        try wait(for: "a flush that was postponed") { calls.withLock { $0.count == 2 } }
        #expect(calls.withLock { $0 } == [false, true])
        try wait(for: "the end of the flush") { journal.isSynced }
    }

    #if DEBUG
    @Test("A write that fails releases the lock, for other processes and for other threads")
    func failing() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openTest(directory.suite, JournalOptions(calls: SystemCalls(probe: probe)))
        try journal.set("a", "0")
        for call in [SystemCall.pwrite, .stat] {
            journal.forgetComparison()
            probe.plan(.fail(code: EIO), call: call, number: 0)
            #expect(throws: JournalError.self) { try journal.set("a", "1") }
            try Journal.openUnregistered(directory.suite).set("a", "\(call)")
            #expect(journal["a"] == "\(call)")
            let isDone = Locked(false)
            Thread.detachNewThread { [journal] in
                do { try journal.set("a", "thread") } catch { Issue.record(error) }
                isDone.withLock { $0 = true }
            }
            try wait(for: "a write of another thread") { isDone.withLock { $0 } }
            #expect(journal["a"] == "thread")
        }
    }
    #endif
}
