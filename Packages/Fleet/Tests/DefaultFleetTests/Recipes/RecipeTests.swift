import Default
import FleetRecipes
import Foundation
import Testing

@testable import DefaultFleet

@Suite("A gradual rollout")
struct RolloutTests {
    private let hosts = (0..<2_000).map { "web-\($0)" }

    @Test("reaches as many hosts as it says, keeps those that it has reached, and begins elsewhere for each feature")
    func percentage() {
        var before: Set<String> = []
        for percentage in [0, 1, 10, 50, 99.9, 100] {
            let rollout = Rollout(percentage: percentage)
            let on = Set(hosts.filter { rollout.isOn("checkout", host: $0, group: "web") })
            #expect(on.isSuperset(of: before))
            // The hash is the same for ever, so this is no matter of luck.
            #expect(abs(Double(on.count) - percentage * 20) <= 40, "\(percentage): \(on.count)")
            before = on
        }
        let tenth = Rollout(percentage: 10)
        let first = Set(hosts.filter { tenth.isOn("checkout", host: $0, group: "web") })
        let second = Set(hosts.filter { tenth.isOn("search", host: $0, group: "web") })
        #expect(first.intersection(second).count < 50)
    }

    @Test("asks for the host first, then for its group")
    func overrides() {
        let rollout = Rollout(percentage: 100, hosts: ["a": false, "b": true], groups: ["canary": false])
        #expect(!rollout.isOn("x", host: "a", group: "web"))
        #expect(rollout.isOn("x", host: "b", group: "canary"))
        #expect(!rollout.isOn("x", host: "c", group: "canary"))
        #expect(rollout.isOn("x", host: "c", group: "web"))
    }
}

extension ClusterTests {
    @Suite("With recipes")
    struct Recipes {
        @Test("the users that the article adds may do what it says, and no more")
        func users() async throws {
            var article = URL(fileURLWithPath: #filePath)
            for _ in 0..<6 {
                article.deleteLastPathComponent()
            }
            article.appendPathComponent("Sources/Default/Default.docc/SeveralMachines.md")
            let blocks = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```")
            let script = try #require(blocks.first { $0.hasPrefix("sh\n") && $0.contains("auth enable") }).dropFirst(3)
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    for user in ["shop", "reader", "root"] {
                        let file = directory.appendingPathComponent(user + "-password")
                        try Data("sesame\n".utf8).write(to: file)
                    }
                    let endpoints = "export ETCDCTL_ENDPOINTS=\(cluster.endpoints[0])"
                    let commands = "set -eu; cd '\(directory.path)'; \(endpoints)\n\(script)"
                    try TestCluster.run("bash", ["-c", commands])

                    let hosts = try ["shop", "reader"].map { user in
                        var known = cluster.cluster
                        let file = directory.appendingPathComponent(user + "-password").path
                        known.user = EtcdCluster.User(name: user, passwordFile: file)
                        let place = directory.appendingPathComponent(user)
                        return try TestHost(known, suiteName: "com.example.shop", directory: place)
                    }
                    defer { hosts.forEach { $0.stopSoon() } }
                    let (shop, reader) = (hosts[0].store, hosts[1].store)
                    _ = try await onThread { try shop.initialize() }
                    for host in hosts {
                        host.follow()
                        try await host.waitUntilCurrent()
                    }
                    try await shop.perform { try shop.setStoredValue(.integer(1), forKey: "n") }
                    try await hosts[1].waitUntilCurrent()
                    #expect(reader.storedValue(forKey: "n") == .integer(1))
                    await #expect {
                        try await reader.perform { try reader.setStoredValue(.integer(2), forKey: "n") }
                    } throws: {
                        DefaultsError.Code.storeReadOnly ~= $0
                    }
                    let found = try await onThread { () throws(EtcdClient.Failure) in
                        try reader.reader.status(until: Deadline(after: .seconds(20)))
                    }
                    let identity = try #require(found.identity)
                    _ = try await onThread { () throws(EtcdClient.Failure) in
                        let limit = Deadline(after: .seconds(20))
                        return try reader.reader.makePulse(after: found.pulse, of: identity, until: limit)
                    }
                    for host in hosts {
                        try await host.stopFollowing()
                    }
                }
            }
        }

        @Test("a rollout that an operator types is the same on all hosts, and a change says who has made it")
        func rollout() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(2, in: cluster) { hosts in
                    let endpoints = cluster.endpoints.map(\.absoluteString).joined(separator: ",")
                    let options = ["--endpoints", endpoints, "--suite", "suite"]
                    let typed = #"{"percentage": 10, "hosts": {"web-1": true}, "groups": {"canary": true}}"#
                    let ending = try await Agent.run(["set"] + options + ["checkout", typed, "--type", "json"])
                    #expect(ending.code == 0, "\(ending)")
                    let expected = Rollout(percentage: 10, hosts: ["web-1": true], groups: ["canary": true])
                    for host in hosts {
                        try await eventually("the host has the rollout") {
                            Defaults(suite: host.store)[Rollout.key("checkout")] == expected
                        }
                    }
                    // Without --type: what is stored is a settings type.
                    let next = try await Agent.run(["set"] + options + ["checkout", #"{"percentage": 20}"#])
                    #expect(next.code == 0, "\(next)")
                    let store = hosts[0].store
                    for (author, percentage) in [("ann", 50.0), ("bob", 100)] {
                        try await store.perform {
                            try Audit(author: author, reason: "all is well")
                                .change("checkout", to: Rollout(percentage: percentage), in: store)
                        }
                    }
                    try await eventually("the other host has both") {
                        let defaults = Defaults(suite: hosts[1].store)
                        return defaults[Audit.key(of: "checkout")]?.author == "bob"
                            && defaults[Rollout.key("checkout")].percentage == 100
                    }
                    let history = try await Agent.run(["history"] + options + ["audit checkout"])
                    let authors = history.output.split(separator: "\n").map { $0.contains("ann") ? "ann" : "bob" }
                    #expect(authors == ["ann", "bob"], "\(history)")
                }
            }
        }
    }
}
