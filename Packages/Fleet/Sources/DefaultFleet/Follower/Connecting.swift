/// A follower whose replica is being compared with the cluster.
struct Connecting: Sendable {
    func step(_ event: FollowerEvent, at moment: Moment, course: inout Course) -> FollowerMachine.Step {
        switch event {
        case .prepared(let preparation):
            let watching = Watching(preparation, connection: course.connection, at: moment, timing: course.timing)
            let watch = FollowerAction.openWatch(
                member: preparation.member,
                from: preparation.copy.revision + 1,
                connection: course.connection
            )
            return FollowerMachine.Step(state: .watching(watching), actions: [watch])
        case .failed(let disconnection):
            // Requests have gone from member to member.
            return course.disconnect(because: disconnection, from: nil, at: moment)
        default:
            return FollowerMachine.Step(state: .connecting(self))
        }
    }
}
