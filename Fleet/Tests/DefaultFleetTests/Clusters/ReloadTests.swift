import Default
import Foundation
import Testing

@testable import DefaultFleet

extension ClusterTests {
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
                        directory: directory.appendingPathComponent("host"),
                        transport: transport
                    )
                    defer { host.stopSoon() }
                    await #expect { try await host.store.perform { try host.store.flush() } } throws: {
                        "\($0)".contains("password can't be read")
                    }
                    try Data("old\n".utf8).write(to: file)
                    host.follow()
                    try await eventually("the password is refused") { transport.sent == ["v3/auth/authenticate"] }
                    for _ in 0..<20 {
                        await #expect { try await host.store.perform { try host.store.flush() } } throws: {
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

        @Test("members with certificates of a new authority are trusted when the file has it, without a restart")
        func authorities() async throws {
            try await withTemporaryDirectory { directory in
                let place = directory.appendingPathComponent("certificates")
                let certificates = try Certificates(in: place)
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
                    let host = try TestHost(known, directory: directory.appendingPathComponent("host"))
                    defer { host.stopSoon() }
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()

                    cluster.kill(0)
                    try FileManager.default.removeItem(at: place)
                    _ = try Certificates(in: place)
                    try cluster.start(0)
                    try await cluster.waitUntilHealthy()
                    await #expect {
                        try await host.store.perform { try host.store.flush() }
                    } throws: {
                        "\($0)".contains("trustRoots")
                    }
                    // As when it is being written: the last that could be used counts.
                    try Data("-----BEGIN".utf8).write(to: roots)
                    await #expect {
                        try await host.store.perform { try host.store.flush() }
                    } throws: {
                        "\($0)".contains("trustRoots")
                    }
                    try Data(contentsOf: URL(fileURLWithPath: certificates.path("ca.pem"))).write(to: roots)
                    try cluster.control("put", "defaults/suite/k/n", "5")
                    try await eventually("the host has the value") {
                        host.store.storedValue(forKey: "n") == .integer(5)
                    }
                    try await host.stopFollowing()
                }
            }
        }
    }
}
