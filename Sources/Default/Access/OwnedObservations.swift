internal import DefaultJournal

extension StoreObservation {
    /// Calls a body once, and then at each change of some keys of a storage; calls never overlap.
    static func serial(
        of keys: Set<String>,
        in storage: any KeyValueStorage,
        _ body: @escaping @Sendable () -> Void
    ) -> StoreObservation {
        // A storage of another package may call its observers on several threads at once; a hub does not.
        let hub = ChangeHub()
        let calls = hub.add { _ in body() }
        let changes = of(keys, in: storage) { changed in
            if changed.map({ !$0.isDisjoint(with: keys) }) ?? true {
                hub.notify(changed)
            }
        }
        hub.notify(nil)
        return StoreObservation {
            changes.cancel()
            calls.cancel()
        }
    }
}

/// The observations that last as long as an object does.
///
/// Swift has no means to learn when an object of another class is deallocated. So each call looks whether it still exists, and
/// observations of objects that don't are removed when others are added.
enum OwnedObservations {
    private struct Owned: Sendable {
        weak var owner: (any AnyObject & Sendable)?
        let observation: StoreObservation
    }

    /// What is released when the lock is: its deinitializers may observe, or end observations.
    private struct Unowned {
        var observations: [StoreObservation] = []
        var others: [any AnyObject & Sendable] = []
    }

    private struct State {
        var owned: [Int: Owned] = [:]
        var latest = 0
        /// The number of observations at which those of deallocated objects are removed.
        var limit = 16

        mutating func removeUnowned() -> Unowned {
            var unowned = Unowned()
            for (id, entry) in owned {
                if let owner = entry.owner {
                    unowned.others.append(owner)
                } else {
                    unowned.observations.append(entry.observation)
                    owned[id] = nil
                }
            }
            limit = max(16, 2 * owned.count)
            return unowned
        }
    }

    private static let state = Guarded(State())

    /// The number of observations; for tests.
    static var count: Int { state.withLock { $0.owned.count } }

    /// Keeps an observation until an object is deallocated.
    ///
    /// - Parameters:
    ///   - owner: The object.
    ///   - start: Starts the observation. It receives a function that calls a body with the object while it exists.
    /// - Returns: The observation.
    static func observe<Owner: AnyObject & Sendable>(
        for owner: Owner,
        start: (_ withOwner: @escaping @Sendable ((Owner) -> Void) -> Void) -> StoreObservation
    ) -> StoreObservation {
        let id = state.withLock { state in
            state.latest += 1
            return state.latest
        }
        let calls = start { [weak owner] body in
            if let owner {
                body(owner)
            } else {
                remove(id)
            }
        }
        let observation = StoreObservation {
            calls.cancel()
            remove(id)
        }
        // The owner is used here, so it has not been deallocated before.
        let unowned = state.withLock { state in
            state.owned[id] = Owned(owner: owner, observation: observation)
            return state.owned.count < state.limit ? Unowned() : state.removeUnowned()
        }
        for observation in unowned.observations {
            observation.cancel()
        }
        return observation
    }

    private static func remove(_ id: Int) {
        let owned = state.withLock { $0.owned.removeValue(forKey: id) }
        owned?.observation.cancel()
    }
}
