internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofKeys: [Self] = [
        Self("Keys that differ in any byte are different keys, whatever characters they have but NUL.") { trial in
            trial.withStore { store in
                let keys = validKeys()
                for (index, key) in keys.enumerated() {
                    try store.set(index, forKey: key)
                }
                for (index, key) in keys.enumerated() {
                    trial.expect(key, in: store, is: index, "beside keys much like it")
                }
                for key in keys.dropFirst() {
                    try store.removeObject(forKey: key)
                    trial.expect(key, in: store, is: nil, "after removeObject(forKey:)")
                }
                trial.expect(keys[0], in: store, is: 0, "after all keys much like it were removed")
            }
        },
        Self("A key may have up to 65,535 bytes.") { trial in
            trial.withStore { store in
                let first = String(repeating: "k", count: 65_535)
                let second = String(first.dropLast()) + "l"
                try store.set(1, forKey: first)
                try store.set(2, forKey: second)
                trial.expect(first, in: store, is: 1, "beside a key that differs in its last byte")
                try store.removeObject(forKey: second)
                trial.expect(first, in: store, is: 1, "after a key that differs in its last byte was removed")
                trial.expect(second, in: store, is: nil, "after removeObject(forKey:)")
            }
        },
        Self("A key that is empty, holds NUL or has over 65,535 bytes is refused, and has no value.") { trial in
            trial.withStore { store in
                try store.set("before", forKey: "a")
                for key in invalidKeys {
                    let name = "forKey: \(Trial.describe(key: key))"
                    trial.expect(.invalidKey, from: "set(1, \(name))") { try store.set(1 as Any?, forKey: key) }
                    trial.expect(.invalidKey, from: "set(Data(), \(name))") { try store.set(Data(), forKey: key) }
                    trial.expect(.invalidKey, from: "set(.integer(1), \(name))") {
                        try store.set(PropertyListValue.integer(1), forKey: key)
                    }
                    trial.expect(.invalidKey, from: "set(nil, \(name))") { try store.set(nil, forKey: key) }
                    trial.expect(.invalidKey, from: "removeObject(\(name))") { try store.removeObject(forKey: key) }
                    trial.expect(store.object(forKey: key), is: nil, from: "object(\(name))")
                    trial.expect(store.data(forKey: key), is: nil, from: "data(\(name))")
                    trial.expect(
                        store.propertyListValue(forKey: key) == nil,
                        "propertyListValue(\(name)) gave a value."
                    )
                }
                trial.expect("a", in: store, is: "before", "for a key beside refused ones")
            }
        },
    ]

    private static let invalidKeys = [
        "", "a\0b", "\0", String(repeating: "k", count: 65_536), String(repeating: "é", count: 32_768),
    ]

    private static func validKeys() -> [String] {
        [
            "a", "a.b", "a.b.c", "a@b", "@a", "a b", " a", "a ", "🎛", "👩‍👩‍👧", "👩‍👩‍👦", "\u{E9}", "e\u{301}", "\u{1E9B}\u{323}",
            "\u{1E9B}\u{323}\u{301}", "\u{E000}e%CC%81", "A", "ä", "a\u{308}", "\n", "\t", "a/b", "../a", ".", "%",
            "%41", "$a", "0", String(repeating: "k", count: 1_000), String(repeating: "k", count: 1_001),
        ]
    }
}
