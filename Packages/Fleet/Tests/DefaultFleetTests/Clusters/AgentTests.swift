import Default
import Foundation
import Testing

@testable import DefaultFleet

@Suite("fleet-agent", .timeLimit(.minutes(2)))
struct AgentTests {
    @Test(
        "ends with 64 for wrong arguments, and names what is wrong",
        arguments: [
            (["--suite", "s"], "--endpoints"), (["--endpoints", "http://127.0.0.1:1"], "--suite"),
            (["--endpoints", "etcd1:2379", "--suite", "s"], "https://etcd1:2379"),
            (["--endpoints", ",", "--suite", "s"], "https://etcd1:2379"),
            (["--endpoints", "http://127.0.0.1:1,ftp://a", "--suite", "s"], "https://etcd1:2379"),
            (["--endpoints", "http://127.0.0.1:1", "--suite", "s", "--log-level", "loud"], "loud"),
            (["--endpoints", "http://127.0.0.1:1", "--suite", "s", "--user", "shop"], "FLEET_AGENT_PASSWORD"),
            (["--endpoints", "http://127.0.0.1:1", "--suite", "s", "--listen", "0.0.0.0:9100"], "only this host"),
            (["--endpoints", "http://127.0.0.1:1", "--suite", "s", "--suite", "s"], "twice"),
            (["--endpoints", "http://127.0.0.1:1", "--suite", "s", "--suite", "t", "--replica", "/r"], "--replicas"),
            (["--endpoints", "http://127.0.0.1:1", "--suite", "s", "--password-file", "/p"], "--user"),
            (
                ["--endpoints", "http://a", "--suite=s", "--user=u", "--password-file=/p", "--token-file=/t"],
                "leave out --user"
            ),
            (["set", "--endpoints", "http://127.0.0.1:1", "--suite", "s", "key"], "--from"),
            (["set", "--endpoints", "http://127.0.0.1:1", "--suite", "s", "k", "1", "--from", "f"], "--from"),
            (["get", "--endpoints", "http://127.0.0.1:1", "--suite", "s", "k", "--deadline=0"], "--deadline"),
            (["--endpoints", "http://127.0.0.1:1", "--suite", "s", "--check", "--maximum-age=nan"], "--maximum"),
            (["--endpoints", "http://127.0.0.1:1", "--suite", "s", "--check", "--maximum-age=-1"], "--maximum"),
            (["--endpoints", "http://127.0.0.1:1", "--suite", "s", "--check", "--maximum-age=1e30"], "--maximum"),
        ]
    )
    func wrongArguments(arguments: [String], advice: String) async throws {
        let ending = try await Agent.run(arguments)
        #expect(ending.code == 64, "\(ending)")
        #expect(ending.log.contains(advice), "\(ending)")
    }

    @Test("ends with 69 without a cluster or a replica, and with 1 for a name that can't be a suite's, with the reason")
    func unusable() async throws {
        try await withTemporaryDirectory { directory in
            let port = try #require(Ports.free(1).first)
            let file = directory.appendingPathComponent("file")
            try Data().write(to: file)
            let replica = directory.appendingPathComponent("replica").path
            let cases: [(arguments: [String], code: Int32, reason: String)] = [
                (["--suite", "s", "--replica", replica, "--initialize"], 69, "No member of the cluster can be"),
                (["--suite", "s", "--replica", file.appendingPathComponent("replica").path], 69, "storeUnavailable"),
                (["--suite", "s", "--replica", replica, "--trust-roots", file.path + "-missing"], 69, "certificates"),
                (["--suite", "a/b", "--replica", replica], 1, "no slash"),
            ]
            for (arguments, code, reason) in cases {
                let agent = try Agent(["--endpoints", "http://127.0.0.1:\(port)"] + arguments)
                let ending = try await agent.ending()
                #expect(ending.code == code, "\(ending)")
                #expect(ending.output == "")
                let line = try #require(agent.logLines.last ?? nil, "\(ending)")
                #expect(line["level"] == "critical")
                #expect((line["message"] ?? "").contains(reason) || line["code"] == reason, "\(ending)")
            }
        }
    }

