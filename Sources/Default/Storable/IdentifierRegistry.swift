internal import DefaultJournal

/// Detects when two different types use the same identifier in one store.
///
/// `Player.Settings` and `Editor.Settings` both have the identifier "Settings". In one store, each would overwrite the
/// other.
enum IdentifierRegistry {
    /// The types that were seen first, by store and identifier.
    private static let owners = Guarded<[(location: StoreKey, type: any DefaultStorable.Type)]>([])

    /// Records that a type's identifier was used in a store, and reports when another type uses it already.
    static func note(_ type: any DefaultStorable.Type, in store: any DefaultsStore) {
        let info = TypeInfo.of(type)
        // Each type is checked once, because the check costs more than reading settings.
        guard !info.pointee.isRegistered.load(), !info.pointee.isRegistered.exchange(true) else { return }
        let (identifier, store) = (type.defaultIdentifier, store.storeDescription)
        let location = StoreKey(unchecked: "\(store)\0\(identifier)")
        let owner = owners.withLock { owners in
            let owner = owners.first { $0.location == location }?.type
            if owner == nil {
                owners.append((location, type))
            }
            return owner
        }
        if let owner {
            let context = ErrorContext(key: identifier, type: type, store: store)
            let conflict = DefaultsError.identifierConflict(with: owner, context)
            DefaultsDiagnostics.report(.init(kind: .identifierConflict, error: conflict))
        }
    }
}
