import DefaultFleet
import Foundation
import Synchronization
import Testing

/// A real etcd cluster on the loopback address, whose members can be killed, stopped and started again.
///
/// Its data is in a temporary directory, which goes with it.
final class TestCluster: Sendable {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// Whether the system has etcd.
    static let isInstalled = ["etcd", "etcdctl"].allSatisfy { path(of: $0) != nil }

    /// What a cluster is started with.
    struct Options: Sendable {
        var memberCount = 1
        /// Flags of etcd's.
        var flags: [String] = []
        /// How members are reached; certificates are in `flags`.
        var scheme = "http"
        /// Flags of etcdctl's.
        var controlFlags: [String] = []
    }

    let directory: URL
    let options: Options
    private let ports: Mutex<[UInt16]>
    private let peerPorts: [UInt16]
    private let processes: Mutex<[Int: Process]> = Mutex([:])
    /// Flags with which etcdctl is let in where a user is asked for.
    private let rootFlags: Mutex<[String]> = Mutex([])

    private init(_ options: Options, in directory: URL) throws {
        self.options = options
        self.directory = directory
        let ports = try Ports.free(options.memberCount * 2)
        self.ports = Mutex(Array(ports.prefix(options.memberCount)))
        peerPorts = Array(ports.suffix(options.memberCount))
    }

    /// Runs a body with a cluster that answers.
    static func run<Result>(
        _ options: Options = Options(),
        in directory: URL? = nil,
        _ body: (TestCluster) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { temporary in
            let cluster = try TestCluster(options, in: directory ?? temporary)
            defer { cluster.stop() }
            for member in 0..<options.memberCount {
                try cluster.start(member)
            }
            try await cluster.waitUntilHealthy()
            return try await body(cluster)
        }
    }

    /// Where members are reached now.
    private var clientPorts: [UInt16] { ports.withLock { $0 } }

    /// Ends a member, and starts it again where clients reach it at another address.
    func move(_ member: Int) throws {
        kill(member)
        let port = try Ports.free(1)[0]
        ports.withLock { $0[member] = port }
        try start(member)
    }

    var endpoints: [URL] { clientPorts.compactMap { URL(string: "\(options.scheme)://127.0.0.1:\($0)") } }

    /// The cluster as programs know it.
    var cluster: EtcdCluster { EtcdCluster(endpoints: endpoints) }

    func dataDirectory(of member: Int) -> URL { directory.appendingPathComponent("member\(member)") }

    /// Starts a member, with what its data directory has.
    func start(_ member: Int) throws {
        func url(_ port: UInt16, scheme: String = "http") -> String { "\(scheme)://127.0.0.1:\(port)" }
        let client = url(clientPorts[member], scheme: options.scheme)
        let peer = url(peerPorts[member])
        let process = Process()
        process.executableURL = Self.path(of: "etcd")
        process.arguments =
            [
                "--name", "m\(member)", "--data-dir", dataDirectory(of: member).path,
                "--listen-client-urls", client, "--advertise-client-urls", client,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", initialCluster, "--logger", "zap", "--log-level", "error",
            ] + options.flags
        let log = directory.appendingPathComponent("member\(member).log")
        if !FileManager.default.fileExists(atPath: log.path) {
            _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        }
        let output = try FileHandle(forWritingTo: log)
        try output.seekToEnd()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try output.close()
        processes.withLock { $0[member] = process }
    }

    var initialCluster: String {
        peerPorts.enumerated().map { "m\($0)=http://127.0.0.1:\($1)" }.joined(separator: ",")
    }

    func peerURL(of member: Int) -> String { "http://127.0.0.1:\(peerPorts[member])" }

    /// Ends a member at once, as a loss of power would.
    func kill(_ member: Int) {
        signal(SIGKILL, to: member)
        processes.withLock { $0.removeValue(forKey: member) }?.waitUntilExit()
    }

    /// Puts a backup in the place of what the only member has.
    func restore(_ backup: String) throws {
        kill(0)
        try FileManager.default.removeItem(at: dataDirectory(of: 0))
        try Self.run(
            "etcdctl",
            [
                "snapshot", "restore", backup, "--name", "m0", "--data-dir", dataDirectory(of: 0).path,
                "--initial-cluster", initialCluster, "--initial-advertise-peer-urls", peerURL(of: 0),
            ]
        )
        try start(0)
    }

