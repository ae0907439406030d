import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("Files that are cut or overwritten while they are open", .waits)
struct GuardedPageTests {
    private let directory = TemporaryDirectory()

    @Test("A journal that is cut or overwritten in place is noticed by the next write")
    func overwrittenJournal() throws {
        let journal = try Journal.openUnregistered(directory.suite)
        let other = try Journal.openUnregistered(directory.suite)
        try journal.set("restored", "1")
        let backup = try directory.bytes()
        try journal.set("dropped", "1")
        try journal.compact()
        try other.set("dropped", "2")
        try directory.overwriteInPlace("suite/journal", with: backup)
        other.forgetComparison()
        try setWhenCopied(other, "after", "1")
        journal.forgetComparison()
        var fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh["after"] == "1" && fresh["restored"] == "1")
        #expect(fresh.all == other.all && fresh.all == journal.all)
        try directory.overwriteInPlace("suite/journal", with: [])
        journal.forgetComparison()
        try setWhenCopied(journal, "after", "2")
        other.forgetComparison()
        fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh["after"] == "2")
        #expect(fresh.all == other.all && fresh.all == journal.all)
    }

    @Test(
        "A journal that is overwritten by one of its size, or while the lock is kept, is noticed",
        arguments: [0, 100]
    )
    func overwrittenUnnoticeably(writes: Int) throws {
        let clock = StoppableClock()
        let journal = try Journal.openUnregistered(directory.suite, clock.options)
        try journal.set("restored", "1")
        try journal.compact()
        let backup = try directory.bytes()
        try journal.compact()
        #expect(try directory.bytes().count == backup.count)
        for number in 0..<writes { try journal.set("dropped", "\(number)") }
        try directory.overwriteInPlace("suite/journal", with: backup)
        // A program that copies may give the file the modification date of its source.
        let date = Date(timeIntervalSince1970: 1_600_000_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: directory.journal)
        try clock.stop(atChangeOf: directory.journal)
        journal.forgetComparison()
        let error = #expect(throws: JournalError.self) { try journal.set("after", "1") }
        #expect(error == JournalError(.overwritten, path: directory.journal))
        clock.goOn()
        try setWhenCopied(journal, "after", "1")
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh["restored"] == "1" && fresh["after"] == "1" && fresh.all == journal.all)
    }

    @Test(
        "What others write after a restored backup is seen immediately, and keeps no process from writing",
        arguments: [false, true],
        [false, true]
    )
    func writtenAfterCopy(isLonger: Bool, readsFirst: Bool) throws {
        let clock = StoppableClock()
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        let other = try Journal.openUnregistered(directory.suite, clock.options)
        try journal.set("restored", "1")
        let backup = try directory.bytes()
        if !isLonger { try journal.set("dropped", String(repeating: "x", count: 1_000)) }
        try journal.removeAll()
        try journal.compact()
        if !isLonger { try journal.set("dropped", String(repeating: "y", count: 1_000)) }
        _ = other.all
        try directory.overwriteInPlace("suite/journal", with: backup)
        try clock.moveOn(fromChangeOf: directory.journal)
        other.forgetComparison()
        if readsFirst { #expect(other["restored"] == "1") }
        try other.set("after", "1")
        // The last change of the file is recent now, but it isn't the copy's.
        journal.forgetComparison()
        #expect(journal["after"] == "1" && journal["restored"] == "1" && journal.all == other.all)
        try journal.set("later", "1")
        #expect(other["later"] == "1")
    }

    @Test("A restored backup that was read is written to when it has not changed for a second")
    func readBeforeWriting() throws {
        let clock = StoppableClock()
        let journal = try Journal.openUnregistered(directory.suite, clock.options)
        try journal.set("restored", "1")
        let backup = try directory.bytes()
        try journal.set("restored", "2")
        try journal.compact()
        try directory.overwriteInPlace("suite/journal", with: backup)
        try clock.stop(atChangeOf: directory.journal)
        journal.forgetComparison()
        #expect(journal["restored"] == "1")
        for value in ["1", "3"] {
            let error = #expect(throws: JournalError.self) { try journal.set("restored", value) }
            #expect(error?.kind == .overwritten)
        }
        #expect(try directory.bytes() == backup)
        clock.goOn()
        try setWhenCopied(journal, "restored", "3")
        try journal.set("after", "1")
        #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
    }

    /// A clock of file times for one engine.
    ///
    /// However slow the machine is, a stopped clock makes a file look as if it had just changed.
    private struct StoppableClock {
        #if DEBUG
        let probe = SystemCallProbe()
        #endif

        /// The options of an engine without a background, whose work would come at times that the test doesn't know.
        var options: JournalOptions {
            var options = JournalOptions(automaticMaintenance: false)
            #if DEBUG
            options.calls = SystemCalls(probe: probe)
            #endif
            return options
        }

        func stop(atChangeOf path: String) throws {
            #if DEBUG
            probe.stoppedFileTime = try SystemCalls().status(of: path)?.changed
            #endif
        }

        /// Sets the clock to two seconds after the last change of a file.
        func moveOn(fromChangeOf path: String) throws {
            #if DEBUG
            probe.stoppedFileTime = try SystemCalls().status(of: path).map { $0.changed + 2_000_000_000 }
            #endif
        }

        func goOn() {
            #if DEBUG
            probe.stoppedFileTime = nil
            #endif
        }
    }

    /// The stages of copying a backup over a suite.
    enum CopyProgress: CaseIterable {
        case emptied
        case headerBegun
        case begun
        /// The copy has reached more bytes than the suite had, but not the end of the backup.
        case grown
        case grownLarge

        /// The number of a backup's bytes that are there at this stage.
        func size(of backup: [UInt8]) -> Int {
            switch self {
            case .emptied: 0
            case .headerBegun: JournalHeader.size / 2
            case .begun: JournalHeader.size + 10
            case .grown, .grownLarge: backup.count - 500
            }
        }
    }

    /// The bytes of another suite's journal.
    private func backup(for progress: CopyProgress) throws -> [UInt8] {
        let journal = try Journal.openUnregistered(directory.path + "/backup")
        try journal.set("restored", "1")
        if progress == .grownLarge {
            try journal.set("large", String(repeating: "x", count: 17 << 20))
        }
        try journal.set("last", String(repeating: "x", count: 1_000))
        return try directory.bytes("backup/journal")
    }

    @Test("A write after an opening in the middle of a copy waits for its end", arguments: CopyProgress.allCases)
    func openedDuringCopy(progress: CopyProgress) throws {
        let backup = try backup(for: progress)
        do {
            let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
            for number in 0..<10 { try journal.set("dropped", String(repeating: "\(number)", count: 200)) }
            if progress == .grown || progress == .grownLarge { try journal.compact() }
        }
        let part = Array(backup.prefix(progress.size(of: backup)))
        try directory.overwriteInPlace("suite/journal", with: part)
        let inode = try directory.journalInode
        let clock = StoppableClock()
        try clock.stop(atChangeOf: directory.journal)
        let error = #expect(throws: JournalError.self) {
            // Without a header, not even reading is possible.
            try Journal.openUnregistered(directory.suite, clock.options).set("after", "1")
        }
        #expect(error?.kind == .overwritten)
        #expect(try directory.bytes() == part)
        try directory.overwriteInPlace("suite/journal", with: backup)
        let journal = try Journal.openSettled(directory.suite)
        #expect(journal["restored"] == "1" && journal["last"]?.count == 1_000 && journal["dropped"] == nil)
        #expect(try directory.journalInode == inode)
        #expect(try directory.damagedCopies.isEmpty)
    }

    @Test(
        "A writer that has not seen the journal before the copy waits for the copy's end",
        arguments: CopyProgress.allCases
    )
    func replacedBeforeCopy(progress: CopyProgress) throws {
        let backup = try backup(for: progress)
        let clock = StoppableClock()
        let journal = try Journal.openUnregistered(directory.suite, clock.options)
        let other = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        for number in 0..<10 { try other.set("dropped", String(repeating: "\(number)", count: 200)) }
        try other.compact()
        let part = Array(backup.prefix(progress.size(of: backup)))
        try directory.overwriteInPlace("suite/journal", with: part)
        let inode = try directory.journalInode
        try clock.stop(atChangeOf: directory.journal)
        journal.forgetComparison()
        let error = #expect(throws: JournalError.self) { try journal.set("after", "1") }
        #expect(error?.kind == .overwritten)
        clock.goOn()
        #expect(try directory.bytes() == part)
        try directory.overwriteInPlace("suite/journal", with: backup)
        try setWhenCopied(journal, "after", "1")
        #expect(journal["restored"] == "1" && journal["last"]?.count == 1_000 && journal["dropped"] == nil)
        #expect(try directory.journalInode == inode)
        #expect(try directory.damagedCopies.isEmpty)
    }

    #if DEBUG
    @Test("A writer sees a copy that emptied the journal right before its record was written")
    func emptiedBeforeRecord() throws {
        let clock = StoppableClock()
        let journal = try Journal.openUnregistered(directory.suite, clock.options)
        try journal.set("restored", "1")
        let backup = try directory.bytes()
        for number in 0..<100 { try journal.set("dropped", "\(number)") }
        journal.forgetComparison()
        try journal.set("dropped", "last")
        // No check before the write can find this: the file is long enough again before it is examined next.
        clock.probe.onStep { [directory] step in
            if step.isHalf { truncate(directory.journal, 0) }
        }
        try journal.set("beside", "1")
        clock.probe.onStep(nil)
        try directory.overwriteInPlace("suite/journal", at: 0, with: backup)
        try clock.stop(atChangeOf: directory.journal)
        journal.forgetComparison()
        let error = #expect(throws: JournalError.self) { try journal.set("after", "1") }
        #expect(error?.kind == .overwritten)
        clock.goOn()
        try setWhenCopied(journal, "after", "1")
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh["restored"] == "1" && fresh["beside"] == "1" && fresh["after"] == "1" && fresh["dropped"] == nil)
        #expect(journal.all == fresh.all)
    }
    #endif

    @Test("What is damaged by a copy is repaired beside a writer that has not noticed the copy", .waits)
    func damagedBesideWriter() throws {
        let options = JournalOptions(automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("restored", "1")
        let backup = try directory.bytes()
        // The engine compares its last record, which is in the backup too.
        let unaware = try Journal.openUnregistered(directory.suite, options)
        try journal.set("dropped", String(repeating: "x", count: 1_000))
        unaware.noteComparison()
        #expect(unaware["dropped"] != nil)
        let end = try directory.bytes().count
        var written = 0
        try unaware.withExclusiveAccess {
            // The file is as long again as before, so that the engine appends its next record as if nothing had
            // happened.
            truncate(directory.journal, 0)
            truncate(directory.journal, off_t(end))
            try unaware.set("beside", "0")
        }
        try directory.overwriteInPlace("suite/journal", at: 0, with: backup)
        journal.forgetComparison()
        try wait(for: "a write that is accepted") {
            written += 1
            try unaware.set("beside", "\(written)")
            do throws(JournalError) {
                try journal.set(Array("after".utf8), Array("1".utf8))
                return true
            } catch {
                guard error.kind == .overwritten else { throw error }
                return false
            }
        }
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh["restored"] == "1" && fresh["after"] == "1" && fresh["dropped"] == nil)
        #expect(fresh["beside"] == "\(written)" && fresh.all == journal.all)
    }

    @Test(
        "A backup that is copied over a busy suite ends no process, and what is written afterwards is kept",
        .waits,
        arguments: [["cp", "-a"], ["rsync", "-a", "--inplace", "--ignore-times"]].filter { Machine.has($0[0]) }
    )
    func copiedOver(command: [String]) throws {
        let journal = try Journal.openUnregistered(directory.suite)
        try journal.set("restored", "1")
        try #require(try runCommand(command + [directory.suite + "/", directory.path + "/backup"]) == 0)
        // Closed journals keep their descriptors for a moment, and the copy must not be mistaken for the suite.
        let writers = try (0..<2).map { _ in try Helper(["stubborn-stream", directory.suite]) }
        let reader = try Helper(["look", directory.suite, "restored", "1"])
        let source = directory.path + "/backup/" + (command[0] == "cp" ? "." : "")
        for round in 0..<Helper.rounds("JOURNAL_RESTORE_ROUNDS", default: TestExtent.pick(brief: 3, full: 20)) {
            let generation = journal.changeCount
            try wait(for: "20 writes") { journal.changeCount >= generation + 20 || !writers[0].process.isRunning }
            let start = Clock.monotonic()
            #expect(try runCommand(command + [source, directory.suite]) == 0)
            guard Clock.monotonic() - start < 1_000_000_000 else {
                // The copy may have paused so long between two steps that the suite was used in that state.
                print("Ended at round \(round): the machine was too busy for a copy within a second.")
                (writers + [reader]).forEach { $0.kill() }
                return
            }
            try setWhenCopied(journal, "round", "\(round)")
            let fresh = try Journal.openUnregistered(directory.suite)
            #expect(fresh["restored"] == "1")
        }
        for helper in writers + [reader] {
            let isRunning = helper.process.isRunning
            helper.kill()
            #expect(isRunning, "\(helper.finish())")
        }
        try journal.set("after", "1")
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh["after"] == "1" && fresh.all == journal.all)
    }

    /// Sets a value once the journal has not changed for a second.
    private func setWhenCopied(_ journal: Journal, _ key: String, _ value: String) throws {
        try wait(for: "a write that is accepted") {
            do throws(JournalError) {
                try journal.set(Array(key.utf8), Array(value.utf8))
                return true
            } catch {
                guard error.kind == .overwritten else { throw error }
                return false
            }
        }
    }

    /// The handling of the signal for a fault that isn't about a suite.
    enum Disposition: String, CaseIterable {
        case none
        case ignored
        case handled
        case handledWithInformation = "handled with information"
    }

    @Test("A fault elsewhere has the effect that it has without the library", arguments: Disposition.allCases)
    func faultElsewhere(disposition: Disposition) throws {
        let isHandled = disposition == .handled || disposition == .handledWithInformation
        for cause in ["fault", "kill"] {
            let helper = try Helper(["bus-error", directory.suite, disposition.rawValue, cause])
            let outcome = helper.finish()
            let isIgnored = disposition == .ignored && cause == "kill"
            if isHandled || isIgnored {
                #expect(helper.process.terminationReason == .exit)
                #expect(outcome.status == (isHandled ? 77 : 0), "\(cause)")
            } else {
                #expect(helper.process.terminationReason == .uncaughtSignal)
                #expect(outcome.status == SIGBUS, "\(cause)")
            }
        }
    }

    @Test(
        "A full disk ends no process: writes throw, reads go on, and later writes are kept",
        .enabled(if: Machine.canMount, "Needs to mount."),
        .waits,
        arguments: ["btrfs", "xfs", "ext4"].filter { Machine.has("mkfs.\($0)") }
    )
    func fullDisk(fileSystem: String) throws {
        let image = directory.path + "/image"
        let mount = directory.path + "/mount"
        try Data().write(to: URL(fileURLWithPath: image))
        // An xfs needs at least 300 MB.
        truncate(image, (fileSystem == "xfs" ? 304 : 128) << 20)
        try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: true)
        try #require(try runCommand(["mkfs.\(fileSystem)", "-q", image]) == 0)
        try #require(try runCommand(["mount", "-o", "loop", image, mount]) == 0)
        defer {
            do { #expect(try runCommand(["umount", "--lazy", mount]) == 0) } catch { Issue.record(error) }
        }
        let helper = try Helper(["full-disk", mount + "/suite", mount + "/filler"])
        let outcome = helper.finish()
        #expect(helper.process.terminationReason == .exit)
        #expect(outcome.status == 0)
        let refused = Int(outcome.output.trimmingCharacters(in: .newlines)) ?? 0
        #expect(refused > 0)
    }
}
