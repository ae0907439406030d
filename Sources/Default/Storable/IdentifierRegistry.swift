internal import DefaultJournal

/// Detects when two different types use the same identifier in one store.
///
/// `Player.Settings` and `Editor.Settings` both have the identifier "Settings". In one store, each would overwrite the
/// other.
enum IdentifierRegistry {
    /// The types that were seen, by their store's path or description and their identifier; the first one first.
    private static let types = PerProcess { Locked<[StoreKey: [StoreKey: [any DefaultStorable.Type]]]>([:]) }

    /// The number of stores that are remembered; when there is one more, all others are forgotten.
    private static let capacity = 4_096

    /// Records that a type's identifier was used in a store, and reports it once for each type when another type used
    /// it before.
    ///
    /// To be called where a type meets a stored value that it is not known to have read or written: this takes longer
    /// than to read settings again.
    static func note(_ type: any DefaultStorable.Type, in store: any DefaultsStore) {
        let identifier = type.defaultIdentifier
        // The path is there already, while a description is made at each call.
        let place = FileDefaults.of(store).flatMap { try? $0.suite.path() } ?? store.storeDescription
        let (storeKey, identifierKey) = (StoreKey(unchecked: place), StoreKey(unchecked: identifier))
        let owner: (any DefaultStorable.Type)? = types.withLock { types in
            let known = types[storeKey]?[identifierKey] ?? []
            if known.contains(where: { ObjectIdentifier($0) == ObjectIdentifier(type) }) { return nil }
            if types[storeKey] == nil, types.count >= capacity { types.removeAll() }
            types[storeKey, default: [:]][identifierKey, default: []].append(type)
            return known.first
        }
        if let owner {
            let context = ErrorContext(identifier, type, in: store)
            let conflict = DefaultsError.identifierConflict(with: owner, context)
            DefaultsDiagnostics.report(.init(kind: .identifierConflict, error: conflict))
        }
    }
}
