internal import DefaultJournal
internal import Observation

/// Detects whether the calling code runs inside `withObservationTracking`.
///
/// Otherwise each read would have to start observing its storage. Observation has no API for this. But it inserts the
/// key path of each read property into a set, and so hashes the values that the key path captures.
///
/// On Apple platforms Observation is a part of the system, and an update may change that. Therefore the detector
/// tracks reads of its own first, once in a process. If it doesn't detect them, every read counts as tracked: reads
/// take longer then, but no view stops being updated.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
final class TrackingDetector: Observable, @unchecked Sendable {
    private static let ofProcess = PerProcess { TrackingDetector() }

    #if DEBUG
    /// The detector of a test.
    @TaskLocal static var ofTest: TrackingDetector?

    /// The detector of the process.
    static var current: TrackingDetector { ofTest ?? ofProcess.current }
    #else
    /// The detector of the process.
    static var current: TrackingDetector { ofProcess.current }
    #endif

    // Nothing is changed after `init`. Dynamic checks of that would be paid by every read.
    private let registrar = ObservationRegistrar()
    private let hashCount = HashCount()
    private let keyPath: KeyPath<TrackingDetector, Void>
    /// Whether not even the detector's own tracked reads are detected.
    @exclusivity(unchecked) private var isBlind = false

    /// - Parameter countsHashes: Whether the detector works; a test passes false.
    init(countsHashes: Bool = true) {
        keyPath = \.[Probe(hashCount: countsHashes ? hashCount : nil)]
        // Two, since the second one finds its key path in Observation's list.
        let isWorking = withObservationTracking {
            isTracking && isTracking
        } onChange: {
        }
        isBlind = !isWorking
    }

    /// Whether the calling thread tracks what it reads.
    ///
    /// Nearly all reads are not tracked. For them it is enough that nothing was hashed in the meantime, which costs two
    /// loads and Observation's own look-up of a thread-local variable. If something was, it may have been by another
    /// thread, so the second look is for a probe that only this thread knows.
    var isTracking: Bool {
        let hashCount = hashCount
        let before = hashCount.value.load()
        registrar.access(self, keyPath: keyPath)
        return hashCount.value.load() != before && isTrackingOwnProbe || isBlind
    }

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
        let hashCount: HashCount?

        /// All are equal, so that what is tracked grows by one key path, however many reads there are.
        static func == (lhs: Probe, rhs: Probe) -> Bool { true }

        func hash(into hasher: inout Hasher) { hashCount?.value.wrappingAdd(1) }
    }

    private subscript(probe: Probe) -> Void { () }
}
