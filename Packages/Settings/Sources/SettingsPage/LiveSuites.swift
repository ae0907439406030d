import Foundation
import SettingsValues
import Synchronization

/// The suites that pages show at this time.
final class LiveSuites: Sendable {
    /// How many suites stay open after no page shows them any more.
    private static let limit = 8

    let source: any PageSource
    let hidden: KeyPatterns
    /// By their names, the last used at the end.
    private let open = Mutex<[(id: String, suite: LiveSuite)]>([])

    init(_ source: any PageSource, hiding hidden: KeyPatterns) {
        self.source = source
        self.hidden = hidden
    }

    /// Opens a suite, unless it is open.
    ///
    /// Waits for the store.
    func suite(_ id: String) throws -> LiveSuite {
        try open.withLock { open in
            let known = open.firstIndex { $0.id == id }.map { open.remove(at: $0).suite }
            let suite = try known ?? LiveSuite(source.suite(id), hiding: hidden)
            open.append((id, suite))
            let surplus = open.count - Self.limit
            if surplus > 0, let unused = open.firstIndex(where: { !$0.suite.hasListeners }) { open.remove(at: unused) }
            return suite
        }
    }

    /// Ends all streams.
    func endListening() {
        for (_, suite) in open.withLock({ $0 }) { suite.endListening() }
    }
}
