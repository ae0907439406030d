import ArgumentParser
import Default
import Dispatch
import Foundation
import Logging
import ServiceLifecycle
import SettingsPage
import SettingsValues
import Synchronization
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows suites on a page in a browser, with their changes as they happen.",
        discussion: """
            Prints the page's address, and serves it on this machine alone until it is ended. The address has a secret in it: \
            anyone who knows it can see what the page shows. Without SUITE, the page has the suites that "settings list" shows.

            The page only reads, unless --write is given. It shows no values that --hide hides.

            The secret is another one each time. With $SETTINGS_SECRET, at least 32 letters and digits that nobody can guess, it \
            stays the same, so that pages that are open come back when the server is started again on the same --port.
            """
    )

    @Argument(help: "The suites.")
    var suites: [SuiteReference] = []

    @Option(help: "The port; one that is free without this.")
    var port: UInt16 = 0

    @Flag(help: "Let values be changed on the page.")
    var write = false

    @Flag(help: "Open the page in the browser.")
    var open = false

    @OptionGroup
    var hiding: HidingOptions

    func run() async throws {
        var page = SettingsPage(of: FileSuites(try suites.map { try $0.existingURL() }))
        page.port = Int(port)
        page.isWritable = write
        page.hiddenKeys = hiding.patterns.patterns
        if let text = ProcessInfo.processInfo.environment["SETTINGS_SECRET"], !text.isEmpty {
            guard let secret = PageSecret(text) else {
                throw ToolError(
                    "$SETTINGS_SECRET has to have at least 32 characters: letters, digits, \"-\" and \"_\"."
                )
            }
            page.secret = secret
        }
        let browser = Browser()
        page.onReady = { [open] address in
            do {
                try writeAsIs(Data("\(address)\n".utf8))
            } catch {
                // Without a reader of the line the page is still served.
                warn("\(error)")
            }
            if open { browser.show(address) }
        }
        defer { browser.removeFile() }
        let group = ServiceGroup(
            services: [page, PromptEnd()],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "settings") { _ in SwiftLogNoOpLogHandler() }
        )
        do {
            try await group.run()
        } catch {
            throw ToolError("The page can't be served on port \(port): \(error)")
        }
    }
}

/// Ends the process within a second after it was asked to, even if a request waits for another process's lock.
private struct PromptEnd: Service {
    func run() async throws {
        try await gracefulShutdown()
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.8) { Foundation.exit(0) }
    }
}

/// The system's way of opening a page.
private final class Browser: Sendable {
    /// A file that leads to the page: its address, as an argument of a program, could be read by other users.
    private let file = Mutex<URL?>(nil)

    func show(_ address: URL) {
        #if os(macOS)
        let programs = ["/usr/bin/open"]
        #else
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let programs = path.split(separator: ":").map { "\($0)/xdg-open" }
        #endif
        do {
            guard let program = programs.first(where: FileManager.default.isExecutableFile) else {
                throw ToolError("This system has no program that opens pages. Open the address above.")
            }
            let page = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString).html")
            let text = "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=\(address)\">"
            try writePrivately(Data(text.utf8), to: page.plainPath)
            file.withLock { $0 = page }
            let process = Process()
            process.executableURL = URL(filePath: program)
            process.arguments = [page.plainPath]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
        } catch {
            warn("\(error)")
        }
    }

    func removeFile() {
        guard let page = file.withLock({ $0 }) else { return }
        // What is left is this user's alone, and its secret is worth nothing any more.
        try? FileManager.default.removeItem(at: page)
    }
}
