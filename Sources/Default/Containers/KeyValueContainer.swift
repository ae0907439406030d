public import Observation
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A single value under a key of a storage.
///
/// ```swift
/// extension PersistentStorage {
///     // The property's name is the key.
///     var launchCount: KeyValueContainer<Int> { makeContainer() }
///     var volume: KeyValueContainer<Double> { makeContainer(default: 0.5) }
/// }
/// storage.volume.value = 0.8
/// storage.volume.value    // 0.8 as Double?
/// ```
///
/// A container supports Observation: a view, or other code inside `withObservationTracking`, that reads ``value`` is
/// notified of all changes of it. If the storage is neither a ``DefaultsStore`` nor a ``PersistentStorage``, only
/// changes made through containers are seen, unless it implements ``KeyValueStorage/observeChanges(_:)``.
///
/// A container holds no value itself: containers for the same key of the same storage have the same value. It may be
/// used from several threads if its storage may, but is not `Sendable`, because its type doesn't say what its storage
/// is. Tasks share the storage, such as a ``PersistentStorage``, and make containers where they need them, as the
/// properties above do.
public final class KeyValueContainer<Value: Codable> {
    /// The storage of the value.
    public let storage: any KeyValueStorage
    /// The key of the value.
    public let key: String
    /// The value that is read while nothing is stored; nil for none.
    public let defaultValue: Value?
    private let coder: DefaultsCoder?

    /// Creates a container.
    ///
    /// - Parameters:
    ///   - storage: The storage of the value.
    ///   - key: The key of the value.
    ///   - defaultValue: The value that is read while nothing is stored. It is never stored itself.
    ///   - coder: The coder whose `Data` is stored, and which alone reads it; nil, the default, for the value's own
    ///     form.
    public init(
        storage: any KeyValueStorage,
        key: String,
        defaultValue: Value? = nil,
        coder: DefaultsCoder? = nil
    ) {
        self.storage = storage
        self.key = key
        self.defaultValue = defaultValue
        self.coder = coder
    }

    /// The value: the stored one, otherwise the default value.
    ///
    /// Assigning nil removes the stored value.
    ///
    /// A change in place, such as `container.value? += 1`, is atomic across threads and, on a ``FileDefaults``,
    /// processes. A stored value that can't be read is quarantined before it is replaced.
    public var value: Value? {
        get {
            let access = storage.keyAccess(forKey: key)
            TrackedKeys.access([access?.key ?? key], in: access?.store ?? storage)
            return storedValue ?? defaultValue
        }
        set { set(newValue) }
        _modify {
            var change = Change(of: self)
            defer { change.end() }
            yield &change.value
            commit(change)
        }
    }

    /// The value of a container with a default, without an optional: the stored one, otherwise the default value.
    ///
    /// Controls bind to it: `Slider(value: $volume.currentValue)`. Changes in place are atomic, as those of ``value``.
    /// In a container without a ``defaultValue`` it must not be used: the program ends with a message that names the
    /// key.
    public var currentValue: Value {
        get {
            let initial = requiredDefault
            return value ?? initial
        }
        set { value = newValue }
        // Not by way of `value`; see AccessInPlace.
        _modify {
            _ = requiredDefault
            var change = Change(of: self)
            defer { change.end() }
            // The default value is what is changed while nothing is stored, so there always is a value.
            yield &change.value!
            commit(change)
        }
    }

    /// Whether there is a value that can be read as this type, stored or from another layer of the store; the default
    /// value does not count.
    public var exists: Bool { storedValue != nil }

    /// Removes the stored value.
    public func remove() { set(nil) }

