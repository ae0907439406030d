extension KeyValueContainer {
    /// The value, and what becomes of it; see ``ValueUpdates``.
    public var updates: ValueUpdates<Value?> {
        let storage = storage
        let key = key
        let defaultValue = defaultValue
        let place = storage.place(ofKey: key)
        return ValueUpdates(
            of: [key],
            in: storage,
            stored: { place.map { [$0.store.storedValue(forKey: $0.key)] } },
            read: { storage.value(forKey: key) ?? defaultValue }
        )
    }
}
