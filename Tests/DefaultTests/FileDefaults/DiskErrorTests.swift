import Foundation
import Testing

@testable import Default
@testable import DefaultJournal
import JournalProbe

@Suite("A suite on a disk that fails")
struct DiskErrorTests {
    #if DEBUG
    /// Runs a test on a suite whose system calls can be made to fail, and which does nothing in the background.
    private func withSuite(
        _ durability: FileDefaults.Durability = .background,
        _ test: (_ suite: FileDefaults, _ probe: SystemCallProbe) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let probe = SystemCallProbe()
            let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
            let journal = try Journal.open(at: url.path, options: options) { SuiteState() }
            let suite = try FileDefaults(url: url, durability: durability)
            try #require(try suite.suite.open().journal === journal)
            try test(suite, probe)
        }
    }

    @Test(
        "throws an error with the code of its cause at each write, and stores nothing until one succeeds",
        arguments: [
            (EROFS, DefaultsError.Code.storeReadOnly), (ENOSPC, .storeFailed), (EDQUOT, .storeFailed),
            (EIO, .storeFailed), (EACCES, .storeFailed),
        ]
    )
    func writes(code: Int32, expected: DefaultsError.Code) throws {
        try withSuite { suite, probe in
            try suite.set(1, forKey: "k")
            for _ in 0..<2 {
                let bodies: [() throws -> Void] = [
                    { try suite.set(2, forKey: "k") },
                    { try suite.removeObject(forKey: "k") },
                    { try suite.transaction { try suite.set(2, forKey: "k") } },
                ]
                for body in bodies {
                    probe.plan(.fail(code: code), call: .pwrite, number: 0)
                    let error = expectError(expected, from: body)
                    #expect((error?.underlyingError as? POSIXError)?.code.rawValue == code)
                    #expect(suite.integer(forKey: "k") == 1)
                }
            }
            #expect(probe.fired == 6)
            try suite.set(2, forKey: "k")
            #expect(suite.integer(forKey: "k") == 2)
        }
    }

    @Test("throws what a flush of every write fails with, keeps the value, and flushes all with the next write")
    func flushes() throws {
        try withSuite(.everyWrite) { suite, probe in
            let journal = try suite.suite.open().journal
            var isSynced: Bool {
                journal.stateLock.withLock { journal.flusher.isSynced(journal.state.file, to: journal.state.position) }
            }
            for round in 1...2 {
                probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
                expectError(.storeFailed) { try suite.transaction { try suite.set(round, forKey: "k") } }
                #expect(suite.integer(forKey: "k") == round && !isSynced)
                // The journal is written to another file, because the system may not write this one again.
                probe.plan(.fail(code: ENOSPC), call: .fsync, number: 0)
                expectError(.storeFailed) { try suite.set(round, forKey: "other") }
                #expect(suite.integer(forKey: "other") == round && !isSynced)
                try suite.transaction { try suite.set(round, forKey: "other") }
                #expect(isSynced)
            }
            #expect(probe.fired == 4)
        }
    }
    #endif

    @Test("reports what happens outside of calls as what it is, with a code and a severity")
    func events() {
        let error = JournalError(.system(.fdatasync, code: EIO), path: "/s/journal")
        let readOnly = JournalError(.system(.fdatasync, code: EROFS), path: "/s/journal")
        let damage = JournalReport.Damage(
            path: "/s/journal",
            bytes: 8,
            ranges: [8..<16],
            keptRecords: 3,
            copy: nil,
            copyError: error,
            changedKeys: [],
            possibleKeys: []
        )
        typealias Kind = DefaultsDiagnostics.Event.Kind
        let expected: [(JournalReport, Kind, DefaultsError.Code, DefaultsDiagnostics.Event.Severity)] = [
            (.damaged(damage), .storeDamaged, .storeDamaged, .error),
            (.shortened(path: "/s/journal", bytes: 8), .storeDamaged, .storeDamaged, .error),
            (.writableByOthers(path: "/s"), .storeExposed, .storeExposed, .warning),
            (.waiting(path: "/s", process: 7), .storeBusy, .storeBusy, .warning),
            (.replaced(path: "/s"), .storeReplaced, .storeReplaced, .warning),
            (.flushFailed(error), .maintenanceFailed, .storeFailed, .warning),
            (.compactionFailed(readOnly), .maintenanceFailed, .storeReadOnly, .warning),
            (.catchUpFailed(error), .readFailed, .storeFailed, .error),
            (.watchRefused(error, isPolled: true), .watchFailed, .storeFailed, .warning),
            (.watchRefused(error, isPolled: false), .watchFailed, .storeFailed, .warning),
        ]
        for (report, kind, code, severity) in expected {
            let event = DefaultsDiagnostics.Event(report)
            #expect(event.kind == kind && event.error.code == code, "\(report)")
            #expect(event.severity == severity, "\(report)")
            #expect(event.description.contains("/s"), "\(report)")
        }
    }
}
