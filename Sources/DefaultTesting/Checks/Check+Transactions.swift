internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofTransactions: [Self] = [
        Self("A transaction makes its changes, and returns or throws what its body does.") { trial in
            trial.withStore { store in
                try store.set(0, forKey: "removed")
                let found = try store.transaction {
                    try store.set(1, forKey: "a")
                    try store.set(Data([1]), forKey: "b")
                    try store.removeObject(forKey: "removed")
                    try store.transaction { try store.set(1, forKey: "c") }
                    return [store.object(forKey: "a"), store.object(forKey: "removed")]
                }
                trial.expect(found[0], is: 1, from: "object(forKey:) in the transaction that set the value")
                trial.expect(found[1], is: nil, from: "object(forKey:) in the transaction that removed the value")
                trial.expect("a", in: store, is: 1, "after a transaction")
                trial.expect(store.data(forKey: "b"), is: Data([1]), from: "data(forKey:) after a transaction")
                trial.expect("c", in: store, is: 1, "after a transaction in a transaction")
                trial.expect("removed", in: store, is: nil, "after a transaction")
                trial.expectStop(from: "transaction") { try store.transaction { throw Trial.Stop() } }
                try store.set(2, forKey: "a")
                trial.expect("a", in: store, is: 2, "of a value set after a failed transaction")
            }
        },
        Self("A transaction whose body throws takes back what the body has changed.", requires: .rollback) { trial in
            trial.withStore { store in
                try store.set(1, forKey: "a")
                try store.set(1, forKey: "removed")
                trial.expectStop(from: "transaction") {
                    try store.transaction {
                        try store.set(2, forKey: "a")
                        try store.set(Data([2]), forKey: "new")
                        try store.removeObject(forKey: "removed")
                        throw Trial.Stop()
                    }
                }
                trial.expect("a", in: store, is: 1, "after a failed transaction set it anew")
                trial.expect("new", in: store, is: nil, "after a failed transaction set it first")
                trial.expect("removed", in: store, is: 1, "after a failed transaction removed it")
            }
        },
    ]
}
