#if os(Linux)
import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

// The tests run one after the other: events that one of them loses matter to all watches of the process.
@Suite("A watched journal", .serialized, .waits)
struct WatchTests {
    private let directory = TemporaryDirectory()

    /// The calls of a watch's handler.
    private final class Calls: Sendable {
        private let calls: AsyncStream<Int>
        private let call: AsyncStream<Int>.Continuation

        init() {
            (calls, call) = AsyncStream.makeStream()
        }

        /// - Parameter entries: The number of entries of the journal during the call.
        func note(entries: Int = 0) {
            call.yield(entries)
        }

        /// Waits for a call, or for one during which the journal has this many entries.
        func wait(forEntries entries: Int = 0) async {
            for await number in calls where number >= entries { return }
        }
    }

    private func watch(_ journal: Journal) -> Calls {
        let calls = Calls()
        journal.startWatching { [weak journal] in calls.note(entries: journal?.all.count ?? 0) }
        return calls
    }

    #if DEBUG
    @Test("notices other processes' changes where the system refuses to watch it, and reports that once")
    func refused() async throws {
        let probe = SystemCallProbe()
        let reports = ReportCollector()
        var options = reports.options
        options.calls = SystemCalls(probe: probe)
        let journal = try Journal.openTest(directory.suite, options)
        var calls: [Calls] = []
        for _ in 0..<2 {
            journal.stopWatching()
            probe.plan(.fail(code: ENOSPC), call: .inotifyAddWatch, number: 0)
            calls.append(watch(journal))
        }
        #expect(probe.fired == 2)
        #expect(reports.all.isEmpty)
        journal.deliverReports()
        let error = JournalError(.system(.inotifyAddWatch, code: ENOSPC), path: directory.suite)
        #expect(reports.all == [.watchRefused(error, isPolled: true)])
        #expect(error.description.contains("max_user_watches"))
        #expect(try Helper(["keys", directory.suite, "p", "10"]).finish().status == 0)
        await calls[1].wait(forEntries: 10)
        journal.stopWatching()
    }

