internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofValues: [Self] = [
        Self("A value comes back as it was set: same case, same value.") { trial, store in
            for (key, value) in examples {
                try store.setStoredValue(value, forKey: key)
            }
            for (key, value) in examples {
                trial.expect(key, in: store, is: value, "after setStoredValue")
            }
            trial.expect("absent", in: store, is: nil, "for a key never set")
        },
        Self("A real keeps the sign of zero, and a date its fraction of a second.") { trial, store in
            let fraction = PropertyListValue.date(Date(timeIntervalSinceReferenceDate: -0.1))
            try store.setStoredValue(.real(0), forKey: "negative zero")
            try store.setStoredValue(.real(-0.0), forKey: "negative zero")
            try store.setStoredValue(fraction, forKey: "fraction")
            trial.expect("negative zero", in: store, is: .real(-0.0), "after setStoredValue")
            trial.expect("fraction", in: store, is: fraction, "after setStoredValue")
        },
        Self("A value may nest 256 levels.") { trial, store in
            for (name, value) in Trial.nestings(of: 256) {
                try store.setStoredValue(value, forKey: name)
            }
            for (name, value) in Trial.nestings(of: 256) {
                trial.expect(name, in: store, is: value, "after 256 levels were set")
            }
        },
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
        Self("Keys that differ in any byte are different, whatever characters they have but NUL.") { trial, store in
            let keys = validKeys
            for (index, key) in keys.enumerated() {
                try store.setStoredValue(.integer(Int64(index)), forKey: key)
            }
            for (index, key) in keys.enumerated() {
                trial.expect(key, in: store, is: .integer(Int64(index)), "beside keys much like it")
            }
            for key in keys.dropFirst() {
                try store.setStoredValue(nil, forKey: key)
                trial.expect(key, in: store, is: nil, "after it was set to nil")
            }
            trial.expect(keys[0], in: store, is: .integer(0), "after all keys much like it were removed")
        },
        Self("A key may have up to 65,535 bytes.") { trial, store in
            let first = String(repeating: "k", count: 65_535)
            let second = String(first.dropLast()) + "l"
            try store.setStoredValue(.integer(1), forKey: first)
            try store.setStoredValue(.integer(2), forKey: second)
            trial.expect(first, in: store, is: .integer(1), "beside a key that differs in its last byte")
            try store.setStoredValue(nil, forKey: second)
            trial.expect(first, in: store, is: .integer(1), "after a key that differs in its last byte was removed")
            trial.expect(second, in: store, is: nil, "after it was set to nil")
        },
    ]

    private static let examples: [(key: String, value: PropertyListValue)] = [
        ("string", .string("red")), ("empty", .string("")), ("lines", .string("a\nb\tc\r\n<&>")),
        ("emoji", .string("🎛 👩‍👩‍👧")), ("composed", .string("\u{E9}")), ("decomposed", .string("e\u{301}")),
        ("true", .boolean(true)), ("false", .boolean(false)),
        ("zero", .integer(0)), ("one", .integer(1)), ("smallest", .integer(.min)), ("largest", .integer(.max)),
        ("unsigned", .unsigned(UInt64(Int64.max) + 1)), ("largest unsigned", .unsigned(.max)),
        ("half", .real(0.5)), ("tenth", .real(0.1)), ("whole", .real(2)), ("real zero", .real(0)),
        ("largest real", .real(.greatestFiniteMagnitude)),
        ("smallest real", .real(.leastNonzeroMagnitude)), ("infinity", .real(-.infinity)),
        ("data", .data(Data([0, 1, 255]))), ("no data", .data(Data())),
        ("long data", .data(Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0) }))),
        ("date", .date(Date(timeIntervalSinceReferenceDate: 123_456_789))),
        ("array", .array([.integer(1), .string("two"), .array([.real(3.5), .boolean(false)])])),
        ("no array", .array([])),
        (
            "dictionary",
            .dictionary([
                "a": .integer(1), "b": .dictionary(["c": .array([.boolean(true), .data(Data([9]))])]),
                "e\u{301}": .string("e\u{301}"), "": .unsigned(.max),
            ])
        ),
        ("no dictionary", .dictionary([:])),
    ]

    private static let validKeys = [
        "a", "a.b", "a.b.c", "a@b", "@a", "a b", " a", "a ", "🎛", "👩‍👩‍👧", "👩‍👩‍👦", "\u{E9}", "e\u{301}", "\u{1E9B}\u{323}",
        "\u{1E9B}\u{323}\u{301}", "\u{E000}e%CC%81", "A", "ä", "a\u{308}", "\n", "\t", "a/b", "../a", ".", "%",
        "%41", "$a", "0", String(repeating: "k", count: 1_000), String(repeating: "k", count: 1_001),
    ]
}

extension Trial {
    /// Values of some levels.
    static func nestings(of levels: Int) -> [(name: String, value: PropertyListValue)] {
        let innermost = PropertyListValue.string("innermost")
        // Few dictionaries: a UserDefaults of Foundation's takes time that grows with the third power of their levels.
        return [
            ("arrays", (0..<levels).reduce(innermost) { inner, _ in .array([inner]) }),
            (
                "arrays and dictionaries",
                (0..<levels).reduce(innermost) { inner, level in
                    level.isMultiple(of: 8) ? .dictionary(["k": inner]) : .array([inner])
                }
            ),
        ]
    }
}
