import Foundation
import Testing

@testable import DefaultJournal

/// What a process that has a suite open sees of what others do to its files.
@Suite("A look")
struct LookingTests {
    private let directory = TemporaryDirectory()
    private let options = JournalOptions(automaticMaintenance: false)

    /// What another program may do to a suite that is open.
    enum Replacement: CaseIterable {
        case recreated
        case swappedDirectory
        case swappedJournal
        case restored
        /// A copy of the same journal, of the same size, with other contents.
        case diverged
    }

    /// Replaces the suite, in which `key` has the value "old", by one in which it has the value "new".
    private func replace(_ replacement: Replacement) throws {
        let files = FileManager.default
        let other = directory.path + "/other"
        try files.copyItem(atPath: directory.suite, toPath: other)
        if replacement == .recreated || replacement == .restored { try files.removeItem(atPath: other) }
        try Journal.openUnregistered(other, options).set("key", "new")
        switch replacement {
        case .recreated:
            try files.removeItem(atPath: directory.suite)
            try files.moveItem(atPath: other, toPath: directory.suite)
        case .swappedDirectory:
            try files.moveItem(atPath: directory.suite, toPath: directory.path + "/away")
            try files.moveItem(atPath: other, toPath: directory.suite)
        case .swappedJournal: #expect(rename(other + "/journal", directory.journal) == 0)
        case .restored: try directory.overwriteInPlace("suite/journal", with: directory.bytes("other/journal"))
        case .diverged:
            // The same record as the one that the suite got meanwhile, with another value.
            try directory.overwriteInPlace("suite/journal", with: directory.bytes("other/journal"))
        }
    }

    @Test(
        "finds a suite that was replaced while it was open, by reading, writing and checking",
        arguments: Replacement.allCases
    )
    func replaced(by replacement: Replacement) throws {
        let base = try Journal.openUnregistered(directory.suite, options)
        try base.set("base", "1")
        let journals = try (0..<4).map { _ in try Journal.openUnregistered(directory.suite, options.later) }
        try replaceKeeping(base, replacement)
        for journal in journals { journal.forgetComparison() }
        #expect(journals[0]["key"] == "new")
        #expect(try journals[1].verify().isIntact)
        #expect(journals[1]["key"] == "new")
        // What is stored already is judged by what is in the file.
        try journals[2].set("key", "old")
        #expect(try Journal.openUnregistered(directory.suite, options)["key"] == "old")
        journals[3].forgetComparison()
        try journals[3].compact()
        #expect(journals[3]["key"] == "old")
        #expect(try Journal.openUnregistered(directory.suite, options).verify().isIntact)
    }

    private func replaceKeeping(_ base: Journal, _ replacement: Replacement) throws {
        guard replacement == .diverged else {
            try base.set("key", "old")
            return try replace(replacement)
        }
        let copy = directory.path + "/other"
        try FileManager.default.copyItem(atPath: directory.suite, toPath: copy)
        try Journal.openUnregistered(copy, options).set("key", "new")
        try base.set("key", "old")
        let bytes = try directory.bytes("other/journal")
        #expect(try directory.bytes().count == bytes.count)
        try directory.overwriteInPlace("suite/journal", with: bytes)
    }

    #if os(Linux)
    @Test("of an observer finds that its suite was deleted and recreated, without an event")
    func observed() async throws {
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("key", "old")
        let (values, continuation) = AsyncStream<String?>.makeStream()
        journal.startWatching { [weak journal] in continuation.yield(journal?["key"]) }
        try FileManager.default.removeItem(atPath: directory.suite)
        try Journal.openUnregistered(directory.suite, options).set("key", "new")
        for await value in values where value == "new" { break }
        // From here on the new directory is watched.
        try Journal.openUnregistered(directory.suite, options).set("key", "newer")
        for await value in values where value == "newer" { break }
        journal.stopWatching()
    }
    #endif

    #if DEBUG
    @Test("at each step of a compaction sees everything, and so does one of a process that is two journals behind")
    func compaction() throws {
        let probe = SystemCallProbe()
        var probed = options
        probed.calls = SystemCalls(probe: probe)
        let journal = try Journal.openUnregistered(directory.suite, probed)
        let behind = try Journal.openUnregistered(directory.suite, options)
        let other = try Journal.openUnregistered(directory.suite, options)
        for round in 1...3 {
            for number in 0..<50 { try journal.set("key\(number % 7)", "\(round) \(number)") }
            let expected = journal.all
            let count = Guarded(0)
            probe.onStep { _ in
                count.withLock { $0 += 1 }
                #expect(other.all == expected)
            }
            try journal.compact()
            probe.onStep(nil)
            #expect(count.withLock { $0 } > 10)
            #expect(other.all == expected && other.state.file.salt == journal.state.file.salt)
        }
        #expect(behind.all == journal.all)
    }

    @Test("of a disk that hangs isn't waited for, neither by this process nor by others, nor for other suites")
    func hangingFlush() throws {
        let probe = SystemCallProbe()
        var probed = options
        probed.calls = SystemCalls(probe: probe)
        let journal = try Journal.openUnregistered(directory.suite, probed)
        let other = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        probe.clear()
        probe.plan(.hang, call: .fdatasync, number: 0)
        Thread.detachNewThread { [journal] in do { try journal.synchronize() } catch { Issue.record(error) } }
        while probe.counts[.fdatasync, default: 0] == 0 { sched_yield() }
        for number in 0..<100 {
            try journal.set("a", "\(number)")
            try other.set("b", "\(number)")
        }
        #expect(journal["b"] == "99" && other["a"] == "99")
        let free = try Journal.openTest(directory.path + "/free")
        try free.set("a", "1")
        while !free.isSynced { sched_yield() }
    }

    @Test("of calls that flush at the same time is one sync")
    func groupCommit() throws {
        let probe = SystemCallProbe()
        var probed = options
        probed.calls = SystemCalls(probe: probe)
        let journal = try Journal.openUnregistered(directory.suite, probed)
        try journal.synchronize()
        probe.clear()
        let waiting = Guarded(0)
        probe.onStep { step in
            // The first sync ends when all others wait.
            guard step.call == .fdatasync else { return }
            while waiting.withLock({ $0 }) < 8 { sched_yield() }
        }
        let ended = Guarded(0)
        for number in 0..<8 {
            Thread.detachNewThread { [journal] in
                do {
                    try journal.set("key\(number)", "1")
                    waiting.withLock { $0 += 1 }
                    try journal.synchronize()
                } catch {
                    Issue.record(error)
                }
                ended.withLock { $0 += 1 }
            }
        }
        while ended.withLock({ $0 }) < 8 { sched_yield() }
        probe.onStep(nil)
        #expect(journal.isSynced)
        #expect(probe.counts[.fdatasync, default: 0] < 8)
    }
    #endif

    @Test("at backups finds the oldest and the newest, and few others")
    func backups() throws {
        for number in 0..<12 {
            let journal = try Journal.openUnregistered(directory.suite, options)
            try journal.set("key", "\(number)")
            try journal.set("other", "\(number)")
            try directory.overwriteInPlace("suite/journal", at: UInt64(JournalHeader.size + 20), with: [0xEE])
            _ = try Journal.openUnregistered(directory.suite, options)
        }
        #expect(try directory.damagedCopies.count == 8)
    }

    @Test("of a child made with fork: its own suites work, and its parent's can't be written")
    func forked() throws {
        let helper = try Helper(["fork", directory.path])
        let outcome = helper.finish()
        #expect(outcome.status == 0)
        #expect(outcome.output == "refused\nown 1\nflushed\nparent 1\n")
    }
}
