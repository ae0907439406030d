#if DEBUG
import Foundation
import Testing

@testable import DefaultJournal

/// A program whose end waits for more than its limit fails the time limit.
@Suite("The end of a program", .waits)
struct ProgramExitTests {
    private let directory = TemporaryDirectory()

    @Test("Returning from main and exit flush what was written", arguments: ["return", "exit", "exit on a thread"])
    func normal(how: String) throws {
        try end(["a", "b"], how)
        #expect(try isFlushed("a"))
        #expect(try isFlushed("b"))
    }

    @Test("_exit flushes nothing, and what was written is in the file")
    func immediate() throws {
        try end(["a"], "_exit")
        #expect(try !isFlushed("a"))
        #expect(try open("a")["key"] == "value")
    }

    @Test("A disk that hangs delays the end only for a limited time, and keeps no other suite from being flushed")
    func hanging() throws {
        try end(["hanging1", "a", "hanging2", "hanging3", "b"], "return")
        #expect(try isFlushed("a"))
        #expect(try isFlushed("b"))
        #expect(try !isFlushed("hanging1"))
        #expect(try open("hanging1")["key"] == "value")
    }

    @Test("exit inside of exclusive access doesn't wait for that access, and flushes the other suites")
    func exclusive() throws {
        try end(["held", "a"], "exit in exclusive access")
        #expect(try isFlushed("a"))
        #expect(try !isFlushed("held"))
    }

    @Test("A child made with fork doesn't flush what its parent wrote")
    func forked() throws {
        try end(["a"], "fork")
        #expect(try !isFlushed("a"))
    }

    private func end(_ suites: [String], _ how: String) throws {
        let helper = try Helper(["end", directory.path, suites.joined(separator: ","), how])
        let outcome = helper.finish()
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    private func open(_ name: String) throws -> Journal {
        try Journal.openTest(directory.path + "/" + name, JournalOptions(automaticMaintenance: false))
    }

    /// Whether the page says that everything is on the disk.
    private func isFlushed(_ name: String) throws -> Bool {
        let journal = try open(name)
        // The page is unmapped with the journal.
        return withExtendedLifetime(journal) { journal.isSynced }
    }
}
#endif
