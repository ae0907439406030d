#if DEBUG
import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("Flushes", .waits)
struct FlushTests {
    private let directory = TemporaryDirectory()

    private func open(_ probe: SystemCallProbe, automaticMaintenance: Bool = false) throws -> Journal {
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: automaticMaintenance)
        return try Journal.openTest(directory.suite, options)
    }

    @Test("A flush flushes what isn't flushed, and nothing else")
    func calls() throws {
        let probe = SystemCallProbe()
        let journal = try open(probe)
        try journal.synchronize()
        try journal.set("a", "1")
        probe.clear()
        try journal.synchronize()
        #expect(probe.counts[.fdatasync] == 1 && probe.counts[.fsync] == nil)
        #expect(journal.isSynced)
        probe.clear()
        try journal.synchronize()
        #expect(probe.counts[.fdatasync] == nil && probe.counts[.fsync] == nil && probe.counts[.pwrite] == nil)
        try journal.withExclusiveAccess { try journal.compact() }
        #expect(journal.isRenameUnsynced)
        probe.clear()
        try journal.synchronize()
        // The sync of the new journal's name.
        #expect(probe.counts[.fsync] == 1)
        #expect(!journal.isRenameUnsynced)
    }

    @Test("A journal's header tells other processes which part of it isn't on the disk, and what was promised")
    func flags() throws {
        let probe = SystemCallProbe()
        let journal = try open(probe)
        /// The words behind the header: whether the name may be missing on the disk, whether a sync has failed, whether
        /// a flush has returned.
        func words() throws -> [UInt8] {
            let bytes = try directory.bytes()
            for index in 32..<4_096 where bytes[index] != 0 { #expect([32, 40, 48].contains(index)) }
            return [bytes[32], bytes[40], bytes[48]]
        }
        #expect(try words() == [0, 0, 1])
        try journal.set("a", "1")
        try journal.withExclusiveAccess { try journal.compact() }
        #expect(try words() == [1, 0, 0])
        journal.flushInBackground()
        // A flush by the background alone has promised nothing to a caller.
        #expect(try words() == [0, 0, 0])
        try journal.synchronize()
        #expect(try words() == [0, 0, 1])
        try journal.set("a", "2")
        probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
        #expect(throws: JournalError(.system(.fdatasync, code: EIO), path: directory.journal)) {
            try journal.synchronize()
        }
        #expect(try words() == [0, 1, 1])
        // This flush writes another file.
        try journal.synchronize()
        #expect(try Array(words()[..<2]) == [0, 0])
    }

    @Test("A suite that was created is on the disk by its name, without a value")
    func created() throws {
        let journal = try open(SystemCallProbe())
        #expect(journal.isSynced && !journal.isRenameUnsynced)
    }

    @Test("Where directories can't be synced, a suite can be used, and the first sync of its name reports that")
    func directoriesWithoutSync() throws {
        func use(_ suite: String, _ probe: SystemCallProbe) throws -> [JournalReport] {
            let reports = ReportCollector()
            var options = reports.options(probe)
            options.automaticMaintenance = false
            let path = directory.path + "/" + suite
            let journal = try Journal.openUnregistered(path, options)
            try journal.set("key", "value")
            try journal.synchronize()
            try journal.compact()
            try journal.synchronize()
            #expect(try Journal.openUnregistered(path)["key"] == "value")
            return reports.all
        }
        let trial = SystemCallProbe()
        trial.startRecording()
        #expect(try use("trial", trial).isEmpty)
        let syncs = trial.records.filter { $0.call == .fsync }
        let probe = SystemCallProbe()
        for (number, sync) in syncs.enumerated() where !sync.name.isEmpty {
            probe.plan(.fail(code: EINVAL), call: .fsync, number: number)
        }
        let reports = try use("suite", probe)
        guard reports.count == 1, case .nameNotSynced(let error) = reports[0] else {
            Issue.record("\(reports)")
            return
        }
        #expect(error.code == EINVAL && probe.fired > 2)
    }

    @Test("The name of a new journal in another process's directory is on the disk when that of the directory is")
    func directoryOfAnother() throws {
        try #require(mkdir(directory.suite, 0o700) == 0)
        let probe = SystemCallProbe()
        probe.startRecording()
        _ = try open(probe)
        let calls = probe.records
        let synced = calls.filter { $0.call == .fsync && $0.result == 0 }.map(\.path)
        let parent = try #require(synced.firstIndex(of: directory.path))
        let own = try #require(synced.firstIndex(of: directory.suite))
        #expect(parent < own)
    }

    @Test("Another process's directories above a journal get their names on the disk, too")
    func directoriesOfAnother() throws {
        let parent = directory.path + "/parent"
        try #require(mkdir(parent, 0o700) == 0)
        let probe = SystemCallProbe()
        probe.startRecording()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        _ = try Journal.openTest(parent + "/child/suite", options)
        let synced = Set(probe.records.filter { $0.call == .fsync && $0.result == 0 }.map(\.path))
        #expect(synced.isSuperset(of: [directory.path, parent, parent + "/child"]), "\(synced)")
    }

    @Test("A write with a flush flushes itself, its file's name, and a value that is stored already")
    func everyWrite() throws {
        let probe = SystemCallProbe()
        let journal = try open(probe)
        try journal.set("a", "1")
        try journal.withExclusiveAccess { try journal.compact() }
        probe.clear()
        try journal.set("a", "2", durability: .everyWrite)
        #expect(probe.counts[.fdatasync] == 1 && probe.counts[.fsync] == 1)
        #expect(journal.isSynced)
        try journal.set("a", "3")
        #expect(!journal.isSynced)
        let end = try directory.bytes().count
        try journal.set("a", "3", durability: .everyWrite)
        #expect(try directory.bytes().count == end)
        #expect(journal.isSynced)
    }

    @Test("After a failed flush the journal is written as a whole, by whichever engine flushes next")
    func failed() throws {
        let probe = SystemCallProbe()
        let journal = try open(probe)
        let otherProbe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: otherProbe), automaticMaintenance: false)
        let other = try Journal.openUnregistered(directory.suite, options)
        for durability in [JournalDurability.background, .everyWrite] {
            try journal.set("a", "1")
            probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
            if durability == .everyWrite {
                #expect(throws: JournalError.self) { try journal.set("a", "2", durability: durability) }
            } else {
                #expect(throws: JournalError.self) { try journal.synchronize() }
            }
            #expect(other["a"] == (durability == .everyWrite ? "2" : "1"))
            #expect(journal.hasSyncFailed)
            let id = journal.currentID
            otherProbe.clear()
            if durability == .everyWrite {
                try other.set("a", "3", durability: .everyWrite)
            } else {
                try other.synchronize()
            }
            #expect(other.currentID != id && other.isSynced)
            // The syncs of the new file and of its name.
            #expect(otherProbe.counts[.fsync] == 2)
            #expect(!journal.hasSyncFailed)
            #expect(other.all == journal.all)
        }
    }

    @Test("After a failed flush the journal is written as a whole within exclusive access, too")
    func failedWithinExclusiveAccess() throws {
        let probe = SystemCallProbe()
        let journal = try open(probe)
        try journal.set("a", "1")
        probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
        #expect(throws: JournalError.self) { try journal.synchronize() }
        #expect(journal.hasSyncFailed)
        let id = journal.currentID
        try journal.withExclusiveAccess {
            try journal.set("b", "2")
            try journal.synchronize()
            #expect(journal.currentID != id && journal.isSynced && !journal.hasSyncFailed)
            try journal.set("c", "3")
        }
        let fresh = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        #expect(["a", "b", "c"].map { fresh[$0] } == ["1", "2", "3"] && journal.all == fresh.all)
    }

    @Test("A file's name whose flush has failed is flushed by the next one, however often that fails")
    func failedName() throws {
        let probe = SystemCallProbe()
        let journal = try open(probe)
        try journal.set("a", "1")
        try journal.withExclusiveAccess { try journal.compact() }
        for _ in 0..<2 {
            probe.plan(.fail(code: EIO), call: .fsync, number: 0)
            #expect(throws: JournalError(.system(.fsync, code: EIO), path: directory.suite)) {
                try journal.synchronize()
            }
            #expect(journal.isRenameUnsynced && !journal.hasSyncFailed)
        }
        probe.clear()
        try journal.synchronize()
        #expect(probe.counts[.fsync] == 1 && !journal.isRenameUnsynced)
    }

    @Test("A flush that can't announce itself to compactions fails, and the next one succeeds")
    func unpublishedFlush() throws {
        let probe = SystemCallProbe()
        let journal = try open(probe)
        try journal.set("a", "1")
        try journal.compact()
        try journal.set("a", "2")
        for _ in 0..<2 {
            probe.plan(.fail(code: ENOSPC), call: .pwrite, number: 0)
            #expect(throws: JournalError(.system(.pwrite, code: ENOSPC), path: directory.journal)) {
                try journal.synchronize()
            }
        }
        try journal.synchronize()
        #expect(journal.isSynced && !journal.hasSyncFailed && journal["a"] == "2")
    }

    @Test("What is written to a journal that a backup has made shorter is flushed", arguments: [false, true])
    func shortened(readsFirst: Bool) throws {
        // The engine's time is ten seconds ahead, so that it doesn't mistake the backup for a copy in progress.
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        let journal = try open(probe)
        try journal.set("a", "1")
        let backup = try directory.bytes()
        try journal.set("a", String(repeating: "2", count: 1_000), durability: .everyWrite)
        try directory.overwriteInPlace("suite/journal", with: backup)
        journal.forgetComparison()
        if readsFirst { #expect(journal["a"] == "1") }
        probe.clear()
        try journal.set("b", "1", durability: .everyWrite)
        #expect(journal.isSynced)
        #expect(probe.counts[.fdatasync] != nil || probe.counts[.fsync] != nil)
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    @Test("A failed flush that could not be published is remembered by its process")
    func unpublishedFailure() throws {
        let probe = SystemCallProbe()
        let journal = try open(probe)
        try journal.set("a", "1")
        probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
        probe.plan(.fail(code: ENOSPC), call: .pwrite, number: 0)
        #expect(throws: JournalError.self) { try journal.synchronize() }
        #expect(probe.fired == 2)
        let id = journal.currentID
        try journal.synchronize()
        #expect(journal.currentID != id && journal.isSynced)
    }

    @Test("A flush in the background creates no suite that was deleted, even after a failed one")
    func deletedSuite() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
        #expect(throws: JournalError.self) { try journal.synchronize() }
        probe.clear()
        try FileManager.default.removeItem(atPath: directory.suite)
        journal.forgetComparison()
        journal.flushInBackground()
        #expect(!FileManager.default.fileExists(atPath: directory.suite))
    }

    @Test("Suites that are written together are all flushed, even if the background has no room for so many")
    func manySuites() throws {
        var options = JournalOptions()
        options.worker = BackgroundWorker()
        let journals = try (0..<80).map { try Journal.openTest(directory.path + "/many/\($0)", options) }
        for journal in journals { try journal.set("a", "1") }
        for journal in journals { try wait(for: "a flush of each suite") { journal.isSynced } }
    }

    @Test("The background has room for 64 flushes, and for any number of compactions")
    func queue() throws {
        let worker = BackgroundWorker()
        let journal = try Journal.openTest(directory.suite, JournalOptions(automaticMaintenance: false))
        for _ in 1...64 { #expect(worker.flush(journal, after: 1 << 60)) }
        #expect(!worker.flush(journal, after: 1 << 60))
        #expect(worker.compact(journal))
        // A flush that finds no room doesn't count as scheduled: the next write tries again.
        var options = JournalOptions()
        options.worker = worker
        let other = try Journal.openUnregistered(directory.path + "/other", options)
        for value in ["1", "2"] {
            try other.set("a", value)
            #expect(!other.hasFlushScheduled)
        }
    }

    @Test("A flush is scheduled until it begins, and the next write schedules one again")
    func scheduled() throws {
        var options = JournalOptions(backgroundActivity: { _ in false })
        options.worker = BackgroundWorker()
        let journal = try Journal.openTest(directory.suite, options)
        for _ in 0..<2 {
            try journal.set("a", "1")
            #expect(journal.hasFlushScheduled && !journal.isSynced)
            try journal.set("a", "2")
            #expect(journal.hasFlushScheduled && !journal.isSynced)
            journal.flushInBackground()
            #expect(!journal.hasFlushScheduled && journal.isSynced)
        }
    }

    @Test("What was written less than a minute before an opening is flushed by it: its writer may have been killed")
    func writtenShortlyBefore() throws {
        do { try open(SystemCallProbe()).set("a", "1") }
        let modified = try #require(try SystemCalls().status(of: directory.journal)).modified
        let ages: [(age: UInt64, isScheduled: Bool)] = [
            (0, true), (1_000_000_000, true), (59_999_999_999, true), (60_000_000_000, false),
        ]
        for (age, isScheduled) in ages {
            let journal = try openWithoutBackground(at: modified + age)
            #expect(journal.hasFlushScheduled == isScheduled, "\(age)")
        }
        // The time of the last write counts, not that of the last change of the file's attributes.
        let date = Date(timeIntervalSince1970: 1_600_000_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: directory.journal)
        #expect(try !openWithoutBackground().hasFlushScheduled)
        // A suite without a value has nothing to flush.
        try FileManager.default.removeItem(atPath: directory.suite)
        do { _ = try open(SystemCallProbe()) }
        let created = try #require(try SystemCalls().status(of: directory.journal)).modified
        #expect(try !openWithoutBackground(at: created).hasFlushScheduled)
    }

    /// Opens the suite at a given time, with a background that does nothing.
    private func openWithoutBackground(at time: UInt64? = nil) throws -> Journal {
        let probe = SystemCallProbe()
        probe.stoppedFileTime = time
        var options = ReportCollector().options(probe)
        options.backgroundActivity = { _ in false }
        return try Journal.openUnregistered(directory.suite, options)
    }

    @Test("What another process has written is flushed by one that reads it, too")
    func writtenByOthers() throws {
        let other = try open(SystemCallProbe())
        let journal = try openWithoutBackground()
        for value in ["1", "2"] {
            try other.set("a", value)
            #expect(!journal.hasFlushScheduled)
            #expect(journal["a"] == value)
            #expect(journal.hasFlushScheduled && !journal.isSynced)
            journal.flushInBackground()
            #expect(!journal.hasFlushScheduled && journal.isSynced)
        }
    }

    @Test("A sync during which a backup was restored doesn't count, and the flush syncs the backup")
    func syncOfReplaced() throws {
        let probe = SystemCallProbe()
        let journal = try open(probe)
        try journal.set("a", "1")
        let backup = try directory.bytes()
        try journal.set("a", "2")
        let syncs = Locked(0)
        let (other, path) = (directory.suite + "/other", directory.journal)
        try directory.write(backup, to: "suite/other")
        probe.onStep { [unowned journal] step in
            guard step.call == .fdatasync else { return }
            let number = syncs.withLock { syncs in
                syncs += 1
                return syncs
            }
            guard number == 1 else { return }
            // The backup has the same salt as the file that is being synced, and is shorter.
            rename(other, path)
            journal.forgetComparison()
            #expect(journal["a"] == "1")
        }
        try journal.synchronize()
        probe.onStep(nil)
        #expect(syncs.withLock { $0 } == 2 && journal.isSynced)
    }

    @Test("The program's end doesn't wait for work that is done already")
    func endAfterWork() throws {
        let probe = SystemCallProbe()
        let options = ReportCollector().options(probe)
        let worker = try #require(options.worker)
        let journal = try Journal.openUnregistered(directory.suite, options)
        func end() throws {
            let hasEnded = Locked(false)
            Thread.detachNewThread {
                worker.flushAtExit(waitingAtMost: 1 << 60)
                hasEnded.withLock { $0 = true }
            }
            try wait(for: "the end") { hasEnded.withLock { $0 } }
        }
        for value in ["1", "2"] {
            try journal.set("a", value)
            // The end doesn't wait for the scheduled time of the flush.
            try end()
            #expect(journal.isSynced)
        }
        let locks = probe.counts[.flock, default: 0]
        #expect(worker.compact(journal))
        try wait(for: "a compaction") { probe.counts[.flock, default: 0] > locks }
        try end()
    }

    @Test("The program's end waits for a flush that has begun, and at most as long as it may")
    func endDuringFlush() throws {
        let probe = SystemCallProbe()
        let options = ReportCollector().options(probe)
        let worker = try #require(options.worker)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        let (hasBegun, hasTime) = (Locked(false), Locked(false))
        probe.onStep { step in
            guard step.call == .fdatasync else { return }
            hasBegun.withLock { $0 = true }
            try? wait(for: "the end of a flush") { hasTime.withLock { $0 } }
        }
        #expect(worker.flush(journal, after: 0))
        try wait(for: "a flush") { hasBegun.withLock { $0 } }
        let limit: UInt64 = 20_000_000
        let start = Clock.monotonic()
        worker.flushAtExit(waitingAtMost: limit)
        #expect(Clock.monotonic() - start >= limit && !journal.isSynced)
        hasTime.withLock { $0 = true }
        worker.flushAtExit(waitingAtMost: 1 << 60)
        #expect(journal.isSynced)
    }

    @Test("A flush in the background that fails is reported once, and tried again until it succeeds")
    func background() throws {
        let probe = SystemCallProbe()
        let reports = ReportCollector()
        let journal = try Journal.openTest(directory.suite, reports.options(probe))
        // The creation of the suite has scheduled this flush.
        try wait(for: "the first flush") { !journal.hasFlushScheduled }
        for call in [SystemCall.fdatasync, .fsync] { probe.plan(.fail(code: EIO), call: call, number: 0) }
        try journal.set("a", "1")
        // The first flush fails, and so does the second, which writes the journal as a whole.
        try wait(for: "a flush that succeeds") { journal.isSynced }
        #expect(probe.fired == 2)
        let failures = reports.all.filter { if case .flushFailed = $0 { true } else { false } }
        #expect(failures.count == 1)
        #expect(try Journal.openUnregistered(directory.suite)["a"] == "1")
    }

    @Test("A flush in the background is given up when it has failed ten times in a row")
    func givenUp() throws {
        let probe = SystemCallProbe()
        let reports = ReportCollector()
        var options = reports.options(probe)
        options.backgroundActivity = { _ in false }
        let journal = try Journal.openTest(directory.suite, options)
        try journal.set("a", "1")
        for failures in 1...10 {
            for call in [SystemCall.fdatasync, .fsync] { probe.plan(.fail(code: EIO), call: call, number: 0) }
            journal.flushInBackground()
            #expect(journal.hasFlushScheduled == (failures < 10))
            probe.clear()
        }
        let error = JournalError(.system(.fdatasync, code: EIO), path: directory.journal)
        #expect(reports.all == [.flushFailed(error)])
        try journal.set("a", "2")
        #expect(journal.hasFlushScheduled)
        journal.flushInBackground()
        #expect(journal.isSynced && journal.flushFailures.load() == 0)
    }

    @Test("Failures of flushes in the background are counted from the last one that succeeded")
    func failuresInARow() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        for round in 1...3 {
            for failures in 1...2 {
                try journal.set("a", "\(round) \(failures)")
                // The sync of the journal fails, or that of the file that is written in its place.
                for call in [SystemCall.fdatasync, .fsync] { probe.plan(.fail(code: EIO), call: call, number: 0) }
                journal.flushInBackground()
                #expect(journal.flushFailures.load() == failures)
                probe.clear()
            }
            journal.flushInBackground()
            #expect(journal.flushFailures.load() == 0)
        }
    }
}
#endif
