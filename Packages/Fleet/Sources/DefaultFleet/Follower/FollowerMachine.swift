/// Decides what a follower does.
///
/// It is in one of a few states, each in a file of its own:
///
/// 1. ``Standby``: another process of the host follows. It becomes *pausing* or *connecting* with the host's lock.
/// 2. ``Connecting``: the replica is being compared with the cluster, and listed if it has to be. Then it is
///    *watching*.
/// 3. ``Watching``: changes come, and heartbeats show that none is missing.
/// 4. ``Pausing``: after a disconnection, and before the next connection.
///
/// A transition is a function of the state, what happens, and the ``Moment``: it asks nobody, and waits for nothing.
/// ``Follower`` does what it decides.
struct FollowerMachine: Sendable {
    enum State: Sendable {
        case standby(Standby)
        case connecting(Connecting)
        case watching(Watching)
        case pausing(Pausing)
        case stopped
    }

    /// The outcome of a transition.
    struct Step {
        var state: State
        var actions: [FollowerAction] = []
    }

    private(set) var state: State
    private(set) var course: Course

    init(timing: FollowerTiming, hasUser: Bool, at now: ContinuousClock.Instant) {
        state = .standby(Standby(wakeUp: now))
        course = Course(timing: timing, hasUser: hasUser)
    }

    /// When the machine wants to know the time; nil if it waits for something else.
    var wakeUp: ContinuousClock.Instant? {
        switch state {
        case .standby(let standby): standby.wakeUp
        case .connecting, .stopped: nil
        case .watching(let watching): course.nextMove.map { min($0, watching.wakeUp) } ?? watching.wakeUp
        case .pausing(let pausing): pausing.end
        }
    }

    var hasStopped: Bool {
        if case .stopped = state { true } else { false }
    }

    /// Makes the transition for something that happens.
    ///
    /// - Returns: What is to be done, in this order.
    mutating func handle(_ event: FollowerEvent, at moment: Moment) -> [FollowerAction] {
        let step: Step
        switch (event, state) {
        case (_, .stopped): return []
        case (.stop, .standby): step = Step(state: .stopped)
        case (.stop, _): step = Step(state: .stopped, actions: [.closeWatch, .releaseLock])
        case (_, .standby(let standby)): step = standby.step(event, at: moment, course: &course)
        case (_, .connecting(let connecting)): step = connecting.step(event, at: moment, course: &course)
        case (_, .watching(let watching)): step = watching.step(event, at: moment, course: &course)
        case (_, .pausing(let pausing)): step = pausing.step(event, at: moment, course: &course)
        }
        state = step.state
        return step.actions
    }
}

/// What a follower keeps in mind from one connection to the next.
struct Course: Sendable {
    let timing: FollowerTiming
    let hasUser: Bool
    /// The number of connections so far.
    private(set) var connection = 0
    /// Whether all of the suite has to be listed.
    private(set) var needsListing = false
    /// When to move to a member chosen at random; nil while no member had to be left.
    ///
    /// All hosts of a member that is restarted go to the same other one. Without this they would stay there.
    private(set) var nextMove: ContinuousClock.Instant?
    /// Connections in a row that ended since nothing came.
    private var stalls = 0
    private var pauses: Backoff
    private var refusals: Backoff
    /// How long heartbeats have taken of late.
    private var latency = Duration.zero

    init(timing: FollowerTiming, hasUser: Bool) {
        self.timing = timing
        self.hasUser = hasUser
        pauses = Self.pauses(timing)
        refusals = Self.refusals(timing)
    }

    private static func pauses(_ timing: FollowerTiming) -> Backoff {
        Backoff(from: .milliseconds(20), to: timing.retryInterval)
    }

    private static func refusals(_ timing: FollowerTiming) -> Backoff {
        Backoff(from: timing.retryInterval, to: timing.heartbeatInterval)
    }

    /// How long a member may take over a link that takes its time too.
    var grace: Duration { timing.grace + min(latency * 4, timing.heartbeatInterval / 2) }

    mutating func noteLatency(_ latest: Duration) {
        latency = latency == .zero ? latest : latency * 0.75 + latest * 0.25
    }

    /// Whether it is time to choose a member; if the chosen one doesn't answer, it is time again later.
    mutating func isTimeToMove(at now: ContinuousClock.Instant) -> Bool {
        guard let nextMove, nextMove <= now else { return false }
        self.nextMove = now + timing.moveInterval
        return true
    }

    /// Notes that a member that answers was chosen.
    mutating func noteMove() {
        nextMove = nil
    }

    /// Begins a connection.
    mutating func connect() -> FollowerMachine.Step {
        connection += 1
        return FollowerMachine.Step(
            state: .connecting(Connecting()),
            actions: [.prepare(listing: needsListing)]
        )
    }

    /// Notes that a watch has begun.
    mutating func noteBeginning() {
        needsListing = false
        pauses = Self.pauses(timing)
        refusals = Self.refusals(timing)
    }

    /// Notes that the copy has what the cluster had.
    mutating func noteConfirmation() {
        stalls = 0
    }

    /// Ends a connection to a member; nil for none.
    mutating func disconnect(
        because disconnection: Disconnection,
        from member: Int?,
        at moment: Moment
    ) -> FollowerMachine.Step {
        var actions: [FollowerAction] = [.closeWatch, .report(disconnection)]
        var pause: Duration?
        var isMemberAvoided = false
        switch disconnection {
        case .lockLost:
            actions.append(.releaseLock)
            return FollowerMachine.Step(state: .standby(Standby(wakeUp: moment.now)), actions: actions)
        case .compacted, .identityChanged, .replicaDamaged: needsListing = true
        case .stalled:
            isMemberAvoided = true
            // Another member may bring what this one doesn't. If none does, no watch will.
            stalls += 1
            needsListing = needsListing || stalls > 1
        case .streamEnded, .memberSilent: isMemberAvoided = true
        case .moved: break
        case .tokenRefused(let refusal):
            actions.append(.discardToken(refusal))
            pause = timing.authenticationJitter * moment.chance
        case .refused: pause = refusals.pause(chance: moment.chance)
        case .replaced, .uninitialized: pause = timing.retryInterval
        }
        if isMemberAvoided, let member {
            actions.append(.avoid(member: member))
            nextMove = moment.now + timing.moveInterval * moment.chance
        }
        let end = moment.now + (pause ?? pauses.pause(chance: moment.chance))
        return FollowerMachine.Step(state: .pausing(Pausing(end: end)), actions: actions)
    }
}
