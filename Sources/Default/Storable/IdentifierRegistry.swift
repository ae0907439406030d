internal import DefaultJournal
internal import Synchronization

/// Notices when two different types are stored under one identifier in one store.
///
/// `Player.Settings` and `Editor.Settings` are both called "Settings"; in one store each would overwrite the other.
enum IdentifierRegistry {
    private struct Place: Hashable {
        let store: String
        let identifier: StoreKey
    }

    /// The full name of the first type seen in a place.
    private static let owners = Guarded<[Place: String]>([:])

    /// Notes that a type's identifier was used in a store, and reports when it belongs to another type already.
    static func note<Settings: DefaultStorable>(_ type: Settings.Type, in store: any DefaultsStore) {
        let info = TypeInfo.of(type)
        // Each type is looked at once, since the look costs more than reading settings does.
        guard !info.isRegistered.load(ordering: .relaxed),
            !info.isRegistered.exchange(true, ordering: .relaxed)
        else {
            return
        }
        let place = Place(
            store: store.storeDescription,
            identifier: StoreKey(unchecked: type.defaultIdentifier)
        )
        let name = String(reflecting: type)
        let owner = owners.withLock { owners in
            let owner = owners[place]
            owners[place] = owner ?? name
            return owner
        }
        guard let owner else {
            return
        }
        let conflict = DefaultsError.identifierConflict(
            key: type.defaultIdentifier,
            type: type,
            other: owner,
            store: place.store
        )
        DefaultsDiagnostics.report(.init(kind: .identifierConflict, error: conflict))
    }
}
