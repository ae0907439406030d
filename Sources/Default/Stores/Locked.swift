internal import Foundation

/// State that several threads may use, one at a time.
///
/// The standard library's `Mutex` does the same and is faster, but on Linux ThreadSanitizer doesn't see it: it takes every
/// use for a race. What this library does with threads is checked by that sanitizer, so it locks with what it sees.
package final class Locked<State: Sendable>: @unchecked Sendable {
    // Only touched while the lock is held.
    private var state: State
    private let lock = NSLock()

    package init(_ state: State) {
        self.state = state
    }

    /// Runs a body with the state to itself; the body must not come back here.
    package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
