/// Access to single values of a store by typed keys or string keys.
///
/// Static members use the platform's standard store, and instances any store. What is rarely called has no static form,
/// such as ``quarantined(_:)`` and ``convertForms(of:)``: call it on `Defaults()`, the instance for the standard store.
///
/// ```swift
/// Defaults[.launchCount] += 1                                // the standard store
/// let defaults = Defaults(suite: MemoryDefaults())           // any other
/// defaults[.theme] = .dark
/// Defaults["color"] = "red"                                  // by a string key
/// Defaults["color"].string
/// ```
///
/// Subscripts never throw. Reading returns the key's default when nothing is stored or the stored value can't be read.
/// Assigning a value that can't be stored leaves the stored value unchanged. Both report errors to
/// ``DefaultsDiagnostics``. The throwing counterparts are ``load(_:)-swift.method``, ``save(_:for:)-swift.method`` and
/// ``update(_:_:)-swift.method``, which throw a ``DefaultsError``.
///
/// **Changes in place are atomic:** `Defaults[.launchCount] += 1` or `Defaults[.libraries].append("Default")` reads,
/// changes and stores the value with exclusive access to the store. So no increment is lost when several threads or, on
/// a ``FileDefaults``, processes do so at once. Don't pass a value `inout` to an `async` function this way, because
/// exclusive access belongs to a thread.
///
/// **Unreadable values are kept:** a stored value that can't be read as the key's type is quarantined before it is
/// replaced; see ``quarantined(_:)``.
///
/// An instance can be a global constant, and may be used from any task. So its store is `Sendable`, as those of this
/// library are, or a `UserDefaults`:
///
/// ```swift
/// enum Player {
///     static let defaults = Defaults(suite: MemoryDefaults())
///
///     static func mute() {
///         Task.detached { defaults[.volume] = 0 }
///     }
/// }
/// ```
///
/// Values in any store, also one of your own that isn't `Sendable`, are accessed by keys on the store itself, without
/// an instance: `store[.volume] += 0.1`; see ``DefaultsStore/subscript(_:)``.
public struct Defaults: @unchecked Sendable {
    // The public initializers take a Sendable store, or a UserDefaults, which Apple documents as safe to use from
    // several threads, but doesn't declare so on all systems.

    /// The store; nil for the standard one.
    private let explicitStore: (any DefaultsStore)?

    /// Creates an instance for a store that isn't `Sendable`, for use where the store is.
    package init(suite: any DefaultsStore) { explicitStore = suite }

    /// Creates an instance for a store.
    public init(suite: any DefaultsStore & Sendable) { explicitStore = suite }

    /// Creates an instance for a store of the platform's default type, such as `Defaults(suite: .standard)`.
    public init(suite: StandardDefaults) { explicitStore = suite }

    /// Creates an instance for the platform's standard store: `UserDefaults.standard` on Apple platforms,
    /// ``FileDefaults/standard`` elsewhere.
    public init() { explicitStore = nil }

    /// The store.
    public var suite: any DefaultsStore { explicitStore ?? StandardStore.current }
}

extension Defaults {
    /// The value of a key.
    ///
    /// Reading returns the key's default when nothing is stored or the stored value can't be read. Assigning a value
    /// that can't be stored changes nothing. Errors are reported. A change in place is atomic; see ``Defaults``.
    ///
    /// - Parameter key: The key.
    public subscript<Value>(key: Key<Value>) -> Value {
        get { value(for: key) }
        nonmutating set { set(newValue, for: key) }
        nonmutating _modify {
            var change = ChangeInPlace(forKey: key.storedName, in: suite)
            defer { change.end() }
            var value = change.value(by: key.bridge, default: { key.defaultValue })
            yield &value
            change.commit(value, by: key.bridge, default: { key.defaultValue })
        }
    }

    /// The value of a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value; the key's default when nothing is stored.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/undecodable``,
    ///   ``DefaultsError/Code/typeMismatch``, ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/storeUnavailable``. The stored value is left unchanged.
    public func load<Value>(_ key: Key<Value>) throws(DefaultsError) -> Value {
        TrackedKeys.access([key.storedName], in: suite)
        let access = KeyAccess(key.storedName, in: suite)
        return try access.load(by: key.bridge, default: key.defaultValue) ?? key.defaultValue
    }

