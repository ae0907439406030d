internal import DefaultJournal

/// Detects when two different types use the same identifier in one store.
///
/// `Player.Settings` and `Editor.Settings` both have the identifier "Settings". In one store, each would overwrite the
/// other.
enum IdentifierRegistry {
    /// The types that were seen at a location, which is a store's path or description and an identifier; the first type
    /// first.
    private static let types = PerProcess { Locked<[StoreKey: [any DefaultStorable.Type]]>([:]) }

    /// The number of locations that are remembered; when there is one more, all others are forgotten.
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
        let location = StoreKey(unchecked: "\(place)\0\(identifier)")
        let owner: (any DefaultStorable.Type)? = types.withLock { types in
            let known = types[location] ?? []
            if known.contains(where: { ObjectIdentifier($0) == ObjectIdentifier(type) }) { return nil }
            if types.count >= capacity { types.removeAll() }
            types[location] = known + [type]
            return known.first
        }
        if let owner {
            let context = ErrorContext(identifier, type, in: store)
            let conflict = DefaultsError.identifierConflict(with: owner, context)
            DefaultsDiagnostics.report(.init(kind: .identifierConflict, error: conflict))
        }
    }
}
