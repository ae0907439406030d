// What typed keys and containers are made of: values that go through a bridge.
extension DefaultsStore {
    /// The value stored under a key.
    ///
    /// - Returns: The value, nil when nothing is stored.
    /// - Throws: `invalidKey`, `undecodable`, `typeMismatch`, or why the store can't be read.
    func load<Value>(forKey key: String, by bridge: ValueBridge<Value>) throws(DefaultsError) -> Value? {
        guard let stored = propertyListValue(forKey: key) else {
            try checkAbsence(forKey: key, type: Value.self)
            return nil
        }
        return try decode(stored, forKey: key, by: bridge)
    }

    /// Makes sure that nothing was found because nothing is there.
    ///
    /// - Throws: `invalidKey`, or why the store can't be read.
    func checkAbsence(forKey key: String, type: Any.Type) throws(DefaultsError) {
        _ = try StoreKey(key)
        do {
            try checkAvailability()
        } catch {
            throw .wrapping(error, key: key, type: type, store: storeDescription)
        }
    }

    /// Turns what was found under a key into a value.
    func decode<Value>(
        _ stored: PropertyListValue,
        forKey key: String,
        by bridge: ValueBridge<Value>
    ) throws(DefaultsError) -> Value {
        do {
            guard bridge.decodesData, case .data(let data) = stored else {
                return try bridge.decode(stored)
            }
            return try KnownContents.shared.content(for: Value.self, forKey: key).value(of: data) {
                try bridge.decode(stored)
            }
        } catch {
            if case .data(let data) = stored, !(error is UnexpectedValue) {
                throw .undecodable(error, byteCount: data.count, key: key, type: Value.self, store: storeDescription)
            }
            throw .typeMismatch(found: stored.object, key: key, type: Value.self, store: storeDescription)
        }
    }

    /// Stores a value, or removes what is there when that is how the value is stored.
    ///
    /// What is there and can't be read as a value of the same kind is quarantined first.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - bridge: How the value is stored.
    ///   - isReadable: Whether what is stored is known to be readable, or not to be there.
    /// - Throws: `invalidKey`, `encodingFailed`, `quarantineFailed`, or what the store throws; what was stored is
    ///   unchanged then.
    func save<Value>(
        _ value: Value,
        forKey key: String,
        by bridge: ValueBridge<Value>,
        isReadable: Bool = false
    ) throws(DefaultsError) {
        _ = try StoreKey(key)
        let encoded: PropertyListValue?
        do {
            encoded = try bridge.encode(value)
        } catch {
            throw .encodingFailed(error, key: key, type: Value.self, store: storeDescription)
        }
        var loss: DefaultsError?
        do {
            guard !isReadable else {
                try put(encoded, forKey: key)
                return tellOfChange(forKey: key)
            }
            try withExclusiveAccess {
                guard let stored = propertyListValue(forKey: key),
                    let unreadable = unreadability(of: stored, forKey: key, by: bridge)
                else {
                    return try put(encoded, forKey: key)
                }
                try transaction {
                    try quarantine(stored.object, forKey: key, type: Value.self)
                    try put(encoded, forKey: key)
                }
                loss = unreadable
            }
        } catch {
            throw .wrapping(error, key: key, type: Value.self, store: storeDescription)
        }
        tellOfChange(forKey: key)
        if let loss {
            reportQuarantine(because: loss, forKey: key, type: Value.self)
        }
    }

    /// Why what is stored can't be read, nil when it can be.
    private func unreadability<Value>(
        of stored: PropertyListValue,
        forKey key: String,
        by bridge: ValueBridge<Value>
    ) -> DefaultsError? {
        // Decoding costs as much as encoding: it is done once for each content.
        if bridge.decodesData, case .data(let data) = stored,
            KnownContents.shared.content(for: Value.self, forKey: key).isKnown(data)
        {
            return nil
        }
        do {
            _ = try decode(stored, forKey: key, by: bridge)
            return nil
        } catch {
            return error
        }
    }

    private func put(_ value: PropertyListValue?, forKey key: String) throws {
        if let value {
            try set(value, forKey: key)
        } else {
            try removeObject(forKey: key)
        }
    }
}
