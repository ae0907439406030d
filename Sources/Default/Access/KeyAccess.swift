internal import Foundation

/// One key of a store, as all front ends read and write it.
///
/// A type of its own rather than an extension of ``DefaultsStore``: members there, even internal ones, show up in the
/// diagnostics of programs that use `UserDefaults`.
struct KeyAccess {
    let store: any DefaultsStore
    let key: String

    init(_ key: String, in store: any DefaultsStore) {
        self.key = key
        self.store = store
    }

    /// What is stored and can't be used as a type, when something has to take its place.
    func quarantine(of type: Any.Type) -> Quarantine {
        Quarantine(key: key, type: type, store: store)
    }

    /// Makes sure that nothing was found because nothing is there.
    ///
    /// - Throws: `invalidKey`, or why the store can't be read.
    func checkAbsence(type: Any.Type) throws(DefaultsError) {
        _ = try StoreKey(key)
        do {
            try store.checkAvailability()
        } catch {
            throw .wrapping(error, key: key, type: type, store: store.storeDescription)
        }
    }

    /// The bytes that are stored, nil when nothing is.
    ///
    /// - Throws: `typeMismatch`, `invalidKey`, or why the store can't be read.
    func storedBytes(type: Any.Type) throws(DefaultsError) -> Data? {
        switch store.storedValue(forKey: key) {
        case .data(let data):
            return data
        case nil:
            try checkAbsence(type: type)
            return nil
        case let value?:
            throw .typeMismatch(found: value, key: key, type: type, store: store.storeDescription)
        }
    }

    /// Stores a value, nil to remove what is there.
    ///
    /// - Throws: What the store throws; what was stored is unchanged then.
    func replace(with value: PropertyListValue?, type: Any.Type?) throws(DefaultsError) {
        do {
            try store.withExclusiveAccess { try store.setStoredValue(value, forKey: key) }
        } catch {
            throw .wrapping(error, key: key, type: type, store: store.storeDescription)
        }
        store.notifyChange(forKey: key)
    }

    /// Removes what is stored under several keys, all of it or nothing where the store has transactions.
    ///
    /// - Throws: `invalidKey`, or what the store throws.
    static func remove(
        _ keys: [String],
        from store: any DefaultsStore,
        type: Any.Type? = nil
    ) throws(DefaultsError) {
        do {
            try store.transaction {
                // Checked before any is removed, for stores without transactions.
                for key in keys {
                    _ = try StoreKey(key)
                }
                for key in keys {
                    try store.setStoredValue(nil, forKey: key)
                }
            }
        } catch {
            throw .wrapping(error, key: keys.first, type: type, store: store.storeDescription)
        }
        for key in keys {
            store.notifyChange(forKey: key)
        }
    }
}
