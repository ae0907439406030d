internal import DefaultJournal

/// An observation of a storage's changes; it ends when it is cancelled or released.
public final class StoreObservation: Sendable {
    /// Receives the keys whose values may have changed; nil when it isn't known which.
    public typealias Handler = @Sendable (_ keys: Set<String>?) -> Void

    private let onCancel: Locked<(@Sendable () -> Void)?>

    /// Creates an observation, for third-party storages.
    ///
    /// - Parameter onCancel: Called once, when the observation is cancelled or released.
    public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = Locked(onCancel) }

    /// Ends the observation.
    ///
    /// A running call of the handler continues; no further call begins.
    public func cancel() { onCancel.exchange(nil)?() }

    deinit { cancel() }
}

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
        // What its handler has kept may be deallocated with it, and end other observations: not under the lock.
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
            state.withLock { $0.isDelivering = false }
        }
    }

    func end() { state.withLock { $0.hasEnded = true } }

    /// The change to call the handler for; nil when there is none, or another thread calls it.
    private func next() -> Set<String>?? {
        state.withLock { state in
            guard !state.isDelivering, !state.hasEnded, !state.pending.isEmpty || state.hasMore else { return nil }
            state.isDelivering = true
            if state.pending.isEmpty {
                state.hasMore = false
                return .some(nil)
            }
            return .some(state.pending.removeFirst())
        }
    }
}

/// The hubs of storages that can't own one: programs create a new `UserDefaults` object at each use of a suite, and a
/// third-party storage may be a struct.
enum SharedHubs {
    private static let hubs = PerProcess { Locked<[String: ChangeHub]>([:]) }
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
        guard hasHubs.load() else { return nil }
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

/// A storage that may have to know which keys to watch.
///
/// Foundation on Apple platforms reports what another process changes for single keys only.
protocol KeyObservable: KeyValueStorage {
    /// Calls a handler at each change of some keys, and possibly of others.
    func observeChanges(of keys: Set<String>, _ handler: @escaping StoreObservation.Handler) -> StoreObservation
}

extension StoreObservation {
    /// Calls a handler at each change of some keys of a storage, or of all.
    ///
    /// It is not a method of the storage, because that would appear in the diagnostics of programs that use
    /// `UserDefaults`.
    static func of(
        _ keys: Set<String>?,
        in storage: any KeyValueStorage,
        _ handler: @escaping Handler
    ) -> StoreObservation {
        guard let keys else { return storage.observeChanges(handler) }
        let handler: Handler = { changed in
            if changed.map({ !$0.isDisjoint(with: keys) }) ?? true {
                handler(changed)
            }
        }
        return (storage as? any KeyObservable)?.observeChanges(of: keys, handler) ?? storage.observeChanges(handler)
    }
}

/// Connects the writers of a storage with one task that waits for changes.
///
/// Remembers whether something has changed since the task last looked, and wakes it.
final class ChangeSignal: Sendable {
    private struct State {
        var isChanged = false
        var isEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// Records that something has changed.
    func note() { wake { $0.isChanged = true } }

    /// Waits for a change since the last one that was waited for.
    ///
    /// - Returns: Whether there is one; false when the waiting task was cancelled.
    func next(isolation: isolated (any Actor)?) async -> Bool {
        await withTaskCancellationHandler {
            while true {
                let (isChanged, isEnded) = state.withLock { state in
                    defer { state.isChanged = false }
                    return (state.isChanged, state.isEnded)
                }
                if isChanged || isEnded { return !isEnded }
                await withCheckedContinuation(isolation: isolation) { continuation in
                    let isWaiting = state.withLock { state in
                        guard !state.isChanged, !state.isEnded else { return false }
                        state.waiter = continuation
                        return true
                    }
                    if !isWaiting {
                        continuation.resume()
                    }
                }
            }
        } onCancel: {
            wake { $0.isEnded = true }
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}

/// A recursive lock that notifies observers of the changes made under it when it is released.
///
/// Observers may use any store, so they are never called while a lock is held. Otherwise two stores that mirror each
/// other would deadlock.
final class ExclusiveAccess: @unchecked Sendable {
    // Except for the owner, the state is only used by the thread that holds the lock.
    private let lock = ThreadLock(isRecursive: true)
    /// The thread that has access, or 0.
    private let owner = Atomic<UInt>(0)
    private var depth = 0
    private var changes = PendingChanges()

    /// The lock of storages that can't own one: programs create a new `UserDefaults` object at each use of a suite, and
    /// a third-party store may be a struct.
    static var ofProcess: ExclusiveAccess { shared.current }

    private static let shared = PerProcess { ExclusiveAccess() }

    /// Waits until no other thread has access; calls nest.
    func acquire() {
        lock.lock()
        depth += 1
        if depth == 1 {
            owner.store(Threads.current)
        }
    }

    /// Ends the access that ``acquire()`` began; the outermost call notifies observers.
    func release() {
        // A child made with `fork` that returns from the access of its parent has none to end.
        guard owner.load() == Threads.current else { return }
        depth -= 1
        var changes = PendingChanges()
        if depth == 0 {
            swap(&changes, &self.changes)
            owner.store(0)
        }
        lock.unlock()
        changes.notify()
    }

    /// Notifies a hub's observers of a change: immediately, or at the end of the calling thread's access if it has any.
    func notify(_ hub: ChangeHub, _ keys: Set<String>) {
        if owner.load() == Threads.current {
            changes.add(keys, for: hub)
        } else {
            hub.notify(keys)
        }
    }

    /// Runs a body with access.
    func callAsFunction<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        acquire()
        defer { release() }
        return try body()
    }

    /// Runs a body with access; when it throws, its changes are not reported, because the body rolls them back.
    func withRollback<Result>(_ body: () throws -> Result) throws -> Result {
        try self {
            let before = changes
            do {
                return try body()
            } catch {
                changes = before
                throw error
            }
        }
    }
}

/// The changes under a lock that is still held.
private struct PendingChanges {
    private var changes: [(hub: ChangeHub, keys: Set<String>)] = []

