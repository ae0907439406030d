/// Pauses between attempts: each longer than the one before, by chance shorter, so that many clients don't return
/// together.
struct Backoff {
    private var next: Duration
    private let longest: Duration
    private let factor: Int

    init(from first: Duration = .milliseconds(5), to longest: Duration = .milliseconds(250), factor: Int = 2) {
        next = first
        self.longest = longest
        self.factor = factor
    }

    /// The next pause.
    mutating func pause() -> Duration {
        defer { next = min(next * factor, longest) }
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
