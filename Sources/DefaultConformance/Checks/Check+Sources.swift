internal import Default
internal import Foundation

// The store gets sources of the check's own.
extension StoreConformance.Check {
    static let ofSources: [Self] = [
        Self("A value is that of the highest that has one: mandatory, override, stored, fallback.", requires: .sources)
        { trial in
            let sources = StoreConformance.Sources(
                mandatory: [.values(["a": 1], name: "mandatory")],
                overrides: [.values(["a": 2, "b": 2], name: "override")],
                fallbacks: [
                    .values(["a": 4, "b": 4, "c": 4, "d": 4], name: "fallback"),
                    .values(["d": 5, "e": 5], name: "second fallback"),
                ]
            )
            trial.withStore(of: sources) { store in
                try store.setStoredValue(.integer(3), forKey: "b")
                try store.setStoredValue(.integer(3), forKey: "c")
                for (key, value) in [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)] {
                    trial.expect(key, in: store, is: .integer(Int64(value)), "with sources")
                }
                let kinds = ["a", "b", "c", "d"].map { store.origin(forKey: $0)?.kind }
                trial.expect(kinds, is: [.mandatory, .override, .stored, .fallback], from: "origin(forKey:)")
                try store.setStoredValue(nil, forKey: "c")
                trial.expect("c", in: store, is: .integer(4), "after the stored value was removed")
            }
        },
        Self("Only what is stored is listed, and given as the store's own value.", requires: .sources) { trial in
            let sources = StoreConformance.Sources(
                overrides: [.values(["over": 2], name: "override")],
                fallbacks: [.values(["under": 4], name: "fallback")]
            )
            trial.withStore(of: sources) { store in
                try store.setStoredValue(.integer(3), forKey: "over")
                try store.setStoredValue(.integer(3), forKey: "own")
                trial.expect(Set(store.storedKeys()), is: ["over", "own"], from: "storedKeys()")
                for (key, value) in [("over", 3), ("own", 3), ("under", nil)] as [(String, Int64?)] {
                    trial.expect(
                        store.ownValue(forKey: key),
                        is: value.map { .integer($0) },
                        from: "ownValue(forKey: \(Trial.describe(key: key)))"
                    )
                }
                try store.updateStoredValue(forKey: "under") { value in
                    trial.expect(value, is: nil, from: "updateStoredValue of a fallback's key")
                    value = .integer(6)
                }
                trial.expect("under", in: store, is: .integer(6), "after it was stored over a fallback's")
            }
        },
        Self("A mandatory value can be neither replaced nor removed.", requires: .sources) { trial in
            let policy = ChangingSource(["before": 1])
            trial.withStore(of: StoreConformance.Sources(mandatory: [policy])) { store in
                try store.setStoredValue(.integer(5), forKey: "k")
                policy.change(to: ["k": 1])
                trial.expect("k", in: store, is: .integer(1), "which has become mandatory")
                for value in [.integer(2), nil] as [PropertyListValue?] {
                    trial.expect(.mandatory, from: "setStoredValue(\(Trial.describe(value))) of a mandatory key") {
                        try store.setStoredValue(value, forKey: "k")
                    }
                    trial.expect(.mandatory, from: "updateStoredValue(forKey:) of a mandatory key") {
                        try store.updateStoredValue(forKey: "k") { $0 = value }
                    }
                }
                try store.setStoredValue(.integer(2), forKey: "other")
                policy.change(to: [:])
                trial.expect("k", in: store, is: .integer(5), "after its mandatory value has gone")
                try store.setStoredValue(.integer(6), forKey: "k")
                trial.expect("k", in: store, is: .integer(6), "which is not mandatory any more")
            }
        },
        Self("A transaction that writes a mandatory value stores nothing.", requires: [.rollback, .sources]) { trial in
            let sources = StoreConformance.Sources(mandatory: [.values(["k": 1], name: "policy")])
            trial.withStore(of: sources) { store in
                trial.expect(.mandatory, from: "A transaction that writes a mandatory key") {
                    try store.transaction {
                        try store.setStoredValue(.integer(2), forKey: "other")
                        try store.setStoredValue(.integer(2), forKey: "k")
                    }
                }
                trial.expect("other", in: store, is: nil, "after a transaction that was refused")
            }
        },
        Self("While a mandatory source can't be used, nothing can be written.", requires: .sources) { trial in
            let policy = ChangingSource(["k": 1])
            trial.withStore(of: StoreConformance.Sources(mandatory: [policy])) { store in
                try store.setStoredValue(.integer(3), forKey: "other")
                policy.change(to: nil)
                trial.expect("k", in: store, is: nil, "of a mandatory source that can't be used")
                trial.expect("other", in: store, is: .integer(3), "while a mandatory source can't be used")
                for key in ["k", "other", "new"] {
                    let call = "setStoredValue, forKey: \(Trial.describe(key: key))"
                    trial.expect(.mandatory, from: "\(call), while a mandatory source can't be used") {
                        try store.setStoredValue(.integer(4), forKey: key)
                    }
                }
                policy.change(to: ["k": 2])
                trial.expect("k", in: store, is: .integer(2), "of a mandatory source that can be used again")
                try store.setStoredValue(.integer(4), forKey: "other")
            }
        },
        Self(
            "A write of settings stores what the caller has changed, and nothing of the sources.",
            requires: .sources
        ) { trial in
            let vendor = ChangingSource([Pane.defaultIdentifier: ["title": "Vendor", "width": 600]])
            trial.withStore(of: StoreConformance.Sources(fallbacks: [vendor])) { store in
                let found = try Pane.load(from: store)
                trial.expect(found, is: Pane(title: "Vendor", width: 600), from: "load(from:) with a fallback")
                try Pane.update(in: store) { $0.width = 700 }
                vendor.change(to: [:])
                let left = try Pane.load(from: store)
                trial.expect(left, is: Pane(title: "Main", width: 700), from: "load(from:) after the fallback has gone")
            }
        },
        Self("Observers are notified of a change of a source.", requires: .sources) { trial in
            let vendor = ChangingSource(["k": 1, "same": 1])
            trial.withStore(of: StoreConformance.Sources(fallbacks: [vendor])) { store in
                trial.expect("k", in: store, is: .integer(1), "of a fallback")
                let listener = Listener(to: store, in: trial)
                try listener.expect(.integer(2), forKey: "k", after: "a change of a source") {
                    vendor.change(to: ["k": 2, "same": 1])
                }
                listener.expectNothingHeard(ofKey: "same", after: "a change of another key of its source")
                listener.cancel()
            }
        },
    ]
}

/// Settings of which a source may have a part.
private struct Pane: DefaultStorable, Equatable {
    var title = "Main"
    var width = 800

    static let defaultValue: Pane? = Pane()
}

/// A source whose values a check changes.
private final class ChangingSource: DefaultsSource, @unchecked Sendable {
    let name = "the check's source"
    // What follows is used under the lock.
    private let lock = NSLock()
    private var current: [String: PropertyListValue]?
    private var handlers: [UUID: @Sendable () -> Void] = [:]

    struct Unusable: Error {}

    init(_ values: [String: PropertyListValue]) { current = values }

    func values() throws -> [String: PropertyListValue] {
        guard let values = lock.withLock({ current }) else { throw Unusable() }
        return values
    }

    func observeChanges(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? {
        let id = UUID()
        lock.withLock { handlers[id] = handler }
        return StoreObservation { [self] in lock.withLock { handlers[id] = nil } }
    }

    /// Changes the values, or makes them unusable by nil.
    func change(to values: [String: PropertyListValue]?) {
        let handlers = lock.withLock {
            current = values
            return Array(self.handlers.values)
        }
        for handler in handlers { handler() }
    }
}
