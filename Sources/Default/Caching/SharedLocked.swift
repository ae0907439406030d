internal import DefaultJournal

/// A value protected by a lock that readers share.
final class SharedLocked<Value>: @unchecked Sendable {
    // `value` is only accessed under `lock`, which excludes overlapping accesses. Exclusivity checks would take a fifth
    // of a read of unchanged settings.
    private let lock = SharedLock()
    @exclusivity(unchecked) private var value: Value

    init(_ value: Value) { self.value = value }

    /// Calls a body with the value, concurrently with other readers; the body should be short.
    func read<Result>(_ body: (borrowing Value) -> Result) -> Result {
        let token = lock.lockShared()
        defer { lock.unlockShared(token) }
        return body(value)
    }

    /// Calls a body that changes the value, with exclusive access.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
