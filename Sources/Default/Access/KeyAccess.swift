#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One key of a store; all front ends read and write through this type.
///
/// It is not an extension of ``DefaultsStore``, because members there, even internal ones, appear in the diagnostics of
/// programs that use `UserDefaults`.
struct KeyAccess {
    let store: any DefaultsStore
    let key: String

    init(_ key: String, in store: any DefaultsStore) {
        self.key = key
        self.store = store
    }

    /// What an error is about.
    func context(_ type: Any.Type?) -> ErrorContext { ErrorContext(key, type, in: store) }

    /// The quarantine for values of the key that can't be used as a type.
    func quarantine(of type: Any.Type) -> Quarantine {
        Quarantine(key: key, type: type, store: store)
    }

    /// Checks that a value was not found because there is none, and not because of an error.
    ///
    /// - Throws: `invalidKey`, or the reason why the store can't be read.
    func checkAbsence(type: Any.Type) throws(DefaultsError) {
        _ = try StoreKey(key)
        try DefaultsError.wrapping(context(type)) { try store.checkAvailability() }
    }

    /// The stored bytes; nil when nothing is stored.
    ///
    /// - Throws: `typeMismatch`, `invalidKey`, or the reason why the store can't be read.
    func storedBytes(type: Any.Type) throws(DefaultsError) -> Data? {
        switch store.storedValue(forKey: key) {
        case .data(let data):
            return data
        case nil:
            try checkAbsence(type: type)
            return nil
        case let value?:
            throw DefaultsError.typeMismatch(found: value, context(type)).about(value)
        }
    }

    /// The value that a write replaces, which no launch argument or registered default is.
    var ownValue: PropertyListValue? {
        // A cast to a class takes a tenth of the time of one to a protocol.
        if let suite = store as? FileDefaults {
            return suite.ownValue(forKey: key)
        }
        if let layered = store as? any LayeredStore {
            return layered.ownValue(forKey: key)
        }
        return store.storedValue(forKey: key)
    }

    /// Whether a launch argument hides the stored value.
    var isOverridden: Bool {
        (store as? FileDefaults)?.arguments.values[StoreKey(unchecked: key)] != nil
    }

    /// Stores a value; nil removes the stored one.
    ///
    /// - Throws: Errors of the store. The stored value is unchanged then.
    func replace(with value: PropertyListValue?, type: Any.Type?) throws(DefaultsError) {
        try DefaultsError.wrapping(context(type)) {
            try store.withExclusiveAccess { try store.setStoredValue(value, forKey: key) }
        }
        store.notifyChange(forKey: key)
    }

    /// Removes the values of several keys: all or none if the store has transactions.
    ///
    /// - Throws: `invalidKey`, or errors of the store.
    static func remove(
        _ keys: [String],
        from store: any DefaultsStore,
        type: Any.Type? = nil
    ) throws(DefaultsError) {
        try DefaultsError.wrapping(ErrorContext(keys.first, type, in: store)) {
            try store.transaction {
                // All keys are checked before any is removed, for stores without transactions.
                for key in keys {
                    _ = try StoreKey(key)
                }
                for key in keys {
                    try store.setStoredValue(nil, forKey: key)
                }
            }
        }
        for key in keys {
            store.notifyChange(forKey: key)
        }
    }
}

// Values that are encoded with a coder that the caller chooses: settings types and `df`.
extension KeyAccess {
    /// Encodes a value and stores the encoder's bytes.
    ///
    /// - Throws: `encodingFailed`, or errors of the store. The stored value is unchanged then.
    func save<Value: Encodable>(_ value: Value, encoder: any DefaultsEncoder) throws(DefaultsError) {
        try replace(with: .data(encode(value, encoder: encoder)), type: Value.self)
    }

    /// Encodes a value to store.
    ///
    /// - Throws: `encodingFailed`.
    func encode<Value: Encodable>(_ value: Value, encoder: any DefaultsEncoder) throws(DefaultsError) -> Data {
        do {
            return try encoder.encodeTopLevel(value)
        } catch {
            throw .encodingFailed(error, context(Value.self))
        }
    }

    /// Fetches the stored bytes and decodes them.
    ///
    /// With a built-in coder, a value that a key or a container stored in its own form is fetched, too.
    ///
    /// - Returns: The value; nil when nothing is stored.
    /// - Throws: `invalidKey`, `undecodable`, `typeMismatch`.
    func load<Value: Decodable>(_ type: Value.Type, decoder: any DefaultsDecoder) throws(DefaultsError) -> Value? {
        do {
            return try decodeBytes(type, decoder: decoder)
        } catch {
            guard (decoder as? DefaultsCoder)?.isBuiltIn == true, type != Data.self,
                let value = (type as? any Codable.Type).flatMap({ storedValue(of: $0) }) as? Value
            else { throw error }
            return value
        }
    }

    private func decodeBytes<Value: Decodable>(
        _ type: Value.Type,
        decoder: any DefaultsDecoder
    ) throws(DefaultsError) -> Value? {
        guard let data = try storedBytes(type: type) else { return nil }
        do {
            return try decoder.decodeTopLevel(type, from: data)
        } catch {
            throw DefaultsError.undecodable(error, byteCount: data.count, context(type)).about(.data(data))
        }
    }

    /// The stored value in the form of keys, or in another library's.
    private func storedValue<Value: Codable>(of type: Value.Type) -> Value? {
        let bridge = ValueBridge<Value>.stored()
        return store.storedValue(forKey: key).flatMap { stored in
            (try? decodeExactly(stored, by: bridge, sharing: false)) ?? decodeForeign(stored, by: bridge)
        }
    }
}

// Values in the forms of other libraries.
extension KeyAccess {
    /// A value that another library stored; nil when it can't be read completely.
    private func decodeForeign<Value>(_ stored: PropertyListValue, by bridge: ValueBridge<Value>) -> Value? {
        ForeignForm.translate(stored, by: bridge).flatMap { try? decodeExactly($0, by: bridge, sharing: false) }
    }

    /// Stores a value that another library stored in this library's own form.
    ///
    /// Nothing is stored when the value is in its own form, is in no known form, or can't be read completely.
    ///
    /// - Returns: Whether a value was converted.
    /// - Throws: `invalidKey`, or errors of the store.
    func convertForm<Value>(by bridge: ValueBridge<Value>) throws(DefaultsError) -> Bool {
        _ = try StoreKey(key)
        let isConverted = try DefaultsError.wrapping(context(Value.self)) {
            try store.withExclusiveAccess {
                guard let stored = ownValue, (try? decodeExactly(stored, by: bridge, sharing: false)) == nil,
                    let value = decodeForeign(stored, by: bridge)
                else { return false }
                try store.setStoredValue(bridge.encode(value), forKey: key)
                return true
            }
        }
        if isConverted {
            store.notifyChange(forKey: key)
        }
        return isConverted
    }
}
