import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

/// Another process has the lock of each suite here, like one that was stopped in the middle of a write.
@Suite("Waiting for another process", .waits)
struct LockTimeoutTests {
    private let directory = TemporaryDirectory()

    private func holder(of suite: String = "/suite") throws -> Helper {
        let helper = try Helper(["hold", directory.path + suite])
        #expect(helper.nextLine() == "held")
        return helper
    }

    /// Sets a value on another thread.
    ///
    /// - Returns: Whether the value has been set.
    private func setOnThread(_ journal: Journal) -> Locked<Bool> {
        let isDone = Locked(false)
        let thread = Thread {
            do { try journal.set("a", "1") } catch { Issue.record(error) }
            isDone.withLock { $0 = true }
        }
        thread.start()
        return isDone
    }

    @Test("ends after a time, with an error that names it, and reads go on", arguments: [0, 30_000_000])
    func ends(limit: UInt64) throws {
        let journal = try Journal.openTest(directory.suite, JournalOptions(lockTimeout: limit))
        try journal.set("a", "1")
        // Other processes have the locks of other suites, since before and since after this one.
        let before = try holder(of: "/before")
        let helper = try holder()
        let after = try holder(of: "/after")
        defer { withExtendedLifetime((before, after)) {} }
        let error = #expect(throws: JournalError.self) { try journal.set("a", "2") }
        #expect(error?.kind == .busy(process: helper.process.processIdentifier))
        #expect(error?.description.contains("\(helper.process.processIdentifier)") == true)
        // Neither a flush nor the opening of a sound suite takes the lock.
        try journal.synchronize()
        #expect(try Journal.openUnregistered(directory.suite, journal.options)["a"] == "1")
        #expect(throws: JournalError.self) { try journal.compact() }
        #expect(throws: JournalError.self) { try journal.withExclusiveAccess {} }
        #expect(journal["a"] == "1")
        #expect(kill(helper.process.processIdentifier, SIGSTOP) == 0)
        #expect(throws: JournalError.self) { try journal.set("a", "2") }
        #expect(kill(helper.process.processIdentifier, SIGCONT) == 0)
        try helper.closeInput()
        #expect(helper.finish().status == 0)
        try journal.set("a", "3")
        #expect(journal["a"] == "3")
    }

    @Test("isn't done by an impatient opening, nor by an opening of a suite that is open")
    func openings() throws {
        try FileManager.default.createDirectory(atPath: directory.suite, withIntermediateDirectories: true)
        let file = open(directory.suite, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(file) }
        try #require(flock(file, LOCK_EX) == 0)
        let options = JournalOptions(automaticMaintenance: false, lockTimeout: .max)
        let error = JournalError(.busy(process: getpid()), path: directory.suite)
        #expect(throws: error) { try Journal.open(at: directory.suite, options: options, waits: false) }
        #expect(try directory.names().isEmpty)
        try #require(flock(file, LOCK_UN) == 0)
        let journal = try Journal.open(at: directory.suite, options: options, waits: false)
        try journal.set("a", "1")
        try #require(flock(file, LOCK_EX) == 0)
        #expect(try Journal.openTest(directory.suite, options) === journal)
        #expect(journal["a"] == "1")
    }

    @Test("is reported after a second, while it goes on")
    func reported() throws {
        let reports = ReportCollector()
        var options = reports.options
        options.lockTimeout = .max
        #if DEBUG
        let probe = SystemCallProbe()
        options.calls = SystemCalls(probe: probe)
        #endif
        let journal = try Journal.openTest(directory.suite, options)
        let helper = try holder()
        let isDone = setOnThread(journal)
        try wait(for: "the report of a long wait") { !reports.all.isEmpty }
        #if DEBUG
        let attempts = probe.counts[.flock, default: 0]
        try wait(for: "three more attempts to lock") { probe.counts[.flock, default: 0] >= attempts + 3 }
        #endif
        #expect(reports.all == [.waiting(path: directory.suite, process: helper.process.processIdentifier)])
        #expect(!isDone.withLock { $0 })
        #expect(journal["a"] == nil)
        try helper.closeInput()
        try wait(for: "the other thread") { isDone.withLock { $0 } }
        #expect(journal["a"] == "1")
        #expect(reports.all.count == 1)
    }

    @Test("is the same for a suite that took the place of the open one")
    func newSuite() throws {
        let reports = ReportCollector()
        var options = reports.options
        options.lockTimeout = .max
        options.automaticMaintenance = false
        let journal = try Journal.openTest(directory.suite, options)
        try journal.set("old", "1")
        try FileManager.default.moveItem(atPath: directory.suite, toPath: directory.path + "/away")
        let helper = try holder()
        let isDone = setOnThread(journal)
        // The first report is the one after a second of waiting.
        try wait(for: "a report") { !reports.all.isEmpty }
        #expect(!isDone.withLock { $0 })
        try helper.closeInput()
        #expect(helper.finish().status == 0)
        try wait(for: "the other thread") { isDone.withLock { $0 } }
        #expect(journal["a"] == "1" && journal["old"] == nil)
        #expect(try Journal.openUnregistered(directory.path + "/away")["a"] == nil)
    }

    @Test("that ends after a second is reported too")
    func reportedAtEnd() throws {
        let reports = ReportCollector()
        var options = reports.options
        options.lockTimeout = 1_000_000_000
        let journal = try Journal.openTest(directory.suite, options)
        let helper = try holder()
        let error = #expect(throws: JournalError.self) { try journal.set("a", "1") }
        #expect(error?.kind == .busy(process: helper.process.processIdentifier))
        #expect(reports.all == [.waiting(path: directory.suite, process: helper.process.processIdentifier)])
    }

