import Default
import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

extension WaitingClusterTests {
    @Suite("With an endpoint of another cluster")
    struct StrayMember {
        /// Runs a body with a cluster that has the suite and one value, and with endpoints of which the last one leads
        /// to a cluster that has nothing.
        private func run(_ body: (TestCluster, EtcdCluster, TestCluster) async throws -> Void) async throws {
            try await TestCluster.run(.init(memberCount: 3)) { cluster in
                let store = try EtcdDefaults(
                    cluster.cluster,
                    suiteName: "suite",
                    deadline: .seconds(10),
                    replicaURL: cluster.directory.appendingPathComponent("operator")
                )
                _ = try await onThread { try store.initialize() }
                try cluster.control("put", "defaults/suite/k/n", "1")
                try await TestCluster.run { other in
                    let endpoints = cluster.endpoints.prefix(2) + other.endpoints
                    try await body(cluster, EtcdCluster(endpoints: Array(endpoints)), other)
                }
            }
        }

        /// Makes a client ask the last endpoint first.
        private func preferLast(_ client: EtcdClient) {
            client.preferred.store(2, ordering: .relaxed)
        }

        @Test("hosts that have a copy and new ones follow the cluster of most endpoints", arguments: [false, true])
        func hosts(otherHasIdentity: Bool) async throws {
            EventLog.install()
            try await run { cluster, endpoints, other in
                if otherHasIdentity {
                    let store = try EtcdDefaults(
                        other.cluster,
                        suiteName: "suite",
                        replicaURL: other.directory.appendingPathComponent("operator")
                    )
                    _ = try await onThread { try store.initialize() }
                }
                try await withTemporaryDirectory { directory in
                    let hosts = try (0..<3).map { number in
                        try TestHost(endpoints, directory: directory.appendingPathComponent("host\(number)"))
                    }
                    defer { hosts.forEach { $0.stopSoon() } }
                    for host in hosts {
                        preferLast(host.store.client)
                        host.follow()
                    }
                    for host in hosts {
                        try await host.waitUntilCurrent()
                        #expect(host.store.storedValue(forKey: "n") == .integer(1))
                        try await eventually("the other member is named") {
                            host.store.client.strays == other.endpoints
                        }
                        try await eventually("those who look at the host are told of it") {
                            let trouble = host.store.freshness.trouble
                            return trouble?.cause == .strayMember
                                && trouble?.explanation.contains(other.endpoints[0].address) == true
                        }
                    }
                    // Again, with a copy.
                    for host in hosts {
                        try await host.stopFollowing()
                        preferLast(host.store.client)
                        host.follow()
                    }
                    try cluster.control("put", "defaults/suite/k/n", "2")
                    for host in hosts {
                        try await host.waitUntilCurrent()
                        #expect(host.store.storedValue(forKey: "n") == .integer(2))
                        try await host.store.perform { try host.store.setStoredValue(.integer(2), forKey: "n") }
                        try await host.stopFollowing()
                        #expect(!EventLog.codes(of: host.store).contains(.storeReplaced))
                    }
                }
            }
        }

        @Test("an operator reads and writes the cluster of most endpoints, and can't give the suite a second identity")
        func operators() async throws {
            try await run { cluster, endpoints, other in
                for _ in 0..<6 {
                    let operations = try SuiteOperator(endpoints, suiteName: "suite")
                    preferLast(operations.client)
                    let value = try await onThread { try operations.value(of: "n")?.value }
                    #expect(value == .integer(1))
                    let count = try await onThread { try operations.values().values.count }
                    #expect(count == 1)
                }
                // The other cluster gets nothing, whichever member is asked first.
                let address = try #require(other.endpoints.first).address
                for _ in 0..<3 {
                    let operations = try SuiteOperator(endpoints, suiteName: "suite")
                    preferLast(operations.client)
                    await #expect {
                        try await onThread { try operations.initialize(withCopy: nil) }
                    } throws: { error in
                        "\(error)".contains("different clusters") && "\(error)".contains(address)
                    }
                }
                #expect(try other.control("get", "--prefix", "defaults/") == "")
            }
        }

        @Test("a suite gets its identity only when all members have answered")
        func silentMember() async throws {
            try await TestCluster.run(.init(memberCount: 3)) { cluster in
                let operations = try SuiteOperator(cluster.cluster, suiteName: "suite", deadline: .seconds(10))
                // Perhaps the leader: the others answer when they have another one.
                cluster.kill(2)
                await #expect {
                    try await onThread { try operations.initialize(withCopy: nil) }
                } throws: { "\($0)".contains("does not answer") }
                try cluster.start(2)
                try await eventually("it answers") {
                    (try? cluster.control(endpoint: 2, "get", "x", "--command-timeout=1s")) != nil
                }
                #expect(try await onThread { try operations.initialize(withCopy: nil) })
            }
        }
    }

    @Suite("Which cluster endpoints lead to")
    struct ClusterOfEndpoints {
        private func cluster(_ answers: [String?], size: Int = 3, known: String? = nil) -> String? {
            let url = URL(fileURLWithPath: "/")
            let entries = answers.map { answer in
                Roster.Entry(url: url, clusterID: answer, clusterSize: answer == nil ? nil : size)
            }
            return Roster.cluster(of: entries, known: known)
        }

        @Test("is decided by most of them, then by what is known, then by the only one that may have all of them")
        func decision() {
            #expect(cluster(["a"]) == "a")
            #expect(cluster(["b"], known: "a") == "b")
            #expect(cluster(["a", "b", "a"]) == "a")
            #expect(cluster(["a", "b", "b"], known: "a") == "b")
            #expect(cluster(["a", "b", nil]) == nil)
            #expect(cluster(["a", "b", nil], known: "b") == "b")
            #expect(cluster(["a", "b", "c"], known: "d") == nil)
            #expect(cluster(["a", nil, nil]) == "a")
            #expect(cluster([nil, "a", nil], size: 1) == nil)
            #expect(cluster([nil, "b", nil], size: 1, known: "a") == nil)
            #expect(cluster([nil, nil, nil], known: "a") == "a")
            #expect(cluster([nil, nil, nil]) == nil)
        }
    }
}
