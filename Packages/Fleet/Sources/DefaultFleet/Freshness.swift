/// How old what a host reads may be.
///
/// See ``EtcdDefaults/freshness``.
public struct Freshness: Sendable, Hashable {
    /// The revision of the cluster whose contents the host has; nil before the first time that it reached the cluster.
    ///
    /// Revisions count the changes of the whole cluster, so this one may be below the cluster's own although nothing is
    /// missing.
    public let revision: Int64?
    /// How long ago the host's copy was last found to have everything that the cluster had; nil if it wasn't since the
    /// host was started.
    ///
    /// Between changes it is found out every 15 seconds. So much more than that means that the cluster can't be
    /// reached, or that no process of the host follows it.
    public let unconfirmedFor: Duration?
    /// Whether this process follows the cluster for the host.
    public let isFollowing: Bool
    /// Whether any process of the host follows the cluster.
    ///
    /// It is false for up to a second after such a process has ended, until another one takes over.
    public let hasFollower: Bool
    /// Why writes are refused: the cluster's contents are not those that the host has a copy of; nil if they are.
    ///
    /// See ``EtcdDefaults/acceptReplacement(emptyingAllHosts:)``.
    public let replacement: String?
}

extension Freshness {
    init(of replica: Replica, followedWith lock: HostLock?) {
        let state = replica.state
        revision = state?.revision
        unconfirmedFor = lock?.timeSinceConfirmation
        isFollowing = lock?.isAcquired ?? false
        hasFollower = lock?.isHeld ?? false
        replacement = state?.replacement
    }
}
