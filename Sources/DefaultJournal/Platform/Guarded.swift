/// A value behind a lock.
///
/// What the standard library's `Mutex` is for, but on the platform's own mutex: the thread sanitizer understands that one,
/// and the tests run under it.
package final class Guarded<Value>: @unchecked Sendable {
    // `value` is reached under `lock` only.
    private let lock = ThreadLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
