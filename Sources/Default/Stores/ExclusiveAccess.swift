internal import DefaultJournal

/// A recursive lock that notifies observers of what changed under it, once it is released.
///
/// Observers may use any store, so they are never called while a lock is held: two stores that mirror each other would wait
/// for each other.
final class ExclusiveAccess: @unchecked Sendable {
    // All state but the owner is used by the thread that holds the lock.
    private let lock = ThreadLock(isRecursive: true)
    private let owner = Guarded<UInt?>(nil)
    private var depth = 0
    private var changes = PendingChanges()

    /// The exclusive access of storages that have no identity to attach a lock to: a `UserDefaults` is recreated at each use
    /// of a suite, and a third party's store may be a value.
    static let ofProcess = ExclusiveAccess()

    /// Waits until no other thread has access; calls nest.
    func acquire() {
        lock.lock()
        depth += 1
        if depth == 1 {
            owner.withLock { $0 = Threads.current }
        }
    }

    /// Ends what ``acquire()`` began; the outermost call notifies observers.
    func release() {
        depth -= 1
        var changes = PendingChanges()
        if depth == 0 {
            swap(&changes, &self.changes)
            owner.withLock { $0 = nil }
        }
        lock.unlock()
        changes.notify()
    }

    /// Notifies a hub's observers of a change: when the calling thread's access ends, at once if it has none.
    func notify(_ hub: ChangeHub, _ keys: Set<String>) {
        if owner.withLock({ $0 }) == Threads.current {
            changes.add(keys, for: hub)
        } else {
            hub.notify(keys)
        }
    }

    /// Runs a body with access.
    func callAsFunction<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        acquire()
        defer { release() }
        return try body()
    }

    /// Runs a body with access whose changes are not reported when it throws, since its caller takes them back.
    func withRollback<Result>(_ body: () throws -> Result) throws -> Result {
        try self {
            let before = changes
            do {
                return try body()
            } catch {
                changes = before
                throw error
            }
        }
    }
}

/// What changed under a lock that is still held.
private struct PendingChanges {
    private var changes: [(hub: ChangeHub, keys: Set<String>)] = []

    mutating func add(_ keys: Set<String>, for hub: ChangeHub) {
        if let index = changes.firstIndex(where: { $0.hub === hub }) {
            changes[index].keys.formUnion(keys)
        } else {
            changes.append((hub, keys))
        }
    }

    func notify() {
        for (hub, keys) in changes {
            hub.notify(keys)
        }
    }
}
