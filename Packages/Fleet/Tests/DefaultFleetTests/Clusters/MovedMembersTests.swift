import Default
import Foundation
import Testing

@testable import DefaultFleet

extension ClusterTests {
    @Suite("Whose members move")
    struct MovedMembers {
        @Test("one after the other to other addresses: hosts, programs and new processes find them, by one endpoint")
        func moved() async throws {
            try await TestCluster.run(.init(memberCount: 3)) { cluster in
                // One is enough, since the cluster names the others.
                let endpoint = EtcdCluster(endpoints: [cluster.endpoints[0]])
                try await withTemporaryDirectory { directory in
                    var timing = TestHost.timing
                    timing.membershipInterval = .milliseconds(300)
                    let host = try TestHost(endpoint, directory: directory, timing: timing)
                    defer { host.stopSoon() }
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    // It only writes, and the other one follows for it.
                    let program = try TestHost(endpoint, directory: directory)
                    try await eventually("the host knows all members") {
                        host.store.replica.state?.addresses.count == 3
                    }
                    for member in 0..<3 {
                        try cluster.move(member)
                        try await cluster.waitUntilHealthy()
                        let address = cluster.endpoints[member]
                        try await eventually("the host knows the new address") {
                            host.store.replica.state?.addresses.contains(address.absoluteString) == true
                        }
                    }
                    try cluster.control("put", "defaults/suite/k/n", "1")
                    try await eventually("the host has the value") {
                        host.store.storedValue(forKey: "n") == .integer(1)
                    }
                    try await program.store.perform { try program.store.setStoredValue(.integer(2), forKey: "n") }
                    try await host.stopFollowing()
                    // With the addresses of before.
                    let later = try TestHost(endpoint, directory: directory)
                    defer { later.stopSoon() }
                    later.follow()
                    try cluster.control("put", "defaults/suite/k/n", "3")
                    try await eventually("a new process has the value") {
                        later.store.storedValue(forKey: "n") == .integer(3)
                    }
                    try await later.stopFollowing()
                }
            }
        }

        @Test("addresses without TLS are not used beside endpoints with it, nor those of this machine beside others")
        func usableAddresses() throws {
            func roster(_ endpoint: String) throws -> Roster {
                Roster(endpoints: [try #require(URL(string: endpoint))])
            }
            let members = try ["http://etcd2:2379", "https://etcd3:2379", "https://127.0.0.1:2379"].map { url in
                Roster.Named(id: url, urls: [try #require(URL(string: url))])
            }
            func usable(_ endpoint: String) throws -> [String] {
                try roster(endpoint).usableAddresses(of: members).map(\.absoluteString)
            }
            #expect(try usable("https://etcd1:2379") == ["https://etcd3:2379"])
            #expect(try usable("http://etcd1:2379") == ["http://etcd2:2379"])
            #expect(try usable("https://localhost:1") == ["https://etcd3:2379", "https://127.0.0.1:2379"])
        }
    }
}