    /// The value of a key; while there is none, a new one, which is stored.
    ///
    /// For what a program makes up once and keeps, such as the id of an installation:
    ///
    /// ```swift
    /// extension Defaults.Keys {
    ///     static let installation = Defaults.Key<UUID?>("installation")
    /// }
    /// let id = try Defaults.load(.installation, storing: UUID())
    /// ```
    ///
    /// One operation across threads and, on a ``FileDefaults``, processes: all that call it at once get the same value.
    /// A value of a source, a launch argument or a registered default counts as there, and nothing is stored. Neither
    /// is it when a stored value can't be read.
    ///
    /// - Parameters:
    ///   - key: The key, of an optional.
    ///   - newValue: The value to store; evaluated once at most, and only if there is none.
    /// - Returns: The value that is there, or the new one.
    /// - Throws: Any error of `newValue`, and the same errors as ``load(_:)-swift.method`` and
    ///   ``save(_:for:)-swift.method``.
    public func load<Value>(_ key: Key<Value?>, storing newValue: @autoclosure () throws -> Value) throws -> Value {
        // Without exclusive access, as nearly all calls.
        if let value = try load(key) { return value }
        var made: Value?
        return try suite.withExclusiveAccess {
            if let value = try load(key) { return value }
            let value = try made ?? newValue()
            made = value
            try save(value, for: key)
            return value
        }
    }

    /// Stores a value.
    ///
    /// - Parameters:
    ///   - value: The value; nil, for a key of an optional, removes the stored value.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/encodingFailed``,
    ///   ``DefaultsError/Code/invalidKey`` or one of the store's. The stored value is unchanged then.
    public func save<Value>(_ value: Value, for key: Key<Value>) throws(DefaultsError) {
        try KeyAccess(key.storedName, in: suite).save(value, by: key.bridge, default: key.defaultValue)
    }

    /// Reads, changes and stores a value as one atomic operation, like a change in place.
    ///
    /// **The change may run more than once** on a store that detects conflicts; see
    /// ``KeyValueStorage/withExclusiveAccess(_:)``. On the stores of this library it runs once.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - change: Changes the value, which is the stored one, or the key's default when nothing is stored. If it
    ///     throws, nothing is stored. It may use the store itself. If it stores a value under the same key, that is
    ///     replaced by the changed value.
    /// - Returns: The result of the change.
    /// - Throws: Any error that the change throws, and the same errors as ``load(_:)-swift.method`` and
    ///   ``save(_:for:)-swift.method``. The stored value is unchanged then, so a value that can't be read as the key's
    ///   type is not replaced.
    @discardableResult
    public func update<Value, Result>(_ key: Key<Value>, _ change: (inout Value) throws -> Result) throws -> Result {
        let access = KeyAccess(key.storedName, in: suite)
        return try access.store.withExclusiveAccess {
            let read = access.store.storedValue(forKey: access.key)
            var value = try access.value(of: read, by: key.bridge, default: key.defaultValue) ?? key.defaultValue
            let result = try change(&value)
            try access.save(value, by: key.bridge, default: key.defaultValue, isReadable: true, unlessSameAs: read)
            return result
        }
    }

    /// Whether a value is stored under a key, or registered with the store; sources and the key's default don't count.
    public func exists(key: Keys) -> Bool { hasKey(key.storedName) }

    /// Removes the values of keys, in one transaction if the store has transactions, so that their defaults are read
    /// again.
    public func reset(_ keys: Keys...) { remove(keys.map(\.storedName)) }

    /// The values that were stored under a key, could not be read as its type, and were replaced.
    ///
    /// - Parameter key: The key.
    /// - Returns: At most three distinct values, newest first: the newest, whatever its size; the one before it and
    ///   the oldest, while these two have at most 4 MiB together. If only the oldest fits, it is kept.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/typeMismatch`` when something else is stored
    ///   under `"<key>.quarantine"`.
    public func quarantined<Value>(_ key: Key<Value>) throws(DefaultsError) -> [QuarantinedValue] {
        try KeyAccess(key.storedName, in: suite).quarantine(of: Value.self).values()
    }

    /// Stores the newest quarantined value again that can be read as the key's type now.
    ///
    /// One whose parts can't all be used counts, too, and is reported. It is stored as it was, and taken out of the
    /// quarantine. The value that it replaces is quarantined in its place, so calling it again exchanges the two. The
    /// exchange is one operation, also between processes on a ``FileDefaults``.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value that was stored again; nil when there is none in the quarantine.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/typeMismatch``
    ///   when something else is stored under `"<key>.quarantine"`, why the newest can't be read if none can, or one of
    ///   the store's. Nothing is changed then.
    @discardableResult
    public func restoreQuarantined<Value>(_ key: Key<Value>) throws(DefaultsError) -> QuarantinedValue? {
        try KeyAccess(key.storedName, in: suite).restoreQuarantined(by: key.bridge, default: key.defaultValue)
    }

