internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofTransactions: [Self] = [
        Self("A transaction makes its changes, and returns or throws what its body does.") { trial, store in
            try store.setStoredValue(.integer(0), forKey: "removed")
            let found = try store.transaction {
                try store.setStoredValue(.integer(1), forKey: "a")
                try store.setStoredValue(.data(Data([1])), forKey: "b")
                try store.setStoredValue(nil, forKey: "removed")
                try store.transaction { try store.setStoredValue(.integer(1), forKey: "c") }
                return [store.storedValue(forKey: "a"), store.storedValue(forKey: "removed")]
            }
            trial.expect(found[0], is: .integer(1), from: "storedValue(forKey:) in the transaction that set it")
            trial.expect(found[1], is: nil, from: "storedValue(forKey:) in the transaction that removed it")
            trial.expect("a", in: store, is: .integer(1), "after a transaction")
            trial.expect("b", in: store, is: .data(Data([1])), "after a transaction")
            trial.expect("c", in: store, is: .integer(1), "after a transaction in a transaction")
            trial.expect("removed", in: store, is: nil, "after a transaction")
            trial.expectStop(from: "transaction") { try store.transaction { throw Trial.Stop() } }
            try store.setStoredValue(.integer(2), forKey: "a")
            trial.expect("a", in: store, is: .integer(2), "of a value set after a failed transaction")
        },
        Self("A transaction whose body throws rolls back what the body has changed.", requires: .rollback) {
            trial,
            store in
            try store.setStoredValue(.integer(1), forKey: "a")
            try store.setStoredValue(.integer(1), forKey: "removed")
            trial.expectStop(from: "transaction") {
                try store.transaction {
                    try store.setStoredValue(.integer(2), forKey: "a")
                    try store.setStoredValue(.data(Data([2])), forKey: "new")
                    try store.setStoredValue(nil, forKey: "removed")
                    throw Trial.Stop()
                }
            }
            trial.expect("a", in: store, is: .integer(1), "after a failed transaction replaced it")
            trial.expect("new", in: store, is: nil, "after a failed transaction set it first")
            trial.expect("removed", in: store, is: .integer(1), "after a failed transaction removed it")
        },
    ]
}
