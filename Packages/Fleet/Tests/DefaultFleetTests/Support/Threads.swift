import Foundation
import Synchronization

/// Runs a body that blocks on a thread of its own, with a stack like that of a main thread.
func onThread<Result: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    let result = await withCheckedContinuation {
        (continuation: CheckedContinuation<Swift.Result<Result, Failure>, Never>) in
        let thread = Thread {
            continuation.resume(returning: Swift.Result { () throws(Failure) in try body() })
        }
        thread.stackSize = 8 << 20
        thread.start()
    }
    return try result.get()
}

/// What a test has waited for in vain.
struct WaitedInVain: Error, CustomStringConvertible {
    let description: String
}

/// How long a test waits for what it needs: a limit for what would hang, far above what a slow machine takes.
let patience = Duration.seconds(60)

/// Waits until a condition holds, or throws ``WaitedInVain`` with what was expected, which is a clause.
func eventually(
    _ expectation: @autoclosure () -> String,
    file: String = #fileID,
    line: Int = #line,
    _ condition: () async throws -> Bool
) async throws {
    let limit = ContinuousClock.now + patience
    while try await !condition() {
        guard ContinuousClock.now < limit else {
            throw WaitedInVain(
                description: """
                    Waited \(patience) in vain until \(expectation()), at \(file):\(line).
                    """
            )
        }
        // Between two looks.
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Runs a body that has to end by itself, and gives its result; when it doesn't end, it is left behind, and
/// ``WaitedInVain`` thrown.
func inTime<Result: Sendable>(
    _ name: String,
    file: String = #fileID,
    line: Int = #line,
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
    Task {
        do {
            let result = try await body()
            outcome.withLock { $0 = .success(result) }
        } catch {
            outcome.withLock { $0 = .failure(error) }
        }
    }
    try await eventually("\(name) ended", file: file, line: line) { outcome.withLock { $0 != nil } }
    guard let outcome = outcome.withLock({ $0 }) else { throw CancellationError() }
    return try outcome.get()
}
