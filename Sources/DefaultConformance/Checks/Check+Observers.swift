internal import Default
internal import Foundation

// The changes are made by typed calls, of which all observers are notified. A store that also notifies them of
// calls of its own methods says so.
extension StoreConformance.Check {
    static let ofObservers: [Self] = [
        Self("Observers are notified of a change once, with its key, when the new value can be read.") { trial, store in
            let defaults = Defaults(suite: store)
            let count = Defaults.Key<Int>("count")
            let listener = Listener(to: store, in: trial)
            try listener.expect(.integer(1), forKey: "count", after: "save(_:for:)") {
                try defaults.save(1, for: count)
            }
            try listener.expect(.integer(2), forKey: "count", after: "a change in place") { defaults[count] += 1 }
            try listener.expect(.integer(3), forKey: "count", after: "update") {
                try defaults.update(count) { $0 += 1 }
            }
            try listener.expect(.data(Data("[1]".utf8)), forKey: "list", after: "df.save") {
                try store.df.save([1], forKey: "list")
            }
            try listener.expect(nil, forKey: "count", after: "reset") { defaults.reset(count) }
        },
        Self("An observer that is cancelled is not notified any more, and the others still are.") { trial, store in
            let defaults = Defaults(suite: store)
            let listeners = (0..<3).map { _ in Listener(to: store, in: trial) }
            listeners[1].cancel()
            listeners[1].cancel()
            try defaults.save(1, for: Defaults.Key<Int>("k"))
            for listener in [listeners[0], listeners[2]] {
                listener.expectNotification(ofKey: "k", after: "another observer was cancelled")
            }
            listeners[1].expectNothingHeard(ofKey: "k", after: "it was cancelled")
        },
        Self("An observer may change the key that it observes.") { trial, store in
            let count = Defaults.Key<Int>("count")
            let listener = Listener(to: store, in: trial) { store, _ in
                let defaults = Defaults(suite: store)
                if (1..<5).contains(try defaults.load(count)) {
                    try defaults.update(count) { $0 = $0 < 5 ? $0 + 1 : $0 }
                }
            }
            try Defaults(suite: store).save(1, for: count)
            listener.expectNotification(ofKey: "count", after: "the first change")
            try listener.expectReaction(after: "the first change") {
                store.storedValue(forKey: "count") == .integer(5)
            }
        },
        Self("Observers are notified of a change made under exclusive access when that has ended.") { trial, store in
            let defaults = Defaults(suite: store)
            let key = Defaults.Key<Int>("k")
            let listener = Listener(to: store, in: trial)
            let changes: [(name: String, make: () throws -> Void)] = [
                ("save(_:for:)", { try defaults.save(1, for: key) }), ("a change in place", { defaults[key] += 1 }),
                ("update", { try defaults.update(key) { $0 += 1 } }),
            ]
            for (index, change) in changes.enumerated() {
                let value = PropertyListValue.integer(Int64(index + 1))
                try listener.expect(value, forKey: "k", after: "\(change.name) under exclusive access") {
                    try store.withExclusiveAccess {
                        try listener.withSilence { try store.withExclusiveAccess(change.make) }
                    }
                }
            }
            try listener.expect(.integer(4), forKey: "k", after: "a transaction") {
                try store.transaction {
                    try listener.withSilence { try defaults.save(4, for: key) }
                }
            }
        },
        Self("Observers are notified of what the store's own methods change.", requires: .ownChanges) { trial, store in
            let listener = Listener(to: store, in: trial)
            try listener.expect(.integer(1), forKey: "k", after: "setStoredValue") {
                try store.setStoredValue(.integer(1), forKey: "k")
            }
            try listener.expect(.integer(2), forKey: "k", after: "exclusive access") {
                try store.withExclusiveAccess {
                    try listener.withSilence { try store.setStoredValue(.integer(2), forKey: "k") }
                }
            }
            try listener.expect(nil, forKey: "k", after: "setStoredValue with nil") {
                try store.setStoredValue(nil, forKey: "k")
            }
        },
        Self("No observer is notified of a rolled-back change.", requires: [.rollback, .ownChanges]) { trial, store in
            let listener = Listener(to: store, in: trial)
            try? store.transaction {
                try store.setStoredValue(.integer(1), forKey: "k")
                try Defaults(suite: store).save(1, for: Defaults.Key<Int>("typed"))
                throw Trial.Stop()
            }
            for key in ["k", "typed"] {
                try listener.expectNoNotification(ofKey: key, after: "a transaction that was rolled back")
            }
        },
        // What goes wrong where a lock is held while observers are called.
        Self("An observer may wait for another thread's write.", requires: .threads) { trial, store in
            let listener = Listener(to: store, in: trial) { store, keys in
                if keys?.contains("question") ?? false {
                    trial.onThreads(1, sharing: store) { store, _ in
                        try Defaults(suite: store).save(1, for: Defaults.Key<Int>("answer"))
                    }
                }
            }
            try Defaults(suite: store).save(1, for: Defaults.Key<Int>("question"))
            listener.expectNotification(ofKey: "answer", after: "an observer waited for another thread's write")
        },
        Self("Two stores that mirror each other come to rest.", requires: [.threads, .severalStores]) {
            trial,
            first,
            second in
            let stores = [HandedOver(value: first), HandedOver(value: second)]
            let counts = [Defaults.Key<Int>("count 0"), Defaults.Key<Int>("count 1")]
            // Each copies what is larger, so that two copies at once can't take turns for ever.
            let mirrors = stores.indices.map { index in
                Listener(to: stores[index].value, in: trial) { source, _ in
                    let target = Defaults(suite: stores[1 - index].value)
                    for count in counts {
                        let value = try Defaults(suite: source).load(count)
                        if try target.load(count) < value {
                            try target.update(count) { $0 = max($0, value) }
                        }
                    }
                }
            }
            trial.onThreads(2, sharing: first) { _, thread in
                for number in 1...50 {
                    try Defaults(suite: stores[thread].value).save(number, for: counts[thread])
                }
            }
            for (index, mirror) in mirrors.enumerated() {
                try mirror.expectReaction(after: "the last write to the other store") {
                    try counts.allSatisfy { try Defaults(suite: stores[index].value).load($0) == 50 }
                }
            }
        },
    ]
}