    /// Removes the values that were stored under a key, could not be read as its type, and were replaced.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/typeMismatch``
    ///   when something else is stored under `"<key>.quarantine"`, or one of the store's.
    public func removeQuarantined<Value>(_ key: Key<Value>) throws(DefaultsError) {
        try KeyAccess(key.storedName, in: suite).quarantine(of: Value.self).removeAll()
    }

    private func value<Value>(for key: Key<Value>) -> Value {
        let store = suite
        TrackedKeys.access([key.storedName], in: store)
        // No optional of the generic type: see `fastPathValue(in:forKey:)`.
        let stored = store.storedValue(forKey: key.storedName)
        if let stored, !key.bridge.decodesData {
            do {
                let value = try key.bridge.decode(stored)
                DefaultsDiagnostics.noteReadable(key.storedName, ErrorContext(key.storedName, Value.self, in: store))
                return value
            } catch {
                // Described and reported below.
            }
        }
        return Self.value(of: stored, for: key, in: store)
    }

    private static func value<Value>(
        of stored: PropertyListValue?,
        for key: Key<Value>,
        in store: any DefaultsStore
    ) -> Value {
        do {
            return try decode(stored, for: key, in: store)
        } catch {
            DefaultsDiagnostics.report(.readFailed, error)
            return key.defaultValue
        }
    }

    /// The value of a key under which something is stored, or nothing.
    private static func decode<Value>(
        _ stored: PropertyListValue?,
        for key: Key<Value>,
        in store: any DefaultsStore
    ) throws(DefaultsError) -> Value {
        let access = KeyAccess(key.storedName, in: store)
        guard let stored else {
            try access.checkAbsence(type: Value.self)
            return key.defaultValue
        }
        return try access.decode(stored, by: key.bridge, default: key.defaultValue)
    }

    private func set<Value>(_ value: Value, for key: Key<Value>) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in try save(value, for: key) }
    }
}

extension DefaultsStore {
    /// The value of a typed key in this store.
    ///
    /// ```swift
    /// store[.launchCount] += 1
    /// ```
    ///
    /// It works as on ``Defaults``: reading returns the key's default when nothing is stored or the stored value can't
    /// be read, assigning a value that can't be stored changes nothing, and both report errors to
    /// ``DefaultsDiagnostics``. A change in place is one operation across threads and, on a ``FileDefaults``,
    /// processes. For calls that throw, make a ``Defaults``.
    ///
    /// - Parameter key: The key.
    public subscript<Value>(key: Defaults.Key<Value>) -> Value {
        get { Defaults(suite: self)[key] }
        nonmutating set { Defaults(suite: self)[key] = newValue }
        // Not by way of `Defaults`; see AccessInPlace.
        nonmutating _modify {
            var change = ChangeInPlace(forKey: key.storedName, in: self)
            defer { change.end() }
            var value = change.value(by: key.bridge, default: { key.defaultValue })
            yield &value
            change.commit(value, by: key.bridge, default: { key.defaultValue })
        }
    }
}

extension Defaults {
    /// A sequence of a key's value and its changes; see ``ValueUpdates``.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - initial: Whether the current value is delivered first; if not, the first one is that of the first change
    ///     after iteration has started.
    /// - Returns: The values.
    public func updates<Value>(_ key: Key<Value>, initial: Bool = true) -> ValueUpdates<Value> {
        // The current store is captured here, because another task may iterate the sequence.
        let store = suite
        return ValueUpdates(of: [key.storedName], in: store, deliversCurrent: initial) {
            let update = Self.makeUpdate(of: key, in: store, comparesValues: true)
            return { update($0[0]) }
        }
    }

