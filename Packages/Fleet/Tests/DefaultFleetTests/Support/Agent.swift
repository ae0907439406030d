import Foundation
import Synchronization
import Testing

/// A process of `fleet-agent`, whose output goes to files in a directory that is removed afterwards.
final class Agent: Sendable {
    private let process: Mutex<Process>
    private let directory: URL

    /// Starts it, with a password and other variables in its environment, or without.
    ///
    /// What it prints and logs can't be read where that goes elsewhere.
    init(
        _ arguments: [String],
        password: String? = nil,
        notifying socket: URL? = nil,
        environment more: [String: String] = [:],
        printingTo otherOutput: FileHandle? = nil,
        loggingTo otherLog: FileHandle? = nil
    ) throws {
        // Before there is a directory, which only the end of a whole object removes.
        let program = try HelperProcess.executable("fleet-agent")
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("default-fleet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment.merging(more) { $1 }
        environment["FLEET_AGENT_PASSWORD"] = password
        environment["NOTIFY_SOCKET"] = socket?.path
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        let output = try Self.file(at: directory.appendingPathComponent("output"))
        let log = try Self.file(at: directory.appendingPathComponent("log"))
        process.standardOutput = otherOutput ?? output
        process.standardError = otherLog ?? log
        self.process = Mutex(process)
        try self.process.withLock { try $0.run() }
        // Foundation keeps them open for as long as the test process runs, and crashes when it starts a process while
        // about 1,350 files are open: it reads beyond the end of what the system lists of them.
        try output.close()
        try log.close()
    }

    deinit {
        signal(SIGKILL)
        // It lives as long as the test, and what is left is removed with the system's temporary files.
        try? FileManager.default.removeItem(at: directory)
    }

    private static func file(at url: URL) throws -> FileHandle {
        try Data().write(to: url)
        return try FileHandle(forWritingTo: url)
    }

    private func text(of name: String) -> String {
        // An empty text where it can't be read: the test misses what it looks for.
        String(decoding: (try? Data(contentsOf: directory.appendingPathComponent(name))) ?? Data(), as: UTF8.self)
    }

    /// What it has printed.
    var output: String { text(of: "output") }

    /// What it has written to standard error.
    var log: String { text(of: "log") }

    /// Its log, line by line; nil for a line that isn't an object of strings.
    var logLines: [[String: String]?] {
        log.split(separator: "\n").map { try? JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
    }

    func signal(_ number: Int32) {
        process.withLock { process in
            if process.isRunning {
                kill(process.processIdentifier, number)
            }
        }
    }

    /// How it ended.
    struct Ending: Equatable, CustomStringConvertible {
        /// The exit code; nil when a signal ended it.
        var code: Int32?
        var output: String
        var log: String

        var description: String { "\(code.map { "\($0)" } ?? "a signal"): \(output)\(log)" }
    }

    /// Waits for its end.
    func ending() async throws -> Ending {
        try await eventually("the program ends") { process.withLock { !$0.isRunning } }
        let code = process.withLock { $0.terminationReason == .exit ? $0.terminationStatus : nil }
        return Ending(code: code, output: output, log: log)
    }

    /// Runs it to its end.
    static func run(
        _ arguments: [String],
        password: String? = nil,
        environment: [String: String] = [:]
    ) async throws -> Ending {
        try await Agent(arguments, password: password, environment: environment).ending()
    }
}

/// An operator's calls for one suite.
struct OperatorCalls {
    var options: [String]
    var password: String?
    var environment: [String: String] = [:]

    init(_ cluster: TestCluster, endpoints: [URL]? = nil) {
        let endpoints = (endpoints ?? cluster.endpoints).map(\.absoluteString).joined(separator: ",")
        options = ["--endpoints", endpoints, "--suite", "suite"]
    }

    /// Runs a command to its end, which has to be with a code.
    @discardableResult
    func ending(
        of command: String,
        _ arguments: [String],
        code: Int32 = 0,
        at location: SourceLocation = #_sourceLocation
    ) async throws -> Agent.Ending {
        let ending = try await Agent.run([command] + options + arguments, password: password, environment: environment)
        #expect(ending.code == code, "\(command) \(arguments): \(ending)", sourceLocation: location)
        return ending
    }

    /// What a command prints and logs.
    @discardableResult
    func callAsFunction(
        _ command: String,
        _ arguments: String...,
        code: Int32 = 0,
        at location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let ending = try await ending(of: command, arguments, code: code, at: location)
        return ending.output + ending.log
    }
}
