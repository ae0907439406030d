import Default
import DefaultConformance
import Foundation
import Testing

@testable import DefaultFleet

extension ClusterTests {
    @Suite("Whose cluster changes beside the suite")
    struct Heartbeats {
        /// Runs a body with a host that follows, and with what it sends.
        private func run(
            _ options: TestCluster.Options = .init(),
            _ body: (TestCluster, TestHost, RecordingTransport) async throws -> Void
        ) async throws {
            try await TestCluster.run(options) { cluster in
                try await withTemporaryDirectory { directory in
                    let transport = RecordingTransport(try HTTPTransport(cluster.cluster))
                    let host = try TestHost(cluster.cluster, directory: directory, transport: transport)
                    defer { host.stopSoon() }
                    _ = try await onThread { try host.store.initialize() }
                    try cluster.control("put", "defaults/suite/k/n", "1")
                    host.follow()
                    try await host.waitUntilCurrent()
                    try await body(cluster, host, transport)
                    try await host.stopFollowing()
                }
            }
        }

        /// Changes what is not the suite's, and returns the cluster's revision.
        private func changeOthers(in cluster: TestCluster, _ host: TestHost) async throws -> Int64 {
            for number in 0..<20 {
                try cluster.control("put", "defaults/other/k/n", "\(number)")
            }
            return try await onThread { try host.store.reader.status(until: Deadline(after: .seconds(20))).revision }
        }

        @Test("is not listed again when the history was compacted and all members were restarted")
        func quietSuite() async throws {
            try await run(.init(memberCount: 3)) { cluster, host, transport in
                #expect(transport.firstPages == 1)
                for _ in 0..<2 {
                    let revision = try await changeOthers(in: cluster, host)
                    try await eventually("the copy has the cluster's revision") {
                        try #require(host.store.freshness.revision) >= revision
                    }
                    try cluster.control("compact", "\(revision)")
                    for member in 0..<3 {
                        cluster.kill(member)
                        try await cluster.waitUntilHealthy()
                        try cluster.start(member)
                        try await eventually("the member answers") {
                            (try? cluster.control(endpoint: member, "get", "x", "--command-timeout=1s")) != nil
                        }
                    }
                    try await host.waitUntilCurrent()
                }
                try cluster.control("put", "defaults/suite/k/n", "2")
                try await eventually("a change comes") { host.store.storedValue(forKey: "n") == .integer(2) }
                #expect(transport.firstPages == 1)
            }
        }

        @Test("is not listed again either when that happened while nobody followed")
        func compactedMeanwhile() async throws {
            try await run { cluster, host, transport in
                try await host.stopFollowing()
                let revision = try await changeOthers(in: cluster, host)
                try cluster.control("compact", "\(revision)")
                host.follow()
                try await eventually("the copy has the cluster's revision") {
                    try #require(host.store.freshness.revision) >= revision
                }
                try await host.waitUntilCurrent()
                #expect(transport.firstPages == 1)
            }
        }

        @Test("is confirmed without a member having to look at all of the suite, and by one connection")
        func cheapHeartbeats() async throws {
            try await run { cluster, host, transport in
                func sorted() -> Int { transport.requests.count { $0.contains("sort_target") } }
                let revision = try await changeOthers(in: cluster, host)
                try await eventually("the copy has the cluster's revision") {
                    try #require(host.store.freshness.revision) >= revision
                }
                let before = sorted()
                for _ in 0..<3 {
                    try cluster.control("put", "defaults/other/k/n", "again")
                    let start = ContinuousClock.now
                    try await eventually("the copy is confirmed again") {
                        (host.store.freshness.unconfirmedFor ?? .seconds(60)) < ContinuousClock.now - start
                    }
                }
                #expect(sorted() == before)
                #expect(transport.sent.count { $0 == "v3/auth/authenticate" } == 0)
            }
        }

        @Test("notices a change that the watch does not bring, also one that was made by hand")
        func brokenWatch() async throws {
            try await run { cluster, host, transport in
                transport.withholdStreams()
                try cluster.control("put", "defaults/suite/k/n", "2")
                try await eventually("the change has come") { host.store.storedValue(forKey: "n") == .integer(2) }
            }
        }

        @Test("is not changed where nobody changes anything: heartbeats write nothing then")
        func quietCluster() async throws {
            try await run { cluster, host, transport in
                // One pulse may follow the first changes.
                func version() throws -> String { try cluster.control("get", "defaults/suite/pulse", "-w", "json") }
                let start = ContinuousClock.now
                try await eventually("the copy is confirmed") {
                    (host.store.freshness.unconfirmedFor ?? .seconds(60)) < ContinuousClock.now - start
                }
                let before = try version()
                let sent = transport.sent.count
                try await eventually("some heartbeats are sent") { transport.sent.count > sent + 3 }
                #expect(try version() == before)
            }
        }
    }
}
