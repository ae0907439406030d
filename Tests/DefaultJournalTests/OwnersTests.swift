#if os(Linux)
import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("Folders and files of other users", .waits)
struct OwnersTests {
    private let directory = TemporaryDirectory()
    private let files = FileManager.default
    private static let otherUser: uid_t = 65_534

    @Test(
        "Nothing is created in a folder of another user's, however deep in it",
        .enabled(if: Machine.isRoot, "Needs root.")
    )
    func foldersOfOthers() throws {
        let home = directory.path + "/home"
        try files.createDirectory(atPath: home, withIntermediateDirectories: false)
        chown(home, Self.otherUser, Self.otherUser)
        let error = JournalError(.otherUsersFolder(owner: Self.otherUser), path: home)
        for path in [home + "/suite", home + "/.config/app.defaults"] {
            #expect(throws: error) { try Journal.openTest(path) }
        }
        let journal = try Journal.openTest(directory.suite)
        #expect(throws: error) { try journal.copy(to: home + "/copy") }
        #expect(try files.contentsOfDirectory(atPath: home).isEmpty)
        // In a folder like /tmp every user may have files.
        chmod(home, 0o1777)
        try Journal.openTest(home + "/suite").set("key", "1")
        // An existing suite is used as before, and so is one that the owner creates.
        chmod(home, 0o755)
        #expect(try Journal.openTest(home + "/suite")["key"] == "1")
        chmod(directory.path, 0o755)
        #expect(try Helper(["set-unprivileged", home + "/.config/own", "a", "1"]).finish().status == 0)
    }

    @Test("A user who may not enter a folder is told its owner", .enabled(if: Machine.isRoot, "Needs root."))
    func ownerIsNamed() throws {
        chmod(directory.path, 0o755)
        try Journal.openUnregistered(directory.suite).set("a", "1")
        let outcome = try Helper(["set-unprivileged", directory.suite, "a", "2"]).finish()
        #expect(outcome.status != 0)
        #expect(outcome.output.contains("\(directory.suite) belongs to the user root."), "\(outcome.output)")
        chmod(directory.path, 0o700)
        let outside = try Helper(["set-unprivileged", directory.suite, "a", "2"]).finish()
        #expect(outside.output.contains("\(directory.path) belongs to the user root."), "\(outside.output)")
    }

    @Test(
        "An umask that takes even the owner's permissions away makes no unusable files",
        .enabled(if: Machine.isRoot, "Needs root.")
    )
    func umask() throws {
        chmod(directory.path, 0o1777)
        let suite = directory.path + "/parent/suite"
        let helper = Helper.program
        for number in 1...2 {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = [
                "-c", "umask 0777; exec \"$0\" \"$@\"", helper, "set-unprivileged", suite, "a", "\(number)",
            ]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        #expect(try Journal.openTest(suite)["a"] == "2")
    }

    @Test("A compaction doesn't write to a file that got another name while it was opened")
    func exchangedName() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        try directory.write(Array("precious".utf8), to: "target")
        let (name, target) = (directory.suite + "/journal.new", directory.path + "/target")
        // The file has one name when it is examined, and two when it is used.
        #expect(rename(target, name) == 0)
        probe.onStep { step in
            guard step.call == .flock, access(target, F_OK) != 0, access(name, F_OK) == 0 else { return }
            link(name, target)
        }
        #expect(throws: JournalError(.linked, path: name)) { try journal.compact() }
        #expect(try directory.bytes("target") == Array("precious".utf8))
    }

    @Test("A file put in the place of a complete new journal doesn't become the journal", arguments: [false, true])
    func exchangedFile(isRecovery: Bool) throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        let name = isRecovery ? "journal.fresh" : "journal.new"
        probe.onStep { [directory] step in
            // The sync just before the rename.
            guard step.call == .fsync, access(directory.suite + "/" + name, F_OK) == 0 else { return }
            try? directory.write(Array("other".utf8), to: "other")
            rename(directory.path + "/other", directory.suite + "/" + name)
        }
        #expect(throws: JournalError(.unstable, path: directory.suite + "/" + name)) {
            if isRecovery { try journal.withExclusiveAccess { try journal.compact() } } else { try journal.compact() }
        }
        probe.onStep(nil)
        #expect(journal["a"] == "1")
        #expect(try Journal.openUnregistered(directory.suite)["a"] == "1")
    }
}
#endif
