import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

/// Tests of the bound in "File format", twice the live bytes and 512 KiB, and of the size that a file reaches if
/// nothing can compact it in the background.
@Suite("The size of a journal", .waits)
struct SizeTests {
    private let directory = TemporaryDirectory()

    private func bound(_ journal: Journal) -> Int { 2 * Int(journal.entries.journalSize) + 524_288 }

    private func length(of file: String) throws -> Int {
        var status = stat()
        // A file that has been removed in the meantime has no size.
        return stat(directory.suite + "/" + file, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The longest of a suite's files.
    private func largest() throws -> Int {
        try directory.names().map { try length(of: $0) }.max() ?? 0
    }

    @Test("stays within its bound when a program writes a megabyte and ends, again and again")
    func programs() throws {
        for round in 1...6 {
            let helper = try Helper(["write-once", directory.suite, "1000"])
            #expect(helper.finish().status == 0)
            let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
            #expect(try largest() <= bound(journal), "round \(round)")
            #expect(journal.all.count == 1_000)
        }
    }

    #if DEBUG
    @Test(
        "is at most eight times its bound and one record without a background",
        arguments: [(64_000, 200), (1_000_000, 60)]
    )
    func loop(bytes: Int, count: Int) throws {
        let reports = ReportCollector()
        var options = reports.options(SystemCallProbe())
        options.backgroundActivity = { _ in false }
        let journal = try Journal.openTest(directory.suite, options)
        let other = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        var value = [UInt8](repeating: 1, count: bytes)
        for number in 0..<count {
            value[0] = UInt8(truncatingIfNeeded: number)
            try journal.set("large", value)
            #expect(try largest() <= 8 * bound(journal) + bytes + 100, "write \(number)")
        }
        #expect(reports.all == [.compactedByWrite(path: directory.suite, process: nil)])
        #expect(journal.all == other.all && journal[bytes: "large"] == value)
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    @Test("is at most that beside a process that stopped during a compaction, which the event names")
    func stoppedCompaction() throws {
        let reports = ReportCollector()
        let journal = try Journal.openTest(directory.suite, reports.options(SystemCallProbe()))
        let file = open(directory.suite + "/journal.new", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        try #require(flock(file, LOCK_EX) == 0)
        var value = [UInt8](repeating: 1, count: 64_000)
        func write(_ number: Int) throws {
            value[0] = UInt8(truncatingIfNeeded: number)
            try journal.set("large", value)
            #expect(try largest() <= 8 * bound(journal) + 64_100, "write \(number)")
        }
        for number in 0..<10 { try write(number) }
        try wait(for: "a try that can't start") { !journal.isCompactionScheduled.load() }
        for number in 10..<200 { try write(number) }
        #expect(reports.all == [.compactedByWrite(path: directory.suite, process: getpid())])
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    @Test("is after a compaction that of the entries at its end, without those that were replaced meanwhile")
    func tail() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        let other = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        let isDone = Locked(false)
        probe.onStep { step in
            guard step.call == .fsync, !step.isHalf, !isDone.exchange(true) else { return }
            do {
                var value = [UInt8](repeating: 1, count: 64_000)
                for number in 0..<50 {
                    value[0] = UInt8(number)
                    try other.set("large", value)
                }
                try other.set("removed", "1")
                try other.remove("removed")
                try other.remove("a")
                var batch = JournalBatch()
                batch.set("one", "1")
                batch.set("two", "2")
                try other.append(batch)
                try other.set("two", "3")
            } catch {
                Issue.record(error)
            }
        }
        try journal.compact()
        probe.onStep(nil)
        #expect(try length(of: "journal") < 70_000)
        #expect(journal.all == other.all && journal.all.count == 3 && journal["two"] == "3")
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }
    #endif
}
