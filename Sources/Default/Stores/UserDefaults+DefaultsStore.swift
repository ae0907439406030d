public import Foundation

/// `UserDefaults` as a store.
///
/// Used as a ``DefaultsStore`` (by ``DefaultStorable``, by ``DefaultsStore/df``, in generic code), a `UserDefaults`
/// checks keys and values and throws where Foundation would end the process. Its own methods stay Foundation's.
///
/// On systems other than Apple's each write and removal through this library is also synchronized, because Foundation there
/// never saves by itself; when that fails, the value from before is put back and
/// ``DefaultsError/Code/synchronizationFailed`` thrown. What this can't prevent there: a process killed while Foundation
/// writes the file leaves an empty suite, two processes that write one suite lose each other's values, and a damaged file
/// counts as an empty one. Dates come back in whole seconds, and -0.0 as 0.0. ``FileDefaults`` has none of these faults.
extension UserDefaults: FoundationStore, DefaultsStore {}

/// Hides the implementation from programs that import the library: members in an extension of `UserDefaults` itself would
/// conflict with those that a program declares in extensions and subclasses of its own.
protocol FoundationStore: UserDefaults {}

extension FoundationStore {
    /// The value for a key, from whatever domain.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value, nil when there is none.
    public func storedValue(forKey key: String) -> PropertyListValue? {
        object(forKey: FoundationKey.name(forKey: key)).flatMap { try? PropertyListValue(object: $0) }
    }

    /// Stores a value under a key or removes what is there, and off Apple's systems synchronizes.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue`` or ``DefaultsError/Code/synchronizationFailed``; nothing has changed then.
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

    /// The keys that have a value, those included that only registered defaults and the system's domains supply.
    public func storedKeys() -> [String] {
        dictionaryRepresentation().keys.map(FoundationKey.key(forName:))
    }

    /// Synchronizes.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/synchronizationFailed`` when Foundation reports failure.
    public func flush() throws(DefaultsError) {
        guard synchronize() else {
            throw DefaultsError.synchronizationFailed(key: nil, store: storeDescription)
        }
    }

    /// Calls a handler at each change of the suite that this library makes; on Apple's systems also at others', which are
    /// reported without their keys.
    ///
    /// Off Apple's systems Foundation notifies nobody of changes: those made by its own methods, or by other processes, are
    /// not seen.
    ///
    /// - Parameter handler: Receives the keys that changed.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = SharedHubs.observe(ownHubName, handler)
        #if canImport(Darwin)
        let center = NotificationCenter.default
        // For any object: a suite has as many objects as were made for it.
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

    /// "UserDefaults.standard", or the suite: by its name, on Apple's systems by the object's address.
    public var storeDescription: String {
        if self === UserDefaults.standard {
            return "UserDefaults.standard"
        }
        // Foundation has no getter for the name. Where its property has another name, events identify the object instead.
        let suite = Mirror(reflecting: self).children.first { $0.label == "suite" }?.value as? String
        let name = suite.map { "suiteName: \($0.debugDescription)" } ?? "\(ObjectIdentifier(self))"
        return "UserDefaults(\(name))"
    }

    /// Another name than other storages of this description have: this one notifies of all changes itself.
    private var ownHubName: String { "Foundation.\(storeDescription)" }

    private func replace(_ previous: PropertyListValue?, with value: PropertyListValue?, forKey key: String) {
        let name = FoundationKey.name(forKey: key)
        guard let value else {
            return removeObject(forKey: name)
        }
        set(value.object, forKey: name)
        // Foundation ignores what compares equal to what is there: 1 in place of 1.0, "é" of other scalars.
        if let previous, let stored = storedValue(forKey: key), stored.isSame(as: previous), !stored.isSame(as: value) {
            removeObject(forKey: name)
            set(value.object, forKey: name)
        }
    }
}

extension PropertyListValue {
    /// Whether values are the same bytes, which values that are equal need not be.
    fileprivate func isSame(as other: PropertyListValue) -> Bool {
        binaryForm == other.binaryForm
    }
}
