public import Default
public import Foundation
public import Logging
internal import Synchronization

/// A suite of settings that several machines share, kept in etcd, and read from a copy on each host.
///
/// ```swift
/// let cluster = EtcdCluster(endpoints: [url1, url2, url3])
/// let flags = try EtcdDefaults(cluster, suiteName: "com.example.shop")
/// let services = ServiceGroup(services: [flags, server], logger: logger)
/// try await services.run()
/// ```
///
/// ```swift
/// Defaults(suite: flags)[.isCheckoutOpen]                                             // local, never waits
/// try await flags.perform { try Defaults(suite: flags).save(false, for: .isCheckoutOpen) }
/// ```
///
/// An operator prepares the suite once, with ``initialize()``.
///
/// ## Reads
///
/// Reads are local: they come from a ``FileDefaults`` suite of this host, its *replica*, never wait, and need no
/// cluster. One process of the host follows the cluster and keeps the replica up to date: one that has called
/// ``run()``. When it ends, another one takes over. What the cluster changed together becomes visible together, in the
/// cluster's order, and never goes back.
///
/// ## Writes
///
/// Writes block until the cluster has them and the replica has them too, at most until the deadline. So in asynchronous
/// code they belong into ``perform(_:)``; on a thread of NIO's event loops, all calls that block are refused, with
/// ``DefaultsError/Code/blockingCall``. ``transaction(_:)`` and everything called `update` store only if nothing of
/// what they have read was changed by others meanwhile; otherwise **the body runs again**, until the deadline. A
/// transaction reads 126 keys and writes 127 at most, and has about 1.5 MB.
///
/// A write that throws has stored nothing, with two exceptions. With ``DefaultsError/Code/outcomeUnknown`` it may take
/// effect. With ``DefaultsError/Code/storeReplaced`` a cluster that has gone back to an earlier revision may have it.
///
/// ## Threads and processes
///
/// Any number of threads and processes may use a suite at once. Writes of one object are made one after the other.
public final class EtcdDefaults: Sendable {
    /// The cluster.
    public let cluster: EtcdCluster
    /// The suite's name.
    public let suiteName: String
    /// How long a write takes at most.
    public let deadline: Duration
    /// "EtcdDefaults" with the suite's name and the cluster's endpoints.
    public let storeDescription: String
    /// The sources that this host reads beside the cluster's values; nil without any.
    public let sources: DefaultsSources?

    let replica: Replica
    let lock: HostLock
    let troubles: TroubleRecord
    let client: EtcdClient
    let keys: SuiteKeys
    let reader: StoreReader
    let timing: FollowerTiming
    let logger: Logger
    let metrics: FleetMetrics
    let writeLock = WriteLock()
    let writing: WritingState
    let sourceObservers = SourceObservers()

    /// Opens this host's copy of a suite, without sending anything.
    ///
    /// What the host had before can be read at once.
    ///
    /// - Parameters:
    ///   - cluster: The cluster.
    ///   - suiteName: One path component: 1 to 190 bytes of UTF-8, no slash, no NUL. The suite's keys in the cluster
    ///     begin with `defaults/<suiteName>/`.
    ///   - deadline: How long a write takes at most; two seconds by default. Electing a new leader takes about that
    ///     long.
    ///   - replicaURL: The file URL of the replica's directory; by default `<suiteName>.fleet.defaults` where
    ///     ``FileDefaults/init(suiteName:in:durability:lockTimeout:mandatory:overrides:fallbacks:)`` puts its suites.
    ///     All processes of a host that share a replica must run as one user.
    ///   - mandatory: Sources of this host whose values the program can't change; none by default, and none by the
    ///     suite's name: what all hosts have is the cluster's.
    ///   - overrides: Sources of this host above the cluster's values; none by default.
    ///   - fallbacks: Sources of this host that count while the cluster has no value; none by default.
    ///   - logger: Receives what the follower does.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidSuiteName``,
    ///   ``DefaultsError/Code/storeUnavailable`` (the replica can't be opened, the cluster has no endpoint or an
    ///   invalid one, or a file of certificates can't be read), ``DefaultsError/Code/storeBusy`` or
    ///   ``DefaultsError/Code/newerFormat``.
    public convenience init(
        _ cluster: EtcdCluster,
        suiteName: String,
        deadline: Duration = .seconds(2),
        replicaURL: URL? = nil,
        mandatory: [any DefaultsSource] = [],
        overrides: [any DefaultsSource] = [],
        fallbacks: [any DefaultsSource] = [],
        logger: Logger = Logger(label: "default.fleet")
    ) throws(DefaultsError) {
        let transport = try HTTPTransport(to: cluster, for: Self.describe(suiteName, in: cluster))
        try self.init(
            cluster,
            suiteName: suiteName,
            deadline: deadline,
            replicaURL: replicaURL,
            sources: DefaultsSources(mandatory: mandatory, overrides: overrides, fallbacks: fallbacks),
            logger: logger,
            transport: transport,
            timing: FollowerTiming()
        )
    }

    init(
        _ cluster: EtcdCluster,
        suiteName: String,
        deadline: Duration,
        replicaURL: URL?,
        sources: DefaultsSources? = nil,
        logger: Logger,
        transport: any EtcdTransport,
        timing: FollowerTiming
    ) throws(DefaultsError) {
        self.cluster = cluster
        self.suiteName = suiteName
        self.deadline = deadline
        self.timing = timing
        let description = Self.describe(suiteName, in: cluster)
        storeDescription = description
        var logger = logger
        logger[metadataKey: "suite"] = "\(suiteName)"
        self.logger = logger
        metrics = FleetMetrics(suiteName: suiteName)
        // Checked as a name in any case: it is part of the keys.
        keys = try SuiteKeys(validating: suiteName, store: description)
        let suite: FileDefaults
        if let replicaURL {
            suite = try FileDefaults(url: replicaURL)
        } else {
            // By its URL: one by name has the sources of its name, and the replica is the cluster's values only.
            suite = try FileDefaults(url: FileDefaults(suiteName: Self.replicaName(ofSuite: suiteName)).url)
        }
        replica = Replica(suite: suite)
        do {
            let place = try suite.url
            lock = try HostLock(at: place.appendingPathComponent("follower").path)
            troubles = TroubleRecord(inReplicaAt: place)
        } catch {
            throw .unavailable("The replica's directory can't be written: \(error)", store: description)
        }
        client = EtcdClient(cluster, transport: transport) { [replica] in replica.state?.memory }
        reader = StoreReader(client: client, keys: keys)
        writing = WritingState(writer: Writer(client: client, keys: keys, storeDescription: description))
        self.sources = sources
        sources?.connect { [sourceObservers] keys in sourceObservers.notify(keys) }
    }

    /// The name of the suite on this host that is the copy of a cluster's suite.
    static func replicaName(ofSuite name: String) -> String { name + ".fleet" }

    static func describe(_ suiteName: String, in cluster: EtcdCluster) -> String {
        "EtcdDefaults(\(suiteName) in \(cluster))"
    }

    /// What the thread that has the write lock is doing.
    final class WritingState: @unchecked Sendable {
        // Used with the write lock only.
        let writer: Writer
        var session: WriteSession?
        /// How often the lock had been acquired when the session began.
        var depth = 0

        init(writer: Writer) {
            self.writer = writer
        }
    }
}

extension EtcdDefaults {
    /// How old what this host reads may be.
    public var freshness: Freshness { Freshness(of: replica, followedWith: lock, troubles: troubles) }
}
