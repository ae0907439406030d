internal import DefaultJournal
internal import Observation

/// Makes the reads of all front ends known to Observation.
///
/// Views, and other code inside `withObservationTracking`, are notified of every change of a key that they have read.
enum TrackedKeys {
    /// Records that a value under some keys is being read.
    ///
    /// Outside `withObservationTracking`, and on systems without Observation, it returns after a cheap check, which evaluates
    /// no argument.
    static func access(_ keys: @autoclosure () -> [String], in storage: @autoclosure () -> any KeyValueStorage) {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *), TrackingDetector.isTracking else {
            return
        }
        TrackedKey.access(keys(), in: storage())
    }
}

/// A value that Observation can track.
///
/// Keys and computed properties have no object that a registrar could belong to. So registrars are stored here by storage
/// and key, from the first tracked read until the second change without a read in between.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
private final class TrackedKey: Observable, Sendable {
    /// By the names of storage and keys, with NUL between them, which no key contains.
    private static let all = Guarded<[String: TrackedKey]>([:])

    private let registrar = ObservationRegistrar()
    private let observation = Guarded<StoreObservation?>(nil)
    private let wasAccessed = Atomic<Bool>(false)

    /// The target of key paths; holds no data.
    private var value: Void { () }

    static func access(_ keys: [String], in storage: any KeyValueStorage) {
        let location = ([storage.hubName] + keys).joined(separator: "\0")
        let key = all.withLock { all in
            let key = all[location] ?? TrackedKey()
            all[location] = key
            return key
        }
        key.wasAccessed.store(true)
        key.registrar.access(key, keyPath: \.value)
        key.observation.withLock { observation in
            guard observation == nil else { return }
            observation = .of(Set(keys), in: storage) { _ in
                if !key.notify() {
                    all.withLock { $0[location] = nil }
                }
            }
        }
    }

    /// Notifies the code that tracks the value.
    ///
    /// - Returns: Whether the value was read since the last change. If not, the observation ends.
    private func notify() -> Bool {
        let wasRead = wasAccessed.exchange(false)
        registrar.withMutation(of: self, keyPath: \.value) {}
        if !wasRead {
            observation.exchange(nil)?.cancel()
        }
        return wasRead
    }
}

/// Detects whether the calling code runs inside `withObservationTracking`.
///
/// Otherwise each read would have to start observing its storage. Observation has no API for this. But it inserts the key
/// path of each read property into a set, and so hashes the values that the key path captures.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
private final class TrackingDetector: Observable, Sendable {
    /// Whether the calling thread tracks what it reads.
    ///
    /// Nearly all reads are not tracked. For them it is enough that nothing was hashed in the meantime, which costs two loads
    /// and Observation's own look-up of a thread-local variable. If something was, it may have been by another thread, so
    /// the second look is for a probe that only this thread knows.
    static var isTracking: Bool {
        let detector = shared
        let before = detector.hashCount.load()
        detector.registrar.access(detector, keyPath: detector.keyPath)
        return detector.hashCount.load() != before && detector.isTrackingOwnProbe
    }

    private static let shared = TrackingDetector()

    private let registrar = ObservationRegistrar()
    private let hashCount = Atomic<Int>(0)
    // Immutable, and captures only a Sendable value.
    nonisolated(unsafe) private let keyPath: KeyPath<TrackingDetector, Void> = \.[Probe(hashCount: nil)]

    private var isTrackingOwnProbe: Bool {
        let own = HashCount()
        registrar.access(self, keyPath: \.[Probe(hashCount: own)])
        return own.value.load() > 0
    }

    private final class HashCount: Sendable {
        let value = Atomic<Int>(0)
    }

    /// Counts how often it is hashed.
    private struct Probe: Hashable, Sendable {
        /// The count; nil for that of the detector.
        let hashCount: HashCount?

        /// All are equal, so that what is tracked grows by one key path, however many reads there are.
        static func == (lhs: Probe, rhs: Probe) -> Bool { true }

        func hash(into hasher: inout Hasher) {
            if let hashCount {
                hashCount.value.wrappingAdd(1)
            } else {
                TrackingDetector.shared.hashCount.wrappingAdd(1)
            }
        }
    }

    private subscript(probe: Probe) -> Void { () }
}
