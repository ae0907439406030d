import Default
import Foundation
import Testing

@testable import DefaultFleet

extension WaitingClusterTests {
    @Suite("Changed by an operator")
    struct ChangedByOperator {
        @Test("values are typed, checked, listed, removed and rolled back, with their history")
        func values() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let store = hosts[0].store
                    let agent = OperatorCalls(cluster)
                    #expect(try await agent.ending(of: "set", ["isOpen", "on"]).output == "isOpen\ttrue\n")
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

                    #expect(try await agent.ending(of: "remove", ["isOpen"]).output == "isOpen\tnone\n")
                    try await agent("remove", "isOpen", code: 1)
                    let history = try await agent("history", "isOpen").split(separator: "\n").map { line in
                        line.split(separator: "\t").map(String.init)
                    }
                    #expect(history.map(\.last) == ["true", "false", "removed"])
                    let back = try await agent.ending(of: "rollback", ["isOpen", history[0][0]])
                    #expect(back.output == "isOpen\ttrue\n")
                    #expect(try await agent("get", "isOpen", "--revision", history[1][0]) == "false\n")
                    try await agent("rollback", "isOpen", history[2][0])
                    try await eventually("the host has lost it") { store.storedValue(forKey: "isOpen") == nil }
                    #expect(try await agent("history", "never") == "")

                    let lines = try await agent("history", "isOpen").split(separator: "\n")
                    #expect(lines.count == 5)
                    // Of what is compacted, only the value remains that the key had then.
                    try cluster.control("compact", String(try #require(lines[3].split(separator: "\t").first)))
                    #expect(try await agent("history", "isOpen").split(separator: "\n") == lines.suffix(2))
                    #expect(try await agent("rollback", "isOpen", "2", code: 69).contains("deleted its history"))
                    #expect(try await agent("rollback", "isOpen", "999999", code: 69).contains("no revision"))
                    try cluster.control("compact", String(try #require(lines[4].split(separator: "\t").first)))
                    // A removal at just this revision remains since etcd 3.5.16.
                    let rest = try await agent("history", "isOpen").split(separator: "\n")
                    #expect([[], lines.suffix(1)].contains(rest))
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
                            try await onThread {
                                try suite.store([.init(StoreKey("n"), to: .integer(3), from: .init(known, nil))])
                            }
                        } throws: {
                            DefaultsError.Code.conflict ~= $0
                        }
                    }
                    #expect(try cluster.control("get", "--print-value-only", "defaults/suite/k/n") == "2\n")
                }
            }
        }

        @Test("a text that can't be read keeps the type that the key had before")
        func typeOfMalformed() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let agent = OperatorCalls(cluster)
                    for text in ["true", "disabled", "off!"] {
                        try cluster.control("put", "defaults/suite/k/flag", text)
                    }
                    #expect(try await agent("set", "flag", "12", code: 65).contains("boolean"))
                    let file = hosts[0].directory.appendingPathComponent("import.json")
                    try Data(#"{"flag": 12}"#.utf8).write(to: file)
                    #expect(try await agent("import", file.path, code: 65).contains("another type"))
                    // A text that nobody can read is nothing to go back to.
                    let versions = try await agent("history", "flag").split(separator: "\n")
                    let malformed = try #require(versions.last?.split(separator: "\t").first)
                    #expect(try await agent("rollback", "flag", String(malformed), code: 65).contains("not JSON"))
                    #expect(try await agent.ending(of: "set", ["flag", "on"]).output == "flag\ttrue\n")
                    // When its history is gone, nothing is known.
                    try cluster.control("put", "defaults/suite/k/flag", "disabled")
                    let revision = try await agent("history", "flag").split(separator: "\n").last?
                        .split(separator: "\t").first
                    try cluster.control("compact", String(try #require(revision)))
                    try await agent("set", "flag", "12")
                }
            }
        }