    /// An agent that answers about its state, and has no cluster.
    private func agent(listeningAt address: String, in directory: URL) throws -> Agent {
        let endpoint = try #require(Ports.free(1).first)
        let replica = directory.appendingPathComponent("replica").path
        return try Agent([
            "--endpoints", "http://127.0.0.1:\(endpoint)", "--suite=s", "--replica", replica, "--listen", address,
        ])
    }

    @Test("has at most 64 connections, each for a few seconds")
    func connections() async throws {
        try await withTemporaryDirectory { directory in
            let socket = directory.appendingPathComponent("status").path
            let agent = try agent(listeningAt: "unix:\(socket)", in: directory)
            try await eventually("the agent listens") { get("/healthz", from: socket) != nil }
            let idle = try (0..<64).map { _ in try #require(LocalConnection(toSocketAt: socket)) }
            let refused = try #require(LocalConnection(toSocketAt: socket))
            #expect(try await inTime("the connection") { refused.rest() } == "")
            #expect(try await inTime("the answer") { idle[0].get("/healthz") }?.contains("503") == true)
            #expect(try await inTime("the idle connections") { idle.map { $0.rest() }.joined() } == "")
            #expect(get("/healthz", from: socket)?.contains("503") == true)
            agent.signal(SIGTERM)
            #expect(try await agent.ending().code == 0)
        }
    }

    @Test("answers at a port only who asks this host by its loopback address, and not a page that has a name for it")
    func hosts() async throws {
        try await withTemporaryDirectory { directory in
            let port = try #require(Ports.free(1).first)
            let agent = try agent(listeningAt: "127.0.0.1:\(port)", in: directory)
            func status(_ host: String) -> String? {
                LocalConnection(toPort: port)?.get("/healthz", host: host)?.split(separator: " ").dropFirst().first
                    .map(String.init)
            }
            try await eventually("the agent listens") { status("localhost") != nil }
            for host in ["localhost", "LOCALHOST:\(port)", "127.0.0.1:\(port)", "[::1]", "[::1]:\(port)"] {
                #expect(status(host) == "503", "\(host)")
            }
            for host in ["example.com", "127.0.0.1.example.com:\(port)", "localhost.", "[::2]", ""] {
                #expect(status(host) == "421", "\(host)")
            }
            agent.signal(SIGTERM)
            #expect(try await agent.ending().code == 0)
        }
    }
}

extension ClusterTests {
    @Suite("Followed by fleet-agent")
    struct FollowedByAgent {
        private func arguments(_ cluster: TestCluster, _ directory: URL) -> [String] {
            let endpoints = cluster.endpoints.map(\.absoluteString).joined(separator: ",")
            let replica = directory.appendingPathComponent("replica").path
            return ["--endpoints", endpoints, "--suite", "suite", "--replica", replica]
        }

        @Test("is checked: 0 while it is followed, 2 before, afterwards and when it is too old, 3 when it was replaced")
        func check() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let arguments = self.arguments(cluster, directory)
                    func run(_ more: String...) async throws -> Agent.Ending { try await Agent.run(arguments + more) }
                    let cases: [(option: String, code: Int32, output: String)] = [
                        ("--check", 2, "The copy was not confirmed since the system was started.\n"),
                        ("--initialize", 0, "The suite has its identity now.\n"),
                        ("--initialize", 0, "The suite had its identity already.\n"),
                        ("--check", 2, "The copy was not confirmed since the system was started.\n"),
                    ]
                    for (option, code, output) in cases {
                        #expect(try await run(option) == .init(code: code, output: output, log: ""))
                    }

