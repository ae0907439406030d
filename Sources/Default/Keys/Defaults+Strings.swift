extension Defaults {
    /// What is stored under a plain string, in whatever type it is asked for.
    ///
    /// - Parameter key: The key.
    public subscript(key: String) -> Proxy {
        Proxy(suite: suite, key: key)
    }

    /// What is stored under a plain string.
    ///
    /// Assigning stores a property-list value: `String`, `Bool`, numbers, `Data`, `Date`, and arrays and string-keyed
    /// dictionaries of those; other ``PropertyListConvertible`` values, such as `URL`, as they say. Nil removes what is there. Anything
    /// else is reported to ``DefaultsDiagnostics``; it stores nothing and keeps what was there.
    ///
    /// - Parameter key: The key.
    @_disfavoredOverload
    public subscript(key: String) -> Any? {
        get { suite.storedValue(forKey: key)?.object }
        nonmutating set {
            let suite = suite
            DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
                try KeyAccess(key, in: suite).save(newValue)
            }
        }
    }

    /// Whether something is stored under a key, or registered with the store for it.
    ///
    /// - Parameter key: The key.
    /// - Returns: Whether there is something.
    public func hasKey(_ key: String) -> Bool {
        suite.storedValue(forKey: key) != nil
    }

    /// Removes what is stored under keys, as one transaction where the store has those.
    ///
    /// What goes wrong is reported to ``DefaultsDiagnostics``.
    ///
    /// - Parameter keys: The keys.
    public func remove(_ keys: String...) {
        remove(keys)
    }

    /// Removes everything that is stored, as one transaction where the store has those.
    ///
    /// What goes wrong is reported to ``DefaultsDiagnostics``. Registered defaults stay.
    public func removeAll() {
        // Under exclusive access, so that nothing is stored between the listing and the removal.
        let suite = suite
        DefaultsDiagnostics.reporting(.removalFailed) { () throws(DefaultsError) in
            do {
                try suite.transaction { try KeyAccess.remove(suite.storedKeys(), from: suite) }
            } catch {
                throw .wrapping(error, key: nil, type: nil, store: suite.storeDescription)
            }
        }
    }

    /// The names of the keys under which something is stored, sorted.
    ///
    /// On a `UserDefaults` they include the keys that only registered defaults and the system's domains supply.
    public var keys: [String] {
        suite.storedKeys().sorted()
    }

    func remove(_ keys: [String]) {
        let suite = suite
        DefaultsDiagnostics.reporting(.removalFailed) { () throws(DefaultsError) in
            try KeyAccess.remove(keys, from: suite)
        }
    }
}

extension KeyAccess {
    /// Stores what was assigned to a string key; nil removes.
    func save(_ object: Any?) throws(DefaultsError) {
        try replace(with: PropertyListValue(object, forKey: key, in: store), type: object.map { type(of: $0) })
    }
}
