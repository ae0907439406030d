import Default
import Foundation
import Testing

#if !canImport(Darwin)
/// Each test repeats a case of chance in a helper, or forces it.
@Suite("The seams of a process", .waits)
struct SeamTests {
    @Test("A program that ends by exit in a signal's handler, in the middle of writes, always ends")
    func signalExits() throws {
        #expect(try run("signal-exits", TestExtent.pick(brief: 20, full: 300)) == "0")
    }

    @Test("A child made with fork uses its own suites, whatever the parent's threads were doing")
    func forks() throws {
        #expect(try run("forks", TestExtent.pick(brief: 40, full: 400)) == "0")
    }

    @Test("A child that returns from the exclusive access in which its parent forked leaves the parent its lock")
    func forkInExclusiveAccess() throws {
        #expect(try run("fork-in-exclusive-access") == "2")
    }

    @Test("A child that returns from a transaction in which its parent forked gets an error, and stores nothing")
    func forkInTransaction() throws {
        #expect(try run("fork-in-transaction") == "child storeUnavailable\nparent none, 1")
    }

    @Test("A child that returns from a change of a value in which its parent forked gets an error, and stores nothing")
    func forkInUpdate() throws {
        #expect(try run("fork-in-update") == "child storeUnavailable\nparent none, 10")
    }

    @Test("A child made with fork goes on with a suite that its parent has opened")
    func inheritedSuite() throws {
        let expected = """
            parent reads nothing, default
            parent hears of number
            child reads parent, default
            parent hears of number, text
            parent finds child, 3
            """
        #expect(try run("fork-and-use") == expected)
    }

    @Test("Children may fork again and again, and each has its own suites")
    func chain() throws {
        #expect(try run("fork-chain", 70) == "70")
    }

    @Test("Two threads that open a suite at the same time by two spellings of its path have one engine")
    func spellings() throws {
        #expect(try run("spellings", TestExtent.pick(brief: 50, full: 500)) == "0")
    }

    /// Runs an action of the helper in a directory, and returns what it prints.
    private func run(_ action: String, _ rounds: Int? = nil) throws -> String {
        try withTemporaryDirectory { directory in
            let arguments = [action, directory.appending(path: "s").path] + (rounds.map { ["\($0)"] } ?? [])
            try FileManager.default.createDirectory(
                at: directory.appending(path: "s"),
                withIntermediateDirectories: true
            )
            let outcome = try TestHelper.run(arguments)
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.output.trimmingCharacters(in: .newlines)
        }
    }
}
#endif
