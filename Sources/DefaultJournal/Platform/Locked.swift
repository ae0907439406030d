/// A value behind a lock.
///
/// Like the standard library's `Mutex`, but with the platform's mutex, which the thread sanitizer understands. Public
/// for the same reason as ``Atomic``.
public final class Locked<Value>: @unchecked Sendable {
    // `value` is used under `lock` only, which also excludes overlapping accesses. `@exclusivity(unchecked)`: 775
    // instead of 896 instructions for a look-up in a MemoryDefaults (callgrind).
    @usableFromInline let lock = ThreadLock()
    @usableFromInline @exclusivity(unchecked) var value: Value

    /// - Parameter value: The first value.
    @inlinable public init(_ value: Value) { self.value = value }

    /// Calls a body that may change the value, with the lock.
    ///
    /// - Throws: What the body throws.
    @inlinable public func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result)
        throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// The value, unless a thread has the lock.
    public func copyIfFree() -> Value? {
        guard lock.tryLock() else { return nil }
        defer { lock.unlock() }
        return value
    }

    /// Replaces the value, and returns the one before.
    @inlinable public func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}
