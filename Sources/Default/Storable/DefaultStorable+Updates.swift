extension DefaultStorable {
    /// A sequence of the stored value and its changes; see ``ValueUpdates``.
    ///
    /// ```swift
    /// for await settings in VisualSettings.updates() {
    ///     print(settings?.themeName ?? "none")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    ///   - key: The key to observe; nil, the default, for the type's ``defaultIdentifier``.
    /// - Returns: The results of ``read(from:forKey:)``, the current one first.
    public static func updates(
        in store: (any DefaultsStore)? = nil,
        forKey key: String? = nil
    ) -> ValueUpdates<Self?> {
        // The current store is captured here, because another task may iterate the sequence.
        let store = store ?? ownStore
        return ValueUpdates(of: key.map { [$0] } ?? identifiers, in: store) { read(from: store, forKey: key) }
    }
}
