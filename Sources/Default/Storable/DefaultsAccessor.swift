extension DefaultsStore {
    /// Stores and fetches `Codable` values in this store.
    ///
    /// ```swift
    /// UserDefaults.standard.df.store(volume, forKey: "volume")
    /// let volume = UserDefaults.standard.df.fetch(forKey: "volume", type: VolumeSetting.self)
    /// ```
    public var df: DefaultsAccessor { DefaultsAccessor(suite: self) }
}

/// Stores and fetches `Codable` values under keys of a store, without a conformance to ``DefaultStorable``.
///
/// You get one from ``DefaultsStore/df``. What is stored is the encoder's `Data` and nothing else; a lone number, string,
/// Boolean, date or nil that a property-list encoder does not take by itself is put into a dictionary of one entry.
///
/// An accessor is as safe to use from several threads as its store.
public struct DefaultsAccessor {
    private let suite: any DefaultsStore

    init(suite: any DefaultsStore) {
        self.suite = suite
    }
}

@available(*, unavailable, message: "A store need not be Sendable: UserDefaults is not off Apple's systems.")
extension DefaultsAccessor: Sendable {}

extension DefaultsAccessor {
    /// Stores a value; what goes wrong is reported to ``DefaultsDiagnostics`` and leaves what was stored as it was.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - encoder: What encodes it; JSON by default.
    public func store<Value: Encodable>(
        _ value: Value,
        forKey key: String,
        encoder: any DefaultsEncoder = DefaultsCoder.json
    ) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            try save(value, forKey: key, encoder: encoder)
        }
    }

    /// Fetches a value.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of the value.
    ///   - decoder: What decodes it; JSON by default.
    /// - Returns: The value; nil when nothing is stored or what is stored can't be read. The latter is reported to
    ///   ``DefaultsDiagnostics``, once per key and process, and what is stored is left as it is.
    public func fetch<Value: Decodable>(
        forKey key: String,
        type: Value.Type,
        decoder: any DefaultsDecoder = DefaultsCoder.json
    ) -> Value? {
        let stored = DefaultsDiagnostics.reporting(.readFailed) { () throws(DefaultsError) in
            try load(forKey: key, type: type, decoder: decoder)
        }
        return stored ?? nil
    }

    /// Stores a value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - encoder: What encodes it; JSON by default.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/encodingFailed``, ``DefaultsError/Code/invalidKey``
    ///   or one of the store's; what was stored is as it was then.
    public func save<Value: Encodable>(
        _ value: Value,
        forKey key: String,
        encoder: any DefaultsEncoder = DefaultsCoder.json
    ) throws(DefaultsError) {
        try KeyAccess(key, in: suite).save(value, encoder: encoder)
    }

    /// Fetches a value.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of the value.
    ///   - decoder: What decodes it; JSON by default.
    /// - Returns: The value, nil when nothing is stored.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/undecodable``, ``DefaultsError/Code/typeMismatch``
    ///   or ``DefaultsError/Code/invalidKey``; what is stored is left as it is.
    public func load<Value: Decodable>(
        forKey key: String,
        type: Value.Type,
        decoder: any DefaultsDecoder = DefaultsCoder.json
    ) throws(DefaultsError) -> Value? {
        try KeyAccess(key, in: suite).load(type, decoder: decoder)
    }
}
