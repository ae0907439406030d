import Default
import Foundation

/// Uses a suite that this process can't write, as an unprivileged user, and prints the result of each call.
///
/// - Parameters:
///   - url: The suite's directory.
///   - path: The file that must be made writable so that a write works; nil to leave the suite as it is.
/// - Throws: An error of opening, which must work.
func printReadOnlySuite(_ url: URL, makeWritable path: String?) throws {
    if geteuid() == 0 {
        guard setgid(65_534) == 0, setuid(65_534) == 0 else { exit(7) }
    }
    DefaultsDiagnostics.handler = { event in print("event:", event.kind, event.error.code) }
    let suite = try FileDefaults(url: url)
    let observation = suite.observeChanges { keys in print("changed:", keys?.sorted().joined(separator: ",") ?? "all") }
    defer { observation.cancel() }
    func printReads() {
        let counts = (suite.storedKeys().count, suite.dictionaryRepresentation().count)
        print("read:", suite.string(forKey: "text") ?? "nothing", counts.0, counts.1)
    }
    printReads()
    print("available:", codeOf { try suite.checkAvailability() })
    print("set:", codeOf { try suite.set("new", forKey: "text") })
    print("remove:", codeOf { try suite.removeObject(forKey: "text") })
    print("transaction:", codeOf { try suite.transaction { try suite.set("new", forKey: "text") } })
    print("exclusive:", codeOf { try suite.withExclusiveAccess {} })
    print("compact:", codeOf { try suite.compact() })
    print("flush:", codeOf { try suite.flush() })
    print("load:", codeOf { _ = try suite.df.load(forKey: "missing", type: String.self) })
    suite.df.store("new", forKey: "text")
    printReads()
    guard let path else { return }
    chmod(path, 0o700)
    print("later:", codeOf { try suite.set("later", forKey: "text") })
    printReads()
    try print("opened again:", FileDefaults(url: url).string(forKey: "text") ?? "nothing")
}
