internal import DefaultJournal

/// Detects when two different types use the same identifier in one store.
///
/// `Player.Settings` and `Editor.Settings` both have the identifier "Settings". In one store, each would overwrite the
/// other.
enum IdentifierRegistry {
    private struct Location: Hashable {
        let store: String
        let identifier: StoreKey
    }

    /// The full name of the first type seen at a location.
    private static let owners = Guarded<[Location: String]>([:])

    /// Records that a type's identifier was used in a store, and reports when another type uses it already.
    static func note<Settings: DefaultStorable>(_ type: Settings.Type, in store: any DefaultsStore) {
        let info = TypeInfo.of(type)
        // Each type is checked once, because the check costs more than reading settings.
        guard !info.pointee.isRegistered.load(ordering: .relaxed),
            !info.pointee.isRegistered.exchange(true, ordering: .relaxed)
        else {
            return
        }
        let location = Location(
            store: store.storeDescription,
            identifier: StoreKey(unchecked: type.defaultIdentifier)
        )
        let name = String(reflecting: type)
        let owner = owners.withLock { owners in
            let owner = owners[location]
            owners[location] = owner ?? name
            return owner
        }
        guard let owner else {
            return
        }
        let conflict = DefaultsError.identifierConflict(
            key: type.defaultIdentifier,
            type: type,
            other: owner,
            store: location.store
        )
        DefaultsDiagnostics.report(.init(kind: .identifierConflict, error: conflict))
    }
}
