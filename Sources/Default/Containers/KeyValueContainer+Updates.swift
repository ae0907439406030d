extension KeyValueContainer {
    /// A sequence of the value and its changes; see ``ValueUpdates``.
    public var updates: ValueUpdates<Value?> {
        let access = storage.keyAccess(forKey: key)
        return ValueUpdates(
            of: [key],
            in: storage,
            stored: { access.map { [$0.store.storedValue(forKey: $0.key)] } },
            read: { self.storedValue ?? self.defaultValue }
        )
    }
}
