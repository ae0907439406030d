import Default
import Foundation
import Testing

@testable import DefaultFleet

extension ClusterTests {
    @Suite("Changed by an operator")
    struct ChangedByOperator {
        /// An operator's calls for one suite.
        private struct Calls {
            let options: [String]

            init(_ cluster: TestCluster) {
                let endpoints = cluster.endpoints.map(\.absoluteString).joined(separator: ",")
                options = ["--endpoints", endpoints, "--suite", "suite"]
            }

            @discardableResult
            func callAsFunction(
                _ command: String,
                _ arguments: String...,
                code: Int32 = 0,
                at location: SourceLocation = #_sourceLocation
            ) async throws -> String {
                let ending = try await Agent.run([command] + options + arguments)
                #expect(ending.code == code, "\(ending)", sourceLocation: location)
                return ending.output + ending.log
            }
        }

        @Test("values are typed, checked, listed, removed and rolled back, with their history")
        func values() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    let agent = Calls(cluster)
                    #expect(try await agent("set", "isOpen", "on") == "isOpen\ttrue\n")
                    #expect(try await agent("set", "isOpen", "maybe", code: 65).contains("boolean"))
                    #expect(try await agent("set", "greeting", "hello", code: 65).contains("--type string"))
                    try await agent("set", "greeting", "hello", "--type", "string")
                    try await agent("set", "isOpen", "no")
                    #expect(try await agent("get", "isOpen") == "false\n")
                    #expect(try await agent("get", "missing", code: 1) == "")
                    try await eventually("the host has them") {
                        store.storedValue(forKey: "isOpen") == .boolean(false)
                            && store.storedValue(forKey: "greeting") == .string("hello")
                    }
                    try cluster.control("put", "defaults/suite/k/typo", "flase")
                    let list = try await agent("list")
                    #expect(
                        list == """
                            greeting\t"hello"
                            isOpen\tfalse
                            typo\t{"$data":"Zmxhc2U="}\tnot JSON, but a word without quotes, of 5 characters

                            """
                    )
                    // What can't be read has no type.
                    try await agent("set", "typo", "false")

                    #expect(try await agent("remove", "isOpen") == "isOpen\tnone\n")
                    try await agent("remove", "isOpen", code: 1)
                    let history = try await agent("history", "isOpen").split(separator: "\n").map { line in
                        line.split(separator: "\t").map(String.init)
                    }
                    #expect(history.map(\.last) == ["true", "false", "removed"])
                    #expect(try await agent("rollback", "isOpen", history[0][0]) == "isOpen\ttrue\n")
                    #expect(try await agent("get", "isOpen", "--revision", history[1][0]) == "false\n")
                    try await agent("rollback", "isOpen", history[2][0])
                    try await eventually("the host has lost it") { store.storedValue(forKey: "isOpen") == nil }
                    #expect(try await agent("history", "never") == "")

