internal import DefaultJournal

/// Defers events to `DefaultsDiagnostics` until no lock is held that its handler may need.
final class DeferredEvents: Sendable {
    private let deferred = Locked<[DefaultsDiagnostics.Event]?>([])

    func report(_ event: DefaultsDiagnostics.Event) {
        let isDeferred = deferred.withLock { events in
            events?.append(event)
            return events != nil
        }
        if !isDeferred {
            DefaultsDiagnostics.report(event)
        }
    }

    /// Reports the deferred events; later events are reported immediately.
    func release() {
        for event in deferred.exchange(nil) ?? [] {
            DefaultsDiagnostics.report(event)
        }
    }
}
