internal import Foundation

// What every way to a stored value is made of: encode and store, fetch and decode, and both under exclusive access.
extension DefaultsStore {
    /// Encodes a value and stores the encoder's bytes.
    ///
    /// - Throws: `invalidKey`, `encodingFailed`, or what the store throws; what was stored is unchanged then.
    func save<Value: Encodable>(
        _ value: Value,
        forKey key: String,
        encoder: some DefaultsEncoder
    ) throws(DefaultsError) {
        let data = try encode(value, forKey: key, encoder: encoder)
        do {
            try withExclusiveAccess { try set(data, forKey: key) }
        } catch {
            throw .wrapping(error, key: key, type: Value.self, store: storeDescription)
        }
        tellOfChange(forKey: key)
    }

    /// Encodes a value that is to be stored.
    ///
    /// - Throws: `invalidKey`, `encodingFailed`.
    func encode<Value: Encodable>(
        _ value: Value,
        forKey key: String,
        encoder: some DefaultsEncoder
    ) throws(DefaultsError) -> Data {
        _ = try StoreKey(key)
        do {
            return try encoder.encodeTopLevel(value)
        } catch {
            throw .encodingFailed(error, key: key, type: Value.self, store: storeDescription)
        }
    }

    /// Fetches the bytes stored under a key and decodes them.
    ///
    /// - Returns: The value, nil when nothing is stored.
    /// - Throws: `invalidKey`, `undecodable`, `typeMismatch`.
    func load<Value: Decodable>(
        _ type: Value.Type,
        forKey key: String,
        decoder: some DefaultsDecoder
    ) throws(DefaultsError) -> Value? {
        _ = try StoreKey(key)
        guard let data = try storedBytes(forKey: key, type: type) else {
            return nil
        }
        do {
            return try decoder.decodeTopLevel(type, from: data)
        } catch {
            throw .undecodable(error, byteCount: data.count, key: key, type: type, store: storeDescription)
        }
    }

    /// Removes what is stored under several keys, all of it or nothing where the store has transactions.
    ///
    /// - Throws: `invalidKey`, or what the store throws.
    func remove(keys: [String], type: Any.Type? = nil) throws(DefaultsError) {
        for key in keys {
            _ = try StoreKey(key)
        }
        do {
            try transaction {
                for key in keys {
                    try removeObject(forKey: key)
                }
            }
        } catch {
            throw .wrapping(error, key: keys.first ?? "", type: type, store: storeDescription)
        }
        for key in keys {
            tellOfChange(forKey: key)
        }
    }

    /// The bytes stored under a key, nil when nothing is stored.
    ///
    /// - Throws: `typeMismatch`, or what tells that the store can't be read.
    func storedBytes(forKey key: String, type: Any.Type) throws(DefaultsError) -> Data? {
        if let data = data(forKey: key) {
            return data
        }
        switch object(forKey: key) {
        case nil:
            do {
                try checkAvailability()
            } catch {
                throw .wrapping(error, key: key, type: type, store: storeDescription)
            }
            return nil
        case let data as Data:
            // Another thread stored it between the two look-ups.
            return data
        case let object?:
            throw .typeMismatch(found: object, key: key, type: type, store: storeDescription)
        }
    }
}
