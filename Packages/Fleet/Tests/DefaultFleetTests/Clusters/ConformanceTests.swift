import DefaultTesting
import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

extension ClusterTests {
    @Test("is a store like any other")
    func conformance() async throws {
        try await TestCluster.run { cluster in
            let count = Mutex(0)
            let conformance = StoreConformance(
                capabilities: [.rollback, .threads, .severalStores, .ownChanges]
            ) { body in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let directory = cluster.directory.appendingPathComponent("host\(number)")
                let host = try TestHost(cluster.cluster, suiteName: "suite\(number)", directory: directory)
                try host.store.initialize()
                host.follow()
                _ = host.store.replica.wait(until: Deadline(after: .seconds(20))) { host.store.replica.state != nil }
                try host.store.flush()
                try body(host.store)
                host.stopSoon()
            }
            for check in StoreConformance.checks {
                let findings = await onThread { conformance.findings(of: check) }
                #expect(findings == [], "\(check)")
            }
        }
    }
}
