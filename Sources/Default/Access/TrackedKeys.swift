internal import DefaultJournal
internal import Observation
internal import Synchronization

/// Shared by the library's `Observable` types.
///
/// Holds one registrar for each key that a view or other code inside `withObservationTracking` depends on, and notifies it
/// of every change.
///
/// Computed properties create a new container at each use, so registrars can't belong to containers. They are stored here by
/// storage and key, from the first tracked read until the second change without a read in between.
enum TrackedKeys {
    private struct Location: Hashable {
        let storage: String
        let keys: Set<String>
    }

    private static let tracked = Guarded<[Location: TrackedKey]>([:])

    /// Records that a value under some keys is being read.
    ///
    /// Outside `withObservationTracking` it returns after a cheap check.
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

/// A value that Observation can track.
private final class TrackedKey: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let observation = Guarded<StoreObservation?>(nil)
    private let wasAccessed = Atomic<Bool>(false)

    /// The target of key paths; holds no data.
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

    /// Notifies the code that tracks the value.
    ///
    /// - Returns: Whether the value was read since the last change. If not, the observation ends.
    func notify() -> Bool {
        let wasRead = wasAccessed.exchange(false, ordering: .sequentiallyConsistent)
        registrar.withMutation(of: self, keyPath: \.value) {}
        if !wasRead {
            let ended = observation.withLock { observation in
                defer { observation = nil }
                return observation
            }
            ended?.cancel()
        }
        return wasRead
    }
}

/// Detects whether the calling code runs inside `withObservationTracking`.
///
/// Otherwise each read of a container would have to start observing its storage. Observation has no API for this. But it
/// inserts the key path of each read property into a set, and so hashes the values that the key path captures.
private final class TrackingDetector: Observable, Sendable {
    static var isTracking: Bool {
        shared.lock.lock()
        defer { shared.lock.unlock() }
        shared.wasHashed.store(false, ordering: .relaxed)
        shared.registrar.access(shared, keyPath: shared.path.keyPath)
        return shared.wasHashed.load(ordering: .relaxed)
    }

    private static let shared = TrackingDetector()

    private let registrar = ObservationRegistrar()
    private let lock = ThreadLock()
    private let wasHashed = Atomic<Bool>(false)
    private let path = Path()

    private struct Path: @unchecked Sendable {
        // Immutable, and captures only immutable values.
        let keyPath: KeyPath<TrackingDetector, Void> = \TrackingDetector[Probe()]
    }

    private struct Probe: Hashable {
        func hash(into hasher: inout Hasher) {
            TrackingDetector.shared.wasHashed.store(true, ordering: .relaxed)
        }
    }

    private subscript(probe: Probe) -> Void { () }
}
