internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofChanges: [Self] = [
        Self("A value takes the place of one of any other type.") { trial in
            trial.withStore { store in
                let values: [Any] = [
                    "text", 5, true, 0.5, Data([1]), [1, 2], ["a": 1], Date(timeIntervalSince1970: 0), "again",
                ]
                for value in values {
                    try store.set(value, forKey: "k")
                    trial.expect("k", in: store, is: value, "after the value was replaced")
                }
            }
        },
        Self("set with nil and removeObject(forKey:) remove what is there, if anything is.") { trial in
            trial.withStore { store in
                try store.set(1, forKey: "beside")
                try store.set(5, forKey: "k")
                try store.set(nil, forKey: "k")
                trial.expect("k", in: store, is: nil, "after set with nil")
                try store.set(6, forKey: "k")
                trial.expect("k", in: store, is: 6, "of a value set after a removal")
                try store.removeObject(forKey: "k")
                trial.expect("k", in: store, is: nil, "after removeObject(forKey:)")
                try store.removeObject(forKey: "k")
                try store.removeObject(forKey: "never set")
                try store.set(nil, forKey: "never set")
                trial.expect("beside", in: store, is: 1, "of a key beside the removed one")
            }
        },
        Self("synchronize() returns true, and what was set is there afterwards.") { trial in
            trial.withStore { store in
                trial.expect(try store.synchronize(), is: true, from: "synchronize() of an empty store")
                try store.set("text", forKey: "k")
                trial.expect(try store.synchronize(), is: true, from: "synchronize()")
                trial.expect("k", in: store, is: "text", "after synchronize()")
                try store.checkAvailability()
            }
        },
    ]
}
