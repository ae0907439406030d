/// How long a thread may still wait for another process.
struct LockWait {
    private let start = Clock.monotonic()
    private let limit: UInt64

    init(atMost limit: UInt64) {
        self.limit = limit
    }

    /// Nanoseconds to sleep before the next attempt; nil when the time is over.
    var pause: UInt64? {
        let waited = Clock.monotonic() - start
        return waited < limit ? min(limit - waited, 500_000) : nil
    }

    var isLong: Bool { Clock.monotonic() - start >= 1_000_000_000 }
}
