extension Defaults {
    /// The value of a string key, which can be read as any type.
    public subscript(key: String) -> Proxy {
        Proxy(suite: suite, key: key)
    }

    /// The value of a string key.
    ///
    /// Assigning stores a property-list value: `String`, `Bool`, numbers, `Data`, `Date`, and arrays and string-keyed
    /// dictionaries of those; other ``PropertyListConvertible`` values, such as `URL`, are converted first. Nil removes the
    /// stored value. Anything else is reported to ``DefaultsDiagnostics`` and changes nothing.
    ///
    /// - Parameter key: The key.
    @_disfavoredOverload
    public subscript(key: String) -> Any? {
        get { self[key].object }
        nonmutating set {
            let suite = suite
            DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
                try KeyAccess(key, in: suite).save(newValue)
            }
        }
    }

    /// Whether a value is stored under a key, or registered for it.
    public func hasKey(_ key: String) -> Bool {
        self[key].exists
    }

    /// Removes the values of keys, in one transaction if the store has transactions.
    ///
    /// Errors are reported to ``DefaultsDiagnostics``.
    ///
    /// - Parameter keys: The keys.
    public func remove(_ keys: String...) {
        remove(keys)
    }

    /// Removes all values, in one transaction if the store has transactions.
    ///
    /// Errors are reported to ``DefaultsDiagnostics``. Registered defaults are kept.
    public func removeAll() {
        // In a transaction, so that nothing is stored between listing the keys and removing them.
        let suite = suite
        DefaultsDiagnostics.reporting(.removalFailed) { () throws(DefaultsError) in
            try DefaultsError.wrapping(ErrorContext(in: suite)) {
                try suite.transaction { try KeyAccess.remove(suite.storedKeys(), from: suite) }
            }
        }
    }

    /// The names of the keys that have a stored value, sorted.
    ///
    /// On a `UserDefaults` they include the keys in registered defaults and in the system's domains.
    public var keys: [String] {
        suite.storedKeys().inOrder()
    }

    func remove(_ keys: [String]) {
        let suite = suite
        DefaultsDiagnostics.reporting(.removalFailed) { () throws(DefaultsError) in
            try KeyAccess.remove(keys, from: suite)
        }
    }
}

extension KeyAccess {
    /// Stores an object that was assigned to a string key; nil removes the stored value.
    func save(_ object: Any?) throws(DefaultsError) {
        try replace(with: PropertyListValue(object, forKey: key, in: store), type: object.map { type(of: $0) })
    }
}

// The instance members, for the standard store.
extension Defaults {
    /// The value of a key in the standard store; see ``Defaults``.
    public static subscript<Value>(key: Key<Value>) -> Value {
        get { Defaults()[key] }
        set { Defaults()[key] = newValue }
        _modify { yield &Defaults()[key] }
    }

    /// The value of a string key in the standard store, which can be read as any type.
    public static subscript(key: String) -> Proxy {
        Defaults()[key]
    }

    /// The value of a string key in the standard store.
    @_disfavoredOverload
    public static subscript(key: String) -> Any? {
        get { Defaults()[key] }
        set { Defaults()[key] = newValue }
    }

    /// The value of a key in the standard store.
    public static func load<Value>(_ key: Key<Value>) throws(DefaultsError) -> Value {
        try Defaults().load(key)
    }

    /// Stores a value in the standard store.
    public static func save<Value>(_ value: Value, for key: Key<Value>) throws(DefaultsError) {
        try Defaults().save(value, for: key)
    }

    /// Reads, changes and stores a value of the standard store as one atomic operation.
    @discardableResult
    public static func update<Value, Result>(
        _ key: Key<Value>,
        _ change: (inout Value) throws -> Result
    ) throws -> Result {
        try Defaults().update(key, change)
    }

    /// The values that were stored under a key of the standard store, could not be read as its type, and were replaced.
    public static func quarantined<Value>(_ key: Key<Value>) throws(DefaultsError) -> [QuarantinedValue] {
        try Defaults().quarantined(key)
    }

    /// Stores the newest quarantined value of a key of the standard store again that can be read as the key's type now.
    @discardableResult
    public static func restoreQuarantined<Value>(_ key: Key<Value>) throws(DefaultsError) -> QuarantinedValue? {
        try Defaults().restoreQuarantined(key)
    }

    /// Removes the values that were stored under a key of the standard store, could not be read as its type, and were replaced.
    public static func removeQuarantined<Value>(_ key: Key<Value>) throws(DefaultsError) {
        try Defaults().removeQuarantined(key)
    }

    /// Whether a value is stored in the standard store under a key; the key's default does not count.
    public static func exists(key: Keys) -> Bool {
        Defaults().exists(key: key)
    }

    /// Whether a value is stored in the standard store under a key, or registered for it.
    public static func hasKey(_ key: String) -> Bool {
        Defaults().hasKey(key)
    }

    /// Removes the values of keys from the standard store, so that their defaults are read again.
    public static func reset(_ keys: Keys...) {
        Defaults().remove(keys.map(\.name))
    }

    /// Removes the values of keys from the standard store.
    public static func remove(_ keys: String...) {
        Defaults().remove(keys)
    }

    /// Removes all values from the standard store.
    public static func removeAll() {
        Defaults().removeAll()
    }

    /// The names of the keys that have a value in the standard store, sorted.
    public static var keys: [String] { Defaults().keys }
}

extension Defaults.Keys {
    /// Removes the value of the key, so that its default is read again; errors are reported to ``DefaultsDiagnostics``.
    ///
    /// - Parameter store: The store; nil, the default, for the platform's standard one.
    public func reset(in store: (any DefaultsStore)? = nil) {
        (store.map(Defaults.init(suite:)) ?? Defaults()).reset(self)
    }
}
