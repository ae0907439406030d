internal import Foundation

/// Where values of a key go that could not be used, before something takes their place: an array of dictionaries under a
/// companion key, newest first.
///
/// It knows nothing of types but their names, so settings types and typed keys use it alike.
struct Quarantine {
    /// The key that the values were stored under.
    let key: String
    /// The type that they can't be used as.
    let type: Any.Type
    let store: any DefaultsStore

    /// How many values are kept for a key.
    static let capacity = 3
    /// How many bytes older values may have together to be kept beside the newest one.
    static let byteLimit = 4 << 20

    private var place: String { CompanionKey.quarantine(of: key) }

    /// Adds a value that is about to be replaced; does nothing for one that is there already.
    ///
    /// Called in the transaction that replaces the value, before it does. When this throws, the value must not be
    /// replaced.
    ///
    /// - Parameter value: What is stored.
    /// - Throws: ``DefaultsError/Code/quarantineFailed``.
    func add(_ value: PropertyListValue) throws(DefaultsError) {
        do {
            let present = try values()
            guard !present.contains(where: { $0.value == value }) else {
                return
            }
            let new = QuarantinedValue(date: Date(), typeName: "\(type)", value: value)
            var room = Self.byteLimit
            let older = present.prefix(Self.capacity - 1).prefix { older in
                room -= older.value.binaryForm.count
                return room >= 0
            }
            try store.setStoredValue(.array(([new] + older).map(\.entry)), forKey: place)
        } catch {
            throw .quarantineFailed(error, key: key, type: type, store: store.storeDescription)
        }
    }

    /// The values, newest first.
    ///
    /// - Throws: ``DefaultsError/Code/typeMismatch`` when something else is stored in their place.
    func values() throws(DefaultsError) -> [QuarantinedValue] {
        guard let stored = store.storedValue(forKey: place) else {
            return []
        }
        guard case .array(let entries) = stored, case let values = entries.compactMap({ QuarantinedValue($0) }),
            values.count == entries.count
        else {
            let store = store.storeDescription
            throw .companionKeyOccupied(key: place, purpose: "quarantined values", type: type, store: store)
        }
        return values
    }

    /// Removes the values.
    ///
    /// - Throws: ``DefaultsError/Code/typeMismatch`` when something else is stored in their place, `invalidKey`, or what the
    ///   store throws.
    func removeAll() throws(DefaultsError) {
        _ = try StoreKey(key)
        do {
            try store.withExclusiveAccess {
                if try !values().isEmpty {
                    try store.setStoredValue(nil, forKey: place)
                }
            }
        } catch {
            throw .wrapping(error, key: key, type: type, store: store.storeDescription)
        }
    }

    /// Reports a value that was added, once something has taken its place.
    func report(because loss: DefaultsError) {
        let store = store.storeDescription
        let error = DefaultsError.quarantined(loss, under: place, key: key, type: type, store: store)
        DefaultsDiagnostics.report(.init(kind: .quarantined, error: error))
    }
}
