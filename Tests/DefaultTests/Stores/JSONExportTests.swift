import Default
import DefaultJournal
import Foundation
import Testing

private let values: [String: PropertyListValue] = [
    "string": "é, \u{1F600}, \"quoted\" \\ /", "control": "\u{1}\u{7F}\r\n\t\u{8}", "empty": "",
    "true": true, "false": false, "one": 1, "least": .integer(.min), "most": .unsigned(.max),
    "real one": 1.0, "third": .real(1.0 / 3), "negative zero": .real(-0.0), "tiny": .real(.leastNonzeroMagnitude),
    "huge": .real(1e300),
    "nan": .real(.nan), "infinity": .real(.infinity), "negative infinity": .real(-.infinity),
    "date": .date(Date(timeIntervalSinceReferenceDate: 816_955_200)),
    "fraction": .date(Date(timeIntervalSinceReferenceDate: 816_955_200.123_456_7)),
    "distant": .date(.distantFuture), "past": .date(.distantPast),
    "no date": .date(Date(timeIntervalSinceReferenceDate: .infinity)),
    "zero date": .date(Date(timeIntervalSinceReferenceDate: -0.0)),
    "data": .data(Data([0, 1, 0xFF])), "no data": .data(Data()),
    "json": .data(Data(#"{"theme":"dark","size":1.50,"list":[1,null,{}],"text":"a \"b\" {, c"}"#.utf8)),
    "json with space": .data(Data(#"{ "a" : 1 }"#.utf8)), "json twice": .data(Data(#"{"a":1,"a":2}"#.utf8)),
    "array": [1, 1.0, true, [], [:], .data(Data("{}".utf8))], "dictionary": ["a": ["b": ["c": 1]]],
    "tag": ["$data": "AQI="], "tag in a tag": ["$dict": ["$dict": [:]]], "unknown tag": ["$x": 1],
    "$date": "a key like a tag",
]

@Suite("JSON of a store")
struct JSONExportTests {
    private func same(_ store: any DefaultsStore, _ other: any DefaultsStore) -> Bool {
        let keys = store.storedKeys().sorted()
        // NaN is equal to itself here, and the zeros differ.
        return keys == other.storedKeys().sorted()
            && keys.allSatisfy { store.ownValue(forKey: $0)?.binaryForm == other.ownValue(forKey: $0)?.binaryForm }
    }

    @Test("loses no value, whatever its type", arguments: StoreKind.allCases.filter { $0 != .userDefaults })
    func lossless(kind: StoreKind) throws {
        try kind.withStore { store in
            for (key, value) in values { try store.setStoredValue(value, forKey: key) }
            let text = try store.exportJSON()
            #expect(try JSONSerialization.jsonObject(with: text) is [String: Any])
            let copy = MemoryDefaults()
            try copy.importJSON(text)
            #expect(same(store, copy))
            #expect(try copy.exportJSON() == text)
        }
    }

    @Test("keeps keys that are equal as strings and differ in their bytes")
    func equivalentKeys() throws {
        let store = MemoryDefaults()
        for key in ["\u{E9}", "e\u{301}"] { try store.set(key.unicodeScalars.count, forKey: key) }
        let copy = MemoryDefaults()
        try copy.importJSON(store.exportJSON())
        #expect(copy.integer(forKey: "\u{E9}") == 1 && copy.integer(forKey: "e\u{301}") == 2)
    }

    @Test("is readable: settings are an object, and dates have their notation")
    func readable() throws {
        struct Settings: DefaultStorable { var theme = "dark" }
        let store = MemoryDefaults(["since": .date(Date(timeIntervalSinceReferenceDate: 0))])
        Settings().write(to: store)
        #expect(
            try String(decoding: store.exportJSON(), as: UTF8.self) == """
                {
                  "Settings": {
                    "$json": {
                      "theme": "dark"
                    }
                  },
                  "since": {
                    "$date": "2001-01-01T00:00:00Z"
                  }
                }

                """
        )
        #expect(try String(decoding: MemoryDefaults().exportJSON(), as: UTF8.self) == "{}\n")
    }

    @Test("is stored over what is there, beside it, or in place of everything", arguments: StoreKind.allCases)
    func conflicts(kind: StoreKind) throws {
        let text = Data(#"{"a": 1, "new": 2}"#.utf8)
        for (conflicts, a, other) in [
            (ImportConflicts.overwrite, 1, 7), (.keepExisting, 5, 7), (.replaceAll, 1, nil),
        ] as [(ImportConflicts, Int64, Int64?)] {
            try kind.withStore { store in
                try store.setStoredValue(5, forKey: "a")
                try store.setStoredValue(7, forKey: "other")
                try store.importJSON(text, conflicts: conflicts)
                #expect(store.ownValue(forKey: "a") == .integer(a) && store.ownValue(forKey: "new") == 2)
                #expect(store.ownValue(forKey: "other") == other.map { .integer($0) })
            }
        }
    }

    @Test(
        "that can't be used as a whole changes nothing, and the place of the fault is said",
        arguments: [
            ("{", "line 1, column 2"), ("[1]", "isn't an object of keys"),
            (#"{"a": null}"#, "null is not a value, in line 1, column 7"),
            (#"{"a": 1, "a": 2}"#, "there twice"),
            ("{\"a\": 1,\n  \"b\": 123456789012345678901234567890}", "line 2, column 8"),
            (#"{"a": 0.1234567890123456789}"#, "more digits"), (#"{"a": 1e400}"#, "64 bits"),
            (#"{"a": {"$date": "yesterday"}}"#, "$date can't be read"),
            (#"{"a": {"$data": 5}}"#, "$data can't be read"),
            (#"{"a": {"$real": "five"}}"#, "$real can't be read"),
            (#"{"a": {"\u00e9": 1, "e\u0301": 2}}"#, "another spelling"),
            ("", "empty"), ("{\"a\": \"\u{1}\"}", "control character"),
        ]
    )
    func faults(text: String, reason: String) throws {
        let store = MemoryDefaults(["kept": 1])
        let error = expectError(.importUnreadable) {
            try store.importJSON(Data(text.utf8), conflicts: .replaceAll)
        }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        #expect(store.storedKeys() == ["kept"])
    }

    @Test("with a key that no store has, or a value that is mandatory, is refused as a whole")
    func refusals() throws {
        let store = MemoryDefaults(mandatory: [.values(["fixed": 1], name: "policy")])
        expectError(.invalidKey) { try store.importJSON(Data(#"{"a": 1, "": 2}"#.utf8)) }
        expectError(.mandatory) { try store.importJSON(Data(#"{"a": 1, "fixed": 2}"#.utf8)) }
        let deep = String(repeating: "[", count: 257) + String(repeating: "]", count: 257)
        expectError(.unsupportedValue) { try store.importJSON(Data("{\"a\": \(deep)}".utf8)) }
        #expect(store.storedKeys() == [])
    }

    @Test("is notified once a key, after the transaction")
    func notifications() throws {
        let store = MemoryDefaults()
        let seen = Locked<[Set<String>?]>([])
        let observation = store.observeChanges { keys in seen.withLock { $0.append(keys) } }
        try store.importJSON(Data(#"{"a": 1, "b": 2}"#.utf8))
        observation.cancel()
        #expect(seen.withLock { $0 } == [["a", "b"]])
    }
}
