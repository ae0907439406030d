import ArgumentParser
import Default
import DefaultFleet
import Foundation
import Logging

/// How the cluster is reached; the same for all commands.
struct ClusterOptions: ParsableArguments {
    @Option(help: "The client URLs of the cluster's members, separated by commas.")
    var endpoints: String
    @Option(help: "A PEM file with the authorities that members' certificates must be from.")
    var trustRoots: String?
    @Option(help: "A PEM file with this program's certificate chain.")
    var certificate: String?
    @Option(help: "A PEM file with the certificate's private key.")
    var privateKey: String?
    @Option(help: "The cluster's user, whose password is in --password-file, or in FLEET_AGENT_PASSWORD.")
    var user: String?
    @Option(help: "A file with the user's password, which is read again when it is needed.")
    var passwordFile: String?
    @Option(help: "A file with a token instead of a user, for members with --auth-token jwt; read again as needed.")
    var tokenFile: String?
    @Option(help: "How many seconds a request of a command may take; following has no limit.")
    var deadline = 5.0
    @Option(help: "The least severe log lines to write: trace, debug, info, notice, warning, error or critical.")
    var logLevel = "info"

    private var password: String? { ProcessInfo.processInfo.environment["FLEET_AGENT_PASSWORD"] }

    func validate() throws {
        let urls = endpoints.split(separator: ",").map { URL(string: String($0)) }
        guard !urls.isEmpty, urls.allSatisfy({ ["http", "https"].contains($0?.scheme) && $0?.host != nil }) else {
            throw ValidationError("--endpoints needs URLs like https://etcd1:2379, separated by commas.")
        }
        guard (0.1...3_600).contains(deadline) else {
            throw ValidationError("--deadline needs a number of seconds from 0.1 to 3600.")
        }
        guard Logger.Level(rawValue: logLevel) != nil else {
            throw ValidationError("\(logLevel) is not a log level.")
        }
        guard user == nil || passwordFile != nil || password != nil else {
            throw ValidationError("--user needs --password-file, or the environment variable FLEET_AGENT_PASSWORD.")
        }
        guard passwordFile == nil || user != nil else {
            throw ValidationError("--password-file needs --user.")
        }
        guard tokenFile == nil || user == nil else {
            throw ValidationError("--token-file says who the user is; leave out --user.")
        }
    }

    var cluster: EtcdCluster {
        var cluster = EtcdCluster(endpoints: endpoints.split(separator: ",").compactMap { URL(string: String($0)) })
        if trustRoots != nil || certificate != nil || privateKey != nil {
            cluster.tls = EtcdCluster.TLS(trustRoots: trustRoots, certificate: certificate, privateKey: privateKey)
        }
        if let user {
            cluster.user =
                passwordFile.map { EtcdCluster.User(name: user, passwordFile: $0) }
                ?? EtcdCluster.User(name: user, password: password ?? "")
        }
        if let tokenFile {
            cluster.user = EtcdCluster.User(tokenFile: tokenFile)
        }
        return cluster
    }

    /// Sets up the log, which has what the library reports too.
    func makeLogger() -> Logger {
        // A write to a pipe that nobody reads fails then, instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        let level = Logger.Level(rawValue: logLevel) ?? .info
        LoggingSystem.bootstrap { label in JSONLogHandler(label: label, level: level) }
        let logger = Logger(label: "fleet-agent")
        DefaultsDiagnostics.handler = { event in
            let level: Logger.Level =
                switch event.severity {
                case .info: .info
                case .warning: .warning
                case .error: .error
                }
            logger.log(
                level: level,
                "\(event.error)",
                metadata: ["event": "\(event.kind)", "code": "\(event.error.code)"]
            )
        }
        return logger
    }
}

/// The exit codes of all commands.
enum Exit {
    static let discussion = """
        Exit codes: 0 for success; 1 for any other error, also when a key has no value, or when not all that a command prints could be \
        written; 2 when a check finds that the copy was not confirmed for --maximum-age, or that no process of this host follows the \
        cluster; 3 when the store was replaced; 4 when others have changed meanwhile what was to be changed; 5 when a change was sent \
        and no answer came, so that it may be stored, now or later; 64 for wrong arguments; 65 for a value that is not JSON, or is of \
        another type than the present one, for a file that can't be read, and for seed on a host without a copy; 69 when the replica \
        can't be opened, or the cluster can't be reached by a call that needs it, has not got the revision that is asked for, or has \
        no identity of the suite.
        """

    /// Runs a command; an error is logged, and becomes an exit code.
    static func run(with logger: Logger, _ body: () async throws -> Void) async throws {
        do {
            try await body()
            guard StandardOutput.flush() else {
                logger.critical(
                    "What was printed is not complete: standard output can't be written.",
                    metadata: ["code": "output"]
                )
                throw ExitCode(1)
            }
        } catch let error as DefaultsError {
            logger.critical("\(error)", metadata: ["code": "\(error.code)"])
            switch error.code {
            case .storeUnavailable, .storeBusy: throw ExitCode(69)
            case .storeReplaced: throw ExitCode(3)
            case .conflict: throw ExitCode(4)
            case .outcomeUnknown: throw ExitCode(5)
            default: throw ExitCode(1)
            }
        } catch let error as TypedText.Mistake {
            logger.critical("\(error)", metadata: ["code": "value"])
            throw ExitCode(65)
        }
    }
}

/// Runs a body that blocks on a thread of its own.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Swift.Result { try body() }) }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
