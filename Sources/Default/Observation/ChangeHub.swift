internal import DefaultJournal

// The way of a change to an observer, and where it can be lost:
//
// 1. A write under exclusive access is noted (`ExclusiveAccess`), and reported when the outermost access ends, with all
//    keys at once. A transaction that is rolled back reports nothing, nor does a write of the value that is stored.
// 2. Another process's write wakes the thread of the suite's watch (`JournalWatcher` in DefaultJournal), which brings
//    the entries up to date and compares. Several writes in between are one change. A directory that was replaced is
//    seen within a second; where the system refuses to watch, every change within half a second.
// 3. The store's hub is told (`notify`). A change that is made before `add` returns, or after the observation has
//    ended, isn't delivered.
// 4. Each `Observer` calls its handler for one change after the other. While it blocks, 256 wait; those beyond are one
//    call with nil, which stands for any key.
// 5. Sequences of values (`ValueUpdates`) read the value when they are told, and keep the newest only. `ValueChanges`
//    keep 100, or as many as they are told to, and then combine the newest.
// 6. In a child made with `fork`, handlers that were added before it aren't called (`PerProcess`).
//
// So a change may be combined with a later one, but the last one always leads to a call: a handler that reads the value
// each time it is called has read the last value in the end.

/// The observers of one storage.
final class ChangeHub: Sendable {
    private let observers = Locked<[Observer]>([])
    private let hasObservers = Atomic<Bool>(false)
    private let registrationLock = ThreadLock()

    /// Whether there are observers; costs one atomic load, so a store can check it at each write.
    var isActive: Bool { hasObservers.load() }

    /// Adds a handler.
    ///
    /// - Parameters:
    ///   - handler: Called at each change.
    ///   - onEnd: Called when the handler has been removed.
    /// - Returns: The observation. The handler is removed when it ends.
    func add(
        _ handler: @escaping StoreObservation.Handler,
        onEnd: @escaping @Sendable () -> Void = {}
    ) -> StoreObservation {
        let observer = Observer(handler)
        observers.withLock { observers in
            observers.append(observer)
            hasObservers.store(true)
        }
        return StoreObservation { [weak self] in
            self?.remove(observer)
            onEnd()
        }
    }

    /// Calls all handlers; the caller must not hold a lock that a handler may need.
    func notify(_ keys: Set<String>?) {
        let observers = observers.withLock { $0 }
        // First for all, so that a handler that blocks this thread does not keep the others from being called by the
        // next.
        for observer in observers {
            observer.add(keys)
        }
        for observer in observers {
            observer.deliver()
        }
    }

    /// Runs a body that starts or stops work which is needed only while there are observers; bodies run one at a time.
    func withRegistrationLock(_ body: (_ isActive: Bool) -> Void) {
        registrationLock.lock()
        defer { registrationLock.unlock() }
        body(isActive)
    }

    private func remove(_ observer: Observer) {
        observers.withLock { observers in
            observers.removeAll { $0 === observer }
            hasObservers.store(!observers.isEmpty)
        }
        // Not under the lock: the objects that its handler has kept may be deallocated, and end other observations.
        observer.end()
    }
}

/// A handler, and the changes that it has not been called for.
///
/// Its calls never overlap: a thread that finds one under way leaves its change to the thread of that call. So a
/// handler that blocks holds up its own calls only, and one that changes what it observes is called again after it has
/// returned.
///
/// A handler may block for as long as it likes, so the changes that wait for it are limited. Those beyond the limit are
/// combined into one call that says only that anything may have changed.
private final class Observer: Sendable {
    /// The number of changes that wait one by one.
    private static let limit = 256

    private struct State {
        /// The oldest first.
        var pending: [Set<String>?] = []
        /// Whether there are more, which are reported after those as one.
        var hasMore = false
        var isDelivering = false
        var hasEnded = false
    }

    private let handler: StoreObservation.Handler
    private let state = Locked(State())

    init(_ handler: @escaping StoreObservation.Handler) { self.handler = handler }

    func add(_ keys: Set<String>?) {
        state.withLock { state in
            // Once changes are combined, later ones are among them, so that none overtakes another.
            if state.hasMore || state.pending.count == Self.limit {
                state.hasMore = true
            } else {
                state.pending.append(keys)
            }
        }
    }

    /// Calls the handler for each change that waits, unless another call is under way.
    func deliver() {
        while let keys = next() {
            handler(keys)
            // Only now may another thread call the handler; the changes that came meanwhile are delivered by this one.
            state.withLock { $0.isDelivering = false }
        }
    }

    func end() { state.withLock { $0.hasEnded = true } }

    /// The change to call the handler for; nil when there is none, or another thread calls it.
    private func next() -> Set<String>?? {
        state.withLock { state in
            guard !state.isDelivering, !state.hasEnded, !state.pending.isEmpty || state.hasMore else { return nil }
            state.isDelivering = true
            // The combined changes are the latest, and it isn't known any more which keys they are of.
            if state.pending.isEmpty {
                state.hasMore = false
                return .some(nil)
            }
            return .some(state.pending.removeFirst())
        }
    }
}
