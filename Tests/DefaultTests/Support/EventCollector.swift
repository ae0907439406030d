import Default
import DefaultJournal
import Testing

/// A collector of the events of one test.
final class EventCollector: Sendable {
    private let collected = Locked<[DefaultsDiagnostics.Event]>([])

    var events: [DefaultsDiagnostics.Event] { collected.withLock { $0 } }
    var codes: [DefaultsError.Code] { events.map(\.error.code) }

    func add(_ event: DefaultsDiagnostics.Event) { collected.withLock { $0.append(event) } }

    /// Runs a body and collects only its events.
    func collect<Result>(_ body: () throws -> Result) rethrows -> Result {
        try DefaultsDiagnostics.$taskHandler.withValue(
            .init { self.add($0) },
            operation: body
        )
    }

    /// The codes of the errors that a body reports.
    static func codes(of body: () throws -> Void) rethrows -> [DefaultsError.Code] {
        let collector = EventCollector()
        try collector.collect(body)
        return collector.codes
    }
}

/// Expects a body to report one error, with a code.
func expectReport(
    _ code: DefaultsError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () throws -> Void
) rethrows {
    let codes = try EventCollector.codes(of: body)
    #expect(codes == [code], sourceLocation: sourceLocation)
}

/// Expects a body to report events of these kinds, in this order.
func expectEvents(
    _ kinds: [DefaultsDiagnostics.Event.Kind],
    _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () throws -> Void
) rethrows {
    let collector = EventCollector()
    try collector.collect(body)
    #expect(collector.events.map(\.kind) == kinds, comment, sourceLocation: sourceLocation)
}
