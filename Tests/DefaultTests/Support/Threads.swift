import Default
import DefaultJournal
import Foundation

/// Runs a body on eight threads at the same time, and throws an error if any of them threw one.
func onEightThreads(_ body: @escaping @Sendable () throws -> Void) throws {
    let outcome = ThreadOutcome()
    let threads = DispatchGroup()
    for _ in 0..<8 {
        threads.enter()
        Thread {
            do {
                try body()
            } catch {
                outcome.note(error)
            }
            threads.leave()
        }.start()
    }
    threads.wait()
    try outcome.check()
}

/// Runs a body on a separate thread and waits for its result.
func onAnotherThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
    let result = Locked<Result?>(nil)
    let done = DispatchSemaphore(value: 0)
    while true {
        Thread {
            let value = body()
            result.withLock { $0 = value }
            done.signal()
        }.start()
        done.wait()
        if let value = result.withLock({ $0 }) {
            return value
        }
    }
}

private final class ThreadOutcome: Sendable {
    private let error = Locked<(any Error)?>(nil)

    func note(_ thrown: any Error) {
        error.withLock { $0 = $0 ?? thrown }
    }

    func check() throws {
        if let error = error.withLock({ $0 }) {
            throw error
        }
    }
}