        @Test("what is listed of keys with control characters is one line without them")
        func controlCharacters() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let agent = OperatorCalls(cluster)
                    let key = "a\u{1B}[2J\tb\nc\u{9B}\u{202E}d\\"
                    let escaped = #"a\u{1B}[2J\tb\nc\u{9B}\u{202E}d\\"#
                    try await agent("set", key, "\u{9B}2J", "--type", "string")
                    let json = "{\n\t\"limit\": 1\n}"
                    try await agent("set", "settings", json, "--type", "json")
                    let list = try await agent.ending(of: "list", []).output
                    let lines = ["\(escaped)\t\"\\u009b2J\"\n", "settings\t{\"$json\":{  \"limit\": 1 }}\n"]
                    #expect(list == lines.joined())
                    let file = hosts[0].directory.appendingPathComponent("import.json")
                    try await Data(agent.ending(of: "export", []).output.utf8).write(to: file)
                    #expect(try await agent.ending(of: "import", [file.path]).output == "")
                    try Data("{}".utf8).write(to: file)
                    let shown = try await agent.ending(of: "import", [file.path, "--remove-others"]).output
                    #expect(shown.hasPrefix(escaped + "\t"), "\(shown)")
                    #expect(try await agent.ending(of: "remove", [key]).output == "\(escaped)\tnone\n")
                    #expect(hosts[0].store.storedValue(forKey: "settings") == .data(Data(json.utf8)))
                }
            }
        }

        @Test("a value that is too long for an argument comes from a file")
        func longValue() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let agent = OperatorCalls(cluster)
                    let store = hosts[0].store
                    let file = hosts[0].directory.appendingPathComponent("value")
                    let text = String(repeating: "x", count: 1_200_000)
                    try Data("\"\(text)\"\n".utf8).write(to: file)
                    try await agent("set", "text", "--from", file.path)
                    try await eventually("the host has it") { store.storedValue(forKey: "text") == .string(text) }
                    // As typed in an editor, which ends a file with a line break.
                    try Data("two\nlines\n".utf8).write(to: file)
                    try await agent("set", "text", "--from", file.path)
                    try await eventually("the host has it") {
                        store.storedValue(forKey: "text") == .string("two\nlines")
                    }
                    try Data([0xFF]).write(to: file)
                    #expect(try await agent("set", "text", "--from", file.path, code: 65).contains("UTF-8"))
                    try await agent("set", "text", "--from", file.path + "-missing", code: 65)
                    #expect(try await agent("set", "text", "--from", "/dev/zero", code: 65).contains("more than"))
                    try await agent("set", "text", "--from", file.path, "value", code: 64)
                }
            }
        }

        @Test("what is only read can be read with a reader's rights, and of a full cluster")
        func onlyReads() async throws {
            let options = TestCluster.Options(flags: ["--quota-backend-bytes", "2000000"])
            try await TestCluster.run(options) { cluster in
                try await TestHost.run(in: cluster) { _ in
                    for text in ["1", "2"] { try cluster.control("put", "defaults/suite/k/n", text) }
                    for text in ["3", "4"] { try cluster.control("put", "defaults/suite/k/gone", text) }
                    try cluster.control("del", "defaults/suite/k/gone")
                    let large = String(repeating: "x", count: 700_000)
                    while (try? cluster.control("put", "defaults/suite/k/zz", input: Data(large.utf8))) != nil {}
                    try cluster.enableAuthentication()
                    var agent = OperatorCalls(cluster)
                    agent.options += ["--user", "guest"]
                    agent.password = "open"
                    func values(_ history: String) -> [String] {
                        history.split(separator: "\n").map { String($0.split(separator: "\t").last ?? "") }
                    }
                    #expect(values(try await agent("history", "n")) == ["1", "2"])
                    #expect(values(try await agent("history", "gone")) == ["3", "4", "removed"])
                    #expect(try await agent("history", "never") == "")
                    #expect(try await agent("list").contains("n\t2\n"))
                    #expect(try await agent("get", "n") == "2\n")
                }
            }
        }

        @Test("what is exported is shown before it is imported, and all of it comes back")
        func export() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let agent = OperatorCalls(cluster)
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

        @Test("keys that only their bytes distinguish are listed, exported, imported and filled in, each with its own")
        func keysByBytes() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let agent = OperatorCalls(cluster)
                    let store = hosts[0].store
                    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
                    for (key, value) in [(composed, "1"), (decomposed, "2")] {
                        try cluster.control("put", "defaults/suite/k/\(key)", value)
                    }
                    try await hosts[0].waitUntilCurrent()
                    func hasBoth() -> Bool {
                        store.storedValue(forKey: composed) == .integer(1)
                            && store.storedValue(forKey: decomposed) == .integer(2)
                    }
                    #expect(hasBoth())
                    // In the order of their bytes, as etcd has them; texts are equal to others that have other bytes.
                    let list = try await agent("list")
                    #expect(Data(list.utf8) == Data("\(decomposed)\t2\n\(composed)\t1\n".utf8), "\(list)")
                    let file = hosts[0].directory.appendingPathComponent("export.json")
                    try await Data(agent("export").utf8).write(to: file)
                    #expect(try await agent("import", file.path) == "")
                    try cluster.control("del", "--prefix", "defaults/suite/k/")
                    let replica = ["--replica", hosts[0].replica.path]
                    try await agent("import", file.path, "--apply", replica[0], replica[1])
                    try await hosts[0].waitUntilCurrent()
                    #expect(hasBoth())

                    try cluster.control("del", "defaults/suite/store")
                    try await eventually("the loss is found") { store.freshness.replacement != nil }
                    try await agent("follow", "--accept-replacement", replica[0], replica[1])
                    try await eventually("the host follows again") { store.freshness.replacement == nil }
                    try cluster.control("del", "--prefix", "defaults/suite/")
                    try await eventually("the loss is found") { store.freshness.replacement != nil }
                    #expect(try await agent("seed", replica[0], replica[1], "--apply").contains("2 values"))
                    try await eventually("the host follows again") { store.freshness.replacement == nil }
                    try await hosts[0].waitUntilCurrent()
                    #expect(hasBoth())
                    // A key that is there twice has no value that would be right.
                    try Data(#"{"a": 1, "a": 2}"#.utf8).write(to: file)
                    try await agent("import", file.path, code: 65)
                }
            }
        }

        @Test("large values are exported and imported, as many at once as a cluster accepts")
        func largeValues() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(in: cluster) { hosts in
                    let agent = OperatorCalls(cluster)
                    let sizes = [1_400_000, 600_000, 600_000, 600_000] + Array(repeating: 60_000, count: 12)
                    // Each is stored with its key, which may be large too.
                    let longNames = (0..<40).map { "\($0)" + String(repeating: "k", count: 15_000) }
                    let names = sizes.indices.map { "\($0)" } + longNames
                    for (index, name) in names.enumerated() {
                        let text = "\"" + String(repeating: "x", count: index < sizes.count ? sizes[index] : 1) + "\""
                        let puts = "\nput \"defaults/suite/k/\(name)\" \(text.debugDescription)\n\n\n"
                        try cluster.control("txn", input: Data(puts.utf8))
                    }
                    let file = hosts[0].directory.appendingPathComponent("export.json")
                    try await Data(agent.ending(of: "export", []).output.utf8).write(to: file)
                    try cluster.control("del", "--prefix", "defaults/suite/k/")
                    try await agent("import", file.path, "--apply")
                    try await hosts[0].waitUntilCurrent()
                    #expect(Set(hosts[0].store.storedKeys()) == Set(names))
                    try await agent("import", file.path, "--apply")
                }
            }
        }

        @Test("a cluster that was lost is filled from a host's copy, by one host, and all hosts go on")
        func seed() async throws {
            try await TestCluster.run { cluster in
                try await TestHost.run(2, in: cluster) { hosts in
                    let agent = OperatorCalls(cluster)
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
                    #expect(
                        try #require(get("/metrics", from: socket)).contains(
                            #"default_fleet_cluster_revision{suite="two"} 0"#
                        )
                    )
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
                        #"default_fleet_trouble{cause="password",suite="one"} 0"#,
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
                    let nothing = try await Agent.run(arguments + ["--accept-replacement"])
                    #expect(nothing.code == 1 && nothing.output.contains("has no copy"), "\(nothing)")
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
