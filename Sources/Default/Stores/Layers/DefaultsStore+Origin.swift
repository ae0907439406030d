extension DefaultsStore {
    /// Where the value for a key comes from.
    ///
    /// ```swift
    /// let isFixed = suite.origin(forKey: "volume")?.kind == .mandatory
    /// ```
    ///
    /// - Parameter key: The key.
    /// - Returns: The origin of what ``storedValue(forKey:)`` returns; nil when there is no value.
    public func origin(forKey key: String) -> DefaultsOrigin? { origins(forKey: key).first }

    /// All that have a value for a key, the one whose value counts first.
    ///
    /// - Parameter key: The key.
    /// - Returns: The origins; the others are hidden by the first. Empty when there is no value.
    public func origins(forKey key: String) -> [DefaultsOrigin] {
        StoreOrigins.of(key, in: self)
    }
}

extension UserDefaultsVocabulary {
    /// Whether the value for a key is mandatory, so that it can't be changed.
    ///
    /// - Parameter key: The key.
    /// - Returns: True if a mandatory source has a value for the key.
    public func objectIsForced(forKey key: String) -> Bool { origin(forKey: key)?.kind == .mandatory }
}

/// A store with domains of its own in place of sources, as `UserDefaults` has them.
protocol DomainStore: DefaultsStore {
    /// All domains that have a value for a key, the one whose value counts first.
    func domainOrigins(forKey key: String) -> [DefaultsOrigin]
    /// Whether a launch argument has a value for a key.
    func isHidden(_ key: String) -> Bool
    /// The values that the store itself has, also where another domain hides them; nil if it can't tell them from those
    /// of its other domains.
    func domainValues() -> [StoreKey: PropertyListValue]?
}

/// Finds out where values come from.
enum StoreOrigins {
    static func of(_ key: String, in store: some DefaultsStore) -> [DefaultsOrigin] {
        if let store = store as? any DomainStore { return store.domainOrigins(forKey: key) }
        let storeKey = StoreKey(unchecked: key)
        let snapshot = store.sources?.snapshot
        func having(_ layers: [SourceSnapshot.Layer]?) -> [DefaultsOrigin] {
            (layers ?? []).filter { $0.value(for: storeKey) != nil }.map(\.origin)
        }
        var origins = having(snapshot?.above)
        if store.ownValue(forKey: key) != nil { origins.append(.init(.stored, name: store.storeDescription)) }
        origins += having(snapshot?.below)
        if store.registeredValue(forKey: key) != nil { origins.append(.init(.registered, name: "registered")) }
        return origins
    }
}
