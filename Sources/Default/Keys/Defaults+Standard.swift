// Everything that an instance can do, on the standard store.
extension Defaults {
    /// The value of a key in the standard store; see ``Defaults``.
    ///
    /// - Parameter key: The key.
    public static subscript<Value>(key: Key<Value>) -> Value {
        get { Defaults()[key] }
        set { Defaults()[key] = newValue }
        _modify { yield &Defaults()[key] }
    }

    /// What is stored in the standard store under a plain string, in whatever type it is asked for.
    ///
    /// - Parameter key: The key.
    public static subscript(key: String) -> Proxy {
        Defaults()[key]
    }

    /// What is stored in the standard store under a plain string; assigning what no property list can hold is reported and
    /// changes nothing.
    ///
    /// - Parameter key: The key.
    @_disfavoredOverload
    public static subscript(key: String) -> Any? {
        get { Defaults()[key] }
        set { Defaults()[key] = newValue }
    }

    /// The value of a key in the standard store.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value, the key's default when nothing is stored.
    /// - Throws: ``DefaultsError``, as on an instance.
    public static func load<Value>(_ key: Key<Value>) throws(DefaultsError) -> Value {
        try Defaults().load(key)
    }

    /// Stores a value in the standard store.
    ///
    /// - Parameters:
    ///   - value: The value; nil, for a key of an optional, removes what is there.
    ///   - key: The key.
    /// - Throws: ``DefaultsError``, as on an instance; what was stored is as it was then.
    public static func save<Value>(_ value: Value, for key: Key<Value>) throws(DefaultsError) {
        try Defaults().save(value, for: key)
    }

    /// Reads, changes and stores a value of the standard store as one operation.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - change: Changes the value. When it throws, nothing is stored.
    /// - Returns: What the change returns.
    /// - Throws: What the change throws, and ``DefaultsError`` as on an instance; what was stored is as it was then.
    @discardableResult
    public static func update<Value, Result>(
        _ key: Key<Value>,
        _ change: (inout Value) throws -> Result
    ) throws -> Result {
        try Defaults().update(key, change)
    }

    /// The values that were stored under a key of the standard store, could not be read as its type, and were replaced.
    ///
    /// - Parameter key: The key.
    /// - Returns: The values, each distinct one once, the newest first and at most three.
    /// - Throws: ``DefaultsError``, as on an instance.
    public static func quarantined<Value>(_ key: Key<Value>) throws(DefaultsError) -> [QuarantinedValue] {
        try Defaults().quarantined(key)
    }

    /// Removes the values that were stored under a key of the standard store, could not be read as its type, and were replaced.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``DefaultsError``, as on an instance.
    public static func removeQuarantined<Value>(_ key: Key<Value>) throws(DefaultsError) {
        try Defaults().removeQuarantined(key)
    }

    /// Whether something is stored in the standard store under a key; the key's default does not count.
    ///
    /// - Parameter key: The key.
    /// - Returns: Whether there is something, even if it can't be read as the key's type.
    public static func exists(key: Keys) -> Bool {
        Defaults().exists(key: key)
    }

    /// Whether something is stored in the standard store under a key, or registered with it.
    ///
    /// - Parameter key: The key.
    /// - Returns: Whether there is something.
    public static func hasKey(_ key: String) -> Bool {
        Defaults().hasKey(key)
    }

    /// Removes what is stored in the standard store under keys, so that their defaults are read again.
    ///
    /// - Parameter keys: The keys.
    public static func reset(_ keys: Keys...) {
        Defaults().remove(keys.map(\.name))
    }

    /// Removes what is stored in the standard store under keys.
    ///
    /// - Parameter keys: The keys.
    public static func remove(_ keys: String...) {
        Defaults().remove(keys)
    }

    /// Removes everything that is stored in the standard store.
    public static func removeAll() {
        Defaults().removeAll()
    }

    /// The names of the keys under which something is stored in the standard store, sorted.
    public static var keys: [String] { Defaults().keys }
}
