import Default
import DefaultJournal

/// Keeps the events of one test.
final class EventCollector: Sendable {
    private let collected = Guarded<[DefaultsDiagnostics.Event]>([])

    var events: [DefaultsDiagnostics.Event] { collected.withLock { $0 } }
    var codes: [DefaultsError.Code] { events.map(\.error.code) }

    /// Runs a body whose events, and no other test's, arrive here.
    func collect<Result>(_ body: () throws -> Result) rethrows -> Result {
        try DefaultsDiagnostics.$taskHandler.withValue(
            .init { event in self.collected.withLock { $0.append(event) } },
            operation: body
        )
    }
}
