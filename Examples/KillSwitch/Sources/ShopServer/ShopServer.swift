import Default
import DefaultFleet
import Foundation
import Logging
import ServiceLifecycle
import ShopFlags
import UnixSignals

@main
enum ShopServer {
    static func main() async {
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        do {
            try await serve()
        } catch {
            FileHandle.standardError.write(Data("The server ended. \(error)\n".utf8))
            exit(1)
        }
    }

    private static func serve() async throws {
        let logger = Logger(label: "ShopServer")
        let flags = try openFlags(deadline: .seconds(2), logger: logger)
        let services = ServiceGroup(
            services: [flags, Shop(flags: flags)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        try await services.run()
    }
}

/// Serves a customer about every millisecond, and reports when the answer changes, and how long the slowest one took.
struct Shop: Service {
    let flags: EtcdDefaults

    /// Answers a request by a flag.
    ///
    /// The flag is on this host, so reading it never waits, whatever the state of the cluster.
    func answerToOrder() -> String {
        Defaults(suite: flags)[Feature.checkout.isOn] ? "200 Thank you" : "503 Checkout is closed"
    }

    func run() async throws {
        // A host that has never reached the cluster has no flags yet.
        try await flags.waitUntilCurrent(within: .seconds(30))
        var (count, slowest, last) = (0, Duration.zero, "")
        while !Task.isShuttingDownGracefully {
            let start = ContinuousClock.now
            let answer = answerToOrder()
            slowest = max(slowest, start.duration(to: .now))
            count += 1
            if answer != last {
                report("answers \(answer)")
                last = answer
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        report("served \(count) requests, the slowest in \(String(format: "%.3f", slowest / .milliseconds(1))) ms")
    }

    /// Writes a line with the time immediately: `print` would buffer it.
    private func report(_ text: String) {
        FileHandle.standardOutput.write(Data("\(Date.now.timeIntervalSince1970) \(text)\n".utf8))
    }
}
