// Declarations that can't be used; see Defaults+Misuse.swift.

extension UserDefaultsVocabulary {
    /// Matches settings in place of a property-list value.
    @available(*, unavailable, message: "Settings store themselves: try settings.save(to: store).")
    public func set<Settings: DefaultStorable>(_ value: Settings, forKey key: String) throws(DefaultsError) {
        fatalError("Settings store themselves.")
    }
}

extension DefaultStorable {
    /// Matches the removal of settings in the words of typed keys.
    @available(*, unavailable, renamed: "clear(in:forKey:)")
    public static func reset(in store: (any DefaultsStore)? = nil, forKey key: String? = nil) {
        fatalError("Use clear(in:forKey:).")
    }
}
