import Default
import DefaultConformance
import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

extension ClusterTests {
    @Test("is a store like any other, with and without sources")
    func conformance() async throws {
        try await TestCluster.run { cluster in
            let hosts = NumberedHosts(cluster)
            let conformance = StoreConformance(
                capabilities: [.rollback, .threads, .severalStores, .ownChanges]
            ) { body in try hosts.withStore(nil, body) }
            .withSources { sources, body in
                let sources = DefaultsSources(
                    mandatory: sources.mandatory,
                    overrides: sources.overrides,
                    fallbacks: sources.fallbacks
                )
                try hosts.withStore(sources, body)
            }
            for check in StoreConformance.checks {
                let findings = await onThread { conformance.findings(of: check) }
                #expect(findings == [], "\(check)")
            }
        }
    }

    @Test("keeps the values of a host's sources out of the cluster and out of the copy")
    func sourcesStayOnTheHost() async throws {
        try await TestCluster.run { cluster in
            try await TestHost.run(in: cluster) { hosts in
                let other = hosts[0].store
                let sources = DefaultsSources(
                    overrides: [.values(["flag": true], name: "this host")],
                    fallbacks: [.values(["limit": 5], name: "vendor")]
                )
                let place = hosts[0].directory.appendingPathComponent("beside")
                let host = try TestHost(cluster.cluster, directory: place, sources: sources)
                host.follow()
                try await host.waitUntilCurrent()
                let store = host.store
                try await onThread {
                    try other.setStoredValue(false, forKey: "flag")
                    try store.flush()
                    #expect(store.storedValue(forKey: "flag") == true && store.ownValue(forKey: "flag") == false)
                    #expect(store.storedValue(forKey: "limit") == 5 && store.storedKeys() == ["flag"])
                    try store.setStoredValue(7, forKey: "limit")
                    try other.flush()
                }
                #expect(other.storedValue(forKey: "limit") == 7 && other.storedValue(forKey: "flag") == false)
                #expect(store.replica.isIntact == true)
                try await host.stopFollowing()
            }
        }
    }
}

/// Hosts of suites with a number each.
private final class NumberedHosts: Sendable {
    private let cluster: TestCluster
    private let count = Mutex(0)

    init(_ cluster: TestCluster) { self.cluster = cluster }

    func withStore(_ sources: DefaultsSources?, _ body: (any DefaultsStore) throws -> Void) throws {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let directory = cluster.directory.appendingPathComponent("host\(number)")
        let host = try TestHost(
            cluster.cluster,
            suiteName: "suite\(number)",
            directory: directory,
            sources: sources
        )
        try host.store.initialize()
        host.follow()
        _ = host.store.replica.wait(until: Deadline(after: .seconds(20))) { host.store.replica.state != nil }
        try host.store.flush()
        try body(host.store)
        host.stopSoon()
    }
}
