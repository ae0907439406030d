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
