/// Pauses between attempts: each about twice as long as the one before, by chance shorter, so that many clients don't return together.
struct Backoff {
    private var next: Duration
    private let longest: Duration

    init(from first: Duration = .milliseconds(5), to longest: Duration = .milliseconds(250)) {
        next = first
        self.longest = longest
    }

    /// The next pause.
    mutating func pause() -> Duration {
        defer { next = min(next * 2, longest) }
        return next * Double.random(in: 0.5...1)
    }

    /// Pauses, on a thread that may block.
    ///
    /// - Returns: False when the deadline has passed.
    mutating func wait(until deadline: Deadline) -> Bool {
        let pause = min(pause(), deadline.remaining)
        pause.sleep()
        return !deadline.hasPassed
    }
}
