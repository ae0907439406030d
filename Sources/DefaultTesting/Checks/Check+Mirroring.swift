internal import Default

// What goes wrong where a lock is held while observers are called.
extension StoreConformance.Check {
    static let ofMirroring: [Self] = [
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
            let stores = [HandedOver(first), HandedOver(second)]
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
