internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofChanges: [Self] = [
        Self("A value takes the place of one of any other case.") { trial, store in
            let values: [PropertyListValue] = [
                .string("text"), .integer(5), .boolean(true), .real(0.5), .integer(1), .data(Data([1])),
                .array([.integer(1)]), .dictionary(["a": .integer(1)]), .date(Date(timeIntervalSince1970: 0)),
                .unsigned(.max), .string("again"),
            ]
            for value in values {
                try store.setStoredValue(value, forKey: "k")
                trial.expect("k", in: store, is: value, "after the value was replaced")
            }
        },
        // As == or Foundation compares.
        Self("A value takes the place of one that compares equal and is not the same.") { trial, store in
            let values: [PropertyListValue] = [
                .integer(1), .real(1), .integer(1), .string("\u{E9}"), .string("e\u{301}"), .string("\u{E9}"),
                .array([.string("\u{E9}")]), .array([.string("e\u{301}")]),
            ]
            for value in values {
                try store.setStoredValue(value, forKey: "k")
                trial.expect("k", in: store, is: value, "after an equal value was replaced")
            }
        },
        Self("Setting nil removes what is there, if anything is.") { trial, store in
            try store.setStoredValue(.integer(1), forKey: "beside")
            try store.setStoredValue(.integer(5), forKey: "k")
            try store.setStoredValue(nil, forKey: "k")
            trial.expect("k", in: store, is: nil, "after it was set to nil")
            try store.setStoredValue(.integer(6), forKey: "k")
            trial.expect("k", in: store, is: .integer(6), "of a value set after a removal")
            try store.setStoredValue(nil, forKey: "k")
            try store.setStoredValue(nil, forKey: "k")
            try store.setStoredValue(nil, forKey: "never set")
            trial.expect("k", in: store, is: nil, "after it was set to nil twice")
            trial.expect("beside", in: store, is: .integer(1), "of a key beside the removed one")
        },
        Self("storedKeys() lists each key under which something is stored once, and no removed one.") { trial, store in
            // Decomposed, as a key of its own that nothing else is equivalent to.
            let keys = ["a", "b.c", "e\u{301}", "🎛"]
            for key in keys + ["a"] {
                try store.setStoredValue(.integer(1), forKey: key)
            }
            let listed = store.storedKeys()
            for key in keys {
                // By bytes, since == takes canonically equivalent keys for equal.
                let count = listed.count { $0.utf8.elementsEqual(key.utf8) }
                trial.expect(count == 1, "storedKeys() lists \(Trial.describe(key: key)) \(count) times, not once.")
            }
            for key in keys {
                try store.setStoredValue(nil, forKey: key)
            }
            let left = store.storedKeys()
            for key in keys where left.contains(key) {
                trial.note("storedKeys() lists \(Trial.describe(key: key)) after it was removed.")
            }
        },
        Self("flush() succeeds, and what was set is there afterwards.") { trial, store in
            try store.flush()
            try store.setStoredValue(.string("text"), forKey: "k")
            try store.flush()
            trial.expect("k", in: store, is: .string("text"), "after flush()")
            try store.flush()
            try store.checkAvailability()
        },
    ]
}
