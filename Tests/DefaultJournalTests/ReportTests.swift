#if DEBUG
import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("What is reported")
struct ReportTests {
    private let directory = TemporaryDirectory()
    private let reports = ReportCollector()
    // The engine's time is ten seconds ahead, so that it doesn't mistake the test's writes for a copy in progress.
    private let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)

    private func open() throws -> Journal {
        var options = reports.options(probe)
        options.automaticMaintenance = false
        return try Journal.openTest(directory.suite, options)
    }

    @Test("by an opening is delivered if it fails, too, and by each opening")
    func failedOpening() throws {
        try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false)).set("a", "1")
        try #require(chmod(directory.suite, 0o777) == 0)
        for round in 1...2 {
            probe.plan(.fail(code: EIO), call: .pread, number: 0)
            #expect(throws: JournalError(.system(.pread, code: EIO), path: directory.journal)) { try open() }
            #expect(reports.all == Array(repeating: .writableByOthers(path: directory.suite), count: round))
        }
        #expect(try open()["a"] == "1")
        #expect(reports.all.count == 3)
    }

    @Test("by a write is delivered, and so is a repair that fails after it, while the write itself succeeds")
    func failedRepair() throws {
        let journal = try open()
        try journal.set("a", "1")
        let end = try directory.bytes().count
        try journal.set("b", "2")
        try #require(truncate(directory.journal, off_t(end)) == 0)
        journal.forgetComparison()
        // Others have read bytes that the file has lost, so that a new file is needed, which can't be written.
        probe.plan(.fail(code: EIO), call: .fsync, number: 0)
        try journal.set("c", "3")
        #expect(probe.fired == 1)
        let error = JournalError(.system(.fsync, code: EIO), path: directory.suite + "/journal.new")
        let found: [JournalReport] = [.shortened(path: directory.journal, bytes: 32), .replaced(path: directory.suite)]
        #expect(reports.all == found + [.compactionFailed(error)])
        #expect(journal["a"] == "1" && journal["b"] == nil && journal["c"] == "3")
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    @Test("by reads that fail is each kind of failure, once until a read succeeds")
    func failedRead() throws {
        let journal = try open()
        try journal.set("a", "1")
        let other = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        func failure(_ code: Int32) -> JournalReport {
            .catchUpFailed(JournalError(.system(.pread, code: code), path: directory.journal))
        }
        func readFailing(_ code: Int32) {
            let before = probe.fired
            probe.plan(.fail(code: code), call: .pread, number: 0)
            #expect(journal["a"] == "1")
            #expect(probe.fired == before + 1)
        }
        try other.set("a", "2")
        readFailing(EIO)
        #expect(reports.all == [failure(EIO)])
        readFailing(EIO)
        #expect(reports.all == [failure(EIO)])
        readFailing(ENOMEM)
        #expect(reports.all == [failure(EIO), failure(ENOMEM)])
        #expect(journal["a"] == "2")
        journal.forgetComparison()
        #expect(journal["a"] == "2" && reports.all.count == 2)
        try other.set("a", "1")
        try other.set("a", "3")
        probe.plan(.fail(code: ENOMEM), call: .pread, number: 0)
        #expect(journal["a"] == "2")
        #expect(reports.all == [failure(EIO), failure(ENOMEM), failure(ENOMEM)])
        #expect(journal["a"] == "3")
        // A write that catches up counts as a success too.
        try journal.set("b", "1")
        try other.set("a", "4")
        probe.plan(.fail(code: ENOMEM), call: .pread, number: 0)
        #expect(journal["a"] == "3")
        #expect(reports.all == [failure(EIO), failure(ENOMEM), failure(ENOMEM), failure(ENOMEM)])
    }
}
#endif
