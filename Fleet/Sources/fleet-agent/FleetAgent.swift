import ArgumentParser
import Default
import DefaultFleet
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

@main
struct FleetAgent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-agent",
        abstract: "Keeps this host's copy of a suite in etcd up to date, for the programs that read it.",
        discussion: """
            It needs no other process to follow the cluster, and programs that only read need no credentials then. They have to run as \
            the same user.

            The password of --user is read from the environment variable FLEET_AGENT_PASSWORD.

            Exit codes: 0 after SIGTERM or SIGINT, or when a check finds the copy current; 1 for any other error; 2 when a check \
            finds that the copy was not confirmed for --maximum-age, or that no process of this host follows the cluster; 3 when it \
            finds that the store was replaced; 64 for wrong arguments; 69 when the replica can't be opened, or the cluster can't be \
            reached by a call that needs it.
            """
    )

    @Option(help: "The client URLs of the cluster's members, separated by commas.")
    var endpoints: String
    @Option(help: "The suite's name.")
    var suite: String
    @Option(help: "The directory of this host's copy, if it is another than that of the library.")
    var replica: String?
    @Option(help: "A PEM file with the authorities that members' certificates must be from.")
    var trustRoots: String?
    @Option(help: "A PEM file with this program's certificate chain.")
    var certificate: String?
    @Option(help: "A PEM file with the certificate's private key.")
    var privateKey: String?
    @Option(help: "The cluster's user; see below for the password.")
    var user: String?
    @Option(help: "The least severe log lines to write: trace, debug, info, notice, warning, error or critical.")
    var logLevel = "info"
    @Flag(help: "Check the copy that another process keeps up to date, and exit. Nothing is sent.")
    var check = false
    @Option(help: "For --check: how many seconds ago the copy may have been confirmed.")
    var maximumAge = 60.0
    @Flag(help: "Give the suite its identity in the cluster, and exit. Once, by an operator.")
    var initialize = false
    @Flag(help: "Declare the cluster's contents to be the suite's after it was replaced, and exit. By an operator.")
    var acceptReplacement = false

    func validate() throws {
        let urls = endpoints.split(separator: ",").map { URL(string: String($0)) }
        guard !urls.isEmpty, urls.allSatisfy({ ["http", "https"].contains($0?.scheme) && $0?.host != nil }) else {
            throw ValidationError("--endpoints needs URLs like https://etcd1:2379, separated by commas.")
        }
        guard Logger.Level(rawValue: logLevel) != nil else {
            throw ValidationError("\(logLevel) is not a log level.")
        }
        guard (0...1e9).contains(maximumAge) else {
            throw ValidationError("--maximum-age needs a number of seconds from 0 to 1000000000.")
        }
        guard user == nil || ProcessInfo.processInfo.environment["FLEET_AGENT_PASSWORD"] != nil else {
            throw ValidationError("--user needs the environment variable FLEET_AGENT_PASSWORD.")
        }
    }

    func run() async throws {
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
        do {
            let store = try EtcdDefaults(
                cluster,
                suiteName: suite,
                replicaURL: replica.map { URL(fileURLWithPath: $0, isDirectory: true) },
                logger: logger
            )
            if check {
                throw status(of: store)
            }
            if initialize {
                let isNew = try await store.perform { try store.initialize() }
                print(isNew ? "The suite has its identity now." : "The suite had its identity already.")
            } else if acceptReplacement {
                try await store.perform { try store.acceptReplacement() }
            } else {
                let services = ServiceGroup(
                    services: [store],
                    gracefulShutdownSignals: [.sigterm, .sigint],
                    logger: logger
                )
                try await services.run()
            }
        } catch let error as DefaultsError {
            logger.critical("\(error)", metadata: ["code": "\(error.code)"])
            switch error.code {
            case .storeUnavailable, .storeBusy: throw ExitCode(69)
            case .storeReplaced: throw ExitCode(3)
            default: throw ExitCode(1)
            }
        }
    }

    private var cluster: EtcdCluster {
        var cluster = EtcdCluster(endpoints: endpoints.split(separator: ",").compactMap { URL(string: String($0)) })
        if trustRoots != nil || certificate != nil || privateKey != nil {
            cluster.tls = EtcdCluster.TLS(trustRoots: trustRoots, certificate: certificate, privateKey: privateKey)
        }
        if let user, let password = ProcessInfo.processInfo.environment["FLEET_AGENT_PASSWORD"] {
            cluster.user = EtcdCluster.User(name: user, password: password)
        }
        return cluster
    }

    /// Prints how old the copy may be.
    private func status(of store: EtcdDefaults) -> ExitCode {
        let freshness = store.freshness
        if let reason = freshness.replacement {
            print("The store was replaced: \(reason).")
            return ExitCode(3)
        }
        guard let revision = freshness.revision, let age = freshness.unconfirmedFor else {
            print("The copy was not confirmed since the system was started.")
            return ExitCode(2)
        }
        let confirmation = "Revision \(revision), confirmed \(age.components.seconds) seconds ago."
        guard freshness.hasFollower else {
            print("\(confirmation) No process of this host follows the cluster.")
            return ExitCode(2)
        }
        print(confirmation)
        return age <= .seconds(maximumAge) ? .success : ExitCode(2)
    }
}
