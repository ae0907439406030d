#if os(Linux)
import Foundation
import Testing

@testable import Default

@Suite("A FileDefaults that can't be written")
struct ReadOnlySuiteTests {
    private static let unprivilegedUser: uid_t = 65_534

    /// Runs the helper on the suite `s` in a directory of the user that it becomes.
    private func outcome(in directory: URL, _ remedy: URL? = nil) throws -> [String] {
        let url = directory.appending(path: "s")
        let arguments = ["read-only", url.path] + (remedy.map { [$0.path] } ?? [])
        let outcome = try TestHelper.run(arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    private func giveToUser(_ directory: URL) throws {
        guard geteuid() == 0 else { return }
        for name in ["", "s", "s/journal"] {
            chown(directory.appending(path: name).path, Self.unprivilegedUser, Self.unprivilegedUser)
        }
    }

    private func expected(_ read: String, _ load: String) -> [String] {
        let codes = ["set", "remove", "transaction", "exclusive", "compact"].map { "\($0): storeReadOnly" }
        return ["read: \(read)", "available: none"] + codes
            + ["flush: none", "load: \(load)", "event: write failed storeReadOnly", "read: \(read)"]
    }

    @Test("can be read; writes throw, and report, until there is permission")
    func permissions() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            do {
                let suite = try FileDefaults(url: url)
                try suite.set("old", forKey: "text")
                try suite.flush()
            }
            try giveToUser(directory)
            chmod(url.path, 0o500)
            defer { chmod(url.path, 0o700) }
            #expect(try outcome(in: directory) == expected("old 1 1", "none"))
            #expect(
                try outcome(in: directory, url)
                    == expected("old 1 1", "none")
                    + ["changed: text", "later: none", "read: later 1 1", "opened again: later"]
            )
        }
    }

    @Test("and doesn't exist is empty, which is reported once; it is created when there is permission")
    func missing() throws {
        try withTemporaryDirectory { directory in
            try giveToUser(directory)
            chmod(directory.path, 0o500)
            defer { chmod(directory.path, 0o700) }
            let reported = ["event: open failed storeReadOnly"]
            #expect(try outcome(in: directory) == reported + expected("nothing 0 0", "none"))
            #expect(
                try outcome(in: directory, directory)
                    == reported + expected("nothing 0 0", "none")
                    + ["changed: all", "changed: text", "later: none", "read: later 1 1", "opened again: later"]
            )
        }
    }

    @Test("because it is another user's can be read by root, and says so", .enabled(if: Machine.isRoot, "Needs root."))
    func otherUser() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            do {
                let suite = try FileDefaults(url: url)
                try suite.set("old", forKey: "text")
                try suite.flush()
            }
            try giveToUser(directory)
            let suite = try FileDefaults(url: url)
            #expect(suite.string(forKey: "text") == "old")
            let error = expectError(.storeReadOnly) { try suite.set("new", forKey: "text") }
            #expect(error?.description.contains(url.path) ?? false)
            #expect(error?.description.contains("belongs to the user nobody") ?? false)
            #expect(try suite.verify().isIntact)
            #expect(try FileDefaults.inspect(at: url).keyCount == 1)
            let copy = directory.appending(path: "copy")
            // The owner of that folder could not use the copy.
            let refusal = expectError(.storeUnavailable) { try suite.copy(to: copy) }
            #expect(refusal?.description.contains("belongs to the user nobody, who could not use") ?? false)
            chmod(directory.path, 0o1777)
            try suite.copy(to: copy)
            #expect(try FileDefaults(url: copy).string(forKey: "text") == "old")
        }
    }
}
#endif
