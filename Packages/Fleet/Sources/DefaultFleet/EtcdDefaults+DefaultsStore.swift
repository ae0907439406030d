public import Default
internal import Foundation
internal import Synchronization

extension EtcdDefaults: DefaultsStore {
    /// The value for a key: of a source above the cluster's values, of the host's copy, or of a fallback.
    ///
    /// Within exclusive access, what the thread has stored in it counts.
    ///
    /// - Parameter key: The key. An invalid key has no value.
    /// - Returns: The value; nil when there is none, and also before this host has reached the cluster for the first
    ///   time (see ``checkAvailability()``). Text of the cluster that is malformed is `Data`.
    public func storedValue(forKey key: String) -> PropertyListValue? {
        guard let sources else { return ownValue(forKey: key) }
        return sources.value(forKey: key, own: { ownValue(forKey: key) })
    }

    /// The cluster's value for a key, whatever the sources of this host say.
    public func ownValue(forKey key: String) -> PropertyListValue? {
        // Before the session is changed: a read of the replica may call a handler of events, which may use this store.
        let copied = replica.value(forKey: key)
        guard writeLock.isOwned, writing.session != nil else { return copied }
        return writing.session?.value(forKey: StoreKey(unchecked: key), copied: copied)
    }

    /// Stores a value under a key in the cluster, or removes the stored value.
    ///
    /// Blocks until the replica has it too. Within exclusive access and transactions of this thread, the change is
    /// stored when those end.
    ///
    /// - Parameters:
    ///   - value: The value, about 1.5 MB of JSON at most; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue``, ``DefaultsError/Code/valueTooLarge``,
    ///   ``DefaultsError/Code/storeUnavailable``, ``DefaultsError/Code/storeBusy`` (another thread had exclusive access
    ///   until the deadline), ``DefaultsError/Code/storeReadOnly`` (no permission),
    ///   ``DefaultsError/Code/quotaExceeded``, ``DefaultsError/Code/storeReplaced`` or
    ///   ``DefaultsError/Code/mandatory``. Nothing has changed then, except that with
    ///   ``DefaultsError/Code/storeReplaced`` a cluster that has gone back to an earlier revision may have the value.
    ///   With the code ``DefaultsError/Code/outcomeUnknown`` the value may be stored, now or later.
    public func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        let storeKey = try Replica.key(key, in: storeDescription)
        try value?.checkDepth(forKey: key, in: self)
        try sources?.checkWritable(key, in: self)
        try withSession { _ = writing.session?.writes.updateValue(value, forKey: storeKey) }
    }

    /// The keys that have a stored value in the host's copy.
    ///
    /// Within exclusive access, they are not among what must not change until its end.
    public func storedKeys() -> [String] {
        guard writeLock.isOwned, let session = writing.session else {
            return replica.keys()
        }
        return session.keys(in: replica)
    }

    /// Waits until this host has everything that was committed before the call, by anyone.
    ///
    /// A majority of the cluster's members is asked. Blocks, at most until the deadline.
    ///
    /// A cluster that was emptied, set up again, or restored to an earlier revision than this host has is recognized
    /// by the call itself. One that was restored, and has come to a later revision since, is recognized by the host's
    /// follower when it connects again; until then, the call may return although the host has what the cluster lacks.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeReplaced``.
    public func flush() throws(DefaultsError) {
        try checkBlockingCall()
        try flush(until: Deadline(after: deadline))
    }

    /// Throws when this host has never reached the cluster, so that nothing is known of the suite.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``.
    public func checkAvailability() throws(DefaultsError) {
        guard replica.state == nil else { return }
        throw .unavailable(
            """
            This host has not reached the cluster yet, so its settings are not known. Check the endpoints; that a process of the host \
            has called run(), or is a fleet-agent; and that an operator has called initialize() once.
            """,
            store: storeDescription
        )
    }

    /// Makes changes that depend on what is stored: all of them, if nothing that the body has read was changed by
    /// others meanwhile.
    ///
    /// Otherwise **the body runs again**, with the new values. Other threads' writes through this object wait until the
    /// end. When the body throws, what it has changed before is stored.
    ///
    /// - Parameter body: Makes the changes.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws; ``DefaultsError`` as for ``setStoredValue(_:forKey:)``, and with the
    ///   code ``DefaultsError/Code/conflict`` when others were faster until the deadline, or
    ///   ``DefaultsError/Code/tooManyKeys``.
    public func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try withSession(body)
    }

    /// Makes several changes as one unit: they become visible together, on all hosts, or not at all.
    ///
    /// As ``withExclusiveAccess(_:)``, but when the body throws, nothing is stored. A nested transaction becomes part
    /// of the outer one: when only the inner body throws, only its changes are discarded.
    ///
    /// - Parameter body: Makes the changes. It may run more than once.
    /// - Returns: What the body returns.
    /// - Throws: As ``withExclusiveAccess(_:)``.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try withSession(rollsBack: true, body)
    }

    /// Begins a change in place; see ``endExclusiveAccess()``.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeBusy``. Exclusive access has not begun then.
    public func beginExclusiveAccess() throws(DefaultsError) {
        try beginSession()
    }

    /// Stores what the thread has changed since the matching ``beginExclusiveAccess()``, if nothing that it has read
    /// was changed.
    ///
    /// What lies in between can't run again. So a single conflict is an error; it is reported to
    /// ``DefaultsDiagnostics``, as any other one, and nothing is stored.
    public func endExclusiveAccess() {
        endSession()
    }

    /// Calls a handler at each change of the suite, made by any process of any host, and of the sources of this host.
    ///
    /// - Parameter handler: Receives the keys that changed, when this host has the new values. Its calls are on a
    ///   thread of their own, one after the other, so it may wait for a write.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        // Not on the follower's thread: what a handler waits for may have to come from there.
        let deliveries = DispatchQueue(label: "DefaultFleet.observer")
        let isCancelled = Flag()
        let deliver: StoreObservation.Handler = { keys in
            let keys = keys?.filter { $0 != Replica.stateKey }
            guard keys?.isEmpty != true else { return }
            deliveries.async {
                if !isCancelled.isSet {
                    handler(keys)
                }
            }
        }
        let ofCluster = replica.suite.observeChanges(deliver)
        let ofSources = sourceObservers.add(deliver)
        let observation = StoreObservation {
            isCancelled.set()
            ofCluster.cancel()
            ofSources.cancel()
        }
        return sources?.watching(observation) ?? observation
    }
}

/// Those that observe a suite, for the changes of its sources.
final class SourceObservers: Sendable {
    private let handlers = Mutex<[UUID: StoreObservation.Handler]>([:])

    func add(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let id = UUID()
        handlers.withLock { $0[id] = handler }
        return StoreObservation { [weak self] in
            // Deallocated without the lock: it may keep the owner of another observation.
            _ = self?.handlers.withLock { $0.removeValue(forKey: id) }
        }
    }

    /// Hands a change to all; none is called on this thread.
    func notify(_ keys: Set<String>) {
        for handler in handlers.withLock({ Array($0.values) }) { handler(keys) }
    }
}
