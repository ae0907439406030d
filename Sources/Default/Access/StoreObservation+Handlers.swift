internal import DefaultJournal

extension StoreObservation {
    /// Calls a body at each change of some keys of a storage, and before that if the keys are known; calls never
    /// overlap.
    static func serial(
        of keys: Set<String>?,
        in storage: any KeyValueStorage,
        _ body: @escaping Handler
    ) -> StoreObservation {
        // A storage of another package may call its observers on several threads at once; a hub does not.
        let hub = ChangeHub()
        let calls = hub.add(body)
        let changes = of(keys, in: storage) { hub.notify($0) }
        if let keys {
            hub.notify(keys)
        }
        return StoreObservation {
            changes.cancel()
            calls.cancel()
        }
    }
}

extension StoreObservation {
    /// Starts an observation that lasts as long as an object, by which it isn't retained.
    ///
    /// What is observed keeps it, by its handler, which ends it when it finds that the object is gone. Nothing else
    /// looks at the object: a look retains it for a moment, and could be what deallocates it, on any thread.
    ///
    /// - Parameters:
    ///   - owner: The object.
    ///   - start: Starts the observation. It receives a function that calls a body with the object while it exists.
    /// - Returns: The observation.
    static func owned<Owner: AnyObject & Sendable>(
        by owner: Owner,
        start: (_ withOwner: @escaping @Sendable ((Owner) -> Void) -> Void) -> StoreObservation
    ) -> StoreObservation {
        let kept = Locked<StoreObservation?>(nil)
        let calls = start { [weak owner] body in
            if let owner {
                body(owner)
            } else {
                kept.exchange(nil)?.cancel()
            }
        }
        let observation = StoreObservation {
            calls.cancel()
            kept.exchange(nil)?.cancel()
        }
        // The object exists until here, so no handler has found it gone before.
        withExtendedLifetime(owner) {
            kept.withLock { $0 = observation }
        }
        return observation
    }
}
