/// Single values of a store, under typed keys or plain strings.
///
/// On the type itself the calls use the platform's standard store, on an instance any store:
///
/// ```swift
/// Defaults[.launchCount] += 1                                // the standard store
/// let defaults = Defaults(suite: MemoryDefaults())           // any other
/// defaults[.theme] = .dark
/// Defaults["color"] = "red"                                  // by a plain string
/// Defaults["color"].string
/// ```
///
/// Subscripts never throw. Reading gives the key's default when nothing is stored or what is there can't be read, and
/// leaves it there; assigning what can't be stored leaves what was there. Both report to ``DefaultsDiagnostics``. The twins
/// ``load(_:)-swift.method``, ``save(_:for:)-swift.method`` and ``update(_:_:)-swift.method`` throw a ``DefaultsError``.
///
/// **Changes in place are one operation:** `Defaults[.launchCount] += 1` or `Defaults[.libraries].append("Default")` read,
/// change and store under the store's exclusive access, so no increment is lost however many threads, and on a
/// ``FileDefaults`` however many processes, do so at once. Nothing may be passed `inout` to an `async` function this way:
/// exclusive access belongs to a thread.
///
/// **What can't be read is not destroyed:** when a value takes the place of something that can't be read as the key's type,
/// that is quarantined first, see ``quarantined(_:)-swift.method``.
///
/// An instance is as safe to use from several threads as its store.
public struct Defaults {
    /// The store, nil for the standard one.
    private let explicitStore: (any DefaultsStore)?

    /// Typed and string-keyed access to a store.
    ///
    /// - Parameter suite: The store.
    public init(suite: any DefaultsStore) {
        explicitStore = suite
    }

    /// Typed and string-keyed access to the platform's standard store: `UserDefaults.standard` on Apple's systems,
    /// ``FileDefaults/standard`` elsewhere.
    public init() {
        explicitStore = nil
    }

    /// The store that is used.
    public var suite: any DefaultsStore { explicitStore ?? StandardStore.current }
}

@available(*, unavailable, message: "A store need not be Sendable: UserDefaults is not off Apple's systems.")
extension Defaults: Sendable {}

extension Defaults {
    /// The value of a key.
    ///
    /// Reading gives the key's default when nothing is stored or what is there can't be read; assigning what can't be stored
    /// changes nothing. Both are reported. A change in place is one operation; see ``Defaults``.
    ///
    /// - Parameter key: The key.
    public subscript<Value>(key: Key<Value>) -> Value {
        get { value(for: key) }
        nonmutating set { set(newValue, for: key) }
        nonmutating _modify {
            var change = ValueChange(forKey: key.name, in: suite)
            defer { change.end() }
            var value = change.value(by: key.bridge, default: { key.defaultValue })
            yield &value
            change.commit(value, by: key.bridge)
        }
    }

    /// The value of a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value, the key's default when nothing is stored.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/undecodable``, ``DefaultsError/Code/typeMismatch``,
    ///   ``DefaultsError/Code/invalidKey`` or ``DefaultsError/Code/storeUnavailable``; what is stored is left as it is.
    public func load<Value>(_ key: Key<Value>) throws(DefaultsError) -> Value {
        try KeyAccess(key.name, in: suite).load(by: key.bridge) ?? key.defaultValue
    }

    /// Stores a value.
    ///
    /// - Parameters:
    ///   - value: The value; nil, for a key of an optional, removes what is there.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/encodingFailed``, ``DefaultsError/Code/invalidKey``
    ///   or one of the store's; what was stored is as it was then.
    public func save<Value>(_ value: Value, for key: Key<Value>) throws(DefaultsError) {
        try KeyAccess(key.name, in: suite).save(value, by: key.bridge)
    }

    /// Reads, changes and stores a value as one operation, as a change in place does.
    ///
    /// **The change may run more than once** on a store that detects conflicts; see
    /// ``KeyValueStorage/withExclusiveAccess(_:)``. On the stores of this library it runs once.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - change: Changes the value, which is the stored one, or the key's default when nothing is stored. When it
    ///     throws, nothing is stored. May use the store itself; what it stores under the same key is replaced by the value
    ///     it leaves.
    /// - Returns: What the change returns.
    /// - Throws: What the change throws, and ``DefaultsError`` with the codes of ``load(_:)-swift.method`` and ``save(_:for:)-swift.method``. What was
    ///   stored is as it was then, so what can't be read as the key's type is not replaced.
    @discardableResult
    public func update<Value, Result>(_ key: Key<Value>, _ change: (inout Value) throws -> Result) throws -> Result {
        let access = KeyAccess(key.name, in: suite)
        return try access.store.withExclusiveAccess {
            var value = try access.load(by: key.bridge) ?? key.defaultValue
            let result = try change(&value)
            try access.save(value, by: key.bridge, isReadable: true)
            return result
        }
    }

    /// Whether something is stored under a key; a key's default does not count, one registered with the store does.
    ///
    /// - Parameter key: The key.
    /// - Returns: Whether there is something, even if it can't be read as the key's type.
    public func exists(key: Keys) -> Bool {
        hasKey(key.name)
    }

    /// Removes what is stored under keys, as one transaction where the store has those, so that their defaults are read again.
    ///
    /// What goes wrong is reported.
    ///
    /// - Parameter keys: The keys.
    public func reset(_ keys: Keys...) {
        remove(keys.map(\.name))
    }

    /// The values that were stored under a key, could not be read as its type, and were replaced.
    ///
    /// - Parameter key: The key.
    /// - Returns: The values, each distinct one once, the newest first and at most three.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/typeMismatch`` when something else is stored in their place,
    ///   under `"<key>.quarantine"`.
    public func quarantined<Value>(_ key: Key<Value>) throws(DefaultsError) -> [QuarantinedValue] {
        try KeyAccess(key.name, in: suite).quarantine(of: Value.self).values()
    }

    /// Removes the values that were stored under a key, could not be read as its type, and were replaced.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/typeMismatch`` when
    ///   something else is stored in their place, or one of the store's.
    public func removeQuarantined<Value>(_ key: Key<Value>) throws(DefaultsError) {
        try KeyAccess(key.name, in: suite).quarantine(of: Value.self).removeAll()
    }

    private func value<Value>(for key: Key<Value>) -> Value {
        let access = KeyAccess(key.name, in: suite)
        do {
            // Not by way of an optional value; see `fastPathValue(in:forKey:)`.
            if let stored = access.store.storedValue(forKey: key.name) {
                return try access.decode(stored, by: key.bridge)
            }
            try access.checkAbsence(type: Value.self)
        } catch {
            DefaultsDiagnostics.report(.readFailed, error)
        }
        return key.defaultValue
    }

    private func set<Value>(_ value: Value, for key: Key<Value>) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in try save(value, for: key) }
    }
}
