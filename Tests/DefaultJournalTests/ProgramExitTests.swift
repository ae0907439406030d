#if DEBUG
import Foundation
import Testing

@testable import DefaultJournal

/// Ends of helper programs: one whose end waits for more than its limit fails the tests' time limit.
@Suite("The end of a program", .waits)
struct ProgramExitTests {
    private let directory = TemporaryDirectory()

    @Test("Returning from main and exit flush what was written", arguments: ["return", "exit", "exit on a thread"])
    func normal(how: String) throws {
        #expect(try flushed(of: ["a", "b"], how) == ["a", "b"])
    }

    @Test("_exit flushes nothing, and what was written is in the file")
    func immediate() throws {
        #expect(try flushed(of: ["a"], "_exit") == [])
        #expect(try open("a")["key"] == "value")
    }

    @Test("A disk that hangs delays the end only for a limited time, and keeps no other suite from being flushed")
    func hanging() throws {
        // These suites are on another file system than those that hang.
        try #require(access("/dev/shm", W_OK) == 0)
        let other = "/dev/shm/" + UUID().uuidString
        try #require(mkdir(other, 0o700) == 0)
        defer { try? FileManager.default.removeItem(atPath: other) }
        let suites = ["hanging1", other + "/a", "hanging2", other + "/b"]
        #expect(try flushed(of: suites, "return") == [other + "/a", other + "/b"])
        #expect(try open("hanging1")["key"] == "value")
    }

    @Test("exit inside of exclusive access doesn't wait for that access, and flushes all suites")
    func exclusive() throws {
        #expect(try flushed(of: ["held", "a"], "exit in exclusive access") == ["a", "held"])
    }

    @Test("exit in a signal's handler, on a thread that has the lock of the background, ends without a flush")
    func locked() throws {
        #expect(try flushed(of: ["a"], "exit with the background's lock") == [])
        #expect(try open("a")["key"] == "value")
    }

    @Test("A child made with fork doesn't flush what its parent wrote")
    func forked() throws {
        #expect(try flushed(of: ["a"], "fork") == [])
    }

    /// Starts a program that writes to suites and ends.
    ///
    /// - Returns: The suites that its end flushed, sorted.
    private func flushed(of suites: [String], _ how: String) throws -> [String] {
        let helper = try Helper(["end", directory.path, suites.joined(separator: ","), how])
        let outcome = helper.finish()
        #expect(outcome.status == 0, "\(outcome.output)")
        return outcome.output.split(separator: "\n").map(String.init).sorted()
    }

    private func open(_ name: String) throws -> Journal {
        try Journal.openTest(directory.path + "/" + name, JournalOptions(automaticMaintenance: false))
    }
}
#endif
