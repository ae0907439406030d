import Foundation

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

/// Waits until a condition holds; the test's own time limit ends the wait otherwise.
func eventually(_ condition: () async throws -> Bool) async throws {
    while try await !condition() {
        // Between two looks.
        try await Task.sleep(for: .milliseconds(5))
    }
}