    @Test("ends immediately when the process is killed")
    func killed() throws {
        let journal = try Journal.openTest(directory.suite, JournalOptions(lockTimeout: .max))
        for round in 0..<5 {
            let helper = try holder()
            let thread = Thread { helper.kill() }
            thread.start()
            try journal.set("a", "\(round)")
            #expect(journal["a"] == "\(round)")
        }
    }

    @Test("does not keep other threads of its process from waiting independently, each with its own limit")
    func threads() throws {
        let reports = ReportCollector()
        var options = reports.options
        options.lockTimeout = .max
        let journal = try Journal.openTest(directory.suite, options)
        let helper = try holder()
        let isDone = setOnThread(journal)
        // While the other thread sleeps, it doesn't hold the lock between the threads.
        try wait(for: "a thread that has been waiting for a second") { !reports.all.isEmpty }
        try wait(for: "the lock of the threads") { journal.exclusive.tryLock() }
        #expect(!isDone.withLock { $0 })
        journal.exclusive.unlock()
        try helper.closeInput()
        try wait(for: "the other thread") { isDone.withLock { $0 } }
        #expect(journal["a"] == "1")
    }

    @Test("for one suite does not hold up the flush and the compaction of another")
    func otherSuite() throws {
        // A worker that no other test uses.
        var options = JournalOptions()
        options.worker = BackgroundWorker()
        let blocked = try Journal.openTest(directory.suite, options)
        let free = try Journal.openTest(directory.path + "/free", options)
        try blocked.set("a", "1")
        let helper = try holder()
        try free.set("a", "1")
        try wait(for: "a flush of the free suite") { free.isSynced }
        let id = free.currentID
        for number in 0..<5_000 where free.currentID == id {
            try free.set("filler", String(repeating: "x", count: 400 + number % 100))
        }
        try wait(for: "a compaction of the free suite") { free.currentID != id }
        try helper.closeInput()
        try wait(for: "a flush of the blocked suite") { blocked.isSynced }
    }

    #if DEBUG
    @Test("goes on where it was after a standstill of the machine that was longer than its limit")
    func standstill() throws {
        // More than what counts of three looks, after the last of which it has the lock.
        let limit: UInt64 = 400_000_000
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false, lockTimeout: limit)
        let journal = try Journal.openTest(directory.suite, options)
        try journal.set("a", "1")
        probe.clear()
        // It queues, and nothing runs while it enters the turnstile. Then another process still has the lock, twice.
        journal.writer.hadLongTurn = true
        for number in 0..<2 { probe.plan(.fail(code: EWOULDBLOCK), call: .flock, number: number) }
        probe.onStep { step in
            guard step.call == .fcntl else { return }
            let start = Clock.monotonic()
            while Clock.monotonic() - start < limit {}
        }
        try journal.set("a", "2")
        #expect(probe.fired == 2)
        #expect(journal["a"] == "2")
    }

    @Test("by the background does not hold up the program's end, which has tried to flush")
    func programEnd() throws {
        let probe = SystemCallProbe()
        var options = ReportCollector().options(probe)
        options.lockTimeout = 0
        // Only the program's end flushes here.
        options.backgroundActivity = { _ in false }
        let worker = try #require(options.worker)
        let journal = try Journal.openTest(directory.suite, options)
        try journal.set("a", "1")
        // After a failed sync a flush writes the journal as a whole, for which it needs the lock.
        probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
        #expect(throws: JournalError.self) { try journal.synchronize() }
        let helper = try holder()
        probe.clear()
        // If the end waited for the lock, this call would never return.
        try wait(for: "an attempt to lock") {
            worker.flushAtExit(waitingAtMost: 1 << 60)
            return probe.counts[.flock, default: 0] > 0
        }
        #expect(!journal.isSynced)
        try helper.closeInput()
        #expect(helper.finish().status == 0)
        try wait(for: "a flush") {
            worker.flushAtExit(waitingAtMost: 1 << 60)
            return journal.isSynced
        }
    }

    @Test("by the background ends after its limit too")
    func background() throws {
        let probe = SystemCallProbe()
        let reports = ReportCollector()
        var options = reports.options(probe)
        options.automaticMaintenance = false
        options.lockTimeout = 30_000_000
        let journal = try Journal.openTest(directory.suite, options)
        try journal.set("a", "1")
        // After a failed sync a flush writes the journal as a whole.
        probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
        #expect(throws: JournalError.self) { try journal.synchronize() }
        let helper = try holder()
        journal.compactInBackground()
        journal.flushInBackground()
        #expect(!journal.isSynced)
        // A busy lock isn't a failure, and both are tried again.
        let failures = reports.all.filter { if case .waiting = $0 { false } else { true } }
        let retrySize = journal.writer.compactionRetrySize
        #expect(failures.isEmpty && journal.flushFailures.load() == 0 && retrySize == 0)
        try helper.closeInput()
        #expect(helper.finish().status == 0)
        try journal.synchronize()
        #expect(journal.isSynced && journal["a"] == "1")
    }
    #endif

    @Test("Processes that wait asleep are woken up, and all of them make progress")
    func progress() throws {
        let journal = try Journal.openTest(directory.suite)
        let helpers = try (0..<3).map { _ in try Helper(["durable-count", directory.suite, "100"]) }
        for helper in helpers { #expect(helper.finish().status == 0) }
        #expect(journal["counter"] == "300")
    }
}