    /// Stops a member without ending it: its connections stay.
    func pause(_ member: Int) {
        signal(SIGSTOP, to: member)
    }

    /// Lets a member go on.
    func resume(_ member: Int) {
        signal(SIGCONT, to: member)
    }

    private func signal(_ number: Int32, to member: Int) {
        if let process = processes.withLock({ $0[member] }), process.isRunning {
            Foundation.kill(process.processIdentifier, number)
        }
    }

    private func stop() {
        for member in 0..<options.memberCount {
            kill(member)
        }
    }

    /// Waits until a majority answers.
    func waitUntilHealthy() async throws {
        try await eventually("the cluster answers") {
            (try? control("get", "x", "--command-timeout=1s")) != nil
        }
    }

    /// The leader; nil while there is none.
    var leader: Int? {
        // With authentication, members of newer versions, such as 3.5.30, say who leads to users only.
        let arguments = rootFlags.withLock { $0 } + ["endpoint", "status", "-w", "json", "--command-timeout=1s"]
        return (0..<options.memberCount).first { member in
            guard processes.withLock({ $0[member] }) != nil,
                let text = try? control(endpoint: member, arguments),
                let status = try? JSONDecoder().decode([EndpointStatus].self, from: Data(text.utf8)).first?.Status
            else {
                return false
            }
            return status.leader == status.header.member_id
        }
    }

    private struct EndpointStatus: Decodable {
        struct Header: Decodable { let member_id: UInt64 }
        struct Status: Decodable {
            let header: Header
            let leader: UInt64
        }
        let Status: Status
    }

    /// What etcdctl prints, asking one member or all.
    @discardableResult
    func control(endpoint: Int? = nil, _ arguments: String..., input: Data? = nil) throws -> String {
        try control(endpoint: endpoint, arguments, input: input)
    }

    @discardableResult
    func control(endpoint: Int? = nil, _ arguments: [String], input: Data? = nil) throws -> String {
        let endpoints = endpoint.map { [self.endpoints[$0]] } ?? self.endpoints
        let list = endpoints.map(\.absoluteString).joined(separator: ",")
        return try Self.run("etcdctl", ["--endpoints=\(list)"] + options.controlFlags + arguments, input: input)
    }

    /// Asks for passwords from now on: of `root`, of `shop`, which may write the suite, and of `guest`, which may read
    /// it.
    func enableAuthentication() throws {
        for arguments in [
            ["user", "add", "root:secret"], ["role", "add", "shop"], ["user", "add", "shop:open"],
            ["user", "grant-role", "root", "root"], ["user", "grant-role", "shop", "shop"],
            ["role", "grant-permission", "shop", "readwrite", "defaults/suite/", "--prefix"],
            ["user", "add", "guest:open"], ["role", "add", "guest"], ["user", "grant-role", "guest", "guest"],
            ["role", "grant-permission", "guest", "read", "defaults/suite/", "--prefix"],
            ["auth", "enable"],
        ] {
            try control(arguments)
        }
        rootFlags.withLock { $0 = ["--user=root:secret"] }
    }

    /// The processor time of all members so far.
    var processorTime: Duration {
        let ticks = processes.withLock { $0.values.map(\.processIdentifier) }.reduce(0) { sum, process in
            let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
            // Behind the name, which is in parentheses: user's and system's time are the 12th and 13th fields.
            let fields = status.split(separator: ")").last?.split(separator: " ") ?? []
            return sum + (fields.count > 12 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0)
        }
        return .seconds(Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// Runs a program to its end.
    @discardableResult
    static func run(_ program: String, _ arguments: [String], input: Data? = nil) throws -> String {
        let process = Process()
        process.executableURL = path(of: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["ETCDCTL_API": "3"]) { $1 }
        let output = Pipe()
        let errors = Pipe()
        let source = Pipe()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = source
        try process.run()
        if let input {
            try source.fileHandleForWriting.write(contentsOf: input)
        }
        try source.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        let message = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failed(description: "\(program) \(arguments.joined(separator: " ")): \(message)")
        }
        return text
    }

    private static func path(of program: String) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin"]).map { URL(fileURLWithPath: $0).appendingPathComponent(program) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

/// Runs a body with a directory of its own, which is removed afterwards.
func withTemporaryDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("default-fleet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await body(url)
}
