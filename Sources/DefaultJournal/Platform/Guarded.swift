/// A value behind a lock.
///
/// What the standard library's `Mutex` is for, but on the platform's own mutex: the thread sanitizer understands that one,
/// and the tests run under it.
package final class Guarded<Value>: @unchecked Sendable {
    // `value` is reached under `lock` only, which also makes sure that accesses don't overlap.
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
