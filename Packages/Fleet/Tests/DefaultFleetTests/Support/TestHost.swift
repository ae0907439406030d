import Default
import Foundation
import Logging
import Synchronization

@testable import DefaultFleet

/// A host with one process: a replica in a directory of its own, and a follower that can be stopped and started.
final class TestHost: Sendable {
    let store: EtcdDefaults
    let directory: URL
    private let follower: Mutex<Follower?> = Mutex(nil)
    private let ends = Mutex(0)

    /// Much shorter times than a program's, since tests wait for them.
    static let timing = FollowerTiming(
        lockInterval: .milliseconds(50),
        heartbeatInterval: .milliseconds(700),
        grace: .seconds(1),
        connectLimit: .seconds(2),
        authenticationJitter: .milliseconds(50),
        retryInterval: .milliseconds(200)
    )

    init(
        _ cluster: EtcdCluster,
        suiteName: String = "suite",
        deadline: Duration = .seconds(10),
        directory: URL,
        sources: DefaultsSources? = nil,
        transport: (any EtcdTransport)? = nil,
        timing: FollowerTiming = TestHost.timing
    ) throws {
        self.directory = directory
        store = try EtcdDefaults(
            cluster,
            suiteName: suiteName,
            deadline: deadline,
            replicaURL: directory.appendingPathComponent("replica"),
            sources: sources,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            transport: try transport ?? HTTPTransport(cluster),
            timing: timing
        )
    }

    /// The directory of the host's copy.
    var replica: URL { directory.appendingPathComponent("replica") }

    deinit {
        follower.withLock { $0 }?.stop()
    }

    /// Starts to follow the cluster.
    func follow() {
        let follower = store.makeFollower()
        self.follower.withLock { $0 = follower }
        follower.start { [self] in ends.withLock { $0 += 1 } }
    }

    /// Stops to follow, without waiting for the end.
    func stopSoon() {
        follower.withLock { $0.take() }?.stop()
    }

    /// Stops to follow, and returns when the thread has ended.
    func stopFollowing() async throws {
        let before = ends.withLock { $0 }
        guard let follower = follower.withLock({ $0.take() }) else { return }
        follower.stop()
        try await eventually("the follower ends") { ends.withLock { $0 } > before }
    }

    /// Waits until the host has everything that the cluster has.
    func waitUntilCurrent() async throws {
        try await eventually("the host has a copy of the suite") { [store] in store.replica.state != nil }
        try await store.waitUntilCurrent(within: patience)
    }

    /// Runs a body with hosts of one suite, which has an identity, and which all follow.
    static func run<Result>(
        _ count: Int = 1,
        in cluster: TestCluster,
        suiteName: String = "suite",
        deadline: Duration = .seconds(10),
        _ body: ([TestHost]) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let hosts = try (0..<count).map { number in
                let place = directory.appendingPathComponent("host\(number)")
                return try TestHost(cluster.cluster, suiteName: suiteName, deadline: deadline, directory: place)
            }
            // Also when a test fails: they would go on.
            defer { hosts.forEach { $0.stopSoon() } }
            _ = try await onThread { try hosts[0].store.initialize() }
            for host in hosts {
                host.follow()
                try await host.waitUntilCurrent()
            }
            let result = try await body(hosts)
            for host in hosts {
                try await host.stopFollowing()
            }
            return result
        }
    }
}

/// What the stores of the test process report.
enum EventLog {
    private static let events = Mutex<[DefaultsDiagnostics.Event]>([])
    private static let responses = Mutex<[String: DefaultsDiagnostics.Handler]>([:])
    private static let isInstalled: Void = {
        DefaultsDiagnostics.handler = { event in
            events.withLock { $0.append(event) }
            event.error.store.flatMap { store in responses.withLock { $0[store] } }?(event)
        }
    }()

    static func install() {
        _ = isInstalled
    }

    /// Calls a handler at each event about a store, as a program's own handler is called.
    static func respond(to store: EtcdDefaults, with handler: @escaping DefaultsDiagnostics.Handler) {
        respond(to: store.storeDescription, with: handler)
    }

    /// Calls a handler at each event about what an event's error names as its store.
    static func respond(to store: String, with handler: @escaping DefaultsDiagnostics.Handler) {
        install()
        responses.withLock { $0[store] = handler }
    }

    /// The events about a store.
    static func events(of store: EtcdDefaults) -> [DefaultsDiagnostics.Event] {
        events.withLock { $0.filter { $0.error.store == store.storeDescription } }
    }

    /// The codes of the events about a store.
    static func codes(of store: EtcdDefaults) -> [DefaultsError.Code] {
        events(of: store).map(\.error.code)
    }
}
