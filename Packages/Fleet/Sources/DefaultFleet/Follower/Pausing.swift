/// A follower between two connections.
struct Pausing: Sendable {
    let end: ContinuousClock.Instant

    func step(_ event: FollowerEvent, at moment: Moment, course: inout Course) -> FollowerMachine.Step {
        switch event {
        case .time where moment.now >= end: course.connect()
        // Of a connection that has ended.
        default: FollowerMachine.Step(state: .pausing(self))
        }
    }
}
