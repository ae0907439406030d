import Default
import Foundation
import Testing

@testable import DefaultFleet

extension WaitingClusterTests {
    @Suite("Whose copy is not confirmed")
    struct Unconfirmed {
        /// Runs a body with an agent's arguments, and a function that waits until a check says something.
        private func run(
            _ options: TestCluster.Options = .init(),
            _ body: (TestCluster, [String], (_ text: String, _ arguments: [String]) async throws -> Void) async throws
                -> Void
        ) async throws {
            try await TestCluster.run(options) { cluster in
                try await withTemporaryDirectory { directory in
                    let endpoints = cluster.endpoints.map(\.absoluteString).joined(separator: ",")
                    let replica = directory.appendingPathComponent("replica").path
                    let arguments = ["--endpoints", endpoints, "--suite", "suite", "--replica", replica]
                    try await body(cluster, arguments) { text, arguments in
                        var last = ""
                        try await eventually("a check says \(text), and not \(last)") {
                            last = try await Agent.run(arguments + ["--check"]).output
                            return last.contains(text)
                        }
                    }
                }
            }
        }

        @Test("a wrong password is named by the check, by /healthz and by the metrics, as long as it is the cause")
        func password() async throws {
            try await run { cluster, arguments, waitForCheck in
                #expect(try await Agent.run(arguments + ["--initialize"]).code == 0)
                try cluster.enableAuthentication()
                try await withTemporaryDirectory { directory in
                    let file = directory.appendingPathComponent("password")
                    try Data("shut\n".utf8).write(to: file)
                    let socket = directory.appendingPathComponent("status").path
                    let agent = try Agent(
                        arguments + ["--user", "shop", "--password-file", file.path, "--listen", "unix:\(socket)"]
                    )
                    try await waitForCheck("password is wrong", arguments)
                    #expect(try #require(get("/healthz", from: socket)).contains("password is wrong"))
                    let line = #"default_fleet_trouble{cause="password",suite="suite"} "#
                    #expect(try #require(get("/metrics", from: socket)).contains(line + "1\n"))

                    try Data("open\n".utf8).write(to: file)
                    try await eventually("the copy is current") {
                        try await Agent.run(arguments + ["--check"]).code == 0
                    }
                    #expect(try !#require(get("/healthz", from: socket)).contains("password"))
                    #expect(try #require(get("/metrics", from: socket)).contains(line + "0\n"))
                    agent.signal(SIGTERM)
                    #expect(try await agent.ending().code == 0)
                }
            }
        }

        @Test("a permission that was revoked is named")
        func permission() async throws {
            try await run { cluster, arguments, waitForCheck in
                #expect(try await Agent.run(arguments + ["--initialize"]).code == 0)
                try cluster.enableAuthentication()
                let agent = try Agent(arguments + ["--user", "guest"], password: "open")
                try await eventually("the copy is current") { try await Agent.run(arguments + ["--check"]).code == 0 }
                let prefix = ["guest", "defaults/suite/", "--prefix"]
                try cluster.control(["--user=root:secret", "role", "revoke-permission"] + prefix)
                try await waitForCheck("no permission to read", arguments)
                agent.signal(SIGTERM)
                #expect(try await agent.ending().code == 0)
                // Nothing of it is true of another process.
                try await waitForCheck("No process of this host follows", arguments)
                #expect(try await !Agent.run(arguments + ["--check"]).output.contains("permission"))
            }
        }

