/// When something happens to a follower, and what chance has decided by then.
///
/// With these the follower's transitions are the same each time.
struct Moment: Sendable {
    let now: ContinuousClock.Instant
    /// From 0 to 1.
    let chance: Double
}

/// What happens to a follower.
enum FollowerEvent: Sendable {
    /// The moment that it has waited for has come.
    case time
    /// Whether the process has the host's lock, after ``FollowerAction/acquireLock``.
    case lock(isAcquired: Bool)
    /// The replica is a copy of the store.
    case prepared(Preparation)
    /// The follower itself has changed what the replica says about itself.
    case copied(ReplicaState)
    /// Something has come from a connection, perhaps an earlier one.
    case watch(WatchNews, connection: Int)
    /// What was to be done can't be done.
    case failed(Disconnection)
    case stop
}

/// What a comparison of the replica with the cluster has led to.
struct Preparation: Sendable {
    /// What the watch has to reach.
    var found: StoreStatus
    /// When the cluster had no more than that.
    var asked: ContinuousClock.Instant
    /// A member that has just answered.
    var member: Int
    var copy: ReplicaState
}

/// What comes from a connection, and from what was asked beside it.
enum WatchNews: Sendable {
    case begun
    /// A piece of the stream has come; what it has completed was applied.
    case arrived(ReplicaState)
    case ended(Disconnection)
    case heartbeat(Heartbeat)
    case heartbeatFailed(Disconnection)
    /// The watched member doesn't answer, while others may.
    case memberSilent
    /// The addresses of the cluster's members.
    case members([String])
    /// A member chosen at random, which answers, is asked first from now on; it may be the watched one.
    case memberChosen(Int)
    /// All of the replica was looked at; unknown where it was changed meanwhile.
    case inspected(isIntact: Bool?, took: Duration)
}

/// What a follower is to do next.
enum FollowerAction: Sendable {
    case acquireLock
    case releaseLock
    /// Compares the replica with the cluster, and makes it a copy.
    case prepare(listing: Bool)
    case openWatch(member: Int, from: Int64, connection: Int)
    case closeWatch
    case sendHeartbeat(member: Int, copy: ReplicaState, last: Heartbeat, limit: Duration, connection: Int)
    case learnMembers(member: Int, connection: Int)
    case chooseMember(connection: Int)
    case inspect(connection: Int)
    /// Records that the replica has what a heartbeat has found.
    case confirm(Heartbeat)
    case remember(addresses: [String])
    case avoid(member: Int)
    case discardToken(EtcdRefusal)
    case report(Disconnection)
}

/// Why a connection has ended, or can't begin.
enum Disconnection: Error, Hashable {
    /// Another process may follow.
    case lockLost
    case streamEnded(String)
    case tokenRefused(EtcdRefusal)
    case compacted
    case identityChanged
    /// Nothing has arrived for a time, and something is missing.
    case stalled
    case memberSilent
    /// Another member was chosen, so that members have about as many watches each.
    case moved
    case replicaDamaged
    /// This user may not read the suite, or is not known.
    case refused(String)
    case replaced
    case uninitialized

    init(_ failure: EtcdClient.Failure) {
        switch failure {
        case .refused(let refusal) where !refusal.isTemporary: self = .refused(refusal.message)
        case .replaced: self = .identityChanged
        default: self = .streamEnded("\(failure)")
        }
    }
}
