internal import DefaultJournal
internal import Synchronization

/// An observation of a storage's changes, which lasts until it is cancelled or released.
public final class StoreObservation: Sendable {
    /// Is told the names of keys whose values may have changed; nil where it isn't known which.
    public typealias Handler = @Sendable (_ keys: Set<String>?) -> Void

    private let onCancel: Guarded<(@Sendable () -> Void)?>

    /// Creates an observation, for storages written outside this library.
    ///
    /// - Parameter onCancel: Called once, when the observation is cancelled or released.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = Guarded(onCancel)
    }

    /// Ends the observation.
    ///
    /// Its handler may be in a call then, and is not called any more afterwards.
    public func cancel() {
        let end = onCancel.withLock { onCancel in
            defer { onCancel = nil }
            return onCancel
        }
        end?()
    }

    deinit {
        cancel()
    }
}

/// Those who want to know of a store's changes.
final class ChangeHub: Sendable {
    private struct State {
        var handlers: [Int: StoreObservation.Handler] = [:]
        var latest = 0
    }

    private let state = Guarded(State())
    private let hasHandlers = Atomic<Bool>(false)
    private let coming = ThreadLock()

    /// Whether anybody wants to know; one load, so that a store can ask at each write.
    var isActive: Bool { hasHandlers.load(ordering: .acquiring) }

    /// Adds a handler.
    ///
    /// - Parameters:
    ///   - handler: What is told of changes.
    ///   - onEnd: Called when the handler has been removed.
    /// - Returns: The observation, whose end removes the handler.
    func add(
        _ handler: @escaping StoreObservation.Handler,
        onEnd: @escaping @Sendable () -> Void = {}
    ) -> StoreObservation {
        let id = state.withLock { state in
            state.latest += 1
            state.handlers[state.latest] = handler
            hasHandlers.store(true, ordering: .releasing)
            return state.latest
        }
        return StoreObservation { [weak self] in
            self?.remove(id)
            onEnd()
        }
    }

    /// Tells everybody; to be called without locks that a handler could run into.
    func tell(_ keys: Set<String>?) {
        for handler in state.withLock({ Array($0.handlers.values) }) {
            handler(keys)
        }
    }

    /// Runs a body that starts or ends what has to go on while there is anybody, one at a time.
    func whileNobodyComesOrGoes(_ body: (_ isActive: Bool) -> Void) {
        coming.lock()
        defer { coming.unlock() }
        body(isActive)
    }

    private func remove(_ id: Int) {
        state.withLock { state in
            state.handlers[id] = nil
            hasHandlers.store(!state.handlers.isEmpty, ordering: .releasing)
        }
    }
}

/// The hubs of storages that have no object to hang one on: a `UserDefaults` is made anew at each use of a suite, and a
/// third party's storage may be a value.
enum SharedHubs {
    private static let hubs = Guarded<[String: ChangeHub]>([:])
    private static let hasHubs = Atomic<Bool>(false)

    /// Whether anybody wants to know of changes in any of these storages.
    static var isActive: Bool { hasHubs.load(ordering: .acquiring) }

    /// Calls a handler at each change that is told of under a name.
    static func observe(_ name: String, _ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        hubs.withLock { hubs in
            let hub = hubs[name] ?? ChangeHub()
            hubs[name] = hub
            hasHubs.store(true, ordering: .releasing)
            return hub.add(handler) { removeIfUnused(name) }
        }
    }

    /// Tells the observers under a name.
    static func tell(_ name: String, _ keys: Set<String>?) {
        hubs.withLock { $0[name] }?.tell(keys)
    }

    private static func removeIfUnused(_ name: String) {
        hubs.withLock { hubs in
            if hubs[name]?.isActive == false {
                hubs[name] = nil
            }
            hasHubs.store(!hubs.isEmpty, ordering: .releasing)
        }
    }
}
