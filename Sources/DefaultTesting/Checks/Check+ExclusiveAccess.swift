internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofExclusiveAccess: [Self] = [
        Self("Exclusive access nests, and the thread that has it reads and writes.") { trial in
            trial.withStore { store in
                let found = try store.withExclusiveAccess {
                    try store.withExclusiveAccess { try store.set(1, forKey: "k") }
                    try store.removeObject(forKey: "other")
                    return store.object(forKey: "k")
                }
                trial.expect(found, is: 1, from: "object(forKey:) under exclusive access")
                try store.set(2, forKey: "k")
                trial.expect("k", in: store, is: 2, "after exclusive access has ended")
            }
        },
        Self("Exclusive access whose body throws throws that error, and keeps what the body has changed.") { trial in
            trial.withStore { store in
                trial.expectStop(from: "withExclusiveAccess") {
                    try store.withExclusiveAccess {
                        try store.set(1, forKey: "k")
                        throw Trial.Stop()
                    }
                }
                trial.expect("k", in: store, is: 1, "after exclusive access whose body threw")
                try store.set(2, forKey: "k")
                trial.expect("k", in: store, is: 2, "after exclusive access has ended")
            }
        },
    ]
}
