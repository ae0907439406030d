// Values that a bridge converts: typed keys and containers.
extension KeyAccess {
    /// The stored value.
    ///
    /// - Returns: The value; nil when nothing is stored.
    /// - Throws: `invalidKey`, `undecodable`, `typeMismatch`, or the reason why the store can't be read.
    func load<Value>(by bridge: ValueBridge<Value>) throws(DefaultsError) -> Value? {
        guard let stored = store.storedValue(forKey: key) else {
            try checkAbsence(type: Value.self)
            return nil
        }
        return try decode(stored, by: bridge)
    }

    /// Decodes a stored value.
    func decode<Value>(_ stored: PropertyListValue, by bridge: ValueBridge<Value>) throws(DefaultsError) -> Value {
        do {
            guard bridge.decodesData, case .data(let data) = stored else {
                return try bridge.decode(stored)
            }
            return try DecodedValueCache.shared.value(of: data, forKey: key) {
                try bridge.decode(stored)
            }
        } catch {
            if case .data(let data) = stored, !(error is UnexpectedValue) {
                throw .undecodable(
                    error,
                    byteCount: data.count,
                    key: key,
                    type: Value.self,
                    store: store.storeDescription
                )
            }
            throw .typeMismatch(found: stored, key: key, type: Value.self, store: store.storeDescription)
        }
    }

    /// Stores a value, or removes the stored value if the bridge encodes the new one as nil.
    ///
    /// A stored value that can't be read with the same bridge is quarantined first.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - bridge: How the value is stored.
    ///   - isReadable: Whether what was read under the key is known to be readable or absent.
    /// - Throws: `invalidKey`, `encodingFailed`, `quarantineFailed`, or errors of the store. The stored value is unchanged
    ///   then.
    func save<Value>(
        _ value: Value,
        by bridge: ValueBridge<Value>,
        isReadable: Bool = false
    ) throws(DefaultsError) {
        let encoded: PropertyListValue?
        do {
            encoded = try bridge.encode(value)
        } catch {
            throw .encodingFailed(error, key: key, type: Value.self, store: store.storeDescription)
        }
        var loss: DefaultsError?
        do {
            if isReadable, !isOverridden {
                try store.setStoredValue(encoded, forKey: key)
            } else {
                try store.withExclusiveAccess {
                    let replaced = ownValue
                    loss = replaced.flatMap { unreadability(of: $0, by: bridge) }
                    guard let replaced, loss != nil else {
                        return try store.setStoredValue(encoded, forKey: key)
                    }
                    try store.transaction {
                        try quarantine(of: Value.self).add(replaced)
                        try store.setStoredValue(encoded, forKey: key)
                    }
                }
            }
        } catch {
            throw .wrapping(error, key: key, type: Value.self, store: store.storeDescription)
        }
        store.notifyChange(forKey: key)
        if let loss {
            quarantine(of: Value.self).report(because: loss)
        }
    }

    /// The reason why the stored value can't be read; nil when it can.
    private func unreadability<Value>(
        of stored: PropertyListValue,
        by bridge: ValueBridge<Value>
    ) -> DefaultsError? {
        // Decoding costs as much as encoding, so the same bytes are decoded only once.
        if bridge.decodesData, case .data(let data) = stored,
            DecodedValueCache.shared.contains(data, of: Value.self, forKey: key)
        {
            return nil
        }
        do {
            _ = try decode(stored, by: bridge)
            return nil
        } catch {
            return error
        }
    }
}
