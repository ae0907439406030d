// What typed keys and containers are made of: values that go through a bridge.
extension DefaultsStore {
    /// The value stored under a key.
    ///
    /// - Returns: The value, nil when nothing is stored.
    /// - Throws: `invalidKey`, `undecodable`, `typeMismatch`, or why the store can't be read.
    func load<Value>(forKey key: String, by bridge: ValueBridge<Value>) throws(DefaultsError) -> Value? {
        guard let stored = propertyListValue(forKey: key) else {
            _ = try StoreKey(key)
            do {
                try checkAvailability()
            } catch {
                throw .wrapping(error, key: key, type: Value.self, store: storeDescription)
            }
            return nil
        }
        return try decode(stored, forKey: key, by: bridge)
    }

    /// Turns what was found under a key into a value.
    func decode<Value>(
        _ stored: PropertyListValue,
        forKey key: String,
        by bridge: ValueBridge<Value>
    ) throws(DefaultsError) -> Value {
        do {
            return try bridge.decode(stored)
        } catch {
            if case .data(let data) = stored, !(error is UnexpectedValue) {
                throw .undecodable(error, byteCount: data.count, key: key, type: Value.self, store: storeDescription)
            }
            throw .typeMismatch(found: stored.object, key: key, type: Value.self, store: storeDescription)
        }
    }

    /// Stores a value, or removes what is there when that is how the value is stored.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - bridge: How the value is stored.
    ///   - unreadable: What is there and can't be read, to be kept under `"<key>.undecodable"`.
    /// - Throws: `invalidKey`, `encodingFailed`, or what the store throws; what was stored is unchanged then.
    func save<Value>(
        _ value: Value,
        forKey key: String,
        by bridge: ValueBridge<Value>,
        keepingAside unreadable: PropertyListValue? = nil
    ) throws(DefaultsError) {
        _ = try StoreKey(key)
        let encoded: PropertyListValue?
        do {
            encoded = try bridge.encode(value)
        } catch {
            throw .encodingFailed(error, key: key, type: Value.self, store: storeDescription)
        }
        do {
            if let unreadable {
                try transaction {
                    try set(unreadable, forKey: key + ".undecodable")
                    try put(encoded, forKey: key)
                }
            } else {
                try withExclusiveAccess { try put(encoded, forKey: key) }
            }
        } catch {
            throw .wrapping(error, key: key, type: Value.self, store: storeDescription)
        }
        tellOfChange(forKey: key)
    }

    private func put(_ value: PropertyListValue?, forKey key: String) throws {
        if let value {
            try set(value, forKey: key)
        } else {
            try removeObject(forKey: key)
        }
    }
}
