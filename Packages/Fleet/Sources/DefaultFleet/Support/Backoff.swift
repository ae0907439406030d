/// Pauses between attempts: each longer than the one before, by chance shorter, so that many clients don't return
/// together.
struct Backoff: Sendable {
    private var next: Duration
    private let longest: Duration
    private let factor: Int

    init(from first: Duration = .milliseconds(5), to longest: Duration = .milliseconds(250), factor: Int = 2) {
        next = first
        self.longest = longest
        self.factor = factor
    }

    /// The next pause, by a chance from 0 to 1.
    mutating func pause(chance: Double = .random(in: 0...1)) -> Duration {
        defer { next = min(next * factor, longest) }
        return next * (0.5 + chance / 2)
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