    /// Reads, changes and stores the value as one atomic operation.
    ///
    /// **The change may run more than once** on a storage that detects conflicts; see
    /// ``KeyValueStorage/withExclusiveAccess(_:)``. On the stores of this library it runs once.
    ///
    /// - Parameter change: Changes the value, which is the stored one, otherwise the default value. Nil removes the
    ///   stored value. If it throws, nothing is stored.
    /// - Returns: The result of the change.
    /// - Throws: Any error that the change throws; ``DefaultsError`` when the stored value can't be read, or the new
    ///   one can't be stored. The stored value is unchanged then.
    @discardableResult
    public func update<Result>(_ change: (inout Value?) throws -> Result) throws -> Result {
        try storage.withExclusiveAccess {
            guard let access = storage.keyAccess(forKey: key) else {
                var changed = try customValue() ?? defaultValue
                let result = try change(&changed)
                try setCustomValue(changed)
                storage.notifyChange(forKey: key)
                return result
            }
            let read = access.store.storedValue(forKey: access.key)
            var changed = try access.value(of: read, by: bridge, default: defaultValue) ?? defaultValue
            let result = try change(&changed)
            try access.save(changed, by: bridge, default: defaultValue, isReadable: true, unlessSameAs: read)
            return result
        }
    }

    /// The value between the steps of a change in place.
    private struct Change: ~Copyable {
        enum Access: ~Copyable {
            case ofStore(ChangeInPlace)
            case ofOtherStorage(AccessInPlace, isReadable: Bool)
        }

        var value: Value?
        let access: Access

        init(of container: KeyValueContainer) {
            let initial = container.defaultValue
            if let access = container.storage.keyAccess(forKey: container.key) {
                var change = ChangeInPlace(forKey: access.key, in: access.store)
                value = change.value(by: container.bridge, default: { initial })
                self.access = .ofStore(change)
            } else {
                let access = AccessInPlace(to: container.storage)
                let stored =
                    access.refusal == nil ? DefaultsDiagnostics.reporting(.readFailed, container.customValue) : nil
                value = (stored ?? nil) ?? initial
                self.access = .ofOtherStorage(access, isReadable: stored != nil)
            }
        }

        func end() {
            switch access {
            case .ofStore(let change): change.end()
            case .ofOtherStorage(let access, _): access.end()
            }
        }
    }

    private func commit(_ change: borrowing Change) {
        switch change.access {
        case .ofStore(let access):
            access.commit(change.value, by: bridge, default: { defaultValue })
        case .ofOtherStorage(let access, let isReadable):
            if let refusal = access.refusal {
                DefaultsDiagnostics.report(.writeFailed, .wrapping(refusal, context))
            } else if isReadable {
                // An unreadable value is not overwritten: a custom storage has no quarantine.
                set(change.value)
            }
        }
    }

    private var requiredDefault: Value {
        guard let defaultValue else {
            fatalError(
                "The container for the key \"\(key)\" has no default value; use its value, which is an optional, instead."
            )
        }
        return defaultValue
    }

    /// The stored value, which is not tracked.
    var storedValue: Value? {
        DefaultsDiagnostics.reporting(.readFailed, loadStoredValue) ?? nil
    }

    private func loadStoredValue() throws(DefaultsError) -> Value? {
        guard let access = storage.keyAccess(forKey: key) else { return try customValue() }
        return try access.load(by: elementBridge, default: defaultValue)
    }

    /// Says what an error in a storage that isn't a store is about.
    private var context: ErrorContext { ErrorContext(key: key, type: Value.self, store: storage.changeChannel) }

    /// The value in a storage that isn't a store, where a coder's `Data` is a value like any other.
    private func customValue() throws(DefaultsError) -> Value? {
        guard let coder else { return storage.value(forKey: key) }
        let data: Data? = storage.value(forKey: key)
        do {
            return try data.map { try coder.decodeTopLevel(Value.self, from: $0) }
        } catch {
            let size = data?.count ?? 0
            throw .undecodable(error, byteCount: size, context)
        }
    }