    /// A sequence of the values of several keys, with a new element each time one of them changes; see
    /// ``ValueUpdates``.
    ///
    /// - Parameters:
    ///   - first: A key.
    ///   - second: Another one.
    ///   - others: More of them.
    ///   - initial: Whether the current values are delivered first.
    /// - Returns: Tuples of the values.
    public func updates<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>,
        initial: Bool = true
    ) -> ValueUpdates<(First, Second, repeat each Other)> {
        let store = suite
        let names = Self.names(first, second, repeat each others)
        return ValueUpdates(of: names, in: store, deliversCurrent: initial) {
            Self.makeUpdate(of: first, second, repeat each others, in: store)
        }
    }

    /// A sequence of the value of a key in the standard store and its changes; see ``ValueUpdates``.
    public static func updates<Value>(_ key: Key<Value>, initial: Bool = true) -> ValueUpdates<Value> {
        Defaults().updates(key, initial: initial)
    }

    /// A sequence of the values of several keys in the standard store, with a new element each time one of them
    /// changes; see ``ValueUpdates``.
    public static func updates<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>,
        initial: Bool = true
    ) -> ValueUpdates<(First, Second, repeat each Other)> {
        Defaults().updates(first, second, repeat each others, initial: initial)
    }

    /// A sequence of the changes of a key's value, each with the value before and after it; see ``ValueChanges``.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - limit: The number of changes that wait for a slow reader; when there are more, the newest are combined into
    ///     one.
    /// - Returns: The changes that happen after iteration has started.
    public func changes<Value>(_ key: Key<Value>, limit: Int = 100) -> ValueChanges<Value> {
        let store = suite
        return ValueChanges(of: [key.storedName], in: store, limit: limit) {
            let update = Self.makeUpdate(of: key, in: store, comparesValues: false)
            return { update($0[0]) }
        }
    }

    /// A sequence of the changes of several keys' values, each with all values before and after it; see
    /// ``ValueChanges``.
    ///
    /// - Parameters:
    ///   - first: A key.
    ///   - second: Another one.
    ///   - others: More of them.
    ///   - limit: The number of changes that wait for a slow reader; when there are more, the newest are combined into
    ///     one.
    /// - Returns: The changes that happen after iteration has started, as tuples of the values.
    public func changes<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>,
        limit: Int = 100
    ) -> ValueChanges<(First, Second, repeat each Other)> {
        let store = suite
        let names = Self.names(first, second, repeat each others)
        return ValueChanges(of: names, in: store, limit: limit) {
            Self.makeUpdate(of: first, second, repeat each others, in: store)
        }
    }

    /// A sequence of the changes of a key's value in the standard store; see ``ValueChanges``.
    public static func changes<Value>(_ key: Key<Value>, limit: Int = 100) -> ValueChanges<Value> {
        Defaults().changes(key, limit: limit)
    }

    /// A sequence of the changes of several keys' values in the standard store; see ``ValueChanges``.
    public static func changes<First, Second, each Other>(
        _ first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>,
        limit: Int = 100
    ) -> ValueChanges<(First, Second, repeat each Other)> {
        Defaults().changes(first, second, repeat each others, limit: limit)
    }
}

// What the sequences of keys have in common.
extension Defaults {
    /// Makes a function that turns what is stored under a key into its last readable value.
    private static func makeUpdate<Value>(
        of key: Key<Value>,
        in store: any DefaultsStore,
        comparesValues: Bool
    ) -> (PropertyListValue?) -> LastReadable<Value>.Update {
        let last = LastReadable<Value>(comparesValues: comparesValues)
        return { stored in
            last.update(stored: [stored]) {
                Reading(or: key.defaultValue) { () throws(DefaultsError) in try decode(stored, for: key, in: store) }
            }
        }
    }

    /// Makes a function that turns what is stored under several keys into the last readable value of each.
    private static func makeUpdate<First, Second, each Other>(
        of first: Key<First>,
        _ second: Key<Second>,
        _ others: repeat Key<each Other>,
        in store: any DefaultsStore
    ) -> ([PropertyListValue?]) -> LastReadable<(First, Second, repeat each Other)>.Update {
        let first = makeUpdate(of: first, in: store, comparesValues: false)
        let second = makeUpdate(of: second, in: store, comparesValues: false)
        let others = (repeat makeUpdate(of: each others, in: store, comparesValues: false))
        return { stored in
            var stored = stored.makeIterator()
            var isNew = false
            func next<Value>(_ update: (PropertyListValue?) -> LastReadable<Value>.Update) -> Value {
                let update = update(stored.next() ?? nil)
                isNew = isNew || update.isNew
                return update.value
            }
            let values = (next(first), next(second), repeat next(each others))
            return LastReadable.Update(value: values, isNew: isNew)
        }
    }

    private static func names<each Other>(_ first: Keys, _ second: Keys, _ others: repeat Key<each Other>) -> [String] {
        var keys = [first.storedName, second.storedName]
        for name in repeat (each others).storedName {
            keys.append(name)
        }
        return keys
    }
}
