import Default
import Foundation
import Testing

@testable import DefaultFleet

extension ClusterTests {
    /// With a program's times, so it takes two minutes, and runs when its figures are asked for:
    /// `FLEET_FIGURES=1 swift test --package-path Packages/Fleet --filter SixtyHosts`.
    @Suite("Sixty hosts with passwords", .enabled(if: ProcessInfo.processInfo.environment["FLEET_FIGURES"] != nil))
    struct SixtyHosts {
        private static let count = 60
        private static let slowCount = 10

        @Test("ten of them behind slow links, become current, get each change, and go on when a member is killed")
        func figures() async throws {
            try await TestCluster.run(.init(memberCount: 3)) { cluster in
                try await withTemporaryDirectory { directory in
                    try await fill(cluster, from: directory.appendingPathComponent("first"))
                    try cluster.enableAuthentication()
                    let links = try (0..<Self.slowCount).map { _ in
                        try cluster.endpoints.map { try SlowLink(to: $0, bytesPerSecond: 100_000) }
                    }
                    defer { links.forEach { $0.forEach { $0.close() } } }
                    let hosts = try (0..<Self.count).map { number in
                        var known = cluster.cluster
                        if number < links.count {
                            known = EtcdCluster(endpoints: links[number].map(\.url))
                        }
                        known.user = EtcdCluster.User(name: "shop", password: "open")
                        let place = directory.appendingPathComponent("host\(number)")
                        return try TestHost(known, deadline: .seconds(30), directory: place, timing: FollowerTiming())
                    }
                    defer { hosts.forEach { $0.stopSoon() } }

                    let writer = hosts[Self.count - 1]
                    writer.follow()
                    try await writer.waitUntilCurrent()
                    let alone = try await changes(of: writer, to: [writer], in: cluster)
                    try await writer.stopFollowing()

                    let start = ContinuousClock.now
                    hosts.forEach { $0.follow() }
                    try await current(hosts, behind: Self.slowCount, since: start, "started")
                    let together = try await changes(of: writer, to: hosts, in: cluster)
                    let each = (together - alone) / .milliseconds(1) / Double(Self.count - 1)
                    print("a change: \(alone) of the members without other followers, and \(each) ms for each of them")

                    let kill = ContinuousClock.now
                    cluster.kill(try #require(cluster.leader))
                    try await set(.integer(-1), on: writer)
                    try await current(hosts, behind: Self.slowCount, since: kill, "its leader killed")
                    #expect(hosts.allSatisfy { $0.store.storedValue(forKey: "changed") == .integer(-1) })
                    try await eventually("each host has confirmed its copy since") {
                        let passed = ContinuousClock.now - kill
                        return hosts.allSatisfy { $0.store.freshness.unconfirmedFor.map { $0 < passed } ?? false }
                    }
                    print("its leader killed: all confirmed after \(seconds(since: kill))")
                    for host in hosts {
                        try await host.stopFollowing()
                    }
                }
            }
        }

        /// One hundred keys of one kilobyte.
        private func fill(_ cluster: TestCluster, from directory: URL) async throws {
            let store = try TestHost(cluster.cluster, directory: directory).store
            _ = try await onThread { try store.initialize() }
            for number in 0..<100 {
                let text = "\"\(String(repeating: "x", count: 1_000))\""
                try cluster.control("put", "defaults/suite/k/key \(number)", text)
            }
        }

        private func set(_ value: PropertyListValue, on host: TestHost) async throws {
            try await host.store.perform { try host.store.setStoredValue(value, forKey: "changed") }
        }

        /// Waits until each host has a copy that was current at the time of the call.
        private func current(
            _ hosts: [TestHost],
            behind slowCount: Int,
            since start: ContinuousClock.Instant,
            _ name: String
        ) async throws {
            for host in hosts[slowCount...] + hosts[..<slowCount] {
                try await eventually("the host has a copy of the suite") { host.store.replica.state != nil }
                try await host.store.waitUntilCurrent(within: .seconds(30))
                if host === hosts.last || host === hosts[slowCount - 1] {
                    let who = host === hosts.last ? "those with a quick link" : "all"
                    print("\(name): \(who) current after \(seconds(since: start))")
                }
            }
        }

        /// The processor time that the members need for a change that all hosts get, over that without changes.
        private func changes(
            of writer: TestHost,
            to hosts: [TestHost],
            in cluster: TestCluster
        ) async throws -> Duration {
            let count = 300
            let before = cluster.processorTime
            let start = ContinuousClock.now
            for number in 1...count {
                try await set(.integer(Int64(number)), on: writer)
            }
            try await eventually("each host has the last change") {
                hosts.allSatisfy { $0.store.storedValue(forKey: "changed") == .integer(Int64(count)) }
            }
            let middle = cluster.processorTime
            try await Task.sleep(for: ContinuousClock.now - start)
            return (middle - before - (cluster.processorTime - middle)) / count
        }

        private func seconds(since start: ContinuousClock.Instant) -> String {
            String(format: "%.1f s", (ContinuousClock.now - start) / .seconds(1))
        }
    }
}
