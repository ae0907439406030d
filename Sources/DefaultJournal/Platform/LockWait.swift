/// How long a thread may still wait for another process.
///
/// Time in which the thread stands still doesn't count: the machine or the container may stand still, and then the
/// other process can't release what it has.
struct LockWait {
    /// The most nanoseconds that count between two looks; a thread sleeps for a millisecond at most between them.
    private static let longestGap: UInt64 = 100_000_000

    let limit: UInt64
    private var lookedAt = Clock.monotonic()
    private var waited: UInt64 = 0

    init(limit: UInt64) {
        self.limit = limit
    }

    /// Looks at the clock.
    ///
    /// - Returns: Nanoseconds that the thread has waited.
    mutating func time() -> UInt64 {
        let now = Clock.monotonic()
        waited += min(now - lookedAt, Self.longestGap)
        lookedAt = now
        return waited
    }

    /// Nanoseconds to sleep before the next attempt, at most so many; nil when the time is over.
    mutating func pause(atMost longest: UInt64) -> UInt64? {
        let time = time()
        return time < limit ? min(limit - time, longest) : nil
    }
}
