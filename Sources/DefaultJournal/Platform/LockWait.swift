/// How long a thread may still wait for another process.
struct LockWait {
    private let start = Clock.monotonic()
    private let limit: UInt64

    /// The longest time between two looks at the lock: a process that is killed releases it without waking up others.
    private static let longestPause: UInt64 = 10_000_000

    /// - Parameter limit: Nanoseconds.
    init(atMost limit: UInt64) {
        self.limit = limit
    }

    /// Nanoseconds to sleep before the next attempt; nil when the time is over.
    var pause: UInt64? {
        let waited = Clock.monotonic() - start
        return waited < limit ? min(limit - waited, Self.longestPause) : nil
    }

    /// Whether it has been waiting for a second.
    var isLong: Bool { Clock.monotonic() - start >= 1_000_000_000 }
}
