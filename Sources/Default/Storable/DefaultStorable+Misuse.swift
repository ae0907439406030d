// Declarations that can't be used; see Defaults+Misuse.swift.

extension DefaultStorable {
    /// Matches the removal of settings in the words of typed keys.
    @available(*, unavailable, renamed: "clear(in:forKey:)")
    public static func reset(in store: (any DefaultsStore)? = nil, forKey key: String? = nil) {
        fatalError("Use clear(in:forKey:).")
    }
}
