/// A follower whose replica is being compared with the cluster.
struct Connecting: Sendable {
    func step(_ event: FollowerEvent, at moment: Moment, course: inout Course) -> FollowerMachine.Step {
        switch event {
        case .prepared(let preparation):
            let watching = Watching(preparation, connection: course.connection, at: moment, timing: course.timing)
            // From what the copy has already, which is not applied again. If the next revision removed a key, and
            // history is compacted up to it, members before etcd 3.5.16 would begin there without the removal. From
            // here, they say that the history is compacted.
            let watch = FollowerAction.openWatch(
                member: preparation.member,
                from: preparation.copy.revision,
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