                    let agent = try Agent(arguments)
                    try cluster.control("put", "defaults/suite/k/n", "5")
                    try await eventually("the copy is current") { try await run("--check").code == 0 }
                    let healthy = try await run("--check")
                    let form = try Regex(#"Revision [1-9][0-9]*, confirmed [0-9]+ seconds ago\.\n"#)
                    #expect(healthy.output.wholeMatch(of: form) != nil, "\(healthy)")
                    #expect(healthy.log == "")
                    // Any age is more than none.
                    #expect(try await run("--check", "--maximum-age", "0").code == 2)

                    // The agent's copy is what programs read.
                    let host = try TestHost(cluster.cluster, directory: directory)
                    try await eventually("the host has the value") {
                        host.store.storedValue(forKey: "n") == .integer(5)
                    }

                    try cluster.control("del", "defaults/suite/store")
                    try await eventually("the store is found to be replaced") { try await run("--check").code == 3 }
                    let replaced = try await run("--check")
                    #expect(replaced.output == "The store was replaced: the cluster has no store identity.\n")
                    #expect(try await run("--initialize").code == 3)
                    let accepted = try await run("--accept-replacement")
                    #expect(accepted.code == 0 && accepted.log == "", "\(accepted)")
                    #expect(accepted.output.hasPrefix("What the cluster has, 1 value, is the suite now"))
                    try await eventually("the copy is current again") { try await run("--check").code == 0 }
                    #expect(host.store.storedValue(forKey: "n") == .integer(5))

                    agent.signal(SIGTERM)
                    #expect(try await agent.ending().code == 0)
                    // The copy is as fresh as before, but will not stay so.
                    let unfollowed = try Regex(
                        #"Revision [0-9]+, confirmed [0-9]+ seconds ago\. No process of this host follows the cluster\.\n"#
                    )
                    let ended = try await run("--check", "--maximum-age", "3600")
                    #expect(ended.code == 2)
                    #expect(ended.output.wholeMatch(of: unfollowed) != nil, "\(ended)")
                    #expect(!host.store.freshness.hasFollower)

                    // Any process of the host may follow, and a killed one has ended too.
                    host.follow()
                    try await eventually("the host follows") { try await run("--check").code == 0 }
                    #expect(host.store.freshness.hasFollower)
                    let other = try Agent(arguments)
                    try await host.stopFollowing()
                    try await eventually("the other agent follows") { try await run("--check").code == 0 }
                    #expect(host.store.freshness.hasFollower)
                    other.signal(SIGKILL)
                    #expect(try await other.ending().code == nil)
                    #expect(try await run("--check").code == 2)
                }
            }
        }

