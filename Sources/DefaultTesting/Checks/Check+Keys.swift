internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofKeys: [Self] = [
        Self("Keys that differ in any byte are different keys, whatever characters they have but NUL.") {
            trial,
            store in
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

    private static let validKeys = [
        "a", "a.b", "a.b.c", "a@b", "@a", "a b", " a", "a ", "🎛", "👩‍👩‍👧", "👩‍👩‍👦", "\u{E9}", "e\u{301}", "\u{1E9B}\u{323}",
        "\u{1E9B}\u{323}\u{301}", "\u{E000}e%CC%81", "A", "ä", "a\u{308}", "\n", "\t", "a/b", "../a", ".", "%",
        "%41", "$a", "0", String(repeating: "k", count: 1_000), String(repeating: "k", count: 1_001),
    ]
}
