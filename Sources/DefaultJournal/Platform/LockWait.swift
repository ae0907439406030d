/// How long a thread may still wait for another process.
struct LockWait {
    private let start = Clock.monotonic()
    let limit: UInt64

    /// Nanoseconds since it began.
    var time: UInt64 { Clock.monotonic() - start }

    /// Nanoseconds to sleep before the next attempt, at most so many; nil when the time is over.
    func pause(atMost longest: UInt64) -> UInt64? {
        let time = time
        return time < limit ? min(limit - time, longest) : nil
    }
}
