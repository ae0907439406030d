public import Foundation

/// Makes `UserDefaults` a store.
///
/// When it is used as a ``DefaultsStore`` (by ``DefaultStorable``, by ``DefaultsStore/df``, in generic code), a
/// `UserDefaults` checks keys and values, and throws where Foundation would trap. Foundation's own methods are unchanged.
///
/// On systems other than Apple's, each write and removal through this library also calls `synchronize`, because Foundation
/// never saves by itself there. When that fails, the previous value is restored and
/// ``DefaultsError/Code/synchronizationFailed`` is thrown. Some faults of Foundation on these systems remain: a process that
/// is killed while Foundation writes the file leaves an empty suite, two processes that write to one suite lose each other's
/// values, and a damaged file is treated as empty. Dates are read back in whole seconds, and -0.0 as 0.0. ``FileDefaults``
/// has none of these faults.
extension UserDefaults: FoundationStore, DefaultsStore {}

/// Hides the implementation from programs that import the library.
///
/// Members in an extension of `UserDefaults` itself would conflict with those that a program declares in its own extensions
/// and subclasses.
protocol FoundationStore: UserDefaults {}

extension FoundationStore {
    /// The value for a key, from any domain.
    public func storedValue(forKey key: String) -> PropertyListValue? {
        object(forKey: FoundationKey.name(forKey: key)).flatMap { try? PropertyListValue(object: $0) }
    }

    /// Stores a value under a key or removes the stored value, and synchronizes on systems other than Apple's.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/unsupportedValue``
    ///   or ``DefaultsError/Code/synchronizationFailed``. Nothing has changed then.
    public func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws(DefaultsError) {
        _ = try StoreKey(key)
        try value?.checkDepth(forKey: key, in: self)
        try ExclusiveAccess.ofProcess { () throws(DefaultsError) in
            let previous = storedValue(forKey: key)
            replace(previous, with: value, forKey: key)
            #if !canImport(Darwin)
            if !synchronize() {
                replace(value, with: previous, forKey: key)
                throw DefaultsError.synchronizationFailed(key: key, store: storeDescription)
            }
            #endif
            if let hub = SharedHubs.hub(named: ownHubName), previous != value {
                ExclusiveAccess.ofProcess.notify(hub, [key])
            }
        }
    }

    /// The keys that have a value, including those in registered defaults and in the system's domains.
    public func storedKeys() -> [String] {
        dictionaryRepresentation().keys.map(FoundationKey.key(forName:))
    }

    /// Calls `synchronize`.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/synchronizationFailed`` when Foundation reports failure.
    public func flush() throws(DefaultsError) {
        guard synchronize() else {
            throw DefaultsError.synchronizationFailed(key: nil, store: storeDescription)
        }
    }

    /// Calls a handler at each change of the suite that is made through this library.
    ///
    /// On Apple's systems it also reports other changes, but not their keys.
    ///
    /// On other systems Foundation has no change notifications, so changes made through its own methods or by other
    /// processes are not reported.
    ///
    /// - Parameter handler: Receives the keys that changed.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = SharedHubs.observe(ownHubName, handler)
        #if canImport(Darwin)
        let center = NotificationCenter.default
        // For any object, because a suite may have several.
        nonisolated(unsafe) let token = center.addObserver(
            forName: UserDefaults.didChangeNotification,
            object: nil,
            queue: nil
        ) { _ in handler(nil) }
        return StoreObservation {
            observation.cancel()
            center.removeObserver(token)
        }
        #else
        return observation
        #endif
    }

    /// "UserDefaults.standard", or a description with the suite's name, on Apple's systems with the object's address.
    public var storeDescription: String {
        if self === UserDefaults.standard {
            return "UserDefaults.standard"
        }
        // Foundation has no getter for the name. If its stored property has a different name, the object identifies the
        // suite instead.
        let suite = Mirror(reflecting: self).children.first { $0.label == "suite" }?.value as? String
        let name = suite.map { "suiteName: \($0.debugDescription)" } ?? "\(ObjectIdentifier(self))"
        return "UserDefaults(\(name))"
    }

    /// Differs from `hubName`, because `setStoredValue` notifies observers itself.
    private var ownHubName: String { "Foundation.\(storeDescription)" }

    private func replace(_ previous: PropertyListValue?, with value: PropertyListValue?, forKey key: String) {
        let name = FoundationKey.name(forKey: key)
        guard let value else {
            return removeObject(forKey: name)
        }
        set(value.object, forKey: name)
        // Foundation ignores a value that compares equal to the stored one: 1 and 1.0, or "é" with different scalars.
        if let previous, let stored = storedValue(forKey: key), stored.isSame(as: previous), !stored.isSame(as: value) {
            removeObject(forKey: name)
            set(value.object, forKey: name)
        }
    }
}

extension PropertyListValue {
    /// Whether two values have the same bytes, which equal values need not have.
    fileprivate func isSame(as other: PropertyListValue) -> Bool {
        binaryForm == other.binaryForm
    }
}