    mutating func add(_ keys: Set<String>, for hub: ChangeHub) {
        if let index = changes.firstIndex(where: { $0.hub === hub }) {
            changes[index].keys.formUnion(keys)
        } else {
            changes.append((hub, keys))
        }
    }

    func notify() {
        for (hub, keys) in changes {
            hub.notify(keys)
        }
    }
}

// On other systems only tests use it.
#if canImport(Darwin) || DEBUG
/// Finds out what changed in a suite whose signals say only that something may have changed.
///
/// Foundation's signals on Apple platforms are of this kind: there may be several for one change, on any thread, and
/// also for this library's own writes, from inside `set` and while the caller has exclusive access. So a signal only
/// makes the watch compare what is stored with what it knows. The first that finds a change reports it, with its key,
/// and the later ones find nothing.
///
/// The suite is read without a lock, because Foundation may send a signal while it holds locks of its own. So two
/// threads may read a key and note its value in another order than they read it. The later of two comparisons wins: it
/// was begun by the signal for the later change, or after it.
final class SuiteWatch: @unchecked Sendable {
    // The store is only read.
    private let store: any DefaultsStore
    private let hub: ChangeHub

    /// A value, and the comparison that found it.
    private typealias Known = (value: PropertyListValue?, comparison: Int)

    private struct State {
        var values: [String: Known] = [:]
        /// Whether keys that get their first value are watched too.
        var includesNewKeys = false
        var comparisons = 0
    }

    private let state = Locked(State())

    init(of store: any DefaultsStore, reportingTo hub: ChangeHub) {
        self.store = store
        self.hub = hub
    }

    /// Watches more keys.
    ///
    /// - Parameter keys: The keys; nil for all, those that are stored later included.
    /// - Returns: The keys that were not watched before.
    func add(_ keys: Set<String>?) -> Set<String> {
        let found = (keys ?? Set(store.storedKeys())).map { ($0, store.storedValue(forKey: $0)) }
        return state.withLock { state in
            if keys == nil {
                state.includesNewKeys = true
            }
            let new = found.filter { state.values[$0.0] == nil }
            for (key, value) in new {
                state.values[key] = (value, state.comparisons)
            }
            return Set(new.map(\.0))
        }
    }

    /// Reports the keys that have changed, at the end of the calling thread's exclusive access if it has any.
    ///
    /// - Parameter keys: The keys to compare; nil compares all that are watched.
    func check(_ keys: Set<String>? = nil) {
        let (comparison, watched, includesNewKeys) = state.withLock { state in
            state.comparisons += 1
            return (state.comparisons, Set(state.values.keys), state.includesNewKeys)
        }
        var candidates = keys ?? watched
        if !includesNewKeys {
            candidates.formIntersection(watched)
        } else if keys == nil {
            candidates.formUnion(store.storedKeys())
        }
        let found = candidates.map { ($0, store.storedValue(forKey: $0)) }
        let changed = state.withLock { state in
            found.filter { key, value in
                let known = state.values[key] ?? (value: nil, comparison: 0)
                guard known.comparison < comparison else { return false }
                state.values[key] = (value, comparison)
                return !value.isSame(as: known.value)
            }
        }
        if !changed.isEmpty {
            ExclusiveAccess.ofProcess.notify(hub, Set(changed.map(\.0)))
        }
    }
}
#endif
