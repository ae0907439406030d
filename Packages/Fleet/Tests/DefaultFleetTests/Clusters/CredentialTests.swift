import Default
import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

extension WaitingClusterTests {
    @Suite("With authentication")
    struct Authentication {
        private func store(_ cluster: EtcdCluster, in directory: URL) throws -> EtcdDefaults {
            try TestHost(cluster, deadline: .seconds(4), directory: directory).store
        }

        @Test("a wrong password, a missing user and a missing permission are named, and nothing is stored")
        func refusals() async throws {
            try await TestCluster.run { cluster in
                try cluster.enableAuthentication()
                try await withTemporaryDirectory { directory in
                    var known = cluster.cluster
                    known.user = EtcdCluster.User(name: "shop", password: "open")
                    let host = try TestHost(known, directory: directory.appendingPathComponent("host"))
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    try await host.store.perform { try host.store.setStoredValue(.integer(1), forKey: "n") }

                    let cases: [(user: EtcdCluster.User?, code: DefaultsError.Code, advice: String)] = [
                        (EtcdCluster.User(name: "shop", password: "shut"), .storeUnavailable, "password is wrong"),
                        (nil, .storeUnavailable, "Set EtcdCluster.user"),
                        (EtcdCluster.User(name: "guest", password: "open"), .storeReadOnly, "grant-permission"),
                    ]
                    // A permission to read is enough for a host that only reads.
                    var readable = cluster.cluster
                    readable.user = EtcdCluster.User(name: "guest", password: "open")
                    let guest = try TestHost(readable, directory: directory.appendingPathComponent("guest"))
                    guest.follow()
                    try await guest.waitUntilCurrent()
                    #expect(guest.store.storedValue(forKey: "n") == .integer(1))
                    try await guest.stopFollowing()

                    // They use the replica of the host, so they know the store's identity.
                    for (user, code, advice) in cases {
                        var other = cluster.cluster
                        other.user = user
                        let store = try self.store(other, in: directory.appendingPathComponent("host"))
                        await #expect {
                            try await store.perform { try store.setStoredValue(.integer(2), forKey: "n") }
                        } throws: { error in
                            let error = error as? DefaultsError
                            return error?.code == code && error?.description.contains(advice) == true
                        }
                        #expect(store.storedValue(forKey: "n") == .integer(1))
                    }
                    // The first one goes on.
                    try await host.store.perform { try host.store.setStoredValue(.integer(3), forKey: "n") }
                    try await host.stopFollowing()
                }
            }
        }

        @Test("a token that a member has forgotten is replaced, for writes and for the watch")
        func forgottenToken() async throws {
            try await TestCluster.run { cluster in
                try cluster.enableAuthentication()
                try await withTemporaryDirectory { directory in
                    var known = cluster.cluster
                    known.user = EtcdCluster.User(name: "shop", password: "open")
                    let host = try TestHost(known, directory: directory)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    for number in 1...2 {
                        cluster.kill(0)
                        try cluster.start(0)
                        try await eventually("a write has a new token") {
                            do {
                                try await host.store.perform {
                                    try host.store.setStoredValue(.integer(Int64(number)), forKey: "n")
                                }
                                return true
                            } catch DefaultsError.Code.storeUnavailable {
                                return false
                            }
                        }
                        try await eventually("the watch has a new token") {
                            host.store.storedValue(forKey: "n") == .integer(Int64(number))
                        }
                    }
                    try await host.stopFollowing()
                }
            }
        }

