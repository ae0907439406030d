internal import Default
internal import Foundation

/// Observes a store, and records what it is notified of.
final class Listener: @unchecked Sendable {
    // What changes is reached under `condition` only.
    private let condition = NSCondition()
    private var notifications: [Notification] = []
    private var reactionCount = 0
    private var silentThread: ObjectIdentifier?
    private var observation: StoreObservation?

    private let trial: Trial
    private let store: HandedOver<any DefaultsStore>
    private let reaction: Reaction

    /// A call that the listener makes when it has recorded a notification.
    typealias Reaction = @Sendable (_ store: any DefaultsStore, _ keys: Set<String>?) throws -> Void

    /// The number of notifications to react to, more than any check brings about: a reaction that has no effect may
    /// cause the next.
    private static let maximumCount = 250

    private struct Notification {
        let keys: Set<String>?
        /// The stored values of the keys when the notification came.
        let values: [String: PropertyListValue]
    }

    /// Starts to listen.
    init(to store: any DefaultsStore, in trial: Trial, reaction: @escaping Reaction = { _, _ in }) {
        self.trial = trial
        self.store = HandedOver(value: store)
        self.reaction = reaction
        let observation = store.observeChanges { [weak self] keys in self?.hear(keys) }
        condition.withLock { self.observation = observation }
    }

    /// Stops to listen.
    func cancel() {
        let observation = condition.withLock { self.observation }
        observation?.cancel()
    }

    private func hear(_ keys: Set<String>?) {
        let values = (keys ?? []).compactMap { key in store.value.storedValue(forKey: key).map { (key, $0) } }
        let notification = Notification(keys: keys, values: Dictionary(values) { first, _ in first })
        let (comesInside, isEndless) = condition.withLock {
            notifications.append(notification)
            condition.broadcast()
            return (silentThread == ObjectIdentifier(Thread.current), notifications.count > Self.maximumCount)
        }
        if comesInside {
            trial.note("An observer was called by a thread that had exclusive access.")
        }
        if !isEndless {
            trial.noteErrors { try reaction(store.value, keys) }
        }
        condition.withLock {
            reactionCount += 1
            condition.broadcast()
        }
    }
}

extension Listener {
    /// Runs a body in which the calling thread must not be notified.
    func withSilence(_ body: () throws -> Void) rethrows {
        condition.withLock { silentThread = ObjectIdentifier(Thread.current) }
        defer { condition.withLock { silentThread = nil } }
        try body()
    }

    /// Notes a finding unless a change is notified once, at a time when its value can be read.
    func expect(_ value: PropertyListValue?, forKey key: String, after change: String, _ body: () throws -> Void) throws
    {
        condition.withLock { notifications = [] }
        try body()
        expectNotification(ofKey: key, after: change)
        try awaitLaterChange()
        // Without keys a notification says that something may have changed. That may come more than once.
        let named = condition.withLock { notifications.filter { $0.keys?.contains(key) == true } }
        trial.expect(
            named.count <= 1,
            "An observer was called \(named.count) times, not once, with \(Trial.describe(key: key)) after \(change)."
        )
        for notification in named {
            trial.expect(
                notification.values[key],
                is: value,
                from: "storedValue(forKey: \(Trial.describe(key: key))) in an observer called after \(change)"
            )
        }
    }

    /// Notes a finding unless a change of a key is notified, now or soon.
    func expectNotification(ofKey key: String, after change: String) {
        trial.expect(
            wait { notifications.contains { $0.keys?.contains(key) ?? true } },
            "An observer was not called with \(Trial.describe(key: key)) after \(change)."
        )
    }

    /// Notes a finding unless what reactions bring about becomes true, now or after more notifications.
    func expectReaction(after change: String, isComplete: () throws -> Bool) throws {
        var count = condition.withLock { reactionCount }
        while try !isComplete() {
            guard wait(until: { reactionCount > count }) else {
                return trial.note("What an observer does when it is called had not been done after \(change).")
            }
            count = condition.withLock { reactionCount }
        }
    }

    /// Notes a finding if a change of a key is notified.
    func expectNoNotification(ofKey key: String, after change: String) throws {
        try awaitLaterChange()
        expectNothingHeard(ofKey: key, after: change)
    }

    /// Notes a finding if a change of a key has been notified.
    func expectNothingHeard(ofKey key: String, after change: String) {
        trial.expect(
            !condition.withLock { notifications.contains { $0.keys?.contains(key) == true } },
            "An observer was called with \(Trial.describe(key: key)) after \(change)."
        )
    }

    /// Makes one more change and waits for its notification, after which those of earlier changes have come.
    private func awaitLaterChange() throws {
        let later = Defaults.Key<Int>("later \(UUID().uuidString)")
        try Defaults(suite: store.value).save(1, for: later)
        expectNotification(ofKey: later.storedName, after: "one more change")
    }

    /// Waits for something that a notification brings about, for much less time than the check may take.
    private func wait(until hasHappened: () -> Bool) -> Bool {
        let limit = Date(timeIntervalSinceNow: trial.patience)
        return condition.withLock {
            while !hasHappened() {
                guard condition.wait(until: limit) else { return false }
            }
            return true
        }
    }
}
