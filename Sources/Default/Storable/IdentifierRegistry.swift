internal import DefaultJournal

/// Notices when two different types are stored under one identifier in one store.
///
/// `Player.Settings` and `Editor.Settings` are both called "Settings"; in one store each would overwrite the other.
enum IdentifierRegistry {
    private struct Place: Hashable {
        let store: String
        let identifier: StoreKey
    }

    private struct State {
        /// The types looked at; each is looked at once, since the look costs more than reading settings does.
        var seen: Set<ObjectIdentifier> = []
        /// The full name of the first type seen in a place.
        var owners: [Place: String] = [:]
    }

    private static let state = Guarded(State())

    /// Notes that a type's identifier was used in a store, and reports when it belongs to another type already.
    static func note<Settings: DefaultStorable>(_ type: Settings.Type, in store: any DefaultsStore) {
        let isNew = state.withLock { $0.seen.insert(ObjectIdentifier(type)).inserted }
        guard isNew else {
            return
        }
        let place = Place(
            store: store.storeDescription,
            identifier: StoreKey(unchecked: type.defaultIdentifier)
        )
        let name = String(reflecting: type)
        let owner = state.withLock { state in
            let owner = state.owners[place]
            state.owners[place] = owner ?? name
            return owner
        }
        guard let owner else {
            if Swift.type(of: store) is AnyClass {
                // Never released, one object per settings type: were it freed, another suite's object could come to
                // lie at its address and pass for it where a description is made of the address.
                _ = Unmanaged.passRetained(store as AnyObject)
            }
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
