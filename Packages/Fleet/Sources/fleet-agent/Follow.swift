import ArgumentParser
import CoreMetrics
import Default
import DefaultFleet
import Foundation
import Logging
import NIOHTTP1
import ServiceLifecycle
import UnixSignals

struct Follow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Keep this host's copies of suites up to date, for the programs that read them. The default.",
        discussion: """
            It needs no other process to follow the cluster, and programs that only read need no credentials then. They have to run as \
            the same user. It ends after SIGTERM or SIGINT. Files with a password and with certificates are read again when they \
            have changed.

            When systemd has started it as a service of the type notify, it is ready as soon as this host has copies.
            """
    )

    @OptionGroup var options: ClusterOptions
    @Option(help: "The suite's name; may be given several times.")
    var suite: [String]
    @Option(help: "The directory of this host's copy of one suite, if it is another than that of the library.")
    var replica: String?
    @Option(
        help: "The directory in which each suite's copy is a directory with the suite's name; or FLEET_AGENT_REPLICAS."
    )
    var replicas: String?
    @Option(help: "Where to answer /healthz and /metrics: 127.0.0.1:PORT, [::1]:PORT or unix:/PATH.")
    var listen: String?
    @Flag(help: "Check the copies that another process keeps up to date, and exit. Nothing is sent or changed.")
    var check = false
    @Option(help: "For --check and /healthz: how many seconds ago the copy may have been confirmed.")
    var maximumAge = 60.0
    @Flag(help: "Give the suites their identity in the cluster, and exit. Once, by an operator.")
    var initialize = false
    @Flag(help: "Declare the cluster's contents to be the suites' after it was replaced, and exit. By an operator.")
    var acceptReplacement = false
    @Flag(help: "For --accept-replacement: all hosts shall lose all settings of a suite that has none in the cluster.")
    var emptyAllHosts = false

    func validate() throws {
        guard (0...1e9).contains(maximumAge) else {
            throw ValidationError("--maximum-age needs a number of seconds from 0 to 1000000000.")
        }
        guard Set(suite).count == suite.count else {
            throw ValidationError("--suite names a suite twice.")
        }
        guard replica == nil || suite.count == 1 && replicas == nil else {
            throw ValidationError("--replica is for one suite; use --replicas.")
        }
        guard listen.map({ StatusServer.Address($0) != nil }) ?? true else {
            throw ValidationError("--listen needs 127.0.0.1:PORT, [::1]:PORT or unix:/PATH: only this host may ask.")
        }
    }

    /// Where the copy of a suite is; nil where the library puts it.
    private func url(of suite: String) -> URL? {
        HostCopy.url(ofSuite: suite, replica: replica, replicas: replicas)
    }

    /// This host's copy of a suite; nil if there is none.
    ///
    /// An operator may be another user than the service, so nothing is opened for writing, or created.
    private func copy(of suite: String) throws(DefaultsError) -> HostCopy? {
        guard let place = url(of: suite) ?? HostCopy.usualURL(ofSuite: suite) else { return nil }
        return try HostCopy(at: place)
    }

    func run() async throws {
        let logger = options.makeLogger()
        try await Exit.run(with: logger) {
            if check {
                throw try checkAll()
            }
            if initialize || acceptReplacement {
                try await changeIdentities()
            } else {
                try await follow(logger)
            }
        }
    }

    private func changeIdentities() async throws {
        for name in suite {
            let operations = try SuiteOperator(
                options.cluster,
                suiteName: name,
                deadline: .seconds(options.deadline),
                copy: copy(of: name)
            )
            if initialize {
                let isNew = try await onThread { try operations.initialize() }
                print(isNew ? "The suite has its identity now." : "The suite had its identity already.")
                continue
            }
            let acceptance = try await onThread { [emptyAllHosts] in
                try operations.acceptReplacement(emptiesHosts: emptyAllHosts)
            }
            switch acceptance {
            case .accepted(let count):
                let values = count == 1 ? "1 value" : "\(count) values"
                print("What the cluster has, \(values), is the suite now. Hosts take it within seconds.")
            case .notReplaced:
                print("This host has not found that the store was replaced. Nothing was changed.")
            case .noCopy:
                print("This host has no copy of the suite. Nothing was changed: call this on a host that has one.")
                throw ExitCode(1)
            }
        }
    }

    private func follow(_ logger: Logger) async throws {
        let metrics = PrometheusMetrics()
        if listen != nil {
            MetricsSystem.bootstrap(metrics)
        }
        let stores = try suite.map { name in
            try EtcdDefaults(options.cluster, suiteName: name, replicaURL: url(of: name), logger: logger)
        }
        var services: [any Service] = stores
        services.append(ReadinessService(stores: stores))
        if let listen, let address = StatusServer.Address(listen) {
            services.append(
                StatusServer(address: address) { path in
                    answer(path, stores: stores, metrics: metrics)
                }
            )
        }
        try await ServiceGroup(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger).run()
    }

    private func answer(_ path: String, stores: [EtcdDefaults], metrics: PrometheusMetrics) -> StatusServer.Answer {
        switch path {
        case "/healthz":
            let findings = stores.map { finding(about: $0.freshness) }
            let text = zip(stores, findings).map { "\($0.suiteName): \($1.text)\n" }.joined()
            return .init(status: findings.allSatisfy { $0.code == .success } ? .ok : .serviceUnavailable, text: text)
        case "/metrics":
            for store in stores {
                let freshness = store.freshness
                func set(_ name: String, _ value: Double) {
                    metrics.setGauge("default_fleet_\(name)", labels: ["suite": store.suiteName], value)
                }
                set("revision", Double(freshness.revision ?? 0))
                // As old as can be, so that an alarm for an old copy needs no case of its own.
                set("unconfirmed_seconds", freshness.unconfirmedFor.map { $0 / .seconds(1) } ?? .infinity)
                set("has_follower", freshness.hasFollower ? 1 : 0)
                set("is_following", freshness.isFollowing ? 1 : 0)
                set("is_replaced", freshness.replacement == nil ? 0 : 1)
                // Until the first heartbeat, all that is known is that the cluster has what the copy has.
                metrics.setGauge(
                    "default_fleet_cluster_revision",
                    labels: ["suite": store.suiteName],
                    Double(freshness.revision ?? 0),
                    ifUnset: true
                )
                for cause in Freshness.Trouble.Cause.allCases {
                    metrics.setGauge(
                        "default_fleet_trouble",
                        labels: ["suite": store.suiteName, "cause": cause.rawValue],
                        freshness.trouble?.cause == cause ? 1 : 0
                    )
                }
            }
            return .init(status: .ok, text: metrics.text)
        default:
            return .init(status: .notFound, text: "There are /healthz and /metrics.\n")
        }
    }

    /// Prints how old the copies may be; the most severe finding is the exit code.
    private func checkAll() throws -> ExitCode {
        var worst = ExitCode.success
        for name in suite {
            let (code, text) = finding(about: try copy(of: name)?.freshness)
            print(suite.count == 1 ? text : "\(name): \(text)")
            worst = code.rawValue > worst.rawValue ? code : worst
        }
        return worst
    }

    private func finding(about freshness: Freshness?) -> (code: ExitCode, text: String) {
        if let reason = freshness?.replacement {
            return (ExitCode(3), "The store was replaced: \(reason).")
        }
        let cause = freshness?.trouble.map { " \($0.explanation)" } ?? ""
        guard let freshness, let revision = freshness.revision, let age = freshness.unconfirmedFor else {
            return (ExitCode(2), "The copy was not confirmed since the system was started.\(cause)")
        }
        let confirmation = "Revision \(revision), confirmed \(age.components.seconds) seconds ago.\(cause)"
        guard freshness.hasFollower else {
            return (ExitCode(2), "\(confirmation) No process of this host follows the cluster.")
        }
        return (age <= .seconds(maximumAge) ? .success : ExitCode(2), confirmation)
    }
}

/// Notifies systemd when all suites can be read on this host: from an earlier copy, or a first one.
private struct ReadinessService: Service {
    let stores: [EtcdDefaults]

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !stores.allSatisfy({ $0.freshness.revision != nil }) {
                try await Task.sleep(for: .milliseconds(100))
            }
            ServiceNotification.send("READY=1\nSTATUS=Programs can read \(stores.count) suites.")
            try await gracefulShutdown()
        }
        ServiceNotification.send("STOPPING=1")
    }
}
