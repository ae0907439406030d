internal import DefaultJournal

/// The hubs of storages that can't own one: programs create a new `UserDefaults` object at each use of a suite, and a
/// third-party storage may be a struct.
enum SharedHubs {
    private static let hubs = PerProcess { Locked<[String: ChangeHub]>([:]) }
    private static let hasHubs = Atomic<Bool>(false)

    /// Calls a handler at each change that is reported under a name.
    static func observe(_ name: String, _ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        hubs.withLock { hubs in
            let hub = hubs[name] ?? ChangeHub()
            hubs[name] = hub
            hasHubs.store(true)
            // Under the lock, so that the end of another observation doesn't remove the hub as unused meanwhile.
            return hub.add(handler) { removeIfUnused(name) }
        }
    }

    /// The hub for a name, or nil; costs one atomic load while nothing at all is observed.
    static func hub(named name: @autoclosure () -> String) -> ChangeHub? {
        guard hasHubs.load() else { return nil }
        let name = name()
        return hubs.withLock { $0[name] }
    }

    private static func removeIfUnused(_ name: String) {
        hubs.withLock { hubs in
            if hubs[name]?.isActive == false {
                hubs[name] = nil
            }
            hasHubs.store(!hubs.isEmpty)
        }
    }
}
