internal import DefaultJournal
internal import Observation

/// Makes the reads of all front ends known to Observation.
///
/// Views, and other code inside `withObservationTracking`, are notified of every change of a key that they have read.
enum TrackedKeys {
    /// Records that a value under some keys is being read.
    ///
    /// Outside `withObservationTracking`, and on systems without Observation, it returns after a cheap check, which
    /// evaluates no argument.
    static func access(_ keys: @autoclosure () -> [String], in storage: @autoclosure () -> any KeyValueStorage) {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *),
            TrackingDetector.current.isTracking
        else { return }
        TrackedKey.access(keys(), in: storage())
    }

    #if DEBUG
    /// Runs when the readers of a value have been notified, before it is decided whether its observation ends.
    ///
    /// A task-local value that is itself a function crashes in optimized code of Swift 6.3.
    @TaskLocal static var willDecideEnd: Step?

    struct Step: Sendable {
        let run: @Sendable () -> Void
    }
    #endif
}

/// A value that Observation can track.
///
/// Keys and computed properties have no object that a registrar could belong to. So registrars are stored here by
/// storage and key, from the first tracked read until the second change without a read in between.
///
/// Observation doesn't know of a read yet when ``ObservationRegistrar/access(_:keyPath:)`` returns: it lists the key
/// path, and installs the list when the tracked closure has returned. Until then the value may change any number of
/// times, and what is removed here in the meantime would never notify that reader. So each recorded key path holds a
/// ``ReadToken``: Observation keeps the key path from the read until the tracking has fired or ended, and while one
/// is left, the value stays. (Observation 6.3 never lets go of a tracking that fires while it is being installed, on
/// another thread. The value is observed for as long as the process runs then.)
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
private final class TrackedKey: Observable, @unchecked Sendable {
    /// By the names of storage and keys, with NUL between them, which no key contains.
    private static let all = PerProcess { Locked<[String: TrackedKey]>([:]) }

    private let location: String
    private let registrar = ObservationRegistrar()
    private let readers = ReaderCount()

    // Both are used under the lock of `all` only.

    private var observation: StoreObservation?
    /// Whether it was read since the last change.
    ///
    /// The readers' tokens make this redundant as long as Observation keeps key paths, which nothing documents.
    private var wasRead = false

    private init(at location: String) { self.location = location }

    static func access(_ keys: [String], in storage: any KeyValueStorage) {
        let location = ([storage.changeChannel] + keys).joined(separator: "\0")
        let (key, read, isObserved) = all.withLock { all in
            let key = all[location] ?? TrackedKey(at: location)
            all[location] = key
            key.wasRead = true
            return (key, Read(token: ReadToken(key.readers)), key.observation != nil)
        }
        // The token keeps the key in the table until its storage is observed.
        withExtendedLifetime(read) {
            key.registrar.access(key, keyPath: \.[read])
            if !isObserved {
                key.observe(Set(keys), in: storage)
            }
        }
    }

    /// Observes the storage, without a lock: observing one may call code of the program, which may read this value.
    private func observe(_ keys: Set<String>, in storage: any KeyValueStorage) {
        let new = StoreObservation.of(keys, in: storage) { _ in self.notify() }
        let isSuperfluous = Self.all.withLock { _ in
            // Another reader may have been as fast.
            guard observation == nil else { return true }
            observation = new
            return false
        }
        if isSuperfluous {
            new.cancel()
        }
    }

    /// Notifies the code that tracks the value, and ends the observation if it wasn't read since the last change.
    private func notify() {
        let wasRead = Self.all.withLock { _ in
            defer { self.wasRead = false }
            return self.wasRead
        }
        registrar.withMutation(of: self, keyPath: \.[Read(token: nil)]) {}
        #if DEBUG
        TrackedKeys.willDecideEnd?.run()
        #endif
        if !wasRead {
            endUnlessRead()
        }
    }

    private func endUnlessRead() {
        let ended = Self.all.withLock { all in
            // A reader finds the key in the table and is counted under the same lock, so none comes in between.
            guard !wasRead, readers.count.load() == 0 else { return nil as StoreObservation? }
            if all[location] === self {
                all[location] = nil
            }
            defer { observation = nil }
            return observation
        }
        ended?.cancel()
    }

    /// The target of key paths; holds no data.
    private subscript(read: Read) -> Void { () }
}

/// A read, as a part of the key path by which Observation knows it.
private struct Read: Hashable, Sendable {
    /// Nil for a change.
    let token: ReadToken?

    /// All are equal, so that a change notifies every reader.
    static func == (lhs: Read, rhs: Read) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

/// The number of a value's reads that Observation still has to notify.
private final class ReaderCount: Sendable {
    let count = Atomic<Int>(0)
}

/// Counts a read for as long as it exists.
private final class ReadToken: Sendable {
    // Not the value itself: Observation may release a token under its own lock, which the registrar's `deinit` takes,
    // too.
    private let readers: ReaderCount

    init(_ readers: ReaderCount) {
        self.readers = readers
        readers.count.wrappingAdd(1)
    }

    deinit { readers.count.wrappingAdd(-1) }
}
