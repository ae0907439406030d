import Default
import Foundation

/// Seconds for which a helper waits for other processes: longer than any wait on a busy machine, since other tests are
/// about how long to wait.
let patience: TimeInterval = 60

/// Writes to a suite whose lock this process holds through another open file, and prints the result and the reports.
///
/// - Parameter url: The suite's directory.
/// - Throws: What opening and the first write throw.
func printBusySuite(_ url: URL) throws {
    let isReported = DispatchSemaphore(value: 0)
    DefaultsDiagnostics.handler = { event in
        print("event:", event.kind, event.error.code)
        isReported.signal()
    }
    // The time after which a wait is reported, so that its end is reported too.
    let suite = try FileDefaults(url: url, lockTimeout: 1)
    try suite.set(1, forKey: "a")
    let file = open(url.path, O_RDONLY | O_DIRECTORY)
    guard flock(file, LOCK_EX) == 0 else { exit(7) }
    print("set:", codeOf { try suite.set(2, forKey: "a") })
    // The limit only ends the process if the event never comes.
    _ = isReported.wait(timeout: .now() + 60)
    close(file)
}
