import Default
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import TenantSettings
import UnixSignals

/// Serves tenants' settings until SIGTERM or SIGINT: requests that have begun are answered first.
@main
enum Server {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count <= 1, let port = UInt16(arguments.first ?? "8080").map(Int.init) else {
            fail("Usage: Server [PORT], where PORT is 0 to 65535", status: 64)
        }
        do {
            try await serve(port: port)
        } catch {
            fail("The server ended. \(error)", status: 1)
        }
    }

    private static func serve(port: Int) async throws {
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        let logger = Logger(label: "Server")
        observeSettings(logger: logger)
        let tenants = try Tenants.open()
        let limits = CurrentLimits()
        let application = Application(
            router: routes(for: tenants, within: limits),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                // With port 0 the system chooses one, so the line says which. If nobody reads the line, the server
                // still serves.
                let line = "Serving on http://127.0.0.1:\(channel.localAddress?.port ?? port)\n"
                try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
            },
            logger: logger
        )
        let limitsService = LimitsService(suite: tenants.suite, current: limits, logger: logger)
        // Before the first request, and not when the service has begun.
        limitsService.use(Limits.read(from: tenants.suite) ?? Limits())
        let services = ServiceGroup(
            services: [limitsService, application],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        try await services.run()
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        // If standard error itself can't be written, there is nowhere to report that.
        try? FileHandle.standardError.write(contentsOf: Data("\(message)\n".utf8))
        exit(status)
    }
}
