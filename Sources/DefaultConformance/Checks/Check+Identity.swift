internal import Default

extension StoreConformance.Check {
    static let ofIdentity: [Self] = [
        Self("A fresh store has nothing of what another store held before.") { trial in
            trial.withStore { store in
                try store.setStoredValue(.string("left over"), forKey: "k")
                try store.flush()
            }
            trial.withStore { store in
                trial.expect("k", in: store, is: nil, "of a fresh store")
                let isListed = store.storedKeys().contains("k")
                trial.expect(!isListed, "storedKeys() of a fresh store lists a key of the store before.")
            }
        },
        Self("Two stores keep their values apart.", requires: .severalStores) { trial, first, second in
            try first.setStoredValue(.integer(1), forKey: "k")
            trial.expect("k", in: second, is: nil, "for a key set in another store")
            try second.setStoredValue(.integer(2), forKey: "k")
            try second.setStoredValue(nil, forKey: "k")
            trial.expect("k", in: first, is: .integer(1), "for a key removed from another store")
        },
        Self("A store has one description, whatever it holds, and it is not empty.") { trial, store in
            let description = store.storeDescription
            trial.expect(!description.isEmpty, "storeDescription is empty.")
            try store.setStoredValue(.integer(1), forKey: "k")
            trial.expect(store.storeDescription, is: description, from: "storeDescription after a value was set")
        },
        Self("Two stores have different descriptions.", requires: .severalStores) { trial, first, second in
            let description = first.storeDescription
            trial.expect(description != second.storeDescription, "Both stores are described as “\(description)”.")
        },
    ]
}
