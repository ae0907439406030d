/// A value behind a lock.
///
/// As the standard library's `Mutex`, but with the platform's mutex, which the thread sanitizer understands.
package final class Guarded<Value>: @unchecked Sendable {
    // `value` is used under `lock` only, which also excludes overlapping accesses.
    @usableFromInline package let lock = ThreadLock()
    @exclusivity(unchecked) @usableFromInline package var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    // Inlined into the layer above, where the types are known: without them, each call costs several times the lock.
    @inlinable
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
