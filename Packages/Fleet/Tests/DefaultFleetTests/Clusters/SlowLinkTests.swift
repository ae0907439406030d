import Default
import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

extension ClusterTests {
    @Suite("Behind a slow link")
    struct BehindSlowLink {
        /// Runs a body with a host that follows, and with one behind a link of the size of its connection's limit and
        /// more.
        private func run(_ body: (TestHost, TestHost, RecordingTransport) async throws -> Void) async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let link = try SlowLink(to: cluster.endpoints[0], bytesPerSecond: 900_000)
                    defer { link.close() }
                    let directory = hosts[0].directory.appendingPathComponent("far")
                    let endpoint = EtcdCluster(endpoints: [link.url])
                    let transport = RecordingTransport(try HTTPTransport(endpoint))
                    let far = try TestHost(endpoint, directory: directory, transport: transport)
                    defer { far.stopSoon() }
                    try await body(hosts[0], far, transport)
                    try await far.stopFollowing()
                }
            }
        }

        private func store(_ count: Int, of size: Int, in host: TestHost) async throws {
            let store = host.store
            try await store.perform {
                for number in 0..<count {
                    let value = PropertyListValue.string(String(repeating: "x", count: size))
                    try store.setStoredValue(value, forKey: "key \(number)")
                }
            }
        }

        @Test("changes that take longer than a connection may be silent arrive")
        func backlog() async throws {
            try await run { near, far, transport in
                far.follow()
                try await far.waitUntilCurrent()
                try await far.stopFollowing()
                // 2.7 MB as JSON: 3 seconds.
                try await store(200, of: 10_000, in: near)
                far.follow()
                let before = transport.listings
                try await far.waitUntilCurrent()
                #expect(far.store.storedKeys().count == 200)
                // By the watch, and not by a listing.
                #expect(transport.listings == before)
            }
        }

        @Test("a value that takes longer than a member may be silent is listed, and found again")
        func listing() async throws {
            try await run { near, far, _ in
                // 1.9 MB as JSON: 2 seconds.
                try await store(1, of: 1_400_000, in: near)
                far.follow()
                try await far.waitUntilCurrent()
                try await far.stopFollowing()
                #expect(far.store.storedKeys().count == 1)
                far.follow()
                try await far.waitUntilCurrent()
            }
        }

        @Test("a transaction that comes in several fragments becomes visible at once")
        func fragments() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let transport = RecordingTransport(try HTTPTransport(cluster.cluster))
                    let host = try TestHost(cluster.cluster, directory: directory, transport: transport)
                    let store = host.store
                    _ = try await onThread { try store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    try await host.stopFollowing()
                    let writer = try TestHost(cluster.cluster, directory: directory.appendingPathComponent("writer"))
                    writer.follow()
                    try await writer.waitUntilCurrent()
                    try await writer.store.perform {
                        for number in 1...6 {
                            try writer.store.transaction {
                                for key in 0..<7 {
                                    let text = "\(number)" + String(repeating: "x", count: 100_000)
                                    try writer.store.setStoredValue(.string(text), forKey: "key \(key)")
                                }
                            }
                        }
                    }
                    let mixed = Mutex<[Set<String>]>([])
                    let observation = store.observeChanges { _ in
                        // The keys are looked at while nothing changes.
                        let found = try? store.replica.suite.withExclusiveAccess {
                            Set(
                                store.storedKeys().map {
                                    "\(store.storedValue(forKey: $0) ?? .boolean(false))".prefix(9)
                                }
                            )
                        }
                        if found?.count != 1 {
                            mixed.withLock { $0.append(Set(found?.map(String.init) ?? [])) }
                        }
                    }
                    host.follow()
                    try await host.waitUntilCurrent()
                    #expect(transport.streamed.contains(#""fragment":true"#))
                    observation.cancel()
                    #expect(mixed.withLock { $0 } == [])
                    #expect(store.storedKeys().count == 7)
                    for host in [host, writer] {
                        try await host.stopFollowing()
                    }
                }
            }
        }
    }
}
