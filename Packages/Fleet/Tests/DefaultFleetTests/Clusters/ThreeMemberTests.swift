import Default
import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

extension ClusterTests {
    @Suite("With three members")
    struct ThreeMembers {
        private static let options = TestCluster.Options(memberCount: 3)

        @Test(
            "counts exactly while leaders are killed and other members are stopped for a time, from eight processes",
            .timeLimit(.minutes(8))
        )
        func exactCount() async throws {
            try await TestCluster.run(Self.options) { cluster in
                try await withTemporaryDirectory { directory in
                    let host = try TestHost(cluster.cluster, directory: directory)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    let helpers = try (0..<8).map { number in
                        // Two processes on each of four hosts.
                        let replica = directory.appendingPathComponent("replica of \(number / 2)")
                        return try HelperProcess("count", replica: replica, count: 200, cluster: cluster)
                    }
                    var round = 0
                    while helpers.contains(where: \.isRunning) {
                        round += 1
                        try await eventually("there is a leader") {
                            cluster.leader != nil || !helpers.contains(where: \.isRunning)
                        }
                        guard let leader = cluster.leader else { continue }
                        let before = host.store.storedValue(forKey: "count")
                        if round.isMultiple(of: 2) {
                            cluster.kill(leader)
                            try cluster.start(leader)
                        } else {
                            let follower = (leader + 1) % 3
                            cluster.pause(follower)
                            defer { cluster.resume(follower) }
                            try await eventually("a number is counted while a member is stopped") {
                                host.store.storedValue(forKey: "count") != before
                                    || !helpers.contains(where: \.isRunning)
                            }
                        }
                        try await eventually("a number is counted") {
                            host.store.storedValue(forKey: "count") != before || !helpers.contains(where: \.isRunning)
                        }
                    }
                    let outcomes = helpers.flatMap { $0.output.split(separator: "\n") }
                    #expect(outcomes.count == 1_600)
                    let stored = outcomes.count { $0 == "stored" }
                    let unknown = outcomes.count { $0 == "fleet.outcomeUnknown" }
                    try await host.waitUntilCurrent()
                    guard case .integer(let count)? = host.store.storedValue(forKey: "count") else {
                        Issue.record("Nothing was counted.")
                        return
                    }
                    #expect(Int(count) >= stored && Int(count) <= stored + unknown)
                    #expect(stored + unknown == 1_600, "\(Set(outcomes))")
                    #expect(round > 3)
                    try await host.stopFollowing()
                }
            }
        }

        @Test("no change is missed or seen twice when the watched member is killed or stopped, or the leader is killed")
        func lostMembers() async throws {
            try await TestCluster.run(Self.options) { cluster in
                // This host knows one member first, and the writer the others.
                try await TestHost.run(2, in: cluster) { hosts in
                    let (writer, reader) = (hosts[0].store, hosts[1].store)
                    let heard = Mutex<[String: Int]>([:])
                    let observation = reader.observeChanges { keys in
                        heard.withLock { heard in
                            for key in keys ?? [] {
                                heard[key, default: 0] += 1
                            }
                        }
                    }
                    var written: [String] = []
                    func write(_ name: String) async throws {
                        for number in 0..<5 {
                            let key = "\(name) \(number)"
                            try await writer.perform { try writer.setStoredValue(.boolean(true), forKey: key) }
                            written.append(key)
                        }
                        try await eventually("the reader has each change: \(name)") {
                            written.allSatisfy { reader.storedValue(forKey: $0) == .boolean(true) }
                        }
                    }
                    try await write("before")
                    for round in 0..<2 {
                        let watched = reader.client.preferredMember
                        cluster.kill(watched)
                        try await write("killed \(round)")
                        try cluster.start(watched)
                        try await cluster.waitUntilHealthy()
                        let stopped = reader.client.preferredMember
                        cluster.pause(stopped)
                        try await write("stopped \(round)")
                        cluster.resume(stopped)
                        try await eventually("there is a leader") { cluster.leader != nil }
                        let leader = try #require(cluster.leader)
                        cluster.kill(leader)
                        try await write("leader \(round)")
                        try cluster.start(leader)
                        try await cluster.waitUntilHealthy()
                    }
                    try await eventually("each change was observed") { heard.withLock { $0.count } == written.count }
                    #expect(heard.withLock { $0.filter { $0.value != 1 } } == [:])
                    observation.cancel()
                }
            }
        }

