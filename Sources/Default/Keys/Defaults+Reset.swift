extension Defaults.Keys {
    /// Removes the value of the key, so that its default is read again; errors are reported to ``DefaultsDiagnostics``.
    ///
    /// - Parameter store: The store; nil, the default, for the platform's standard one.
    public func reset(in store: (any DefaultsStore)? = nil) {
        (store.map(Defaults.init(suite:)) ?? Defaults()).reset(self)
    }
}
