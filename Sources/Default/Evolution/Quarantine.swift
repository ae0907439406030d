internal import Foundation

// Where values go that could not be used, before something takes their place: an array of dictionaries under one sibling
// key, newest first. It knows nothing of types, so settings types and typed keys use it alike.
extension DefaultsStore {
    /// How many values are kept for a key.
    static var quarantineCapacity: Int { 3 }
    /// How many bytes older values may have together to be kept beside the newest one.
    static var quarantineRoom: Int { 4 << 20 }

    /// Keeps a value that is about to be replaced; one that is kept already is left as it is.
    ///
    /// Called in the transaction that replaces the value, before it does. When this throws, the value must not be
    /// replaced.
    ///
    /// - Parameters:
    ///   - object: What is stored.
    ///   - key: The key that it is stored under.
    ///   - type: The type that it can't be used as.
    /// - Throws: ``DefaultsError/Code/quarantineFailed``.
    func quarantine(_ object: Any, forKey key: String, type: Any.Type) throws(DefaultsError) {
        do {
            let value = try PropertyListValue(object)
            let kept = try quarantinedValues(forKey: key, type: type)
            guard !kept.contains(where: { $0.value == value }) else {
                return
            }
            let new = QuarantinedValue(date: Date(), typeName: "\(type)", value: value)
            var room = Self.quarantineRoom
            let older = kept.prefix(Self.quarantineCapacity - 1).prefix { older in
                room -= older.value.encoded.count
                return room >= 0
            }
            let entries = PropertyListValue.array(([new] + older).map(\.entry))
            try set(entries.object as Any?, forKey: SiblingKey.quarantine(of: key))
        } catch {
            throw .quarantineFailed(error, key: key, type: type, store: storeDescription)
        }
    }

    /// The values that are kept for a key, newest first.
    ///
    /// - Throws: ``DefaultsError/Code/typeMismatch`` when something else stands in their place.
    func quarantinedValues(forKey key: String, type: Any.Type) throws(DefaultsError) -> [QuarantinedValue] {
        let place = SiblingKey.quarantine(of: key)
        guard let object = object(forKey: place) else {
            return []
        }
        guard case .array(let entries)? = try? PropertyListValue(object) else {
            throw .siblingOccupied(key: place, purpose: "quarantined values", type: type, store: storeDescription)
        }
        let values = entries.compactMap { QuarantinedValue($0) }
        guard values.count == entries.count else {
            throw .siblingOccupied(key: place, purpose: "quarantined values", type: type, store: storeDescription)
        }
        return values
    }

    /// Removes the values that are kept for a key.
    ///
    /// - Throws: ``DefaultsError/Code/typeMismatch`` when something else stands in their place, `invalidKey`, or what the
    ///   store throws.
    func removeQuarantinedValues(forKey key: String, type: Any.Type) throws(DefaultsError) {
        _ = try StoreKey(key)
        do {
            try withExclusiveAccess {
                if try !quarantinedValues(forKey: key, type: type).isEmpty {
                    try removeObject(forKey: SiblingKey.quarantine(of: key))
                }
            }
        } catch {
            throw .wrapping(error, key: key, type: type, store: storeDescription)
        }
    }

    /// Tells of a value that was quarantined, once something has taken its place.
    func reportQuarantine(because loss: DefaultsError, forKey key: String, type: Any.Type) {
        let error = DefaultsError.quarantined(
            loss,
            under: SiblingKey.quarantine(of: key),
            key: key,
            type: type,
            store: storeDescription
        )
        DefaultsDiagnostics.report(.init(kind: .quarantined, error: error))
    }
}
