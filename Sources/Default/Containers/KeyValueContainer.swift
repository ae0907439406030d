public import Observation

/// One value under one key of a storage.
///
/// ```swift
/// extension PersistentStorage {
///     var launchCount: KeyValueContainer<Int> { makeContainer() }      // the property's name is the key
///     var volume: KeyValueContainer<Double> { makeContainer(default: 0.5) }
/// }
/// storage.volume.value = 0.8
/// storage.volume.value                                                 // 0.8 as Double?
/// ```
///
/// A container takes part in Observation: code inside `withObservationTracking` that reads ``value``, and so a view, is
/// notified of any change of it, wherever it is made. Of a storage that is neither a ``DefaultsStore`` nor a
/// ``PersistentStorage``, only changes made through containers are seen, unless it implements ``KeyValueStorage/observeChanges(_:)``.
///
/// A container holds nothing itself: containers for the same key of the same storage see the same value. It is as safe
/// to use from several threads as its storage.
public final class KeyValueContainer<Value: Codable>: Observable {
    /// Where the value is kept.
    public let storage: any KeyValueStorage
    /// The key it is kept under.
    public let key: String
    /// What is read while nothing is stored; nil when there is no such value.
    public let defaultValue: Value?

    /// Creates a container.
    ///
    /// - Parameters:
    ///   - storage: Where the value is kept.
    ///   - key: The key it is kept under.
    ///   - defaultValue: What is read while nothing is stored; it is never stored itself.
    public init(storage: any KeyValueStorage, key: String, defaultValue: Value? = nil) {
        self.storage = storage
        self.key = key
        self.defaultValue = defaultValue
    }

    /// The value: the stored one, else the default value.
    ///
    /// Assigning nil removes what is stored.
    ///
    /// A change in place, such as `container.value? += 1`, is one operation across threads and, on a ``FileDefaults``,
    /// processes. What it replaces and can't be read is quarantined.
    public var value: Value? {
        get {
            if let place = storage.place(ofKey: key) {
                TrackedKeys.access([place.key], in: place.store)
            } else {
                TrackedKeys.access([key], in: storage)
            }
            return storage.value(forKey: key) ?? defaultValue
        }
        set { set(newValue) }
        _modify {
            if let place = storage.place(ofKey: key) {
                var change = ValueChange(forKey: place.key, in: place.store)
                defer { change.end() }
                let bridge = bridge
                var value = change.value(by: bridge, default: { defaultValue })
                yield &value
                change.commit(value, by: bridge)
            } else {
                let isExclusive = (try? storage.beginExclusiveAccess()) != nil
                defer { if isExclusive { storage.endExclusiveAccess() } }
                var changed = storage.value(forKey: key) ?? defaultValue
                yield &changed
                set(changed)
            }
        }
    }

    /// Whether a value is stored that can be read as this type; the default value does not count.
    public var exists: Bool {
        let stored: Value? = storage.value(forKey: key)
        return stored != nil
    }

    /// Removes what is stored.
    public func remove() {
        set(nil)
    }

    /// Reads, changes and stores the value as one operation.
    ///
    /// **The change may run more than once** on a storage that detects conflicts; see
    /// ``KeyValueStorage/withExclusiveAccess(_:)``. On the stores of this library it runs once.
    ///
    /// - Parameter change: Changes the value, which is the stored one, else the default value; nil removes what is stored.
    ///   When it throws, nothing is stored.
    /// - Returns: What the change returns.
    /// - Throws: What the change throws; ``DefaultsError`` when what is stored can't be read, or the new value not be
    ///   stored. What was stored is as it was then.
    @discardableResult
    public func update<Result>(_ change: (inout Value?) throws -> Result) throws -> Result {
        try storage.withExclusiveAccess {
            guard let place = storage.place(ofKey: key) else {
                // A storage of one's own reports neither of the two.
                var changed = storage.value(forKey: key) ?? defaultValue
                let result = try change(&changed)
                set(changed)
                return result
            }
            var changed = try place.load(by: bridge) ?? defaultValue
            let result = try change(&changed)
            try place.save(changed, by: bridge, isReadable: true)
            return result
        }
    }

    private func set(_ value: Value?) {
        storage.setValue(value, forKey: key)
        // A store has notified its observers already.
        if storage.place(ofKey: key) == nil {
            storage.notifyChange(forKey: key)
        }
    }

    private var bridge: ValueBridge<Value?> { ValueBridge<Value>.storedInside().optional }
}

@available(*, unavailable, message: "A storage need not be Sendable: UserDefaults is not off Apple's systems.")
extension KeyValueContainer: Sendable {}

extension KeyValueStorage {
    /// Makes a container for a key of this storage, best as the value of a computed property with the key's name.
    ///
    /// - Parameters:
    ///   - defaultValue: What is read while nothing is stored.
    ///   - key: The key; the name of the property or method that calls this, by default.
    /// - Returns: The container.
    public func makeContainer<Value: Codable>(
        default defaultValue: Value? = nil,
        key: String = #function
    ) -> KeyValueContainer<Value> {
        KeyValueContainer(storage: self, key: key, defaultValue: defaultValue)
    }
}