    @Test("that the system refused to watch is watched as soon as the system allows that")
    func allowedLater() async throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openTest(directory.suite, JournalOptions(calls: SystemCalls(probe: probe)))
        for number in 0..<2 { probe.plan(.fail(code: ENOSPC), call: .inotifyAddWatch, number: number) }
        let calls = watch(journal)
        // Each look at a suite that isn't watched tries to watch it.
        try wait(for: "the third attempt") { probe.counts[.inotifyAddWatch, default: 0] >= 3 }
        #expect(probe.fired == 2)
        // From here on only an event makes a call.
        #expect(try Helper(["keys", directory.suite, "p", "10"]).finish().status == 0)
        await calls.wait(forEntries: 10)
        journal.stopWatching()
    }
    #endif

    @Test("is reported again when it changes during a call, after that call")
    func changeDuringCall() async throws {
        struct State {
            var calls = 0
            var isRunning = false
            var overlaps = 0
        }
        let journal = try Journal.openTest(directory.suite)
        let state = Locked(State())
        let calls = Calls()
        let release = DispatchSemaphore(value: 0)
        journal.startWatching {
            state.withLock { state in
                state.calls += 1
                state.overlaps += state.isRunning ? 1 : 0
                state.isRunning = true
            }
            calls.note()
            release.wait()
            state.withLock { $0.isRunning = false }
        }
        let change = DirectoryEvents.Changes(areIncomplete: true)
        func makeChange(_ number: Int) throws {
            try journal.set("key", "\(number)")
            JournalWatcher.shared.note(change)
        }
        try makeChange(0)
        await calls.wait()
        // Many changes during a call make one call.
        for number in 1...10 { try makeChange(number) }
        release.signal()
        await calls.wait()
        #expect(state.withLock(\.overlaps) == 0)
        // A call that was due when the watch ended is not made.
        try makeChange(11)
        journal.stopWatching()
        let before = state.withLock(\.calls)
        release.signal()
        let other = try Journal.openTest(directory.path + "/other")
        let otherCalls = watch(other)
        JournalWatcher.shared.note(change)
        await otherCalls.wait()
        #expect(state.withLock(\.calls) == before)
        other.stopWatching()
    }

    @Test("is watched in its new directory after it was deleted and recreated")
    func recreated() async throws {
        let journal = try Journal.openTest(directory.suite)
        let calls = watch(journal)
        try FileManager.default.removeItem(atPath: directory.suite)
        journal.forgetComparison()
        try journal.set("first", "1")
        #expect(try Helper(["keys", directory.suite, "p", "10"]).finish().status == 0)
        await calls.wait(forEntries: 11)
        journal.stopWatching()
    }

    @Test("is still watched when another journal of its directory is no longer watched")
    func oneDirectory() async throws {
        let journals = [
            try Journal.openTest(directory.suite), try Journal.openUnregistered(directory.suite),
            try Journal.openUnregistered(directory.suite),
        ]
        let calls = journals.map(watch)
        journals[1].stopWatching()
        #expect(try Helper(["keys", directory.suite, "p", "10"]).finish().status == 0)
        for number in [0, 2] { await calls[number].wait(forEntries: 10) }
        journals[0].stopWatching()
        #expect(try Helper(["keys", directory.suite, "q", "10"]).finish().status == 0)
        await calls[2].wait(forEntries: 20)
        journals[2].stopWatching()
    }

    #if DEBUG
    @Test("is compared with the files at its path again and again, without a call while nothing changes")
    func unchanged() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openTest(directory.suite, JournalOptions(calls: SystemCalls(probe: probe)))
        let calls = Locked(0)
        journal.startWatching { calls.withLock { $0 += 1 } }
        defer { journal.stopWatching() }
        func looks() -> Int { probe.counts[.stat, default: 0] }
        let start = looks()
        // The first tick makes a call, since nothing is known before it. There is one tick per second, and each look
        // makes two calls.
        let count = TestExtent.pick(brief: 2, full: 4)
        try wait(for: "\(count) looks") { looks() >= start + 2 * count }
        #expect(calls.withLock { $0 } <= 1)
    }
    #endif

    @Test("is looked at when the system has lost events")
    func lostEvents() async throws {
        let journals = try (0..<3).map { try Journal.openTest(directory.path + "/\($0)") }
        let calls = journals.map(watch)
        JournalWatcher.shared.note(DirectoryEvents.Changes(areIncomplete: true))
        for calls in calls { await calls.wait() }
        for journal in journals { journal.stopWatching() }
    }

    @Test("gets the events of directories that are watched, and finds out when some of them are lost")
    func directoryEvents() throws {
        let events = try DirectoryEvents(calls: SystemCalls())
        let descriptor = open(directory.path, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        let number = try events.add(descriptor, calls: SystemCalls())
        #expect(try events.add(descriptor, calls: SystemCalls()) == number)
        let none = events.wait(until: 0)
        #expect(none.directories.isEmpty && !none.areIncomplete)
        try directory.write([1], to: "a file with a long name")
        try directory.write([1], to: "b")
        #expect(events.wait(until: .max) == DirectoryEvents.Changes(directories: [number], areIncomplete: false))
        // More events than the system keeps, none of them equal to the one before.
        let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        let files = ["a", "b"].map { open(directory.path + "/" + $0, O_RDWR | O_CREAT, 0o600) }
        defer { files.forEach { close($0) } }
        let count = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
        for event in 0...count { pwrite(files[event % 2], "x", 1, 0) }
        var changes = events.wait(until: .max)
        while !changes.areIncomplete, !changes.directories.isEmpty { changes = events.wait(until: 0) }
        #expect(changes.areIncomplete)
        events.remove(number)
        while !events.wait(until: 0).directories.isEmpty {}
        try directory.write([1], to: "c")
        #expect(events.wait(until: 0) == DirectoryEvents.Changes())
    }
}
#endif
