#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
            else {
                throw error
            }
            return value
        }
    }

    private func decodeBytes<Value: Decodable>(
        _ type: Value.Type,
        decoder: any DefaultsDecoder
    ) throws(DefaultsError) -> Value? {
        guard let data = try storedBytes(type: type) else {
            return nil
        }
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
            (try? decodeExactly(stored, by: bridge, sharing: false))
                ?? ForeignForm.translate(stored, by: bridge)
                .flatMap { try? decodeExactly($0, by: bridge, sharing: false) }
        }
    }
}
