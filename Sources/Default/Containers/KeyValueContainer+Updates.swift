extension KeyValueContainer {
    /// A sequence of the value and its changes; see ``ValueUpdates``.
    public var updates: ValueUpdates<Value?> {
        let storage = storage
        let key = key
        let defaultValue = defaultValue
        let access = storage.keyAccess(forKey: key)
        return ValueUpdates(
            of: [key],
            in: storage,
            stored: { access.map { [$0.store.storedValue(forKey: $0.key)] } },
            read: { storage.value(forKey: key) ?? defaultValue }
        )
    }
}
