import Default
import Foundation
import Testing

@testable import DefaultFleet

extension WaitingClusterTests {
    @Suite("With credentials that change")
    struct ChangedCredentials {
        @Test("a password that was refused is sent again when its file has changed, without a restart")
        func passwordFile() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let first = try TestHost(cluster.cluster, directory: directory.appendingPathComponent("operator"))
                    _ = try await onThread { try first.store.initialize() }
                    for arguments in [
                        ["user", "add", "root:new"], ["user", "grant-role", "root", "root"], ["auth", "enable"],
                    ] {
                        try cluster.control(arguments)
                    }
                    let file = directory.appendingPathComponent("password")
                    var known = cluster.cluster
                    known.user = EtcdCluster.User(name: "root", passwordFile: file.path)
                    let transport = RecordingTransport(try HTTPTransport(known))
                    let host = try TestHost(
                        known,
                        deadline: .seconds(2),
                        directory: directory.appendingPathComponent("host"),
                        transport: transport
                    )
                    defer { host.stopSoon() }
                    await #expect { try await host.store.perform { try host.store.flush() } } throws: {
                        "\($0)".contains("can't be read")
                    }
                    try Data("old\n".utf8).write(to: file)
                    host.follow()
                    try await eventually("the password is refused") { transport.sent == ["v3/auth/authenticate"] }
                    for _ in 0..<20 {
                        await #expect { try await host.store.waitUntilCurrent(within: patience) } throws: {
                            "\($0)".contains("password is wrong")
                        }
                    }
                    #expect(transport.sent == ["v3/auth/authenticate"])
                    try Data("new\n".utf8).write(to: file)
                    try await host.waitUntilCurrent()
                    #expect(transport.sent.count { $0 == "v3/auth/authenticate" } == 2)
                    try await host.stopFollowing()
                }
            }
        }

        @Test("a token that was refused is not sent again before its file has changed, and then at once")
        func tokenFile() async throws {
            try await withTemporaryDirectory { directory in
                let key = directory.appendingPathComponent("key.pem").path
                let publicKey = directory.appendingPathComponent("public.pem").path
                try TestCluster.run("openssl", ["genrsa", "-out", key, "2048"])
                try TestCluster.run("openssl", ["rsa", "-in", key, "-pubout", "-out", publicKey])
                let kind = "jwt,pub-key=\(publicKey),priv-key=\(key),sign-method=RS256,ttl=1h"
                try await TestCluster.run(.init(flags: ["--auth-token", kind])) { cluster in
                    try cluster.enableAuthentication()
                    let file = directory.appendingPathComponent("token")
                    var known = cluster.cluster
                    known.user = EtcdCluster.User(tokenFile: file.path)
                    let transport = RecordingTransport(try HTTPTransport(known))
                    let host = try TestHost(known, directory: directory, transport: transport)
                    defer { host.stopSoon() }
                    try await writeToken(of: cluster, to: file)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()

                    // It is older than this change.
                    try cluster.control("--user=root:secret", "role", "add", "other")
                    try await eventually("the token is refused") {
                        do {
                            try await host.store.perform { try host.store.flush() }
                            return false
                        } catch {
                            return "\(error)".contains("user's token")
                        }
                    }
                    let before = transport.sent.count
                    for _ in 0..<20 {
                        await #expect { try await host.store.perform { try host.store.flush() } } throws: {
                            "\($0)".contains("user's token")
                        }
                    }
                    // A heartbeat may have had the token already.
                    #expect(transport.sent.count <= before + 1)
                    try await eventually("the watch is ended") { transport.streamCount == 0 }
                    try cluster.control("--user=root:secret", "put", "defaults/suite/k/n", "7")
                    try await writeToken(of: cluster, to: file)
                    try await eventually("the watch has a new token") {
                        host.store.storedValue(forKey: "n") == .integer(7)
                    }
                    try await host.store.perform { try host.store.setStoredValue(.integer(8), forKey: "n") }
                    #expect(!transport.sent.contains("v3/auth/authenticate"))
                    try await host.stopFollowing()
                }
            }
        }

        /// Gets a token as an operator does.
        private func writeToken(of cluster: TestCluster, to file: URL) async throws {
            let request = EtcdRequest(
                endpoint: cluster.endpoints[0],
                path: "v3/auth/authenticate",
                headers: [],
                body: EtcdCoding.encode(AuthenticateRequest(name: "shop", password: "open"))
            )
            let answer = try await onThread { () throws in
                try HTTPTransport(cluster.cluster).send(request, until: Deadline(after: .seconds(20)))
            }
            let token = try EtcdCoding.decode(AuthenticateResponse.self, from: answer.body).token
            try Data("\(token)\n".utf8).write(to: file)
        }

        @Test("members with certificates of a new authority are trusted when the file has it, without a restart")
        func authorities() async throws {
            try await withTemporaryDirectory { directory in
                let files = directory.appendingPathComponent("certificates")
                let certificates = try Certificates(in: files)
                var options = TestCluster.Options()
                options.scheme = "https"
                options.flags = [
                    "--cert-file", certificates.path("member.pem"), "--key-file", certificates.path("member-key.pem"),
                ]
                options.controlFlags = ["--cacert", certificates.path("ca.pem")]
                try await TestCluster.run(options) { cluster in
                    let roots = directory.appendingPathComponent("roots.pem")
                    try FileManager.default.copyItem(atPath: certificates.path("ca.pem"), toPath: roots.path)
                    var known = cluster.cluster
                    known.tls = EtcdCluster.TLS(trustRoots: roots.path)
                    let place = directory.appendingPathComponent("host")
                    let host = try TestHost(known, directory: place)
                    defer { host.stopSoon() }
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()

                    cluster.kill(0)
                    try FileManager.default.removeItem(at: files)
                    _ = try Certificates(in: files)
                    try cluster.start(0)
                    try await cluster.waitUntilHealthy()
                    try await waitForMistrust(of: host)
                    // As when it is being written: the last that could be used counts.
                    try Data("-----BEGIN".utf8).write(to: roots)
                    try await waitForMistrust(of: host)
                    try Data(contentsOf: URL(fileURLWithPath: certificates.path("ca.pem"))).write(to: roots)
                    try cluster.control("put", "defaults/suite/k/n", "5")
                    try await eventually("the host has the value") {
                        host.store.storedValue(forKey: "n") == .integer(5)
                    }
                    try await host.stopFollowing()
                }
            }
        }

        /// Waits until a host finds that it doesn't trust the members; one that does, even once, is an error.
        private func waitForMistrust(of host: TestHost) async throws {
            try await eventually("the members' certificates are found to be of another authority") {
                let error = try await #require(throws: DefaultsError.self) {
                    try await host.store.waitUntilCurrent(within: .seconds(3))
                }
                return "\(error)".contains("trustRoots")
            }
        }
    }
}