        @Test("sixty hosts that start together are all let in, with few passwords")
        func manyHosts() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    let place = directory.appendingPathComponent("operator")
                    let first = try TestHost(cluster.cluster, directory: place)
                    _ = try await onThread { try first.store.initialize() }
                    try cluster.enableAuthentication()
                    var known = cluster.cluster
                    known.user = EtcdCluster.User(name: "guest", password: "open")
                    let transports = try (0..<60).map { _ in RecordingTransport(try HTTPTransport(known)) }
                    let hosts = try transports.enumerated().map { number, transport in
                        let place = directory.appendingPathComponent("host\(number)")
                        return try TestHost(known, directory: place, transport: transport)
                    }
                    defer { hosts.forEach { $0.stopSoon() } }
                    for host in hosts {
                        host.follow()
                    }
                    for host in hosts {
                        try await eventually("each host is current") { host.store.freshness.unconfirmedFor != nil }
                    }
                    let passwords = transports.map { $0.sent.count { $0 == "v3/auth/authenticate" } }
                    // One for each, unless the machine is so busy that ten seconds are not enough.
                    #expect(passwords.allSatisfy { $0 <= 3 }, "\(passwords)")
                    for host in hosts {
                        try await host.stopFollowing()
                    }
                }
            }
        }

        @Test("a password that was refused is not sent again with the next requests, which throw the same")
        func wrongPassword() async throws {
            try await TestCluster.run { cluster in
                try cluster.enableAuthentication()
                try await withTemporaryDirectory { directory in
                    var known = cluster.cluster
                    known.user = EtcdCluster.User(name: "shop", password: "shut")
                    let transport = RecordingTransport(try HTTPTransport(known))
                    let host = try TestHost(known, directory: directory, transport: transport)
                    host.follow()
                    for _ in 0..<20 {
                        await #expect { try await host.store.perform { try host.store.flush() } } throws: {
                            "\($0)".contains("password is wrong")
                        }
                    }
                    try await host.stopFollowing()
                    #expect(transport.sent == ["v3/auth/authenticate"])
                }
            }
        }

        @Test("a user that is known before authentication is enabled has a token as soon as it is")
        func enabledLater() async throws {
            try await TestCluster.run { cluster in
                try await withTemporaryDirectory { directory in
                    var known = cluster.cluster
                    known.user = EtcdCluster.User(name: "shop", password: "open")
                    let transport = RecordingTransport(try HTTPTransport(known))
                    let host = try TestHost(known, directory: directory, transport: transport)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    #expect(transport.sent.count { $0 == "v3/auth/authenticate" } == 1)
                    try cluster.enableAuthentication()
                    try await host.store.perform { try host.store.setStoredValue(.integer(1), forKey: "n") }
                    #expect(transport.sent.count { $0 == "v3/auth/authenticate" } == 2)
                    try await host.stopFollowing()
                }
            }
        }

        @Test("a reader whose permission is revoked gets no more changes, is told so, and goes on when it has it again")
        func revokedReader() async throws {
            try await TestCluster.run { cluster in
                let first = try TestHost(cluster.cluster, directory: cluster.directory.appendingPathComponent("first"))
                _ = try await onThread { try first.store.initialize() }
                try cluster.enableAuthentication()
                try await withTemporaryDirectory { directory in
                    var known = cluster.cluster
                    known.user = EtcdCluster.User(name: "guest", password: "open")
                    let transport = RecordingTransport(try HTTPTransport(known))
                    let host = try TestHost(known, directory: directory, transport: transport)
                    host.follow()
                    try await host.waitUntilCurrent()
                    // A copy is current before its watch has begun.
                    try await eventually("the watch has begun") { transport.streamCount == 1 }

                    let prefix = ["guest", "defaults/suite/", "--prefix"]
                    try cluster.control(["--user=root:secret", "role", "revoke-permission"] + prefix)
                    try await eventually("the watch is ended") { transport.streamCount == 0 }
                    try cluster.control("--user=root:secret", "put", "defaults/suite/k/n", "7")
                    await #expect { try await host.store.perform { try host.store.flush() } } throws: { error in
                        DefaultsError.Code.storeUnavailable ~= error && "\(error)".contains("permission to read")
                    }
                    #expect(host.store.storedValue(forKey: "n") == nil)

                    try cluster.control(
                        "--user=root:secret",
                        "role",
                        "grant-permission",
                        "guest",
                        "read",
                        "defaults/suite/",
                        "--prefix"
                    )
                    try await eventually("the host has the value") {
                        host.store.storedValue(forKey: "n") == .integer(7)
                    }
                    try await host.stopFollowing()
                }
            }
        }

        @Test("a member that is stopped keeps nobody from being let in, and no deadline from being kept")
        func stoppedMember() async throws {
            try await TestCluster.run(.init(memberCount: 3)) { cluster in
                let first = try TestHost(cluster.cluster, directory: cluster.directory.appendingPathComponent("first"))
                _ = try await onThread { try first.store.initialize() }
                try cluster.enableAuthentication()
                try await withTemporaryDirectory { directory in
                    var known = cluster.cluster
                    known.user = EtcdCluster.User(name: "shop", password: "open")
                    let host = try TestHost(known, deadline: .seconds(5), directory: directory)
                    defer { host.stopSoon() }
                    try await eventually("there is a leader") { cluster.leader != nil }
                    let stopped = (try #require(cluster.leader) + 1) % 3
                    let operations = try SuiteOperator(known, suiteName: "suite")
                    for client in [host.store.client, operations.client] {
                        client.preferred.store(stopped, ordering: .relaxed)
                    }
                    cluster.pause(stopped)
                    defer { cluster.resume(stopped) }
                    #expect(try await onThread { try operations.values().values.isEmpty })
                    host.follow()
                    try await eventually("the host has a copy") { host.store.replica.state != nil }
                    // Each of both has a deadline of five seconds.
                    try await host.store.perform { try host.store.flush() }
                    try await host.store.perform { try host.store.setStoredValue(.integer(1), forKey: "n") }
                    try await host.stopFollowing()
                }
            }
        }

        @Test("a token that only the watched member has forgotten is replaced")
        func tokenOfTheWatch() async throws {
            try await TestCluster.run { cluster in
                try cluster.enableAuthentication()
                try await withTemporaryDirectory { directory in
                    var known = cluster.cluster
                    known.user = EtcdCluster.User(name: "shop", password: "open")
                    let transport = ForgetfulMember(transport: RecordingTransport(try HTTPTransport(known)))
                    let host = try TestHost(known, directory: directory, transport: transport)
                    _ = try await onThread { try host.store.initialize() }
                    host.follow()
                    try await host.waitUntilCurrent()
                    try await host.stopFollowing()
                    transport.forgetTokens()
                    host.follow()
                    try await eventually("the watch is refused") {
                        transport.transport.streamed.contains("invalid auth token")
                    }
                    try cluster.control("--user=shop:open", "put", "defaults/suite/k/n", "7")
                    try await eventually("the watch has a new token") {
                        host.store.storedValue(forKey: "n") == .integer(7)
                    }
                    try await host.stopFollowing()
                }
            }
        }
    }

    /// An address of several members, where watches get to one that has forgotten its tokens, and all else to one that
    /// knows them.
    ///
    /// Each member lets the tokens expire that are not used with itself.
    private final class ForgetfulMember: EtcdTransport {
        let transport: RecordingTransport
        private let known = Mutex<Set<String>>([])
        private let forgotten = Mutex<Set<String>>([])

        init(transport: RecordingTransport) {
            self.transport = transport
        }

        func forgetTokens() {
            forgotten.withLock { $0 = known.withLock { $0 } }
        }

        func send(_ request: EtcdRequest, until deadline: Deadline) throws(EtcdClient.Failure) -> EtcdAnswer {
            known.withLock { $0.formUnion(request.headers.filter { $0.name == "Authorization" }.map(\.value)) }
            return try transport.send(request, until: deadline)
        }

        func stream(_ request: EtcdRequest, receive: @escaping @Sendable (StreamPiece) -> Void) -> any EtcdStream {
            let headers = request.headers.map { header in
                // A member knows no token like this one.
                forgotten.withLock { $0.contains(header.value) } ? (name: header.name, value: "forgotten.1") : header
            }
            return transport.stream(
                EtcdRequest(endpoint: request.endpoint, path: request.path, headers: headers, body: request.body),
                receive: receive
            )
        }
    }

    @Suite("With TLS")
    struct Encryption {
        private func run(_ body: (TestCluster, Certificates, URL) async throws -> Void) async throws {
            try await withTemporaryDirectory { directory in
                let certificates = try Certificates(in: directory.appendingPathComponent("certificates"))
                var options = TestCluster.Options(scheme: "https")
                options.flags = [
                    "--cert-file", certificates.path("member.pem"), "--key-file", certificates.path("member-key.pem"),
                    "--trusted-ca-file", certificates.path("ca.pem"), "--client-cert-auth",
                ]
                try certificates.make("named", subject: "/CN=root")
                try certificates.make("nameless", subject: "/O=shop")
                options.controlFlags = [
                    "--cacert", certificates.path("ca.pem"), "--cert", certificates.path("named.pem"), "--key",
                    certificates.path("named-key.pem"),
                ]
                try await TestCluster.run(options) { try await body($0, certificates, directory) }
            }
        }

        private func cluster(_ cluster: TestCluster, _ certificates: Certificates, as name: String) -> EtcdCluster {
            let tls = EtcdCluster.TLS(
                trustRoots: certificates.path("ca.pem"),
                certificate: certificates.path("\(name).pem"),
                privateKey: certificates.path("\(name)-key.pem")
            )
            return EtcdCluster(endpoints: cluster.endpoints, tls: tls)
        }

        @Test("a certificate of another authority is an error that names it, and the right one works")
        func authorities() async throws {
            try await run { cluster, certificates, directory in
                let host = try TestHost(
                    self.cluster(cluster, certificates, as: "named"),
                    directory: directory.appendingPathComponent("host")
                )
                _ = try await onThread { try host.store.initialize() }
                host.follow()
                try await host.waitUntilCurrent()
                try await host.store.perform { try host.store.setStoredValue(.integer(1), forKey: "n") }

                let strangers = try Certificates(in: directory.appendingPathComponent("strangers"))
                var other = self.cluster(cluster, certificates, as: "named")
                other.tls?.trustRoots = strangers.path("ca.pem")
                let store = try TestHost(
                    other,
                    deadline: .seconds(1),
                    directory: directory.appendingPathComponent("host")
                ).store
                await #expect {
                    try await store.perform { try store.setStoredValue(.integer(2), forKey: "n") }
                } throws: { error in
                    DefaultsError.Code.storeUnavailable ~= error && "\(error)".contains("trustRoots")
                }
                #expect(store.storedValue(forKey: "n") == .integer(1))
                try await host.stopFollowing()
            }
        }

        @Test("authentication that is enabled under a running host, disabled and enabled again, interrupts it only")
        func authenticationOfRunningHost() async throws {
            try await run { cluster, certificates, directory in
                var known = self.cluster(cluster, certificates, as: "nameless")
                known.user = EtcdCluster.User(name: "shop", password: "open")
                let transport = RecordingTransport(try HTTPTransport(known))
                let place = directory.appendingPathComponent("host")
                let host = try TestHost(known, deadline: .seconds(4), directory: place, transport: transport)
                defer { host.stopSoon() }
                _ = try await onThread { try host.store.initialize() }
                host.follow()
                try await host.waitUntilCurrent()
                func authentications() -> Int { transport.sent.count { $0 == "v3/auth/authenticate" } }
                func check(_ number: Int64) async throws {
                    let start = ContinuousClock.now
                    try await eventually("the copy is confirmed") {
                        (host.store.freshness.unconfirmedFor ?? .seconds(60)) < ContinuousClock.now - start
                    }
                    try await host.store.perform { try host.store.setStoredValue(.integer(number), forKey: "n") }
                    try await host.waitUntilCurrent()
                }
                try cluster.enableAuthentication()
                try await check(1)
                try cluster.control("auth", "disable")
                // Where members refuse the token that is not needed any more, the host asks for another one, and finds
                // that. Newer versions than 3.4.23 don't look at it.
                try await check(2)
                let before = authentications()
                try cluster.control("auth", "enable")
                try await check(3)
                #expect(authentications() > before)
                try await host.stopFollowing()
            }
        }

        @Test("a certificate with a CommonName is refused when authentication is on, and the error says so")
        func commonName() async throws {
            try await run { cluster, certificates, directory in
                try cluster.control("user", "add", "root:secret")
                try cluster.control("user", "grant-role", "root", "root")
                try cluster.control("auth", "enable")
                var known = self.cluster(cluster, certificates, as: "nameless")
                known.user = EtcdCluster.User(name: "root", password: "secret")
                let host = try TestHost(known, directory: directory.appendingPathComponent("host"))
                _ = try await onThread { try host.store.initialize() }
                host.follow()
                try await host.waitUntilCurrent()

                var named = self.cluster(cluster, certificates, as: "named")
                named.user = known.user
                let store = try TestHost(named, directory: directory.appendingPathComponent("host")).store
                await #expect {
                    try await store.perform { try store.setStoredValue(.integer(2), forKey: "n") }
                } throws: { error in
                    DefaultsError.Code.storeUnavailable ~= error && "\(error)".contains("CommonName")
                }
                #expect(store.storedValue(forKey: "n") == nil)
                try await host.store.perform { try host.store.setStoredValue(.integer(3), forKey: "n") }
                try await host.stopFollowing()
            }
        }

        @Test("files of certificates that can't be read are an error when the store is made")
        func missingFiles() throws {
            let cluster = EtcdCluster(
                endpoints: [try #require(URL(string: "https://127.0.0.1:1"))],
                tls: .init(trustRoots: "/missing")
            )
            #expect { try EtcdDefaults(cluster, suiteName: "suite") } throws: {
                DefaultsError.Code.storeUnavailable ~= $0
            }
        }
    }
}
