import Default
import Foundation
import Testing

@testable import DefaultFleet

extension WaitingClusterTests {
    @Suite("Changed over a link that loses answers")
    struct LostAnswers {
        /// Runs a body with a cluster, and calls that reach it over the link.
        private func run(_ body: (TestCluster, LossyLink, OperatorCalls, URL) async throws -> Void) async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let link = try LossyLink(to: cluster.endpoints[0])
                    defer { link.close() }
                    try await body(cluster, link, OperatorCalls(cluster, endpoints: [link.url]), directory)
                }
            }
        }

        private func stored(_ key: String, in cluster: TestCluster) throws -> String {
            try cluster.control("get", "--print-value-only", "defaults/suite/\(key)")
        }

        @Test("each command looks for what it has sent, and ends with 0 when the cluster has it")
        func found() async throws {
            try await run { cluster, link, agent, directory in
                link.set(.losesAnswersToChanges)
                #expect(try await agent("follow", "--initialize").contains("has its identity now"))
                let file = directory.appendingPathComponent("import.json")
                try Data(#"{"isOpen": false, "n": 1}"#.utf8).write(to: file)
                #expect(try await agent.ending(of: "set", ["isOpen", "on"]).output == "isOpen\ttrue\n")
                let revision = try await agent("history", "isOpen").split(separator: "\t")[0]
                try await agent("import", file.path, "--apply")
                #expect(try stored("k/isOpen", in: cluster) == "false\n")
                #expect(try stored("k/n", in: cluster) == "1\n")
                try await agent("rollback", "isOpen", String(revision))
                #expect(try stored("k/isOpen", in: cluster) == "true\n")
                #expect(try await agent.ending(of: "remove", ["isOpen"]).output == "isOpen\tnone\n")
                #expect(try stored("k/isOpen", in: cluster) == "")
            }
        }

        @Test("each command whose change was sent, and of which nothing can be found, says so and ends with 5")
        func unknown() async throws {
            try await run { cluster, link, agent, directory in
                let brief = ["--deadline", "1.5"]
                link.set(.losesAllAfterChange)
                try await agent.ending(of: "follow", ["--initialize"] + brief, code: 5)
                #expect(try stored("store", in: cluster) != "")
                try cluster.control("put", "defaults/suite/k/isOpen", "true")
                link.set(.none)
                let history = try await agent("history", "isOpen")
                let revision = String(history.split(separator: "\t")[0])
                let file = directory.appendingPathComponent("import.json")
                try Data(#"{"isOpen": true}"#.utf8).write(to: file)
                let commands: [(name: String, arguments: [String], stored: String)] = [
                    ("set", ["isOpen", "off"], "false\n"), ("import", [file.path, "--apply"], "true\n"),
                    ("remove", ["isOpen"], ""), ("rollback", ["isOpen", revision], "true\n"),
                ]
                for (name, arguments, text) in commands {
                    link.set(.losesAllAfterChange)
                    let ending = try await agent.ending(of: name, arguments + brief, code: 5)
                    #expect(ending.log.contains("fleet.outcomeUnknown") && ending.log.contains("may still take effect"))
                    #expect(try stored("k/isOpen", in: cluster) == text, "\(name)")
                }
            }
        }

        @Test("a change that gets to the cluster after the command's deadline takes effect, as the command says")
        func late() async throws {
            try await run { cluster, link, agent, _ in
                try await agent("follow", "--initialize")
                try cluster.control("put", "defaults/suite/k/isOpen", "true")
                for (name, arguments, text) in [("set", ["isOpen", "off"], "false\n"), ("remove", ["isOpen"], "")] {
                    link.set(.holdsChanges)
                    let ending = try await agent.ending(of: name, arguments + ["--deadline", "1.5"], code: 5)
                    #expect(ending.output == "")
                    link.set(.none)
                    try await eventually("the change takes effect") { try stored("k/isOpen", in: cluster) == text }
                }
            }
        }

        @Test("an identity whose storing is not answered is an unknown outcome too, and hosts go on by what is stored")
        func identities() async throws {
            try await run { cluster, link, agent, directory in
                let host = try TestHost(cluster.cluster, directory: directory)
                defer { host.stopSoon() }
                _ = try await onThread { try host.store.initialize() }
                host.follow()
                try cluster.control("put", "defaults/suite/k/n", "5")
                try await host.waitUntilCurrent()
                var agent = agent
                agent.options += ["--replica", host.replica.path, "--deadline", "1.5"]

                try cluster.control("del", "--prefix", "defaults/suite/")
                try await eventually("the loss is found") { host.store.freshness.replacement != nil }
                link.set(.losesAllAfterChange)
                try await agent.ending(of: "seed", ["--apply"], code: 5)
                link.set(.none)
                try await agent.ending(of: "seed", ["--apply", "--take-over"])
                try await eventually("the host follows again") { host.store.freshness.replacement == nil }
                try await host.waitUntilCurrent()
                #expect(host.store.storedValue(forKey: "n") == .integer(5))

                try cluster.control("del", "defaults/suite/store")
                try await eventually("the loss is found") { host.store.freshness.replacement != nil }
                link.set(.losesAllAfterChange)
                try await agent.ending(of: "follow", ["--accept-replacement"], code: 5)
                try await eventually("the host follows again") { host.store.freshness.replacement == nil }
                try await host.stopFollowing()
            }
        }

        @Test("a cluster is filled with all values of a copy, also with those whose request was lost on the way")
        func lostPart() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    try await store.perform { try store.setStoredValue(.integer(5), forKey: "n") }
                    // As large as a transaction, so that it isn't sent with what is sent last.
                    let large = PropertyListValue.string(String(repeating: "x", count: 600_000))
                    try await store.perform { try store.setStoredValue(large, forKey: "large") }
                    try cluster.control("del", "--prefix", "defaults/suite/")
                    try await eventually("the loss is found") { store.freshness.replacement != nil }
                    // It would lose what is not filled in.
                    try await hosts[0].stopFollowing()
                    for key in ["n", "large"] {
                        let transport = RecordingTransport(try HTTPTransport(cluster.cluster))
                        let copy = try #require(try HostCopy(at: hosts[0].replica))
                        let suite = SuiteOperator(
                            client: EtcdClient(cluster.cluster, transport: transport),
                            keys: store.keys,
                            storeDescription: store.storeDescription,
                            deadline: .seconds(10),
                            copy: copy
                        )
                        transport.loseNext(with: store.keys.key(key))
                        try await onThread { try suite.seed(from: copy, takingOver: false) }
                        for other in ["n", "large"] {
                            #expect(try cluster.control("get", "defaults/suite/k/\(other)") != "", "\(key), \(other)")
                        }
                        try cluster.control("del", "--prefix", "defaults/suite/")
                    }
                }
            }
        }

        @Test("a cluster that was never reached is not an unknown outcome")
        func neverReached() async throws {
            try await run { cluster, _, _, _ in
                let port = try #require(Ports.free(1).first)
                let nowhere = try #require(URL(string: "http://127.0.0.1:\(port)"))
                let agent = OperatorCalls(cluster, endpoints: [nowhere])
                for (name, arguments) in [("set", ["n", "1"]), ("remove", ["n"]), ("follow", ["--initialize"])] {
                    try await agent.ending(of: name, arguments + ["--deadline", "0.5"], code: 69)
                }
            }
        }
    }

    @Suite("Changed after its cluster was restored")
    struct ChangedAfterRestore {
        @Test("a host's copy shows it, and commands refuse what hosts would refuse, until it is accepted")
        func restored() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let host = try TestHost(cluster.cluster, directory: directory)
                    defer { host.stopSoon() }
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try cluster.control("put", "defaults/suite/k/isOpen", "true")
                    try await host.waitUntilCurrent()
                    let backup = directory.appendingPathComponent("backup").path
                    try cluster.control("snapshot", "save", backup)
                    for number in 0..<5 { try cluster.control("put", "defaults/suite/k/n", "\(number)") }
                    try await host.waitUntilCurrent()
                    try await host.stopFollowing()

                    // Where commands find a copy by themselves: the library's place, and one that the variable names.
                    let places = ["suite.fleet.defaults", "suite"]
                    for place in places {
                        try FileManager.default.copyItem(at: host.replica, to: directory.appendingPathComponent(place))
                    }
                    var byPlace = OperatorCalls(cluster)
                    byPlace.environment = ["XDG_CONFIG_HOME": directory.path]
                    var byVariable = OperatorCalls(cluster)
                    byVariable.environment = ["FLEET_AGENT_REPLICAS": directory.path]
                    var named = OperatorCalls(cluster)
                    named.options += ["--replica", host.replica.path]
                    var without = OperatorCalls(cluster)
                    without.environment = ["XDG_CONFIG_HOME": directory.appendingPathComponent("nothing").path]

                    // A right cluster is one for all of them.
                    for agent in [byPlace, byVariable, named] {
                        let ending = try await agent.ending(of: "set", ["isOpen", "on"])
                        #expect(ending.output == "isOpen\ttrue\n" && ending.log == "", "\(ending)")
                    }
                    try cluster.restore(backup)
                    try await cluster.waitUntilHealthy()
                    let file = directory.appendingPathComponent("import.json")
                    try Data(#"{"isOpen": false}"#.utf8).write(to: file)
                    let commands = [
                        ("set", ["isOpen", "off"]), ("remove", ["isOpen"]), ("import", [file.path, "--apply"]),
                        ("rollback", ["isOpen", "1"]),
                    ]
                    for agent in [byPlace, byVariable, named] {
                        for (name, arguments) in commands {
                            let ending = try await agent.ending(of: name, arguments, code: 3)
                            #expect(ending.log.contains("keeps its last values"), "\(ending)")
                        }
                    }
                    #expect(try cluster.control("get", "--print-value-only", "defaults/suite/k/isOpen") == "true\n")
                    let told = try await without.ending(of: "set", ["isOpen", "off"])
                    #expect(told.output == "isOpen\tfalse\n" && told.log.contains("no copy of the suite"), "\(told)")

                    host.follow()
                    try await eventually("the host has found it") { host.store.freshness.replacement != nil }
                    try await named.ending(of: "set", ["isOpen", "on"], code: 3)
                    let accepted = try await named.ending(of: "follow", ["--accept-replacement"])
                    #expect(accepted.output.contains("1 value"), "\(accepted)")
                    for agent in [byPlace, byVariable, named] {
                        try await agent("set", "isOpen", "on")
                    }
                    try await host.waitUntilCurrent()
                    #expect(host.store.storedValue(forKey: "isOpen") == .boolean(true))
                    try await host.stopFollowing()
                }
            }
        }
    }
}
