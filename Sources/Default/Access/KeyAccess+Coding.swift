internal import Foundation

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
            throw .encodingFailed(error, key: key, type: Value.self, store: store.storeDescription)
        }
    }

    /// Fetches the stored bytes and decodes them.
    ///
    /// - Returns: The value; nil when nothing is stored.
    /// - Throws: `invalidKey`, `undecodable`, `typeMismatch`.
    func load<Value: Decodable>(_ type: Value.Type, decoder: any DefaultsDecoder) throws(DefaultsError) -> Value? {
        guard let data = try storedBytes(type: type) else {
            return nil
        }
        do {
            return try decoder.decodeTopLevel(type, from: data)
        } catch {
            throw .undecodable(error, byteCount: data.count, key: key, type: type, store: store.storeDescription)
        }
    }
}