    private func setCustomValue(_ value: Value?) throws(DefaultsError) {
        guard let coder else { return storage.setValue(value, forKey: key) }
        do {
            storage.setValue(try value.map { try coder.encodeTopLevel($0) }, forKey: key)
        } catch {
            throw .encodingFailed(error, context)
        }
    }

    private func set(_ value: Value?) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            guard let access = storage.keyAccess(forKey: key) else {
                try setCustomValue(value)
                return storage.notifyChange(forKey: key)
            }
            try access.save(value, by: bridge, default: defaultValue)
        }
    }

    private var elementBridge: ValueBridge<Value> {
        // No optional bridge, whose type would be looked up.
        if let coder { .coded(by: coder) } else { .nested }
    }

    private var bridge: ValueBridge<Value?> { elementBridge.optional }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension KeyValueContainer: Observable {}

@available(*, unavailable, message: "Share the storage; make containers of it where they are used.")
extension KeyValueContainer: Sendable {}

extension KeyValueStorage {
    /// Creates a container for a key of this storage; use it in a computed property with the key's name.
    ///
    /// - Parameters:
    ///   - defaultValue: The value that is read while nothing is stored.
    ///   - key: The key; the name of the property or method that calls this, by default.
    ///   - coder: The coder whose `Data` is stored, and which alone reads it; nil, the default, for the value's own
    ///     form.
    /// - Returns: The container.
    public func makeContainer<Value: Codable>(
        default defaultValue: Value? = nil,
        key: String = #function,
        coder: DefaultsCoder? = nil
    ) -> KeyValueContainer<Value> {
        KeyValueContainer(storage: self, key: key, defaultValue: defaultValue, coder: coder)
    }
}

extension KeyValueContainer {
    /// A sequence of the value and its changes; see ``ValueUpdates``.
    public var updates: ValueUpdates<Value?> {
        let access = storage.keyAccess(forKey: key)
        return ValueUpdates(of: [key], in: storage) {
            let last = LastReadable<Value?>(comparesValues: true)
            return {
                last.update(stored: access.map { [$0.store.storedValue(forKey: $0.key)] }) {
                    Reading(or: self.defaultValue) { () throws(DefaultsError) in
                        try self.loadStoredValue() ?? self.defaultValue
                    }
                }
            }
        }
    }
}

// Disfavored, because on Apple platforms UserDefaults has key-value coding's methods with the same names, and this
// library must not change which method a program calls.
extension DefaultsStore {
    /// The value stored under a key.
    ///
    /// Property-list types are stored directly, enums and option sets as their raw value, and other types as JSON.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value; nil when nothing is stored, or the stored value can't be read as this type. The latter is
    ///   reported to ``DefaultsDiagnostics``, and the stored value is left unchanged.
    @_disfavoredOverload
    public func value<T: Codable>(forKey key: String) -> T? {
        let stored = DefaultsDiagnostics.reporting(.readFailed) { () throws(DefaultsError) in
            try KeyAccess(key, in: self).load(by: ValueBridge<T>.nested, default: nil)
        }
        return stored ?? nil
    }

    /// Stores a value under a key.
    ///
    /// ``value(forKey:)`` can read it, and so can the store's own methods if it has a property-list type.
    ///
    /// Errors are reported to ``DefaultsDiagnostics`` and leave the stored value unchanged.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes the stored one.
    ///   - key: The key.
    @_disfavoredOverload
    public func setValue<T: Codable>(_ value: T?, forKey key: String) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            try KeyAccess(key, in: self).save(value, by: ValueBridge<T>.nested.optional, default: nil)
        }
    }
}

extension KeyValueStorage {
    /// Access to a key in the underlying store; nil for a custom storage.
    func keyAccess(forKey key: String) -> KeyAccess? {
        switch self {
        case let store as any DefaultsStore: KeyAccess(key, in: store)
        case let storage as PersistentStorage: KeyAccess(storage.suiteKey(forKey: key), in: storage.suite)
        default: nil
        }
    }
}
