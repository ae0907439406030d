import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("Hostile and vanishing files")
struct SuiteDirectoryTests {
    private let directory = TemporaryDirectory()
    private let files = FileManager.default

    @Test("Anything but a regular file is rejected, not followed, and never waited for")
    func wrongTypes() throws {
        for kind in ["directory", "link", "fifo", "dangling"] {
            let suite = directory.path + "/journal-\(kind)"
            let path = suite + "/journal"
            try files.createDirectory(atPath: suite, withIntermediateDirectories: true)
            var expected = JournalError.Kind.notARegularFile
            switch kind {
            case "directory": try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            case "fifo": mkfifo(path, 0o600)
            case "link":
                try directory.write(Array("precious".utf8), to: "target")
                try files.createSymbolicLink(atPath: path, withDestinationPath: directory.path + "/target")
                expected = .linkRefused(.otherName)
            default:
                try files.createSymbolicLink(atPath: path, withDestinationPath: directory.path + "/nowhere")
                expected = .linkRefused(.leadsNowhere)
            }
            #expect(throws: JournalError(expected, path: path)) { try Journal.openTest(suite) }
        }
        #expect(try directory.bytes("target") == Array("precious".utf8))
        #expect(!files.fileExists(atPath: directory.path + "/nowhere"))
    }

    #if os(Linux)
    @Test("A place where no directory can be made is an error", arguments: ["/proc/suite", "/proc/parent/suite"])
    func noPlace(path: String) {
        let error = #expect(throws: JournalError.self) { try Journal.openTest(path) }
        #expect(error?.isNotFound == true)
    }
    #endif

    @Test("A directory that is removed each time it is created is created eight times", arguments: [6, 8])
    func removedAgain(removals: Int) throws {
        let probe = SystemCallProbe()
        let removed = Locked(0)
        probe.onStep { [directory] step in
            guard step.call == .mkdir,
                removed.withLock({
                    $0 += 1; return $0
                }) <= removals
            else { return }
            try? FileManager.default.removeItem(atPath: directory.suite)
        }
        let open = { try Journal.openUnregistered(directory.suite, JournalOptions(calls: SystemCalls(probe: probe))) }
        if removals == 6 {
            try open().set("a", "1")
        } else {
            #expect(throws: JournalError(.unstable, path: directory.suite)) { try open() }
            #expect(removed.withLock { $0 } == 8)
        }
    }

    @Test("A file with a second name is not written to, and its content stays as it is")
    func secondNames() throws {
        for name in ["journal", "journal.fresh"] {
            let suite = directory.path + "/second-\(name)"
            let path = suite + "/" + name
            try files.createDirectory(atPath: suite, withIntermediateDirectories: true)
            try directory.write(Array("precious".utf8), to: "target-\(name)")
            try files.linkItem(atPath: directory.path + "/target-\(name)", toPath: path)
            if name == "journal" {
                #expect(throws: JournalError(.linked, path: path)) { try Journal.openTest(suite) }
                try files.removeItem(atPath: path)
            }
            #expect(try Journal.openTest(suite).all.isEmpty)
            #expect(try directory.bytes("target-\(name)") == Array("precious".utf8))
        }
    }

    @Test("A directory that all users may write to is reported when it is opened, and used")
    func writableByOthers() throws {
        for (mode, isReported) in [(0o700, false), (0o775, false), (0o702, true), (0o1777, true)] {
            let suite = directory.path + "/mode-\(mode)"
            try files.createDirectory(atPath: suite, withIntermediateDirectories: true)
            // Attributes of a new directory would be subject to the umask.
            try files.setAttributes([.posixPermissions: mode], ofItemAtPath: suite)
            let reports = ReportCollector()
            let journal = try Journal.openTest(suite, reports.options)
            try journal.set("key", "value")
            #expect(reports.all == (isReported ? [.writableByOthers(path: suite)] : []))
        }
    }

