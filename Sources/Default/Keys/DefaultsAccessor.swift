extension DefaultsStore {
    /// Stores and fetches `Codable` values in this store.
    ///
    /// ```swift
    /// store.df.store(["amp": 0.4], forKey: "volumes")
    /// let volumes = store.df.fetch(forKey: "volumes", type: [String: Double].self)
    /// ```
    public var df: DefaultsAccessor { DefaultsAccessor(suite: self) }
}

/// Stores and fetches `Codable` values under keys of a store, without a conformance to ``DefaultStorable``.
///
/// You get an accessor from ``DefaultsStore/df``. A value is stored as the encoder's `Data`, without a wrapper. Only a
/// single number, string, Boolean, date or nil is wrapped in a dictionary if the encoder rejects it, as a property-list
/// encoder does.
///
/// Typed keys and containers read what the default encoder stores, and the default decoder fetches what they store: all
/// but `Data`, which an encoder makes a string.
///
/// An accessor may be used from several threads if its store may.
public struct DefaultsAccessor {
    private let suite: any DefaultsStore

    init(suite: any DefaultsStore) { self.suite = suite }
}

@available(*, unavailable, message: "A store need not be Sendable: on Linux, UserDefaults isn't.")
extension DefaultsAccessor: Sendable {}

extension DefaultsAccessor {
    /// Stores a value; errors are reported to ``DefaultsDiagnostics`` and leave the stored value unchanged.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - encoder: The encoder; JSON by default.
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
    ///   - decoder: The decoder; JSON by default.
    /// - Returns: The value; nil when nothing is stored or the stored value can't be read. The latter is reported to
    ///   ``DefaultsDiagnostics``, once for each content and reason, and the stored value is left unchanged.
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
    ///   - encoder: The encoder; JSON by default.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/encodingFailed``,
    ///   ``DefaultsError/Code/invalidKey`` or one of the store's. The stored value is unchanged then.
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
    ///   - decoder: The decoder; JSON by default.
    /// - Returns: The value; nil when nothing is stored.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/undecodable``,
    ///   ``DefaultsError/Code/typeMismatch``, ``DefaultsError/Code/invalidKey``, or why the store can't be read. The
    ///   stored value is left unchanged.
    public func load<Value: Decodable>(
        forKey key: String,
        type: Value.Type,
        decoder: any DefaultsDecoder = DefaultsCoder.json
    ) throws(DefaultsError) -> Value? {
        try KeyAccess(key, in: suite).load(type, decoder: decoder)
    }
}
