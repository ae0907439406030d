extension DefaultStorable {
    /// The stored value, and what becomes of it; see ``ValueUpdates``.
    ///
    /// ```swift
    /// for await settings in VisualSettings.updates() {
    ///     print(settings?.themeName ?? "none")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's own.
    ///   - key: The key to watch; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: What ``read(from:forKey:)`` gives: the current value first.
    public static func updates(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) -> ValueUpdates<Self?> {
        // The store of this moment: another task may iterate the sequence.
        let store = store ?? ownStore
        return ValueUpdates(of: key.map { [$0] } ?? identifiers, in: store) { read(from: store, forKey: key) }
    }
}