                    // A removal is compacted too.
                    try cluster.control("compact", history[2][0])
                    #expect(try await agent("history", "isOpen").split(separator: "\n").count == 2)
                    #expect(try await agent("rollback", "isOpen", "2", code: 69).contains("deleted its history"))
                    #expect(try await agent("rollback", "isOpen", "999999", code: 69).contains("no revision"))
                }
            }
        }

        @Test("a value that others have changed meanwhile is not overwritten")
        func conflict() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { _ in
                    let suite = try SuiteOperator(cluster.cluster, suiteName: "suite")
                    try cluster.control("put", "defaults/suite/k/n", "1")
                    let present = try await onThread { try suite.value(of: "n") }
                    let revision = try #require(present?.revision)
                    try cluster.control("put", "defaults/suite/k/n", "2")
                    for known in [revision, 0] {
                        await #expect {
                            try await onThread { try suite.store(["n": .integer(3)], overValuesOf: ["n": known]) }
                        } throws: {
                            DefaultsError.Code.conflict ~= $0
                        }
                    }
                    #expect(try cluster.control("get", "--print-value-only", "defaults/suite/k/n") == "2\n")
                }
            }
        }

        @Test("what is exported is shown before it is imported, and all of it comes back")
        func export() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let agent = Calls(cluster)
                    let file = hosts[0].directory.appendingPathComponent("export.json")
                    let values: [String: PropertyListValue] = [
                        "isOpen": .boolean(true), "$price": .real(2), "text": .string("\"a\"\n"),
                        "bytes": .data(Data([0, 255])),
                        "settings": .data(Data(#"{"limit":20}"#.utf8)), "many": .array([.integer(1), .string("b")]),
                    ]
                    let numbers = (0..<150).map { ("number \($0)", PropertyListValue.integer(Int64($0))) }
                    let store = hosts[0].store
                    try await store.perform {
                        try store.transaction {
                            for (key, value) in values { try store.setStoredValue(value, forKey: key) }
                        }
                        for (key, value) in numbers { try store.setStoredValue(value, forKey: key) }
                    }
                    try await Data(agent("export").utf8).write(to: file)
                    #expect(try await agent("import", file.path) == "")
                    for (key, _) in numbers { try cluster.control("del", "defaults/suite/k/\(key)") }
                    try cluster.control("put", "defaults/suite/k/isOpen", "false")
                    try cluster.control("put", "defaults/suite/k/new", "1")
                    let shown = try await agent("import", file.path, "--remove-others")
                    #expect(shown.contains("isOpen\tfalse\ttrue\n") && shown.contains("new\t1\tnone\n"))
                    #expect(shown.split(separator: "\n").count == 152)
                    #expect(try await agent("get", "new") == "1\n")
                    try await agent("import", file.path, "--remove-others", "--apply")
                    try await hosts[0].waitUntilCurrent()
                    let expected = values.merging(numbers) { $1 }
                    #expect(Set(store.storedKeys()) == Set(expected.keys))
                    for (key, value) in expected { #expect(store.storedValue(forKey: key) == value) }

                    try Data(#"{"isOpen": "true"}"#.utf8).write(to: file)
                    #expect(try await agent("import", file.path, code: 65).contains("another type"))
                    try await agent("import", file.path, "--change-types", "--apply")
                    #expect(try await agent("get", "isOpen") == "\"true\"\n")
                    try Data("[1]".utf8).write(to: file)
                    try await agent("import", file.path, code: 65)
                }
            }
        }

        @Test("a cluster that was lost is filled from a host's copy, by one host, and all hosts go on")
        func seed() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(2, in: cluster) { hosts in
                    let agent = Calls(cluster)
                    let store = hosts[0].store
                    try await store.perform {
                        for number in 0..<130 { try store.setStoredValue(.integer(1), forKey: "number \(number)") }
                        try store.setStoredValue(.boolean(false), forKey: "isOpen")
                    }
                    try await hosts[1].waitUntilCurrent()
                    let replica = ["--replica", hosts[0].replica.path]
                    #expect(
                        try await agent("seed", replica[0], replica[1], "--apply", code: 1).contains("has the suite")
                    )

                    cluster.kill(0)
                    try FileManager.default.removeItem(at: cluster.dataDirectory(of: 0))
                    try cluster.start(0)
                    try await cluster.waitUntilHealthy()
                    for host in hosts {
                        try await eventually("the loss is found") { host.store.freshness.replacement != nil }
                    }
                    await #expect {
                        try await store.perform { try store.acceptReplacement() }
                    } throws: {
                        "\($0)".contains("remove all of them from all hosts")
                    }
                    let shown = try await agent("seed", replica[0], replica[1])
                    #expect(shown.contains("131 values") && shown.contains("Nothing was changed"))
                    #expect(try cluster.control("get", "--prefix", "") == "")

                    // A host that has not come to its end.
                    try cluster.control("put", "defaults/suite/seed", "another")
                    let puts = (0..<65).map { "put \"defaults/suite/k/left \($0)\" 1\n" }.joined()
                    try cluster.control("txn", input: Data("\n\(puts)\n\n".utf8))
                    #expect(try await agent("seed", replica[0], replica[1], "--apply", code: 1).contains("--take-over"))
                    try await agent("seed", replica[0], replica[1], "--apply", "--take-over")
                    for host in hosts {
                        try await eventually("the host follows again") { host.store.freshness.replacement == nil }
                        try await host.waitUntilCurrent()
                        #expect(host.store.storedValue(forKey: "isOpen") == .boolean(false))
                        #expect(host.store.storedKeys().count == 131)
                    }
                    try await store.perform { try store.setStoredValue(.boolean(true), forKey: "isOpen") }
                    try await eventually("the other host has it") {
                        hosts[1].store.storedValue(forKey: "isOpen") == .boolean(true)
                    }
                    let other = ["--replica", hosts[1].replica.path]
                    try await agent("seed", other[0], other[1], "--apply", code: 1)
                    #expect(try cluster.control("get", "defaults/suite/seed") == "")
                }
            }
        }

        @Test("several suites are followed by one agent, which systemd and Prometheus can ask about them")
        func severalSuites() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let endpoints = cluster.endpoints.map(\.absoluteString).joined(separator: ",")
                    let arguments = [
                        "--endpoints", endpoints, "--suite", "one", "--suite", "two", "--replicas", directory.path,
                    ]
                    let notifications = try NotificationSocket(in: directory)
                    let socket = directory.appendingPathComponent("status").path
                    let agent = try Agent(arguments + ["--listen", "unix:\(socket)"], notifying: notifications.url)
                    try await eventually("the agent listens") { get("/healthz", from: socket) != nil }
                    #expect(try #require(get("/healthz", from: socket)).hasPrefix("HTTP/1.1 503"))
                    #expect(notifications.next() == nil)
                    #expect(try await Agent.run(arguments + ["--initialize"]).code == 0)
                    var message: String?
                    try await eventually("the service is ready") {
                        message = notifications.next()
                        return message != nil
                    }
                    #expect(message?.hasPrefix("READY=1\n") == true)
                    try await eventually("the copies are current") {
                        try #require(get("/healthz", from: socket)).hasPrefix("HTTP/1.1 200")
                    }
                    #expect(try await Agent.run(arguments + ["--check"]).output.hasPrefix("one: Revision "))
                    try cluster.control("put", "defaults/two/k/n", "5")
                    let copy = directory.appendingPathComponent("two")
                    try await eventually("the copy has the value") {
                        try FileDefaults(readingFrom: copy).storedValue(forKey: "n") == .integer(5)
                    }
                    let metrics = try #require(get("/metrics", from: socket))
                    for line in [
                        "# TYPE default_fleet_listings_total counter", #"default_fleet_listings_total{suite="one"} 1"#,
                        "# TYPE default_fleet_unconfirmed_seconds gauge", #"default_fleet_is_following{suite="two"} 1"#,
                        #"default_fleet_is_replaced{suite="one"} 0"#, #"default_fleet_damages_total{suite="two"} 0"#,
                        #"default_fleet_refusals_total{suite="one"} 0"#,
                    ] {
                        #expect(metrics.contains(line + "\n"), "\(metrics)")
                    }
                    #expect(try #require(get("/other", from: socket)).hasPrefix("HTTP/1.1 404"))
                    try cluster.control("del", "defaults/two/store")
                    try await eventually("a replaced store is not healthy") {
                        try #require(get("/healthz", from: socket)).hasPrefix("HTTP/1.1 503")
                    }
                    #expect(try await Agent.run(arguments + ["--check"]).code == 3)
                    #expect(
                        try #require(get("/metrics", from: socket)).contains(
                            #"default_fleet_is_replaced{suite="two"} 1"#
                        )
                    )
                    agent.signal(SIGTERM)
                    #expect(try await agent.ending().code == 0)
                    #expect(notifications.next() == "STOPPING=1")
                }
            }
        }

        @Test("a check and an operator's calls create nothing in the place of a copy, nor change one")
        func nothingCreated() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let endpoints = cluster.endpoints.map(\.absoluteString).joined(separator: ",")
                    let replica = directory.appendingPathComponent("replica")
                    let arguments = ["--endpoints", endpoints, "--suite", "suite", "--replica", replica.path]
                    #expect(try await Agent.run(arguments + ["--check"]).code == 2)
                    #expect(try await Agent.run(arguments + ["--initialize"]).code == 0)
                    #expect(try await Agent.run(arguments + ["--accept-replacement"]).code == 0)
                    #expect(!FileManager.default.fileExists(atPath: replica.path))
                    let host = try TestHost(cluster.cluster, directory: directory)
                    host.follow()
                    try await host.waitUntilCurrent()
                    try await host.stopFollowing()
                    // Where nothing can be written, a check still can be made.
                    let lock = replica.appendingPathComponent("follower").path
                    let before = try FileManager.default.attributesOfItem(atPath: lock)[.modificationDate] as? Date
                    #expect(try await Agent.run(arguments + ["--check", "--maximum-age", "3600"]).code == 2)
                    #expect(
                        try FileManager.default.attributesOfItem(atPath: lock)[.modificationDate] as? Date == before
                    )
                    try FileManager.default.removeItem(atPath: lock)
                    #expect(try await Agent.run(arguments + ["--check"]).code == 2)
                    #expect(!FileManager.default.fileExists(atPath: lock))
                }
            }
        }
    }
}
