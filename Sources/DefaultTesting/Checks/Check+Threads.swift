internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofThreads: [Self] = [
        Self("Changes that threads make under exclusive access are not lost.", requires: .threads) { trial in
            trial.withStore { store in
                trial.onThreads(8, sharing: store) { store, _ in
                    for _ in 0..<200 {
                        try store.withExclusiveAccess {
                            let count = store.object(forKey: "count") as? Int ?? 0
                            try store.set(count + 1, forKey: "count")
                        }
                    }
                }
                trial.expect("count", in: store, is: 1_600, "after 8 threads counted to 200 each")
            }
        },
        Self("Threads that change different keys at once don't disturb each other.", requires: .threads) { trial in
            trial.withStore { store in
                trial.onThreads(8, sharing: store) { store, thread in
                    for number in 0..<25 {
                        try store.set(thread * 100 + number, forKey: "\(thread).\(number)")
                        try store.set(Data([UInt8(number)]), forKey: "\(thread)")
                        trial.expect(
                            "\(thread).\(number)",
                            in: store,
                            is: thread * 100 + number,
                            "on the thread that set it"
                        )
                    }
                }
                for thread in 0..<8 {
                    trial.expect("\(thread)", in: store, is: Data([24]), "after the threads ended")
                    for number in 0..<25 {
                        trial.expect(
                            "\(thread).\(number)",
                            in: store,
                            is: thread * 100 + number,
                            "after the threads ended"
                        )
                    }
                }
            }
        },
        Self("Reads don't wait for exclusive access, and writes wait for its end only.", requires: .threads) { trial in
            trial.withStore { store in
                try store.set(1, forKey: "k")
                trial.expectStop(from: "withExclusiveAccess") {
                    try store.withExclusiveAccess {
                        trial.onThreads(2, sharing: store) { store, _ in
                            trial.expect("k", in: store, is: 1, "on another thread")
                            trial.expect(store.data(forKey: "k"), is: nil, from: "data(forKey:) on another thread")
                        }
                        throw Trial.Stop()
                    }
                }
                trial.onThreads(2, sharing: store) { store, _ in
                    try store.withExclusiveAccess { try store.set(2, forKey: "k") }
                }
                trial.expect("k", in: store, is: 2, "after other threads set the value")
            }
        },
    ]
}
