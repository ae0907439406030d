internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofListings: [Self] = [
        Self("dictionaryRepresentation() has what object(forKey:) gives, under the same keys.") { trial in
            trial.withStore { store in
                // Decomposed, as a key of its own that nothing else is equivalent to.
                let keys = ["a", "b.c", "e\u{301}", "🎛"]
                let values: [Any] = [true, 2.0, ["d": [1, UInt.max] as [Any]], Data([1])]
                for (key, value) in zip(keys, values) {
                    try store.set(value, forKey: key)
                }
                let all = store.dictionaryRepresentation()
                for (key, value) in zip(keys, values) {
                    // Not by subscript, which finds canonically equivalent keys as well.
                    let entry = all.first { $0.key.utf8.elementsEqual(key.utf8) }
                    trial.expect(
                        entry?.value,
                        is: value,
                        from: "dictionaryRepresentation() for \(Trial.describe(key: key))"
                    )
                }
                for key in keys {
                    try store.removeObject(forKey: key)
                }
                let rest = store.dictionaryRepresentation()
                for key in keys {
                    trial.expect(rest[key], is: nil, from: "dictionaryRepresentation() after removeObject(forKey:)")
                }
            }
        },
        Self("storedKeys() lists each key under which something is stored once, and no removed one.") { trial in
            trial.withStore { store in
                let keys = ["a", "b.c", "e\u{301}", "🎛"]
                for key in keys + ["a"] {
                    try store.set(1, forKey: key)
                }
                let listed = store.storedKeys()
                for key in keys {
                    let count = listed.count { $0.utf8.elementsEqual(key.utf8) }
                    trial.expect(count == 1, "storedKeys() lists \(Trial.describe(key: key)) \(count) times, not once.")
                }
                try store.set(nil, forKey: keys[0])
                for key in keys.dropFirst() {
                    try store.removeObject(forKey: key)
                }
                let left = store.storedKeys()
                for key in keys where left.contains(key) {
                    trial.note("storedKeys() lists \(Trial.describe(key: key)) after it was removed.")
                }
            }
        },
    ]
}
