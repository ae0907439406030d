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
    /// Between changes it is found out every 15 seconds, and after a failure once a second. Over a link that loses
    /// packets it may take several attempts. ``trouble`` says why it is longer.
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
    /// What the host's follower has run into since it last confirmed the copy; nil while there is nothing, and without
    /// a follower.
    ///
    /// ``Trouble/Cause/strayMember`` stays while the copy is confirmed by other members.
    /// The follower goes on trying, so the copy may be confirmed again without anything being done.
    public let trouble: Trouble?

    /// Why a host's copy is not confirmed.
    public struct Trouble: Sendable, Hashable {
        /// What to look at first.
        public let cause: Cause
        /// Sentences that say what has failed, and what to do.
        public let explanation: String

        /// What to look at first; later versions may have more cases.
        public enum Cause: String, Sendable, Hashable, CaseIterable {
            /// The user's name or password is wrong.
            case password
            /// The cluster has not accepted the user's token, or asks for a user and none was given.
            case authentication
            /// The user may not read the suite.
            case permission
            /// A member's certificate is not valid, or a member has refused this program's.
            case certificate
            /// No member answers, or most of them are stopped or can't reach each other.
            case unreachable
            /// The cluster has refused a request for another reason.
            case refused
            /// The host's copy can't be changed: its disk is full, for example.
            case copy
            /// The follower has neither confirmed the copy nor recorded a failure: it is stopped, hangs, or has a very
            /// slow link.
            case silence
            /// One of the members belongs to another cluster.
            case strayMember
        }
    }
}

extension Freshness {
    init(of replica: Replica, followedWith lock: HostLock?, troubles: TroubleRecord) {
        let state = replica.state
        revision = state?.revision
        unconfirmedFor = lock?.timeSinceConfirmation
        isFollowing = lock?.isAcquired ?? false
        hasFollower = lock?.isHeld ?? false
        replacement = state?.replacement
        trouble =
            hasFollower
            ? troubles.current(ofThisProcess: isFollowing) ?? Trouble(silenceOf: unconfirmedFor) : nil
    }
}
