/// A follower that applies what a watch brings, and finds out with heartbeats whether it brings everything.
struct Watching: Sendable {
    let connection: Int
    let member: Int
    private(set) var copy: ReplicaState
    /// Whether the member has said that the watch has begun.
    private(set) var isBegun = false
    /// What the replica has not reached yet.
    private(set) var goal: Goal?
    private var last: Heartbeat
    /// When the stream has brought something last.
    private var lastPiece: ContinuousClock.Instant
    /// When the time for the goal has begun: the last piece, or the goal itself.
    private var lastArrival: ContinuousClock.Instant
    private var isHeartbeatUnderway = false
    private var nextHeartbeat: ContinuousClock.Instant
    private var nextLearning: ContinuousClock.Instant
    /// Nil while the replica is being looked at.
    private var nextInspection: ContinuousClock.Instant?

    /// What a heartbeat has found, and how long nothing may arrive until the replica has it.
    ///
    /// All of it may take any time: the link may be slow.
    struct Goal: Sendable {
        var heartbeat: Heartbeat
        var silence: Duration
    }

    init(_ preparation: Preparation, connection: Int, at moment: Moment, timing: FollowerTiming) {
        self.connection = connection
        member = preparation.member
        copy = preparation.copy
        last = Heartbeat(
            target: .status(preparation.found),
            asOf: preparation.asked,
            sent: preparation.asked,
            pulse: preparation.found.pulse,
            clusterRevision: preparation.found.revision
        )
        goal = Goal(heartbeat: last, silence: timing.connectLimit)
        lastPiece = moment.now
        lastArrival = moment.now
        nextHeartbeat = moment.now + Self.heartbeatPause(timing, moment)
        // Soon, since the endpoints may be few, but not by all hosts that connect together at the same time.
        nextLearning = moment.now + timing.membershipInterval * (moment.chance / 10)
        nextInspection = moment.now + timing.heartbeatInterval
    }

    /// By chance shorter, so that the followers of many hosts don't ask together.
    private static func heartbeatPause(_ timing: FollowerTiming, _ moment: Moment) -> Duration {
        timing.heartbeatInterval * (0.8 + 0.2 * moment.chance)
    }

    var wakeUp: ContinuousClock.Instant {
        var times = [nextLearning]
        if let nextInspection {
            times.append(nextInspection)
        }
        if !isHeartbeatUnderway {
            times.append(nextHeartbeat)
        }
        if let goal {
            times.append(lastArrival + goal.silence)
        }
        return times.reduce(nextLearning, min)
    }

    func step(_ event: FollowerEvent, at moment: Moment, course: inout Course) -> FollowerMachine.Step {
        var next = self
        switch event {
        case .failed(let disconnection): return course.disconnect(because: disconnection, from: member, at: moment)
        case .copied(let copy): next.copy = copy
        case .watch(let news, connection):
            if let disconnection = next.note(news, at: moment, course: &course) {
                return course.disconnect(because: disconnection, from: member, at: moment)
            }
            if case .members(let addresses) = news, addresses != copy.addresses {
                return FollowerMachine.Step(state: .watching(next), actions: [.remember(addresses: addresses)])
            }
        default: break
        }
        return next.proceed(at: moment, course: &course)
    }

    /// Takes in what has come; the result is why the connection has to end.
    private mutating func note(_ news: WatchNews, at moment: Moment, course: inout Course) -> Disconnection? {
        let now = moment.now
        switch news {
        case .begun:
            isBegun = true
            lastPiece = now
            lastArrival = now
            course.noteBeginning()
        case .arrived(let copy):
            self.copy = copy
            lastPiece = now
            lastArrival = now
        case .ended(let disconnection): return disconnection
        case .heartbeat(let heartbeat):
            isHeartbeatUnderway = false
            nextHeartbeat = now + Self.heartbeatPause(course.timing, moment)
            course.noteLatency(now - heartbeat.sent)
            last = heartbeat
            // An earlier one is reached earlier.
            if goal == nil {
                goal = Goal(heartbeat: heartbeat, silence: course.grace)
                lastArrival = now
            }
        case .heartbeatFailed(.streamEnded):
            isHeartbeatUnderway = false
            // A link that loses packets, or is full of changes, fails one and delivers the next.
            nextHeartbeat = now + course.timing.retryInterval
        case .heartbeatFailed(let disconnection):
            // The member goes on delivering to a user whose permission was revoked.
            return disconnection
        case .memberSilent:
            // A link that is full of changes may delay the answer.
            return now - lastPiece < course.grace ? nil : .memberSilent
        case .members: break
        case .memberChosen(let chosen):
            course.noteMove()
            return chosen == member ? nil : .moved
        case .inspected(false?, took: _): return .replicaDamaged
        case .inspected(true?, let duration):
            // It takes a hundredth of a processor at most, however large the suite is.
            nextInspection = now + max(course.timing.heartbeatInterval, duration * 100)
        case .inspected(nil, let duration):
            nextInspection = now + max(course.timing.retryInterval, duration * 10)
        }
        return nil
    }

    /// Does what is due.
    private func proceed(at moment: Moment, course: inout Course) -> FollowerMachine.Step {
        var next = self
        var actions: [FollowerAction] = []
        if let goal {
            if isBegun, goal.heartbeat.isReached(by: copy) {
                actions.append(.confirm(goal.heartbeat))
                next.goal = nil
                course.noteConfirmation()
            } else if moment.now - lastArrival >= goal.silence {
                return course.disconnect(because: .stalled, from: member, at: moment)
            }
        }
        if !isHeartbeatUnderway, nextHeartbeat <= moment.now {
            next.isHeartbeatUnderway = true
            actions.append(
                .sendHeartbeat(member: member, copy: copy, last: last, limit: course.grace, connection: connection)
            )
        }
        if nextLearning <= moment.now {
            next.nextLearning = moment.now + course.timing.membershipInterval
            actions.append(.learnMembers(member: member, connection: connection))
        }
        if course.isTimeToMove(at: moment.now) {
            actions.append(.chooseMember(connection: connection))
        }
        if let nextInspection, nextInspection <= moment.now {
            next.nextInspection = nil
            actions.append(.inspect(connection: connection))
        }
        return FollowerMachine.Step(state: .watching(next), actions: actions)
    }
}
