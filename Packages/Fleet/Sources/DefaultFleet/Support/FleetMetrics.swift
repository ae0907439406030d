internal import Metrics

/// What the library counts, for the metrics system that the program has set up.
struct FleetMetrics: Sendable {
    /// Transactions of the cluster that were applied.
    let transactions: Counter
    /// How often all of the suite was listed.
    let listings: Counter
    /// How often a watch was begun again.
    let reconnections: Counter
    /// How often the cluster has refused what a follower asked for: a password, a token or a permission.
    let refusals: Counter
    /// How often the copy was found damaged, deleted or exchanged.
    let damages: Counter
    /// The revision of the replica.
    let revision: Gauge
    /// The revision of the cluster at the last heartbeat.
    let clusterRevision: Gauge
    /// The number of endpoints that lead to members of another cluster.
    let strays: Gauge
    /// Writes that the cluster has accepted.
    let writes: Counter
    /// Writes that failed.
    let failures: Counter
    /// Bodies that ran again because of a conflict.
    let conflicts: Counter
    /// The time of a write until it can be read.
    let writeTime: Timer

    init(suiteName: String) {
        let dimensions = [("suite", suiteName)]
        transactions = Counter(label: "default_fleet_transactions", dimensions: dimensions)
        listings = Counter(label: "default_fleet_listings", dimensions: dimensions)
        reconnections = Counter(label: "default_fleet_reconnections", dimensions: dimensions)
        refusals = Counter(label: "default_fleet_refusals", dimensions: dimensions)
        damages = Counter(label: "default_fleet_damages", dimensions: dimensions)
        clusterRevision = Gauge(label: "default_fleet_cluster_revision", dimensions: dimensions)
        revision = Gauge(label: "default_fleet_revision", dimensions: dimensions)
        strays = Gauge(label: "default_fleet_stray_members", dimensions: dimensions)
        writes = Counter(label: "default_fleet_writes", dimensions: dimensions)
        failures = Counter(label: "default_fleet_write_failures", dimensions: dimensions)
        conflicts = Counter(label: "default_fleet_conflicts", dimensions: dimensions)
        writeTime = Timer(label: "default_fleet_write_time", dimensions: dimensions)
    }
}