    @Test("A file at the path of the suite's directory is rejected, and so is a link to one")
    func wrongSuite() throws {
        try directory.write([1], to: "suite")
        #expect(throws: JournalError(.notADirectory, path: directory.suite)) { try Journal.openTest(directory.suite) }
        try files.createSymbolicLink(atPath: directory.path + "/link", withDestinationPath: directory.suite)
        #expect(throws: JournalError(.notADirectory, path: directory.path + "/link")) {
            try Journal.openTest(directory.path + "/link/")
        }
        let withNUL = directory.path + "/cut\0off"
        for path in ["", "/", "//", withNUL] {
            #expect(throws: JournalError(.invalidPath, path: path)) { try Journal.openTest(path) }
        }
        #expect(!files.fileExists(atPath: directory.path + "/cut"))
    }

    @Test("A path is made absolute, without slashes at its end, and has a parent")
    func paths() throws {
        let here = files.currentDirectoryPath
        let paths: [String: String?] = [
            "suite": here + "/suite", "a/b//": here + "/a/b", "./suite": here + "/./suite", "/": nil, "///": nil,
            "/suite": "/suite", "/a/suite///": "/a/suite",
        ]
        for (path, absolute) in paths {
            let found = try? SuiteDirectory.absolutePath(path, calls: SystemCalls())
            #expect(found == absolute, "\(path)")
        }
        let parents = ["/a": "/", "/a/b": "/a", "/a/b/c": "/a/b", "a/b": "a", "a": ".", "/": "/"]
        for (path, parent) in parents { #expect(SuiteDirectory.parent(of: path) == parent, "\(path)") }
    }

    @Test("A compaction writes only to its own file, and says what is there instead")
    func otherFiles() throws {
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        let path = directory.suite + "/journal.new"
        let makes: [(JournalError.Kind, () throws -> Void)] = [
            (.notARegularFile, { try files.createDirectory(atPath: path, withIntermediateDirectories: false) }),
            (
                .notARegularFile,
                { try files.createSymbolicLink(atPath: path, withDestinationPath: directory.path + "/target") }
            ),
            (.notARegularFile, { try #require(mkfifo(path, 0o600) == 0) }),
            (.linked, { try files.linkItem(atPath: directory.path + "/target", toPath: path) }),
        ]
        try directory.write(Array("precious".utf8), to: "target")
        let bytes = try directory.bytes()
        for (kind, make) in makes {
            try make()
            #expect(throws: JournalError(kind, path: path)) { try journal.compact() }
            #expect(try directory.bytes() == bytes && directory.bytes("target") == Array("precious".utf8))
            try files.removeItem(atPath: path)
        }
        try journal.compact()
        #expect(try Journal.openUnregistered(directory.suite)["a"] == "1")
    }

    @Test("Whatever part of an open suite is deleted or moved, everyone who opens it sees the next write")
    func vanishing() throws {
        for what in ["", "/journal", "moved", "replaced"] {
            for pause in [false, true] {
                let place = TemporaryDirectory()
                let reports = ReportCollector()
                let journal = try Journal.openTest(place.suite, reports.options)
                try journal.set("before", "1")
                // The deletion follows within a tick of the clock, or later: the pause is a loop of writes, not a wait.
                if pause { for _ in 0..<5000 { try journal.set("before", "1") } }
                switch what {
                case "moved": try files.moveItem(atPath: place.suite, toPath: place.path + "/away")
                case "replaced":
                    try files.moveItem(atPath: place.suite, toPath: place.path + "/away")
                    try Journal.openUnregistered(place.suite).set("other", "2")
                default: try files.removeItem(atPath: place.suite + what)
                }
                journal.forgetComparison()
                try journal.set("after", "3")
                let fresh = try Journal.openUnregistered(place.suite)
                #expect(fresh["after"] == "3", "\(what)")
                #expect(fresh.all == journal.all)
                #expect((fresh["other"] == "2") == (what == "replaced"))
                #expect(reports.all == [.replaced(path: place.suite)], "\(what)")
                try journal.set("again", "4")
                #expect(fresh["again"] == "4")
                try journal.synchronize()
            }
        }
    }

    @Test("A background flush doesn't recreate a deleted suite")
    func deletedBeforeFlush() throws {
        let reports = ReportCollector()
        let journal = try Journal.openTest(directory.suite, reports.options)
        try journal.set("a", "1")
        try files.removeItem(atPath: directory.suite)
        journal.forgetComparison()
        journal.flushInBackground()
        journal.compactInBackground()
        #expect(!files.fileExists(atPath: directory.suite))
        // A flush without a suite isn't worth a report.
        #expect(reports.all.isEmpty)
        try journal.set("b", "2")
        #expect(try Journal.openUnregistered(directory.suite)["b"] == "2")
    }

    @Test("A compaction reports that the suite was deleted meanwhile, at whichever step, not that a file is missing")
    func deletedDuringCompaction() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let steps = Locked(0)
        var replaced = 0
        for last in 1..<100 {
            let place = TemporaryDirectory()
            let journal = try Journal.openUnregistered(place.suite, options)
            try journal.set("a", "1")
            steps.withLock { $0 = 0 }
            probe.onStep { step in
                steps.withLock { $0 = step.number }
                if step.number == last { try? FileManager.default.removeItem(atPath: place.suite) }
            }
            do throws(JournalError) {
                try journal.compact()
            } catch {
                #expect(error == JournalError(.replaced, path: place.suite), "step \(last)")
                replaced += 1
                #expect(journal["a"] == "1", "step \(last)")
            }
            // If there is no error, the suite was deleted so early that it was created again, or after the last step.
            probe.onStep(nil)
            if steps.withLock({ $0 }) < last { break }
        }
        #expect(replaced > 2)
    }

    @Test("A compaction whose file another program removes says so, and leaves the suite as it is")
    func removedCompaction() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        probe.plan(.fail(code: ENOENT), call: .rename, number: 0)
        #expect(throws: JournalError(.system(.rename, code: ENOENT), path: directory.suite + "/journal.new")) {
            try journal.compact()
        }
        try journal.compact()
        #expect(journal["a"] == "1")
    }

    @Test("A suite that was deleted can be opened again while the old journal still exists")
    func deletedAndOpenedAgain() throws {
        let old = try Journal.openTest(directory.suite)
        try old.set("a", "1")
        try files.removeItem(atPath: directory.suite)
        let new = try Journal.openTest(directory.suite)
        #expect(new["a"] == nil)
        try new.set("b", "2")
        old.forgetComparison()
        try old.set("c", "3")
        #expect(new["c"] == "3")
        #expect(old["b"] == "2")
    }

    @Test("A suite that was recreated has one journal in a process, whichever call found it", arguments: [false, true])
    func oneJournalOfRecreatedSuite(isFoundByRead: Bool) throws {
        let journal = try Journal.openTest(directory.suite)
        try journal.set("a", "1")
        try files.removeItem(atPath: directory.suite)
        try Journal.openUnregistered(directory.suite).set("b", "2")
        journal.forgetComparison()
        if isFoundByRead { #expect(journal["b"] == "2") } else { try journal.set("c", "3") }
        #expect(try Journal.openTest(directory.suite) === journal)
        #expect(journal["a"] == nil && journal["b"] == "2")
    }

    @Test("A suite that was renamed while it is open is found at its new path, and none is created at the old one")
    func renamedWhileOpen() throws {
        let journal = try Journal.openTest(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        try files.moveItem(atPath: directory.suite, toPath: directory.path + "/away")
        let moved = try Journal.openTest(directory.path + "/away", JournalOptions(automaticMaintenance: false))
        #expect(moved["a"] == "1" && moved !== journal)
        try moved.set("a", "2")
        #expect(!files.fileExists(atPath: directory.suite))
        #expect(try Journal.openUnregistered(directory.path + "/away")["a"] == "2")
    }

    @Test("A directory is forgotten when its journal is closed, or is another one's")
    func forgotten() throws {
        weak var first: JournalRegistry.Slot?
        weak var second: JournalRegistry.Slot?
        do {
            let journal = try Journal.openTest(directory.suite, JournalOptions(automaticMaintenance: false))
            try journal.set("a", "1")
            first = JournalRegistry.shared.slot(for: journal.suite.id)
            #expect(first?.journal === journal)
            // Moved rather than removed: a new directory might get the old one's inode number.
            try files.moveItem(atPath: directory.suite, toPath: directory.path + "/away")
            journal.forgetComparison()
            try journal.set("b", "2")
            second = JournalRegistry.shared.slot(for: journal.suite.id)
            #expect(first == nil)
            #expect(second?.journal === journal)
        }
        #expect(second == nil)
    }

    @Test("An error is recognized by its number, whichever call has failed")
    func classes() {
        func codes(where isIncluded: (JournalError) -> Bool) -> Set<Int32> {
            Set((1...200).filter { isIncluded(JournalError(.system(.open, code: $0), path: "/suite")) })
        }
        #expect(codes(where: \.isUnlockable) == [EBADF, EINVAL, EISDIR, EOPNOTSUPP, ENOTSUP, ENOSYS])
        #expect(codes(where: \.isWrongType) == [ELOOP, ENOTDIR, EISDIR, ENXIO, EMLINK])
        #expect(codes(where: \.isReadOnlyPlace) == [EROFS, EACCES, EPERM])
        #expect(codes(where: \.isReadOnlyDisk) == [EROFS])
        #expect(codes(where: \.isNotFound) == [ENOENT])
        #expect(codes(where: \.isExisting) == [EEXIST])
    }

    @Test("A lock file is used only where a directory can't be locked, only if it is regular, and nothing in its place")
    func lockFailures() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        func failure(_ code: Int32, at name: String) -> JournalError? {
            probe.plan(.fail(code: code), call: .flock, number: 0)
            return #expect(throws: JournalError(.system(.flock, code: code), path: directory.suite + name)) {
                try journal.set("a", "1")
            }
        }
        _ = failure(EIO, at: "")
        #expect(try directory.names() == ["journal"])
        // The lock file must be a regular file without a second name.
        let lock = directory.suite + "/lock"
        try files.createSymbolicLink(atPath: lock, withDestinationPath: directory.path + "/target")
        probe.plan(.fail(code: ENOSYS), call: .flock, number: 0)
        #expect(throws: JournalError(.notARegularFile, path: lock)) { try journal.set("a", "1") }
        try files.removeItem(atPath: lock)
        #expect(!files.fileExists(atPath: directory.path + "/target"))
        probe.plan(.fail(code: ENOSYS), call: .flock, number: 0)
        try journal.set("a", "2")
        #expect(try Set(directory.names()) == ["journal", "lock"])
        _ = failure(ENOSYS, at: "")
        try journal.set("a", "3")
        #expect(try Journal.openUnregistered(directory.suite)["a"] == "3")
    }

    @Test("If a directory can't be locked, a file is")
    func lockFile() throws {
        let probe = SystemCallProbe()
        probe.plan(.fail(code: EBADF), call: .flock, number: 0)
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(calls: SystemCalls(probe: probe)))
        try journal.set("a", "1")
        #expect(probe.fired == 1)
        #expect(try Set(directory.names()) == ["journal", "lock"])
        let file = open(directory.suite + "/lock", O_RDWR)
        defer { close(file) }
        try journal.withExclusiveAccess { #expect(flock(file, LOCK_EX | LOCK_NB) == -1) }
        #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
    }
}
