public import Foundation

// Foundation's own methods could satisfy the protocol as they are, but through a store they have to throw where
// Foundation ends the process, and to save where Foundation doesn't. A method of the same signature would make every
// call of Foundation's ambiguous, so ours have names of their own and say which requirement they implement. They are
// what runs when a UserDefaults is used as a `DefaultsStore`; `set` on a UserDefaults itself stays Foundation's.

/// `UserDefaults` as a store.
///
/// Used as a ``DefaultsStore`` (by ``DefaultStorable``, by ``DefaultsStore/df``, in generic code), a `UserDefaults`
/// checks keys and values and throws where Foundation would end the process. On systems other than Apple's each write
/// and removal is also synchronized, because Foundation there never saves by itself; when that fails, the value from
/// before is put back and ``DefaultsError/Code/synchronizationFailed`` thrown.
///
/// What this can't mend, off Apple's systems: a process killed while Foundation writes the file leaves an empty suite,
/// two processes that write one suite lose each other's values, and a damaged file counts as an empty one.
extension UserDefaults: DefaultsStore {
    /// Implements ``DefaultsStore/object(forKey:)``: Foundation's value, of the types that all stores give.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value, nil when nothing is stored.
    @_implements(DefaultsStore,object(forKey:))
    @_disfavoredOverload
    public func storedObject(forKey key: String) -> Any? {
        object(forKey: FoundationKey.name(forKey: key)).map { object in
            // Off Apple's systems arrays come back as [Any?] and whole floating-point numbers as Float.
            (try? PropertyListValue(object).object) ?? object
        }
    }

    /// Implements ``DefaultsStore/data(forKey:)``.
    ///
    /// - Parameter key: The key.
    /// - Returns: The bytes, nil when nothing is stored or what is stored is not `Data`.
    @_implements(DefaultsStore,data(forKey:))
    @_disfavoredOverload
    public func storedData(forKey key: String) -> Data? {
        data(forKey: FoundationKey.name(forKey: key))
    }

    /// Implements ``DefaultsStore/set(_:forKey:)-(Any?,_)``: checks key and value, sets, and off Apple's systems saves.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue`` or ``DefaultsError/Code/synchronizationFailed``; nothing has changed then.
    @_implements(DefaultsStore,set(_:forKey:))
    @_disfavoredOverload
    public func setStoredObject(_ value: Any?, forKey key: String) throws {
        _ = try StoreKey(key)
        let copy = try PropertyListValue(value, forKey: key, in: self)?.object
        try withExclusiveAccess {
            #if canImport(Darwin)
            replaceObject(with: copy, forKey: key)
            #else
            let previous = storedObject(forKey: key)
            replaceObject(with: copy, forKey: key)
            if !synchronize() {
                replaceObject(with: previous, forKey: key)
                throw DefaultsError.synchronizationFailed(key: key, store: storeDescription)
            }
            #endif
        }
        if SharedHubs.isActive {
            SharedHubs.tell(storeDescription, [key])
        }
    }

    /// Implements ``DefaultsStore/removeObject(forKey:)``.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/synchronizationFailed``; nothing has changed then.
    @_implements(DefaultsStore,removeObject(forKey:))
    @_disfavoredOverload
    public func removeStoredObject(forKey key: String) throws {
        try setStoredObject(nil, forKey: key)
    }

    /// Implements ``DefaultsStore/dictionaryRepresentation()``: Foundation's, with the keys that were set and values of the
    /// types that all stores give.
    ///
    /// - Returns: Values by their keys, those of registered defaults and the system's domains included; of keys that are
    ///   canonically equivalent, one.
    @_implements(DefaultsStore,dictionaryRepresentation())
    @_disfavoredOverload
    public func storedDictionaryRepresentation() -> [String: Any] {
        let entries = dictionaryRepresentation().map { name, object in
            // Off Apple's systems each value comes in an optional, as the elements of arrays do.
            (FoundationKey.key(forName: name), (try? PropertyListValue(object).object) ?? object)
        }
        return Dictionary(entries, uniquingKeysWith: { first, _ in first })
    }

    /// The keys of `dictionaryRepresentation()`, which include those that only registered defaults and the system's domains
    /// supply.
    public func storedKeys() -> [String] {
        dictionaryRepresentation().keys.map(FoundationKey.key(forName:))
    }

    /// Calls a handler at each change of the suite that this library makes; on Apple's systems also at others', which come
    /// without their keys.
    ///
    /// Off Apple's systems Foundation tells nobody of changes: those made by its own methods, or by other processes, are not seen.
    ///
    /// - Parameter handler: Is told which keys changed.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = SharedHubs.observe(storeDescription, handler)
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

    /// Implements ``DefaultsStore/synchronize()``.
    ///
    /// - Returns: True.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/synchronizationFailed`` when Foundation says false.
    @_implements(DefaultsStore,synchronize())
    @_disfavoredOverload
    @discardableResult
    public func synchronizeStore() throws -> Bool {
        guard synchronize() else {
            throw DefaultsError.synchronizationFailed(key: nil, store: storeDescription)
        }
        return true
    }

    /// "UserDefaults.standard", or the suite: by its name, on Apple's systems by the object's address.
    public var storeDescription: String {
        if self === UserDefaults.standard {
            return "UserDefaults.standard"
        }
        // Foundation keeps the name to itself. Where it is called otherwise, events name the object instead.
        let suite = Mirror(reflecting: self).children.first { $0.label == "suite" }?.value as? String
        let name = suite.map { "suiteName: \($0.debugDescription)" } ?? "\(ObjectIdentifier(self))"
        return "UserDefaults(\(name))"
    }

    private func replaceObject(with object: Any?, forKey key: String) {
        if let object {
            set(object, forKey: FoundationKey.name(forKey: key))
        } else {
            removeObject(forKey: FoundationKey.name(forKey: key))
        }
    }
}
