internal import DefaultJournal

/// An observation of a storage's changes; it ends when it is cancelled or released.
public final class StoreObservation: Sendable {
    /// Receives the keys whose values may have changed; nil when it isn't known which.
    public typealias Handler = @Sendable (_ keys: Set<String>?) -> Void

    private let onCancel: Guarded<(@Sendable () -> Void)?>

    /// Creates an observation, for third-party storages.
    ///
    /// - Parameter onCancel: Called once, when the observation is cancelled or released.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = Guarded(onCancel)
    }

    /// Ends the observation.
    ///
    /// A running call of the handler continues; no further call begins.
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

/// The observers of one storage.
final class ChangeHub: Sendable {
    private struct State {
        var observers: [Int: Observer] = [:]
        var latest = 0
    }

    private let state = Guarded(State())
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
        let id = state.withLock { state in
            state.latest += 1
            state.observers[state.latest] = Observer(handler)
            hasObservers.store(true)
            return state.latest
        }
        return StoreObservation { [weak self] in
            self?.remove(id)
            onEnd()
        }
    }

    /// Calls all handlers; the caller must not hold a lock that a handler may need.
    func notify(_ keys: Set<String>?) {
        let observers = state.withLock { Array($0.observers.values) }
        // First for all, so that a handler that blocks this thread does not keep the others from being called by the next.
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

    private func remove(_ id: Int) {
        let observer = state.withLock { state in
            defer { hasObservers.store(!state.observers.isEmpty) }
            return state.observers.removeValue(forKey: id)
        }
        // Without the lock: what its handler has kept may be deallocated with it, and end other observations.
        observer?.end()
    }
}

/// A handler, and the changes that it has not been called for.
///
/// Its calls never overlap: a thread that finds one under way leaves its change to the thread of that call. So a handler that
/// blocks holds up its own calls only, and one that changes what it observes is called again after it has returned.
private final class Observer: Sendable {
    private struct State {
        var pending: [Set<String>?] = []
        var isDelivering = false
        var hasEnded = false
    }

    private let handler: StoreObservation.Handler
    private let state = Guarded(State())

    init(_ handler: @escaping StoreObservation.Handler) {
        self.handler = handler
    }

    func add(_ keys: Set<String>?) {
        state.withLock { $0.pending.append(keys) }
    }

    /// Calls the handler for each change, unless another call is under way.
    func deliver() {
        while let keys = next() {
            handler(keys)
            state.withLock { $0.isDelivering = false }
        }
    }

    func end() {
        state.withLock { $0.hasEnded = true }
    }

    /// The change to call the handler for; nil when there is none, or another thread calls it.
    private func next() -> Set<String>?? {
        state.withLock { state in
            guard !state.isDelivering, !state.hasEnded, !state.pending.isEmpty else {
                return nil
            }
            state.isDelivering = true
            return .some(state.pending.removeFirst())
        }
    }
}

/// The hubs of storages that can't own one: programs create a new `UserDefaults` object at each use of a suite, and a
/// third-party storage may be a struct.
enum SharedHubs {
    private static let hubs = Guarded<[String: ChangeHub]>([:])
    private static let hasHubs = Atomic<Bool>(false)

    /// Calls a handler at each change that is reported under a name.
    static func observe(_ name: String, _ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        hubs.withLock { hubs in
            let hub = hubs[name] ?? ChangeHub()
            hubs[name] = hub
            hasHubs.store(true)
            return hub.add(handler) { removeIfUnused(name) }
        }
    }

    /// The hub for a name, or nil; costs one atomic load while nothing at all is observed.
    static func hub(named name: @autoclosure () -> String) -> ChangeHub? {
        guard hasHubs.load() else {
            return nil
        }
        let name = name()
        return hubs.withLock { $0[name] }
    }

    private static func removeIfUnused(_ name: String) {
        hubs.withLock { hubs in
            if hubs[name]?.isActive == false {
                hubs[name] = nil
            }
            hasHubs.store(!hubs.isEmpty)
        }
    }
}
