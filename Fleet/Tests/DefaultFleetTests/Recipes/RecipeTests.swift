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
