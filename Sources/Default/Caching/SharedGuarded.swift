internal import DefaultJournal

/// A value behind a lock that readers share.
final class SharedGuarded<Value>: @unchecked Sendable {
    // `value` is reached under `lock` only, which excludes overlapping accesses; checking for them once more would be a fifth
    // of a read of unchanged settings.
    private let lock = SharedLock()
    @exclusivity(unchecked) private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    /// Calls a body with the value, beside other readers; to be short.
    func read<Result>(_ body: (borrowing Value) -> Result) -> Result {
        let token = lock.lockShared()
        defer { lock.unlockShared(token) }
        return body(value)
    }

    /// Calls a body that changes the value, alone.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