        @Test("is found where the library puts copies, by its checks and by an operator's commands")
        func usualPlace() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let arguments = Array(self.arguments(cluster, directory).dropLast(2))
                    let environment = ["XDG_CONFIG_HOME": directory.path]
                    func run(_ more: String...) async throws -> Agent.Ending {
                        try await Agent.run(more + arguments, environment: environment)
                    }
                    #expect(try await run("follow", "--initialize").code == 0)
                    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
                    let agent = try Agent(arguments, environment: environment)
                    try await eventually("the copy is current") { try await run("follow", "--check").code == 0 }
                    let set = try await run("set", "n", "1")
                    #expect(set == .init(code: 0, output: "n\t1\n", log: ""))
                    agent.signal(SIGTERM)
                    #expect(try await agent.ending().code == 0)
                }
            }
        }

        @Test("logs objects, one to a line, as severe as asked for, and ends with 0 after SIGTERM and SIGINT")
        func log() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let arguments = self.arguments(cluster, directory)
                    #expect(try await Agent.run(arguments + ["--initialize"]).code == 0)
                    for signal in [SIGTERM, SIGINT] {
                        let agent = try Agent(arguments)
                        try await eventually("the agent follows") {
                            agent.log.contains("This process follows the cluster for the host.")
                        }
                        agent.signal(signal)
                        let ending = try await agent.ending()
                        #expect(ending.code == 0, "\(ending)")
                        #expect(ending.output == "")
                        for line in agent.logLines {
                            let line = try #require(line, "\(ending)")
                            #expect(["info", "notice", "warning"].contains(line["level"]))
                            #expect(line["logger"] == "fleet-agent")
                            #expect(line["message"]?.isEmpty == false)
                            #expect(try Date(#require(line["time"]), strategy: .iso8601) <= .now)
                        }
                        #expect(agent.logLines.contains { $0?["suite"] == "suite" })
                    }
                    let quiet = try Agent(arguments + ["--log-level", "warning"])
                    try await eventually("the copy is current") {
                        try await Agent.run(arguments + ["--check"]).code == 0
                    }
                    // It reports what the library reports.
                    try cluster.control("del", "defaults/suite/store")
                    try await eventually("the agent reports what happened") { quiet.log.contains("store replaced") }
                    quiet.signal(SIGTERM)
                    #expect(try await quiet.ending().code == 0)
                    #expect(quiet.logLines.allSatisfy { ["warning", "error"].contains($0?["level"]) }, "\(quiet.log)")
                    #expect(quiet.logLines.contains { $0?["code"] == "storeReplaced" }, "\(quiet.log)")
                }
            }
        }

        /// Where nothing can be written.
        enum Sink: CaseIterable, Sendable {
            case fullDisk, closedPipe

            func open() throws -> FileHandle {
                switch self {
                case .fullDisk:
                    return try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
                case .closedPipe:
                    let pipe = Pipe()
                    try pipe.fileHandleForReading.close()
                    return pipe.fileHandleForWriting
                }
            }
        }

        @Test("follows the cluster also when its log can't be written", arguments: Sink.allCases)
        func unwritableLog(sink: Sink) async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let arguments = self.arguments(cluster, directory)
                    #expect(try await Agent.run(arguments + ["--initialize"]).code == 0)
                    let agent = try Agent(arguments + ["--log-level", "trace"], loggingTo: sink.open())
                    try await eventually("the copy is current") {
                        try await Agent.run(arguments + ["--check"]).code == 0
                    }
                    agent.signal(SIGTERM)
                    #expect(try await agent.ending().code == 0)
                }
            }
        }

        @Test("fails when what a command prints can't be written", arguments: Sink.allCases)
        func unwritableOutput(sink: Sink) async throws {
            try await TestCluster.run { cluster in
                try cluster.control("put", "defaults/suite/k/n", "5")
                let options = OperatorCalls(cluster).options
                for arguments in [["list"], ["get", "n"], ["export"], ["history", "n"]] {
                    let agent = try Agent(
                        arguments.prefix(1) + options + arguments.dropFirst(),
                        printingTo: sink.open()
                    )
                    let ending = try await agent.ending()
                    #expect(ending.code == 1, "\(arguments): \(ending)")
                    #expect(ending.log.contains("standard output"), "\(arguments): \(ending)")
                }
            }
        }

        @Test("has the password from the environment, and never shows it")
        func password() async throws {
            try await TestCluster.run { cluster in
                let password = "pass-4711"
                for arguments in [
                    ["user", "add", "root:\(password)"], ["user", "grant-role", "root", "root"], ["auth", "enable"],
                ] {
                    try cluster.control(arguments)
                }
                try await withTemporaryDirectory { directory in
                    let arguments = self.arguments(cluster, directory) + ["--log-level", "trace"]
                    let user = ["--user", "root"]
                    var written = ""
                    func run(_ more: [String], password: String?) async throws -> Agent.Ending {
                        let ending = try await Agent.run(arguments + more, password: password)
                        written += ending.output + ending.log
                        return ending
                    }
                    let missing = try await run(["--initialize"], password: password)
                    #expect(missing.code == 69 && missing.log.contains("Set EtcdCluster.user"), "\(missing)")
                    let wrong = try await run(user + ["--initialize"], password: password + "x")
                    #expect(wrong.code == 69 && wrong.log.contains("password is wrong"), "\(wrong)")
                    #expect(try await run(user + ["--initialize"], password: password).code == 0)
                    let agent = try Agent(arguments + user, password: password)
                    // A check needs no credentials.
                    try await eventually("the copy is current") {
                        try await Agent.run(arguments + ["--check"]).code == 0
                    }
                    // Its token is gone then, so it sends the password again.
                    cluster.kill(0)
                    try cluster.start(0)
                    try await eventually("the watch ends") { agent.log.contains("The watch has ended") }
                    let host = try TestHost(cluster.cluster, directory: directory)
                    try await eventually("the cluster accepts a value") {
                        (try? cluster.control("--user=root:\(password)", "put", "defaults/suite/k/n", "5")) != nil
                    }
                    try await eventually("the host has the value") {
                        host.store.storedValue(forKey: "n") == .integer(5)
                    }
                    agent.signal(SIGTERM)
                    let ending = try await agent.ending()
                    #expect(ending.code == 0)
                    written += ending.output + ending.log
                    #expect(written.contains("This process follows the cluster for the host."))
                    #expect(!written.contains(password))
                }
            }
        }
    }
}
