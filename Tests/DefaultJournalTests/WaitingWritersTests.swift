#if DEBUG
import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("Writers that wait", .waits)
struct WaitingWritersTests {
    private let directory = TemporaryDirectory()

    /// Opens the journal's file, for its turnstile.
    private func openFile() throws -> Int32 {
        let file = open(directory.journal, O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        return file
    }

    @Test("A write without contention takes the lock with one call, and doesn't use the turnstile")
    func alone() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        var number = 1
        try journal.set("a", "1")
        try journal.justCompared {
            journal.writer.hadLongTurn = false
            probe.clear()
            number += 1
            try journal.set("a", "\(number)")
        }
        // If nothing is mapped, the look under the lock asks for the file's size.
        let expected: [SystemCall: Int] =
            directory.isMapped ? [.flock: 1, .pwrite: 1] : [.flock: 1, .pwrite: 1, .lseek: 1]
        #expect(probe.counts == expected)
    }

    @Test("A writer that had the lock for long lets writers in the turnstile go first")
    func longTurn() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        journal.noteComparison()
        probe.clear()
        // Another writer is in the turnstile for three attempts.
        for number in 0..<3 { probe.plan(.fail(code: EAGAIN), call: .fcntl, number: number) }
        journal.writer.hadLongTurn = true
        probe.startRecording()
        try journal.set("a", "2")
        let calls = probe.records.map(\.call).filter { [.fcntl, .flock, .pwrite].contains($0) }
        #expect(calls == [.fcntl, .fcntl, .fcntl, .fcntl, .flock, .pwrite])
    }

    @Test("A turn of more than 200 microseconds is a long one")
    func turns() throws {
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        try journal.withExclusiveAccess {
            // Makes the turn at the lock look 200 microseconds long.
            journal.writer.lockedAt = Clock.monotonic() - 200_000
        }
        let hadLongTurn = journal.writer.hadLongTurn
        #expect(hadLongTurn)
    }

    @Test("A process that is stopped in the turnstile doesn't stop others")
    func stopped() throws {
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        let file = try openFile()
        defer { close(file) }
        // The turnstile stays occupied.
        try #require(SystemCalls().tryEnterTurnstile(file) == true)
        for number in 0..<3 {
            journal.writer.hadLongTurn = true
            try journal.set("a", "\(number)")
        }
        #expect(journal["a"] == "2")
    }

    @Test("Where the system has no turnstile, writers poll for the lock")
    func withoutTurnstile() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        journal.writer.hadLongTurn = true
        probe.clear()
        probe.plan(.fail(code: ENOTSUP), call: .fcntl, number: 0)
        try journal.set("a", "2")
        #expect(journal["a"] == "2" && probe.counts[.fcntl] == 1)
    }

    @Test("A writer that waits for the lock is in the turnstile until it has the lock")
    func queue() throws {
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        let file = try openFile()
        defer { close(file) }
        try journal.beginExclusiveAccess()
        let waiting = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        let isDone = Locked(false)
        Thread.detachNewThread {
            do { try waiting.set("a", "2") } catch { Issue.record(error) }
            isDone.withLock { $0 = true }
        }
        try wait(for: "one in the turnstile") {
            guard let isFree = SystemCalls().tryEnterTurnstile(file) else { return false }
            if isFree { SystemCalls().leaveTurnstile(file) }
            return !isFree
        }
        #expect(!isDone.withLock { $0 })
        journal.endExclusiveAccess()
        try wait(for: "the write") { isDone.withLock { $0 } }
        #expect(SystemCalls().tryEnterTurnstile(file) == true)
        #expect(journal["a"] == "2")
    }

    /// The calls that sync, beside which others write.
    enum Work: CaseIterable {
        case creation, durableWrite, flush, compaction, compactionBesideFlushes, recovery, shortened, failedSync
    }

    @Test("Syncs are made without the lock: during each of them another process can write", arguments: Work.allCases)
    func unlockedSyncs(work: Work) throws {
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let impatient = JournalOptions(automaticMaintenance: false, lockTimeout: 0)
        let syncs = Locked(0)
        let others = Locked<Journal?>(nil)
        let isWriting = Locked(false)
        probe.onStep { [directory] step in
            guard step.call == .fsync || step.call == .fdatasync, !step.isHalf,
                !isWriting.exchange(true)
            else { return }
            defer { _ = isWriting.exchange(false) }
            syncs.withLock { $0 += 1 }
            do {
                // The directory above a new suite has no journal yet.
                let other = try others.withLock { $0 } ?? Journal.openUnregistered(directory.suite, impatient)
                others.withLock { $0 = other }
                other.writer.hadLongTurn = false
                let number = syncs.withLock { $0 }
                let isDurable = work == .compactionBesideFlushes && number < 4
                try other.set("other", "\(number)", durability: isDurable ? .everyWrite : .background)
            } catch {
                Issue.record(error)
            }
        }
        if work != .creation {
            let journal = try Journal.openUnregistered(directory.suite, impatient)
            for number in 0..<3 { try journal.set("key\(number)", String(repeating: "\(number)", count: 100)) }
        }
        if work == .recovery {
            let bytes = try directory.bytes()
            let key = try #require(Data(bytes).range(of: Data("key1".utf8)))
            try directory.overwriteInPlace("suite/journal", at: UInt64(key.lowerBound), with: [0])
        }
        let journal = try Journal.openUnregistered(directory.suite, options)
        switch work {
        case .creation, .recovery: break
        case .durableWrite: try journal.set("mine", "1", durability: .everyWrite)
        case .flush: try journal.synchronize()
        case .compaction, .compactionBesideFlushes: try journal.compact()
        case .shortened:
            try #require(truncate(directory.journal, off_t(directory.bytes().count - 120)) == 0)
            journal.forgetComparison()
            try journal.set("mine", "1")
        case .failedSync:
            probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
            #expect(throws: JournalError.self) { try journal.synchronize() }
            try journal.synchronize()
        }
        #expect(syncs.withLock { $0 } > 0)
        probe.onStep(nil)
        let fresh = try Journal.openUnregistered(directory.suite, impatient)
        #expect(fresh["other"] == "\(syncs.withLock { $0 })")
        #expect(journal.all == fresh.all)
        #expect(try fresh.verify().isIntact)
    }
}
#endif
