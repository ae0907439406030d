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