        @Test("an own certificate that has expired is called that, and not a member's")
        func certificate() async throws {
            try await withTemporaryDirectory { directory in
                let certificates = try Certificates(in: directory.appendingPathComponent("certificates"))
                try certificates.make("valid", subject: "/O=shop")
                try certificates.make("expired", subject: "/O=shop", days: 0)
                var options = TestCluster.Options(scheme: "https")
                options.flags = [
                    "--cert-file", certificates.path("member.pem"), "--key-file", certificates.path("member-key.pem"),
                    "--trusted-ca-file", certificates.path("ca.pem"), "--client-cert-auth",
                ]
                options.controlFlags = [
                    "--cacert", certificates.path("ca.pem"), "--cert", certificates.path("valid.pem"), "--key",
                    certificates.path("valid-key.pem"),
                ]
                try await run(options) { _, arguments, waitForCheck in
                    func tls(_ name: String) -> [String] {
                        [
                            "--trust-roots", certificates.path("ca.pem"), "--certificate",
                            certificates.path("\(name).pem"), "--private-key", certificates.path("\(name)-key.pem"),
                        ]
                    }
                    #expect(try await Agent.run(arguments + tls("valid") + ["--initialize"]).code == 0)
                    let refused = try await Agent.run(arguments + tls("expired") + ["--initialize"])
                    #expect(refused.code == 69, "\(refused)")
                    #expect(refused.log.contains("refused this program's certificate"), "\(refused)")
                    let agent = try Agent(arguments + tls("expired"))
                    try await waitForCheck("refused this program's certificate", arguments)
                    agent.signal(SIGTERM)
                    #expect(try await agent.ending().code == 0)
                }
            }
        }

        @Test("a full disk under the copy is named", .enabled(if: getuid() == 0, "Only root can mount a small disk."))
        func fullDisk() async throws {
            try await run { cluster, arguments, waitForCheck in
                try await withTemporaryDirectory { disk in
                    try TestCluster.run("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk.path])
                    defer { _ = try? TestCluster.run("umount", ["-l", disk.path]) }
                    let arguments = arguments.dropLast() + [disk.appendingPathComponent("replica").path]
                    #expect(try await Agent.run(arguments + ["--initialize"]).code == 0)
                    let agent = try Agent(Array(arguments))
                    try await eventually("the copy is current") {
                        try await Agent.run(arguments + ["--check"]).code == 0
                    }
                    let large = "\"\(String(repeating: "x", count: 1_200_000))\""
                    try cluster.control("put", "defaults/suite/k/large", input: Data(large.utf8))
                    try await waitForCheck("copy can't be changed", Array(arguments))
                    try cluster.control("del", "defaults/suite/k/large")
                    agent.signal(SIGTERM)
                    #expect(try await agent.ending().code == 0)
                }
            }
        }

        @Test("a follower that was stopped is named when it has reported nothing for longer than it may take")
        func stoppedFollower() async throws {
            try await run { cluster, arguments, waitForCheck in
                #expect(try await Agent.run(arguments + ["--initialize"]).code == 0)
                let agent = try Agent(arguments)
                try await eventually("the copy is current") { try await Agent.run(arguments + ["--check"]).code == 0 }
                agent.signal(SIGSTOP)
                // As if it had been stopped two minutes ago.
                let lock = URL(fileURLWithPath: try #require(arguments.last)).appendingPathComponent("follower")
                let words = try String(contentsOf: lock, encoding: .utf8).split(whereSeparator: \.isWhitespace)
                let then = try #require(UInt64(words[0]))
                let file = try FileHandle(forWritingTo: lock)
                try file.write(contentsOf: Data("\(max(then, 120_000_000_000) - 120_000_000_000) \(words[1])\n".utf8))
                let check = try await Agent.run(arguments + ["--check"])
                #expect(check.code == 2 && check.output.contains("stopped or hangs"), "\(check)")
                agent.signal(SIGCONT)
                try await eventually("it goes on") { try await Agent.run(arguments + ["--check"]).code == 0 }
                agent.signal(SIGTERM)
                #expect(try await agent.ending().code == 0)
            }
        }

        @Test("no majority of members is named")
        func noMajority() async throws {
            try await run(.init(memberCount: 3)) { cluster, arguments, waitForCheck in
                #expect(try await Agent.run(arguments + ["--initialize"]).code == 0)
                let agent = try Agent(arguments)
                try await eventually("the copy is current") { try await Agent.run(arguments + ["--check"]).code == 0 }
                cluster.kill(0)
                cluster.kill(1)
                try await waitForCheck("most of its members", arguments)
                agent.signal(SIGTERM)
                #expect(try await agent.ending().code == 0)
            }
        }
    }
}
