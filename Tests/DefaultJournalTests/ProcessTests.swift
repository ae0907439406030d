import Foundation
import JournalProbe
import Testing

@testable import DefaultJournal

@Suite("Processes and threads", .waits)
struct ProcessTests {
    private let directory = TemporaryDirectory()

    @Test(
        "A writer that is killed at any instant loses no acknowledged write, and open processes notice each write",
        arguments: ["set", "batch", "durable", "update"]
    )
    func killedWriter(workload: String) throws {
        let directory = Helper.crashDirectory()
        let others = (0..<100).map { "other\($0)" }
        let seen = ReportCollector()
        var options = seen.options
        options.automaticMaintenance = false
        let peer = try Journal.openUnregistered(directory.suite, options)
        for key in others { try peer.set(key, "value of \(key)") }
        // The acknowledgements need memory that the processes share, which not every file system offers.
        let shared = directory.isMapped ? directory : TemporaryDirectory(in: "/dev/shm")
        try shared.write([UInt8](repeating: 0, count: 4096), to: "acknowledged")
        let acknowledgements = shared.path + "/acknowledged"
        let file = open(acknowledgements, O_RDWR)
        defer { close(file) }
        let page = try #require(mmap(nil, 4096, PROT_READ, MAP_SHARED, file, 0))
        defer { munmap(page, 4096) }
        let cell = page.assumingMemoryBound(to: Int.self)
        let mirror = try Helper(["mirror", directory.suite])
        defer { mirror.kill() }
        var random = SeededGenerator(state: TestExtent.seed)
        for round in 0..<Helper.rounds("JOURNAL_CRASH_ROUNDS", default: 20) {
            let before = cell.pointee
            let helper = try Helper(["crash", directory.suite, acknowledgements, workload])
            try wait(for: "an acknowledged write") { cell.pointee != before || !helper.process.isRunning }
            usleep(UInt32.random(in: 0..<3000, using: &random))
            helper.kill()
            let acknowledged = cell.pointee
            // The process that stays open either reads before all others, or writes before it has read.
            let isRead = Bool.random(using: &random)
            if isRead {
                let number = Int(peer["number"] ?? "") ?? -1
                #expect(number == acknowledged || number == acknowledged + 1, "\(seen.all)")
            }
            try peer.set("peer", "\(round)")
            let reports = ReportCollector()
            let journal = try Journal.openUnregistered(directory.suite, reports.options)
            let number = Int(journal["number"] ?? "") ?? -1
            #expect(number == acknowledged || number == acknowledged + 1, "round \(round)")
            #expect(workload != "batch" || journal["twin"] == "\(number)")
            for key in others { #expect(journal[key] == "value of \(key)") }
            #expect(journal.all == peer.all, "round \(round)")
            #expect(try mirror.ask("peer \(round)") == journal.listing, "round \(round)")
            #expect(reports.all.isEmpty)
            #expect(try journal.verify().isIntact)
        }
        #expect(try directory.damagedCopies.isEmpty)
    }

    @Test("Many processes write different keys, and all of them are stored", arguments: [2, 8])
    func distinctKeys(processes: Int) throws {
        let journal = try Journal.openTest(directory.suite)
        let count = TestExtent.pick(brief: 200, full: 500)
        let helpers = try (0..<processes).map { try Helper(["keys", directory.suite, "p\($0)", "\(count)"]) }
        for helper in helpers { #expect(helper.finish().status == 0) }
        #expect(journal.all.count == processes * count)
        let again = try Journal.openUnregistered(directory.suite)
        #expect(again.all == journal.all)
        #expect(try again.verify().isIntact)
    }

    @Test("Many processes increment one counter, and no increment is lost")
    func counter() throws {
        let journal = try Journal.openTest(directory.suite)
        let count = TestExtent.pick(brief: 200, full: 500)
        let helpers = try (0..<8).map { _ in try Helper(["count", directory.suite, "\(count)"]) }
        for helper in helpers { #expect(helper.finish().status == 0) }
        #expect(journal["counter"] == "\(8 * count)")
        #expect(try Journal.openUnregistered(directory.suite)["counter"] == "\(8 * count)")
    }

    @Test("Many threads write, read and count through two engines")
    func threads() throws {
        let first = try Journal.openTest(directory.suite)
        let second = try Journal.openUnregistered(directory.suite)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            let journal = thread % 2 == 0 ? first : second
            do {
                for number in 0..<300 {
                    try journal.set("t\(thread)-\(number % 50)", String(repeating: "v", count: 200))
                    #expect(journal["t\(thread)-\(number % 50)"] != nil)
                    try journal.withExclusiveAccess {
                        let value = journal["counter"].flatMap(Int.init) ?? 0
                        try journal.set("counter", "\(value + 1)")
                    }
                    if number % 97 == 96 { try journal.compact() }
                    if number % 150 == 149 { try journal.synchronize() }
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(first["counter"] == "2400")
        #expect(second.all == first.all)
        #expect(first.all.count == 401)
        #expect(try first.verify().isIntact)
    }

    @Test("A full disk makes writes throw and loses nothing; when there is room again, writes succeed")
    func fullDisk() throws {
        let result = try Helper(["fill", directory.suite, "200000"]).finish()
        #expect(result.status == 0, "\(result.output)")
        let journal = try Journal.openTest(directory.suite)
        let count = Int(journal["last"] ?? "") ?? 0
        #expect(count > 100)
        #expect(journal.all.count == count + 2)
    }

    @Test("What a program prints to streams that it was started without goes into no file of a suite")
    func closedStreams() throws {
        try Journal.openTest(directory.suite).set("before", "1")
        let start = "exec \"$0\" print \"$1\" <&- >&- 2>&-"
        #expect(try runCommand(["sh", "-c", start, Helper.program, directory.suite]) == 0)
        let journal = try Journal.openUnregistered(directory.suite)
        #expect(journal["before"] == "1" && journal["k"] == "printed" && journal["last"] == "printed")
        #expect(try journal.verify().isIntact)
        #expect(try directory.damagedCopies.isEmpty)
    }

    @Test(
        "A user without permission gets an error that names the path and its owner",
        .enabled(if: Machine.isRoot, "Needs root.")
    )
    func permissions() throws {
        // The directories above are accessible, so that the suite's own mode decides.
        chmod(directory.path, 0o755)
        do { try Journal.openTest(directory.suite).set("a", "0") }
        let foreign = try Helper(["unprivileged", directory.suite]).finish()
        #expect(foreign.status == 1)
        #expect(foreign.output.contains(directory.suite))
        #expect(foreign.output.contains("belongs to the user root."))
        chown(directory.suite, 65_534, 65_534)
        let files = try Helper(["unprivileged", directory.suite]).finish()
        #expect(files.status == 1)
        #expect(files.output.contains("/journal"))
        #expect(try Journal.openTest(directory.suite).isReadOnly)
        chown(directory.suite + "/journal", 65_534, 65_534)
        let mine = try Helper(["unprivileged", directory.suite]).finish()
        #expect(mine.status == 0, "\(mine.output)")
        chmod(directory.suite, 0o500)
        let readOnly = try Helper(["unprivileged", directory.suite]).finish()
        #expect(readOnly.status == 1)
        #expect(readOnly.output.contains("Nothing can be written to \(directory.suite)"))
    }
}
