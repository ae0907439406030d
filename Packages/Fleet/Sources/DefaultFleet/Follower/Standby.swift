/// A follower without the host's lock, since another process has it.
struct Standby: Sendable {
    /// When to try again.
    let wakeUp: ContinuousClock.Instant

    func step(_ event: FollowerEvent, at moment: Moment, course: inout Course) -> FollowerMachine.Step {
        switch event {
        case .time where moment.now >= wakeUp:
            return FollowerMachine.Step(state: .standby(self), actions: [.acquireLock])
        case .lock(isAcquired: false):
            return FollowerMachine.Step(state: .standby(Standby(wakeUp: moment.now + course.timing.lockInterval)))
        case .lock(isAcquired: true) where course.hasUser:
            // Many hosts may start together, and a password costs a member much.
            let pause = course.timing.authenticationJitter * moment.chance
            return FollowerMachine.Step(state: .pausing(Pausing(end: moment.now + pause)))
        case .lock(isAcquired: true):
            return course.connect()
        default:
            return FollowerMachine.Step(state: .standby(self))
        }
    }
}