        @Test("without a majority writes throw, reads and observation go on, and everything catches up when it is back")
        func lostMajority() async throws {
            try await TestCluster.run(Self.options) { cluster in
                try await TestHost.run(2, in: cluster, deadline: .seconds(3)) { hosts in
                    let (first, second) = (hosts[0].store, hosts[1].store)
                    try await first.perform { try first.setStoredValue(.integer(1), forKey: "n") }
                    try await eventually("the other host has the value") {
                        second.storedValue(forKey: "n") == .integer(1)
                    }
                    // Members that were stopped keep their connections, and answer nothing.
                    for member in 0...2 {
                        cluster.pause(member)
                    }
                    await #expect {
                        try await inTime("a write without a majority") {
                            try await first.perform { try first.setStoredValue(.integer(2), forKey: "unanswered") }
                        }
                    } throws: { error in
                        DefaultsError.Code.storeUnavailable ~= error || DefaultsError.Code.outcomeUnknown ~= error
                    }
                    #expect(second.storedValue(forKey: "n") == .integer(1))
                    for member in 0...2 {
                        cluster.resume(member)
                    }
                    try await cluster.waitUntilHealthy()
                    for member in 1...2 {
                        cluster.kill(member)
                    }
                    await #expect {
                        try await inTime("a write without a majority") {
                            try await first.perform { try first.setStoredValue(.integer(2), forKey: "lost") }
                        }
                    } throws: { error in
                        DefaultsError.Code.storeUnavailable ~= error || DefaultsError.Code.outcomeUnknown ~= error
                    }
                    #expect(second.storedValue(forKey: "n") == .integer(1))
                    #expect(try #require(second.freshness.unconfirmedFor) > .zero)
                    let heard = Mutex(0)
                    let observation = second.observeChanges { keys in
                        if keys?.contains("n") ?? true {
                            heard.withLock { $0 += 1 }
                        }
                    }
                    for member in 1...2 {
                        try cluster.start(member)
                    }
                    try await cluster.waitUntilHealthy()
                    try await eventually("the cluster accepts a value") {
                        (try? cluster.control("put", "defaults/suite/k/n", "3")) != nil
                    }
                    try await eventually("the value that was stored afterwards is observed") {
                        second.storedValue(forKey: "n") == .integer(3) && heard.withLock { $0 } > 0
                    }
                    try await eventually("the host can write again") {
                        do {
                            try await first.perform { try first.setStoredValue(.integer(4), forKey: "n") }
                            return true
                        } catch DefaultsError.Code.storeUnavailable {
                            return false
                        }
                    }
                    try await eventually("the other host has the last value") {
                        second.storedValue(forKey: "n") == .integer(4)
                    }
                    try await eventually("the last value is observed") { heard.withLock { $0 } >= 2 }
                    #expect(heard.withLock { $0 } == 2)
                    observation.cancel()
                }
            }
        }

        @Test("a host that reaches only a member without a leader does not look fresh, and its writes throw the reason")
        func memberWithoutLeader() async throws {
            try await TestCluster.run(Self.options) { cluster in
                try await withTemporaryDirectory { directory in
                    let one = EtcdCluster(endpoints: [cluster.endpoints[0]])
                    let transport = RecordingTransport(try HTTPTransport(one))
                    let host = try TestHost(one, deadline: .seconds(3), directory: directory, transport: transport)
                    let store = host.store
                    _ = try await onThread { try store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    try await store.perform { try store.setStoredValue(.integer(1), forKey: "n") }

                    for member in 1...2 {
                        cluster.kill(member)
                    }
                    try await eventually("the member ends the watch") {
                        transport.streamed.contains("etcdserver: no leader")
                    }
                    let lost = ContinuousClock.now
                    // The member has the newest change, and still nothing confirms that.
                    let looks = transport.sent.count
                    try await eventually("the follower has looked again") { transport.sent.count > looks + 20 }
                    let least = ContinuousClock.now - lost
                    #expect(try #require(store.freshness.unconfirmedFor) >= least)
                    #expect(store.storedValue(forKey: "n") == .integer(1))
                    await #expect {
                        try await inTime("a write without a leader") {
                            try await store.perform { try store.setStoredValue(.integer(2), forKey: "n") }
                        }
                    } throws: { error in
                        DefaultsError.Code.storeUnavailable ~= error && "\(error)".contains("It has no leader")
                    }
                    await #expect { try await store.waitUntilCurrent(within: .milliseconds(300)) } throws: {
                        DefaultsError.Code.storeUnavailable ~= $0
                    }

                    for member in 1...2 {
                        try cluster.start(member)
                    }
                    try await host.waitUntilCurrent()
                    try await store.perform { try store.setStoredValue(.integer(3), forKey: "n") }
                    #expect(store.storedValue(forKey: "n") == .integer(3))
                    try await eventually("the copy is confirmed again") {
                        try #require(store.freshness.unconfirmedFor) < ContinuousClock.now - lost
                    }
                    try await host.stopFollowing()
                }
            }
        }

        @Test("flush brings what was committed before it, also from a member that was stopped meanwhile")
        func flushFromLateMember() async throws {
            try await TestCluster.run(Self.options) { cluster in
                try await withTemporaryDirectory { directory in
                    try await eventually("there is a leader") { cluster.leader != nil }
                    let leader = try #require(cluster.leader)
                    let member = (leader + 1) % 3
                    let others = EtcdCluster(endpoints: [leader, (leader + 2) % 3].map { cluster.endpoints[$0] })
                    let writer = try TestHost(others, directory: directory.appendingPathComponent("writer"))
                    let one = EtcdCluster(endpoints: [cluster.endpoints[member]])
                    let transport = RecordingTransport(try HTTPTransport(one))
                    let reader = try TestHost(
                        one,
                        directory: directory.appendingPathComponent("reader"),
                        transport: transport
                    )
                    _ = try await onThread { try writer.store.initialize() }
                    for host in [writer, reader] {
                        host.follow()
                        try await host.waitUntilCurrent()
                    }
                    for number in 0..<5 {
                        let value = PropertyListValue.integer(Int64(number))
                        cluster.pause(member)
                        defer { cluster.resume(member) }
                        try await writer.store.perform { try writer.store.setStoredValue(value, forKey: "n") }
                        let before = transport.sent.count
                        async let flushed: Void = reader.store.waitUntilCurrent(within: .seconds(20))
                        // It waits in the member's connection.
                        try await eventually("the member is asked") { transport.sent.count > before }
                        cluster.resume(member)
                        try await flushed
                        #expect(reader.store.storedValue(forKey: "n") == value)
                    }
                    for host in [writer, reader] {
                        try await host.stopFollowing()
                    }
                }
            }
        }
    }
}
