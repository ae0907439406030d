/// A point in monotonic time.
struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant

    init(after duration: Duration) {
        instant = .now + duration
    }

    init(at instant: ContinuousClock.Instant) {
        self.instant = instant
    }

    var remaining: Duration { max(.zero, instant - .now) }

    var hasPassed: Bool { instant <= .now }

    /// The earlier of two.
    func or(_ other: Deadline) -> Deadline {
        Deadline(at: min(instant, other.instant))
    }

    /// The earlier of this one and one after a duration.
    func or(after duration: Duration) -> Deadline {
        Deadline(at: min(instant, .now + duration))
    }
}

extension Duration {
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
