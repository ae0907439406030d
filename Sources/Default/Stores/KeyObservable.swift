/// A storage that may have to know which keys to watch.
///
/// Foundation on Apple platforms reports what another process changes for single keys only.
protocol KeyObservable: KeyValueStorage {
    /// Calls a handler at each change of some keys, and possibly of others.
    func observeChanges(of keys: Set<String>, _ handler: @escaping StoreObservation.Handler) -> StoreObservation
}

extension StoreObservation {
    /// Calls a handler at each change of some keys of a storage, or of all.
    ///
    /// It is not a method of the storage, because that would appear in the diagnostics of programs that use
    /// `UserDefaults`.
    static func of(
        _ keys: Set<String>?,
        in storage: any KeyValueStorage,
        _ handler: @escaping Handler
    ) -> StoreObservation {
        guard let keys else { return storage.observeChanges(handler) }
        let handler: Handler = { changed in
            if changed.map({ !$0.isDisjoint(with: keys) }) ?? true {
                handler(changed)
            }
        }
        return (storage as? any KeyObservable)?.observeChanges(of: keys, handler) ?? storage.observeChanges(handler)
    }
}
