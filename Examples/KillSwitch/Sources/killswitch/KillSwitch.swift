import Default
import DefaultFleet
import Foundation
import Logging
import ServiceLifecycle
import SettingsPage
import ShopFlags
import UnixSignals

/// The operator's tool: `killswitch off checkout`, or `killswitch serve` for a page in a browser.
@main
enum KillSwitch {
    static func main() async {
        do {
            // Longer than an election of a leader takes.
            let logger = Logger(label: "killswitch") { _ in SwiftLogNoOpLogHandler() }
            let flags = try openFlags(deadline: .seconds(10), logger: logger)
            switch CommandLine.arguments.dropFirst().map({ $0 }) {
            case ["initialize"]:
                try await flags.perform { _ = try flags.initialize() }
            case ["list"]:
                try await following(flags) {
                    for feature in Feature.allCases {
                        print(feature, try Defaults(suite: flags).load(feature.isOn) ? "on" : "off")
                    }
                }
            case let words where words.count == 2 && ["on", "off"].contains(words[0]):
                guard let feature = Feature(rawValue: words[1]) else {
                    let names = Feature.allCases.map(\.rawValue).joined(separator: ", ")
                    fail("\(words[1]) is not a feature. The features are: \(names).", status: 64)
                }
                try await following(flags) {
                    try Defaults(suite: flags).save(words[0] == "on", for: feature.isOn)
                }
            case ["serve"]:
                try await serve(flags, logger: logger)
            default:
                fail("Usage: killswitch on FEATURE, or off FEATURE, or list, or serve, or initialize", status: 64)
            }
        } catch {
            fail("\(error)", status: 1)
        }
    }

    /// Runs a body that reads and writes the current flags.
    ///
    /// If this host has no other process that follows the cluster, this one does, until the body has ended.
    private static func following(
        _ flags: EtcdDefaults,
        _ body: @escaping @Sendable () throws -> Void
    ) async throws {
        let follower = Task { try await flags.run() }
        defer { follower.cancel() }
        try await flags.waitUntilCurrent(within: flags.deadline)
        try await flags.perform(body)
    }

    /// Serves a page with the flags until the process is ended; it shows all changes, and the outcome of the operator's
    /// own.
    private static func serve(_ flags: EtcdDefaults, logger: Logger) async throws {
        var page = SettingsPage(of: SingleSuite(FlagsPage(flags: flags), name: "shop"))
        page.isWritable = true
        page.onReady = { FileHandle.standardOutput.write(Data("\($0)\n".utf8)) }
        let services = ServiceGroup(
            services: [flags, page],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        try await services.run()
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(status)
    }
}
