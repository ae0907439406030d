public import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
public import ServiceLifecycle
import SettingsValues

/// A page in a browser that shows suites and their changes, and changes them if that is allowed.
///
/// It listens on the loopback address only, and answers only those who know its secret. See ``PageSource`` for what it
/// shows.
///
/// ```swift
/// var page = SettingsPage(of: FileSuites())
/// page.onReady = { print("Open \($0)") }
/// try await page.run()
/// ```
public struct SettingsPage: Service {
    /// The suites that it shows.
    public var source: any PageSource
    /// Whether values can be changed on the page.
    public var isWritable = false
    /// Shell patterns for the keys of values that are not shown, in suites and within values.
    public var hiddenKeys: [String] = []
    /// The port; 0 for one that is free.
    public var port = 0
    /// What those who use the page have to know.
    public var secret = PageSecret.random()
    /// Called with the page's address, which has the secret in it, when the server is ready.
    public var onReady: @Sendable (URL) -> Void = { _ in }

    /// Makes a page that only reads, on a free port, with a secret of its own.
    public init(of source: any PageSource) {
        self.source = source
    }

    /// Serves the page until the service is shut down or its task is cancelled.
    ///
    /// - Throws: An error of the system, such as for a port that is taken.
    public func run() async throws {
        let bound = BoundPort()
        let suites = LiveSuites(source, hiding: KeyPatterns(patterns: hiddenKeys))
        let gate = ConnectionGate()
        let responder = PageResponder(suites: suites, isWritable: isWritable, secret: secret, port: bound, gate: gate)
        // Requests are not logged: addresses and bodies have secrets in them.
        let logger = Logger(label: "SettingsPage") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            responder: responder,
            server: .http1(configuration: PageLimits.connection(gate)),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port)
            ),
            onServerRunning: { [secret, onReady] channel in
                guard let port = channel.localAddress?.port else { return }
                bound.set(port)
                if let address = URL(string: "http://127.0.0.1:\(port)/\(secret.place)/?secret=\(secret.token)") {
                    onReady(address)
                }
            },
            logger: logger
        )
        try await withGracefulShutdownHandler {
            try await application.run()
        } onGracefulShutdown: {
            suites.endListening()
        }
    }
}
