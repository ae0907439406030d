import Default
import Foundation

/// Writes to a suite whose lock this process keeps from itself, and prints what comes of it and what is reported.
///
/// - Parameter url: The suite's directory.
/// - Throws: What opening and the first write throw.
func printBusySuite(_ url: URL) throws {
    let isReported = DispatchSemaphore(value: 0)
    DefaultsDiagnostics.handler = { event in
        print("event:", event.kind, event.error.code)
        isReported.signal()
    }
    // As long as it takes until the wait is reported: its end has to be reported too.
    let suite = try FileDefaults(url: url, lockTimeout: 1)
    try suite.set(1, forKey: "a")
    let file = open(url.path, O_RDONLY | O_DIRECTORY)
    guard flock(file, LOCK_EX) == 0 else { exit(7) }
    print("set:", codeOf { try suite.set(2, forKey: "a") })
    // Only to end without the event, if it never comes.
    _ = isReported.wait(timeout: .now() + 60)
    close(file)
}
