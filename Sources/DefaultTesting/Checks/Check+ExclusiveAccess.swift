internal import Default

extension StoreConformance.Check {
    static let ofExclusiveAccess: [Self] = [
        Self("Exclusive access nests, and the thread that has it reads and writes.") { trial, store in
            let found = try store.withExclusiveAccess {
                try store.withExclusiveAccess { try store.setStoredValue(.integer(1), forKey: "k") }
                try store.setStoredValue(nil, forKey: "other")
                return store.storedValue(forKey: "k")
            }
            trial.expect(found, is: .integer(1), from: "storedValue(forKey:) under exclusive access")
            try store.beginExclusiveAccess()
            try store.beginExclusiveAccess()
            try store.setStoredValue(.integer(2), forKey: "k")
            store.endExclusiveAccess()
            trial.expect("k", in: store, is: .integer(2), "between two calls of endExclusiveAccess()")
            store.endExclusiveAccess()
            try store.setStoredValue(.integer(3), forKey: "k")
            trial.expect("k", in: store, is: .integer(3), "after exclusive access has ended")
        },
        Self("Exclusive access whose body throws throws that error, and keeps what the body has changed.") {
            trial,
            store in
            trial.expectStop(from: "withExclusiveAccess") {
                try store.withExclusiveAccess {
                    try store.setStoredValue(.integer(1), forKey: "k")
                    throw Trial.Stop()
                }
            }
            trial.expect("k", in: store, is: .integer(1), "after exclusive access whose body threw")
            try store.setStoredValue(.integer(2), forKey: "k")
            trial.expect("k", in: store, is: .integer(2), "after exclusive access has ended")
        },
    ]
}
