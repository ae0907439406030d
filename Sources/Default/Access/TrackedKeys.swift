internal import DefaultJournal
internal import Observation
internal import Synchronization

/// What the library's `Observable` types share: for each key that a view or other code inside `withObservationTracking`
/// depends on, one registrar, notified of changes wherever they come from.
///
/// Containers are recreated at each use of a computed property, so registrars can't belong to them. They are kept here by
/// storage and key, from the first tracked read until a second change without a read in between.
enum TrackedKeys {
    private struct Location: Hashable {
        let storage: String
        let keys: Set<String>
    }

    private static let tracked = Guarded<[Location: TrackedKey]>([:])

    /// Notes that a value under some keys is being read.
    ///
    /// Costs a short look outside `withObservationTracking`, where nothing more comes of it.
    static func access(_ keys: Set<String>, in storage: any KeyValueStorage) {
        guard TrackingDetector.isTracking else {
            return
        }
        let location = Location(storage: storage.hubName, keys: keys)
        let key = tracked.withLock { tracked in
            let key = tracked[location] ?? TrackedKey()
            tracked[location] = key
            return key
        }
        key.access()
        key.observe(storage) { changed in
            guard changed.map({ !$0.isDisjoint(with: keys) }) ?? true else {
                return
            }
            if !key.notify() {
                tracked.withLock { $0[location] = nil }
            }
        }
    }
}

/// One value as Observation sees it.
private final class TrackedKey: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let observation = Guarded<StoreObservation?>(nil)
    private let wasAccessed = Atomic<Bool>(false)

    /// What key paths name; there is nothing in it.
    private var value: Void { () }

    func access() {
        wasAccessed.store(true, ordering: .sequentiallyConsistent)
        registrar.access(self, keyPath: \.value)
    }

    func observe(_ storage: any KeyValueStorage, _ handler: @escaping StoreObservation.Handler) {
        observation.withLock { observation in
            if observation == nil {
                observation = storage.observeChanges(handler)
            }
        }
    }

    /// Notifies those who track the value.
    ///
    /// - Returns: Whether to go on: no reader is left when there was no read since the last change.
    func notify() -> Bool {
        let isWanted = wasAccessed.exchange(false, ordering: .sequentiallyConsistent)
        registrar.withMutation(of: self, keyPath: \.value) {}
        if !isWanted {
            let ended = observation.withLock { observation in
                defer { observation = nil }
                return observation
            }
            ended?.cancel()
        }
        return isWanted
    }
}

/// Finds out whether the calling code runs inside `withObservationTracking`.
///
/// Without that, each read of a container would have to start watching its storage. Observation offers no such question. But
/// it keeps the key paths of what is read in a set, and so takes the hash value of what a key path captures.
private final class TrackingDetector: Observable, Sendable {
    static var isTracking: Bool {
        shared.turn.lock()
        defer { shared.turn.unlock() }
        shared.wasHashed.store(false, ordering: .relaxed)
        shared.registrar.access(shared, keyPath: shared.path.keyPath)
        return shared.wasHashed.load(ordering: .relaxed)
    }

    private static let shared = TrackingDetector()

    private let registrar = ObservationRegistrar()
    private let turn = ThreadLock()
    private let wasHashed = Atomic<Bool>(false)
    private let path = Path()

    private struct Path: @unchecked Sendable {
        // Never changed, and made of nothing that could be.
        let keyPath: KeyPath<TrackingDetector, Void> = \TrackingDetector[Probe()]
    }

    private struct Probe: Hashable {
        func hash(into hasher: inout Hasher) {
            TrackingDetector.shared.wasHashed.store(true, ordering: .relaxed)
        }
    }

    private subscript(probe: Probe) -> Void { () }
}
