internal import DefaultJournal

/// A recursive lock that notifies observers of the changes made under it when it is released.
///
/// Observers may use any store, so they are never called while a lock is held. Otherwise two stores that mirror each
/// other would deadlock.
final class ExclusiveAccess: @unchecked Sendable {
    // Except for the owner, the state is only used by the thread that holds the lock.
    private let lock = ThreadLock(isRecursive: true)
    /// The thread that has access, or 0.
    private let owner = Atomic<UInt>(0)
    private var depth = 0
    private var changes = PendingChanges()
    /// The changes of sources, which no rollback takes back.
    private var sourceChanges = PendingChanges()

    /// The lock of storages that can't own one: programs create a new `UserDefaults` object at each use of a suite, and
    /// a third-party store may be a struct.
    static var ofProcess: ExclusiveAccess { shared.current }

    private static let shared = PerProcess { ExclusiveAccess() }

    /// Waits until no other thread has access; calls nest.
    func acquire() {
        lock.lock()
        depth += 1
        if depth == 1 {
            owner.store(Threads.current)
        }
    }

    /// Ends the access that ``acquire()`` began; the outermost call notifies observers.
    func release() {
        // A child made with `fork` that returns from the access of its parent has none to end.
        guard owner.load() == Threads.current else { return }
        depth -= 1
        var changes = PendingChanges()
        if depth == 0 {
            // Taken out before the lock is released: the next thread begins without changes.
            swap(&changes, &sourceChanges)
            changes.add(self.changes)
            self.changes = PendingChanges()
            owner.store(0)
        }
        lock.unlock()
        // Without the lock, since observers may wait for another thread that needs it.
        changes.notify()
    }

    /// Notifies a hub's observers of a change: immediately, or at the end of the calling thread's access if it has any.
    ///
    /// - Parameters:
    ///   - hub: The hub.
    ///   - keys: The keys that changed.
    ///   - isOfSource: Whether a source has changed, and not what is stored; false by default.
    func notify(_ hub: ChangeHub, _ keys: Set<String>, isOfSource: Bool = false) {
        if owner.load() != Threads.current {
            hub.notify(keys)
        } else if isOfSource {
            sourceChanges.add(keys, for: hub)
        } else {
            changes.add(keys, for: hub)
        }
    }

    /// Runs a body with access.
    func callAsFunction<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        acquire()
        defer { release() }
        return try body()
    }

    /// Runs a body with access; when it throws, its changes are not reported, because the body rolls them back.
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

/// The changes under a lock that is still held.
private struct PendingChanges {
    private struct Change {
        let hub: ChangeHub
        var keys: Set<String>
    }

    private var changes: [Change] = []

    mutating func add(_ keys: Set<String>, for hub: ChangeHub) {
        if let index = changes.firstIndex(where: { $0.hub === hub }) {
            changes[index].keys.formUnion(keys)
        } else {
            changes.append(Change(hub: hub, keys: keys))
        }
    }

    mutating func add(_ others: PendingChanges) {
        for change in others.changes { add(change.keys, for: change.hub) }
    }

    func notify() {
        for change in changes {
            change.hub.notify(change.keys)
        }
    }
}
