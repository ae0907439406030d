import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

/// Checks ("looks") by which a process that has a suite open finds changes of others to its files.
@Suite("A look", .waits)
struct LookingTests {
    private let directory: TemporaryDirectory
    private let options = JournalOptions(automaticMaintenance: false)

    init() { directory = TemporaryDirectory() }

    private init(in folder: String) { directory = TemporaryDirectory(in: folder) }

    /// The replacements of an open suite that another program may make.
    enum Replacement: CaseIterable {
        case recreated
        case swappedDirectory
        case swappedJournal
        case restored
        /// A copy of the same journal, of the same size, with other contents.
        case diverged
        /// A diverged copy whose last change is the same one too.
        case converged
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
        case .diverged, .converged:
            // The other journal has the record that the suite got since the copy, with another value.
            try directory.overwriteInPlace("suite/journal", with: directory.bytes("other/journal"))
        }
    }

    /// The calls that find a replacement.
    enum Look: CaseIterable {
        case read
        case write
        case verification
        case compaction
        case copy
    }

    @Test(
        "finds a suite that was replaced while it was open, by reading, writing and checking",
        arguments: Replacement.allCases,
        Look.allCases
    )
    func replaced(by replacement: Replacement, foundBy look: Look) throws {
        let base = try Journal.openUnregistered(directory.suite, options)
        try base.set("base", "1")
        // One engine that has read the replaced journal as a whole, and one that has read it record by record.
        var journals = [try Journal.openUnregistered(directory.suite, options.later)]
        try replaceKeeping(base, replacement) {
            #expect(journals[0]["key"] == "old")
            journals.append(try Journal.openUnregistered(directory.suite, options.later))
        }
        for journal in journals {
            switch look {
            case .read: try wait(for: "the new value, by reading alone") { journal["key"] != "old" }
            case .write:
                let start = Clock.monotonic()
                try wait(for: "a millisecond") { Clock.monotonic() - start > 1_000_000 }
                // The write isn't skipped as stored already: the value in the file counts, not the one in memory.
                try journal.set("key", "old")
            // These compare immediately, even if they have just done so.
            case .verification:
                journal.noteComparison()
                #expect(try journal.verify().isIntact)
            case .compaction:
                journal.noteComparison()
                try journal.compact()
            case .copy:
                journal.noteComparison()
                let copy = directory.path + "/copy-\(journal === journals[0])"
                try journal.copy(to: copy)
                #expect(try Journal.openUnregistered(copy, options)["key"] == "new")
            }
            #expect(journal["key"] == (look == .write ? "old" : "new"))
        }
        let fresh = try Journal.openUnregistered(directory.suite, options)
        #expect(fresh["key"] == (look == .write ? "old" : "new"))
        #expect(try fresh.verify().isIntact)
        for journal in journals {
            try wait(for: "what is there now") { journal.all == fresh.all }
        }
    }

    @Test(
        "that finds a recreated suite uses it: the process has no second engine for it",
        arguments: [Look.read, .write]
    )
    func taken(foundBy look: Look) throws {
        let journal = try Journal.openTest(directory.suite, options)
        try journal.set("key", "old")
        try replace(.recreated)
        try wait(for: "the new suite") {
            if look == .write { try journal.set("other", "1") }
            return journal["key"] == "new"
        }
        #expect(try Journal.openTest(directory.suite, options) === journal)
    }

    @Test(
        "on a file system whose times have whole seconds finds a replacement in the same second",
        .enabled(if: canMakeExt4)
    )
    func wholeSeconds() throws {
        let (image, mount) = (directory.path + "/image", directory.path + "/mount")
        try Data().write(to: URL(fileURLWithPath: image))
        truncate(image, 16 << 20)
        try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: true)
        try #require(try runCommand(["mkfs.ext4", "-q", "-I", "128", image]) == 0)
        try #require(try runCommand(["mount", "-o", "loop", image, mount]) == 0)
        defer {
            do { #expect(try runCommand(["umount", "--lazy", mount]) == 0) } catch { Issue.record(error) }
        }
        let changed = try SystemCalls().status(of: mount)?.changed
        #expect(changed.map { $0 % 1_000_000_000 } == 0)
        for replacement in Replacement.allCases {
            for look in Look.allCases { try LookingTests(in: mount).replaced(by: replacement, foundBy: look) }
        }
    }

    private static let canMakeExt4 = Machine.canMount && Machine.has("mkfs.ext4")

    private func replaceKeeping(_ base: Journal, _ replacement: Replacement, before: () throws -> Void) throws {
        guard replacement == .diverged || replacement == .converged else {
            try base.set("key", "old")
            try before()
            return try replace(replacement)
        }
        let copy = directory.path + "/other"
        try FileManager.default.copyItem(atPath: directory.suite, toPath: copy)
        let other = try Journal.openUnregistered(copy, options)
        try other.set("key", "new")
        try base.set("key", "old")
        if replacement == .converged { for journal in [base, other] { try journal.set("last", "1") } }
        try before()
        let bytes = try directory.bytes("other/journal")
        #expect(try directory.bytes().count == bytes.count)
        try directory.overwriteInPlace("suite/journal", with: bytes)
    }

    @Test("inside of exclusive access finds what was there when it began, and says afterwards that it was replaced")
    func insideExclusiveAccess() throws {
        let reports = ReportCollector()
        var options = reports.options
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("key", "old")
        try journal.withExclusiveAccess {
            try replace(.recreated)
            journal.forgetComparison()
            #expect(journal["key"] == "old")
            // The old journal must not replace the suite that is there now.
            #expect(throws: JournalError(.replaced, path: directory.suite)) { try journal.compact() }
        }
        try wait(for: "the new value") { journal["key"] == "new" }
        #expect(reports.all == [.replaced(path: directory.suite)])
    }

    @Test("before exclusive access says what it found when the access has ended")
    func beforeExclusiveAccess() throws {
        let reports = ReportCollector()
        var options = reports.options
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("key", "old")
        try replace(.recreated)
        journal.forgetComparison()
        try journal.withExclusiveAccess {
            #expect(journal["key"] == "new")
            // Each call delivers reports at its end.
            journal.deliverReports()
            #expect(reports.all.isEmpty)
        }
        #expect(reports.all == [.replaced(path: directory.suite)])
    }

    @Test("at a directory that has another name now opens it by that name")
    func renamed() throws {
        let journal = try Journal.openTest(directory.suite, options)
        try journal.set("key", "old")
        let moved = directory.path + "/moved"
        try FileManager.default.moveItem(atPath: directory.suite, toPath: moved)
        let other = try Journal.openTest(moved, options)
        #expect(other !== journal && other["key"] == "old")
        try other.set("key", "new")
        journal.forgetComparison()
        try journal.set("key", "newest")
        #expect(try Journal.openUnregistered(moved, options)["key"] == "new")
        #expect(try Journal.openUnregistered(directory.suite, options)["key"] == "newest")
    }

    #if DEBUG
    @Test("at a suite whose journal has no name for a moment keeps what was read, and reports nothing")
    func withoutName() throws {
        let reports = ReportCollector()
        let journal = try Journal.openUnregistered(directory.suite, reports.options)
        try journal.set("key", "1")
        // Some file systems remove the old file first when another is renamed over it.
        try FileManager.default.moveItem(atPath: directory.journal, toPath: directory.path + "/journal")
        journal.forgetComparison()
        #expect(journal["key"] == "1")
        try FileManager.default.moveItem(atPath: directory.path + "/journal", toPath: directory.journal)
        journal.forgetComparison()
        #expect(journal["key"] == "1")
        journal.deliverReports()
        #expect(reports.all.isEmpty)
    }

    @Test("at a journal over which another is being copied keeps what was read, and reports nothing")
    func unfinishedCopy() throws {
        let reports = ReportCollector()
        let probe = SystemCallProbe()
        var options = reports.options(probe)
        options.automaticMaintenance = false
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("key", "old")
        let other = try Journal.openUnregistered(directory.path + "/other", options)
        for number in 0..<100 { try other.set("key", "\(number)") }
        let bytes = try directory.bytes("other/journal")
        try directory.overwriteInPlace("suite/journal", at: 0, with: Array(bytes[..<(bytes.count / 2)]))
        // Stops the clock, however long this test has to wait for the processor.
        probe.stoppedFileTime = try #require(try SystemCalls().status(of: directory.journal)).modified
        journal.forgetComparison()
        #expect(journal["key"] == "old")
        journal.compactInBackground()
        #expect(journal["key"] == "old" && reports.all.isEmpty, "\(reports.all)")
        try directory.overwriteInPlace("suite/journal", with: bytes)
        probe.stoppedFileTime = nil
        try wait(for: "the copy") { journal["key"] == "99" }
        #expect(reports.all == [.replaced(path: directory.suite)])
    }
    #endif

    @Test("of a write that would change nothing finds what others have written since")
    func storedAlready() throws {
        let journal = try Journal.openUnregistered(directory.suite, options)
        let other = try Journal.openUnregistered(directory.suite, options)
        try journal.set("key", "1")
        try other.set("key", "2")
        // Notes a comparison, so that only the look can find the change.
        journal.noteComparison()
        try journal.set("key", "1")
        #expect(other["key"] == "1")
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
        // From now on the new directory is watched.
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
            let count = Locked(0)
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

    @Test("that finds a compaction between two of its steps says nothing of a replacement")
    func compactedMeanwhile() throws {
        let reports = ReportCollector()
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, reports.options(probe))
        let other = try Journal.openUnregistered(directory.suite, options)
        try other.set("key", "1")
        #expect(journal["key"] == "1")
        // The reader has read all records, and is about to compare.
        probe.onStep { step in
            guard step.call == .stat else { return }
            probe.onStep(nil)
            do { try other.compact() } catch { Issue.record(error) }
        }
        journal.forgetComparison()
        #expect(journal["key"] == "1")
        let isCurrent = journal.state.file.salt == other.state.file.salt
        #expect(isCurrent && reports.all.isEmpty)
    }

    @Test("behind the remains of a killed compaction or writer is a single look again", arguments: [true, false])
    func leftovers(isCompaction: Bool) throws {
        let probe = SystemCallProbe()
        var probed = options
        probed.calls = SystemCalls(probe: probe)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("key", "1")
        let other = try Journal.openUnregistered(directory.suite, probed)
        if isCompaction {
            // The last step of a killed compaction announces that another file is about to replace this one.
            let failing = SystemCallProbe()
            failing.plan(.fail(code: EIO), call: .rename, number: 0)
            var options = options
            options.calls = SystemCalls(probe: failing)
            let killed = try Journal.openUnregistered(directory.suite, options)
            #expect(throws: JournalError.self) { try killed.compact() }
            #expect(failing.fired == 1)
        } else {
            try directory.write(
                directory.bytes() + [0xF5, 0x52, 1, 0, 40, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8],
                to: "suite/journal"
            )
        }
        #expect(other["key"] == "1")
        other.justCompared {
            probe.clear()
            #expect(other["key"] == "1")
        }
        #expect(probe.counts == (directory.isMapped ? [:] : [.lseek: 1]))
        let isCaughtUp = other.state.isCaughtUp
        #expect(isCaughtUp)
    }

    @Test("Only its flush waits for a disk that hangs: no write or read of any process, and no other suite")
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
        try wait(for: "a sync") { probe.counts[.fdatasync, default: 0] > 0 }
        for number in 0..<100 {
            try journal.set("a", "\(number)")
            try other.set("b", "\(number)")
        }
        #expect(journal["b"] == "99" && other["a"] == "99")
        let free = try Journal.openTest(directory.path + "/free")
        try free.set("a", "1")
        try wait(for: "a flush of the free suite") { free.isSynced }
    }

    @Test("Calls that flush at the same time share syncs")
    func groupCommit() throws {
        let probe = SystemCallProbe()
        var probed = options
        probed.calls = SystemCalls(probe: probe)
        let journal = try Journal.openUnregistered(directory.suite, probed)
        try journal.synchronize()
        probe.clear()
        let waiting = Locked(0)
        probe.onStep { step in
            // Holds up the first sync until all others wait.
            guard step.call == .fdatasync else { return }
            do { try wait(for: "the others") { waiting.withLock { $0 } == 8 } } catch { Issue.record(error) }
        }
        let ended = Locked(0)
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
        try wait(for: "all flushes") { ended.withLock { $0 } == 8 }
        probe.onStep(nil)
        #expect(journal.isSynced)
        #expect(probe.counts[.fdatasync, default: 0] < 8)
    }
    #endif

    @Test("at the tail that a killed writer left cuts it off, without a write")
    func tornTail() throws {
        let journal = try Journal.openUnregistered(directory.suite, options.later)
        try journal.set("a", "1")
        let whole = try directory.bytes()
        try Journal.openUnregistered(directory.suite, options).set("b", "2")
        let both = try directory.bytes()
        try directory.overwriteInPlace("suite/journal", with: Array(both.dropLast(8)))
        try wait(for: "the cut") {
            #expect(journal["a"] == "1")
            return try directory.bytes() == whole
        }
        #expect(journal["b"] == nil)
    }

    #if DEBUG
    @Test("that has read what replaced its journal in place takes no lock")
    func replacedInPlace() throws {
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        var probed = options
        probed.calls = SystemCalls(probe: probe)
        let journal = try Journal.openUnregistered(directory.suite, probed)
        try journal.set("a", "1")
        let other = try Journal.openUnregistered(directory.path + "/other", options)
        for number in 0..<9 { try other.set("key\(number)", "1") }
        try directory.overwriteInPlace("suite/journal", with: directory.bytes("other/journal"))
        probe.clear()
        #expect(journal.all.count == 9)
        #expect(probe.counts[.flock] == nil)
    }

    @Test("at the tail that a killed writer left doesn't wait for the lock of the next one")
    func tornTailOfBusySuite() throws {
        let probe = SystemCallProbe()
        var options = options
        options.calls = SystemCalls(probe: probe)
        options.lockTimeout = .max
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        try Journal.openUnregistered(directory.suite, self.options).set("b", "2")
        let both = try directory.bytes()
        try directory.overwriteInPlace("suite/journal", with: Array(both.dropLast(8)))
        let file = open(directory.suite, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(file) }
        try #require(flock(file, LOCK_EX) == 0)
        probe.clear()
        for _ in 0..<3 { #expect(journal["a"] == "1" && journal["b"] == nil) }
        #expect(probe.counts[.flock] != nil)
        #expect(flock(file, LOCK_UN) == 0)
    }
    #endif

    @Test("of a process that may not write goes on after a damaged record, and reports it")
    func damagedRecord() throws {
        let writer = try Journal.openUnregistered(directory.suite, options)
        try writer.set("a", "1")
        let reports = ReportCollector()
        var readOnly = reports.options
        readOnly.isReadOnly = true
        let journal = try Journal.openTest(directory.suite, readOnly)
        #expect(journal["a"] == "1")
        let start = UInt64(try directory.bytes().count)
        try writer.set("b", "2")
        let end = try directory.bytes().count
        try writer.set("c", "3")
        // Damages the record together with the next write, so that no writer finds and repairs it first.
        try directory.overwriteInPlace("suite/journal", at: start + 20, with: [0xEE])
        try wait(for: "the record after the damaged one") { journal["c"] == "3" }
        #expect(journal["b"] == nil && end > start)
        #expect(reports.damage.count == 1)
    }

    #if DEBUG
    @Test("counts a file as just changed for a second, or two where times are whole seconds, whichever clock is ahead")
    func justChanged() throws {
        let probe = SystemCallProbe()
        var probed = options
        probed.calls = SystemCalls(probe: probe)
        let journal = try Journal.openUnregistered(directory.suite, probed)
        var status = try #require(try SystemCalls().status(of: directory.journal))
        let second: UInt64 = 1_000_000_000
        func hasJustChanged(_ time: UInt64, within limit: UInt64? = nil) -> Bool {
            probe.stoppedFileTime = time
            guard let limit else { return journal.hasJustChanged(status) }
            return journal.hasJustChanged(status, within: limit)
        }
        for (changed, span) in [(100 * second + 1, second), (100 * second, 2 * second)] {
            status.changed = changed
            // The modification time says nothing, since programs that copy set it.
            status.modified = 0
            #expect(hasJustChanged(changed) && hasJustChanged(changed + span - 1) && !hasJustChanged(changed + span))
            #expect(hasJustChanged(changed - span + 1) && !hasJustChanged(changed - span))
        }
        status.changed = 100 * second + 1
        #expect(hasJustChanged(status.changed + 4, within: 5) && !hasJustChanged(status.changed + 5, within: 5))
        status.changed = .max
        #expect(!hasJustChanged(100 * second))
        probe.stoppedFileTime = nil
    }

    /// The part of a backup that is there when a process opens the suite.
    enum Part: CaseIterable {
        case withoutEnd
        /// All of the backup, with zeros in the middle.
        case withHole
    }

    @Test("at a copy that goes on at any step of an opening loses nothing of it", arguments: Part.allCases)
    func continuedCopy(part: Part) throws {
        do {
            let journal = try Journal.openUnregistered(directory.suite, options)
            for key in ["a", "b", "c"] { try journal.set(key, String(repeating: key, count: 600)) }
        }
        let backup = try directory.bytes()
        var copied = backup
        switch part {
        case .withoutEnd: copied.removeLast(300)
        case .withHole: copied.replaceSubrange(4_800..<5_400, with: repeatElement(0, count: 600))
        }
        for number in 1... {
            try directory.overwriteInPlace("suite/journal", with: copied)
            let start = Clock.monotonic()
            let probe = SystemCallProbe()
            let hasGoneOn = Locked(false)
            probe.onStep { step in
                // A copy that pauses for longer may be cut off.
                guard step.number == number, Clock.monotonic() - start < 40_000_000 else { return }
                hasGoneOn.withLock { $0 = true }
                do { try directory.overwriteInPlace("suite/journal", with: backup) } catch { Issue.record(error) }
            }
            var probed = options
            probed.calls = SystemCalls(probe: probe)
            var journal: Journal?
            do throws(JournalError) {
                journal = try Journal.open(at: directory.suite, options: probed)
            } catch {
                #expect(error.kind == .overwritten)
            }
            probe.onStep(nil)
            guard hasGoneOn.withLock({ $0 }) else { break }
            #expect(try directory.bytes() == backup, "step \(number)")
            #expect(try directory.damagedCopies.isEmpty, "step \(number)")
            try wait(for: "the copy") {
                journal?.forgetComparison()
                return journal.map { $0.all.count == 3 } ?? true
            }
        }
    }
    #endif

    @Test("at the names of backups sorts them by date and time")
    func stamps() {
        #expect(Clock.stamp(of: timespec(tv_sec: 1_769_903_999, tv_nsec: 123_456_789)) == "20260131T235959-123456789")
        #expect(Clock.stamp(of: timespec(tv_sec: 1_796_083_200, tv_nsec: 5)) == "20261201T000000-000000005")
    }

    @Test("at backups finds the oldest and the newest ones, and no others")
    func backups() throws {
        var names: [String] = []
        for number in 0..<12 {
            let journal = try Journal.openUnregistered(directory.suite, options)
            try journal.set("key", "\(number)")
            try journal.set("other", "\(number)")
            try directory.overwriteInPlace("suite/journal", at: UInt64(JournalHeader.size + 20), with: [0xEE])
            _ = try Journal.openUnregistered(directory.suite, options)
            names += try directory.damagedCopies.filter { !names.contains($0) }
        }
        #expect(names.count == 12)
        #expect(try Set(directory.damagedCopies) == Set([names[0]] + names[5...]))
    }

    @Test("by a child made with fork works in its own suites, and its parent's can't be written")
    func forked() throws {
        let helper = try Helper(["fork", directory.path])
        let outcome = helper.finish()
        #expect(outcome.status == 0)
        #expect(outcome.output == "refused\nrefused\nrefused\nown 1\nflushed\nparent 1\n")
    }

    #if DEBUG
    @Test("Where nothing can be mapped, the file's size tells whether there is anything new")
    func unmapped() throws {
        let probe = SystemCallProbe()
        for number in 0..<100 { probe.plan(.fail(code: ENODEV), call: .mmap, number: number) }
        let writer = try Journal.openUnregistered(directory.suite, options)
        let reader = try Journal.openUnregistered(
            directory.suite,
            JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        )
        for number in 0..<3 {
            try writer.set("key", "\(number)")
            #expect(reader["key"] == "\(number)")
            let before = probe.counts[.pread] ?? 0
            for _ in 0..<100 { #expect(reader["key"] == "\(number)") }
            // Comparisons with the path read too.
            #expect((probe.counts[.pread] ?? 0) - before < 50)
        }
        try writer.compact()
        try writer.set("key", "last")
        #expect(reader["key"] == "last")
        try reader.set("key", "reader's")
        #expect(writer["key"] == "reader's")
    }

    /// The changes that others make to a suite while a process has it open.
    enum Disturbance: CaseIterable {
        case deleted, moved, exchanged, journalDeleted, journalExchanged, copiedOver, cut

        func perform(on suite: String, copy: String) throws {
            let files = FileManager.default
            let (journal, other) = (suite + "/journal", copy + "/journal")
            switch self {
            case .deleted: try files.removeItem(atPath: suite)
            case .moved: try files.moveItem(atPath: suite, toPath: suite + ".aside")
            case .exchanged:
                try files.moveItem(atPath: suite, toPath: suite + ".aside")
                try files.moveItem(atPath: copy, toPath: suite)
            case .journalDeleted: try files.removeItem(atPath: journal)
            case .journalExchanged:
                try files.removeItem(atPath: journal)
                try files.moveItem(atPath: other, toPath: journal)
            case .copiedOver: try Data(contentsOf: URL(filePath: other)).write(to: URL(filePath: journal))
            case .cut: #expect(truncate(journal, off_t(JournalHeader.size)) == 0)
            }
        }
    }

    @Test(
        "A write whose last look is a millisecond old sees what happened in the directory",
        arguments: Disturbance.allCases
    )
    func disturbed(_ disturbance: Disturbance) throws {
        let copy = directory.path + "/copy"
        do {
            let other = try Journal.openUnregistered(copy, options)
            try other.set("theirs", "1")
        }
        // For this engine the directory is old.
        let probe = SystemCallProbe(fileTimeAdvance: 10_000_000_000)
        let settings = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, settings)
        try journal.set("own", "a value that is as long as it has to be")
        journal.forgetComparison()
        try journal.set("own", "1")
        // Elsewhere, and where the directory's times are whole seconds, each write compares the path.
        let changed = try settings.calls.status(journal.suite.raw).changed
        let looksAtDirectory = directory.isMapped && changed % 1_000_000_000 != 0
        #expect((journal.state.directory != nil) == looksAtDirectory)
        journal.forgetLook()
        probe.startRecording()
        try journal.set("own", "2")
        let calls = probe.records.map(\.call).filter { [.stat, .fstat, .lseek, .pread].contains($0) }
        if looksAtDirectory { #expect(calls == [.fstat, .lseek]) }
        try disturbance.perform(on: directory.suite, copy: copy)
        journal.forgetLook()
        try journal.set("new", "1")
        #expect(try Journal.openUnregistered(directory.suite)["new"] == "1")
    }

    @Test("A value with a note can be replaced by a caller that knows the note, until another process replaces it")
    func notes() throws {
        let journal = try Journal.openUnregistered(directory.suite, options)
        let other = try Journal.openUnregistered(directory.suite, options)
        func replace(_ value: String, ifNoted note: UInt8) throws -> Bool {
            try withBytes(of: "k", value) { key, value throws(JournalError) in
                try journal.set(key: key, prefix: 7, value: value, ifNoted: note)
            }
        }
        func note(_ note: UInt8, _ value: String) {
            withBytes(of: "k", value) { journal.note(note, key: $0, prefix: 7, value: $1) }
        }
        #expect(try !replace("1", ifNoted: 3) && journal["k"] == nil)
        #expect(try replace("1", ifNoted: 0))
        #expect(try !replace("2", ifNoted: 3) && journal["k"] == "\u{7}1")
        // This note is about another value than the stored one, and is ignored.
        note(3, "2")
        #expect(try !replace("2", ifNoted: 3))
        note(3, "1")
        #expect(try !replace("2", ifNoted: 4) && replace("2", ifNoted: 3) && replace("3", ifNoted: 3))
        try journal.compact()
        #expect(try replace("longer", ifNoted: 3) && replace("4", ifNoted: 3) && other["k"] == "\u{7}4")
        // A value that is stored already gets the note too.
        #expect(try replace("4", ifNoted: 3) && !replace("4", ifNoted: 4))
        try other.set("k", "\u{7}5")
        #expect(try !replace("6", ifNoted: 3) && journal["k"] == "\u{7}5")
        try journal.remove("k")
        #expect(try !replace("6", ifNoted: 3) && journal["k"] == nil)
    }

    private func withBytes<Result>(
        of key: String,
        _ value: String,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try Array(key.utf8).withUnsafeBytes { key in
            try Array(value.utf8).withUnsafeBytes { try body(key, $0) }
        }
    }
    #endif
}
