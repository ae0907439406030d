/// How often a follower looks; tests look more often.
struct FollowerTiming: Sendable {
    /// Between two looks at whether the process that has the host's lock still has it.
    var lockInterval = Duration.milliseconds(200)
    /// Between two heartbeats.
    var heartbeatInterval = Duration.seconds(15)
    /// Between two questions where the cluster's members are.
    var membershipInterval = Duration.seconds(60)
    /// How long at most, by chance, until a follower that had to leave a member moves to one chosen at random.
    var moveInterval = Duration.seconds(300)
    /// How long a member may take to deliver what another one has, or to answer a heartbeat; longer over a link on
    /// which heartbeats take long.
    var grace = Duration.seconds(2)
    /// How long a request may take while the follower connects.
    var connectLimit = Duration.seconds(3)
    /// How long to wait at most, by chance, before a password is sent: hosts may start together.
    var authenticationJitter = Duration.seconds(1)
    /// Between two looks at a cluster that can't be followed, and after a heartbeat that has failed.
    var retryInterval = Duration.seconds(1)
}
