import Default
import Foundation
import Testing

@Suite("Every store")
struct StoreConformanceTests {
    @Test("gives back each property-list value as it was set", arguments: StoreKind.allCases)
    func roundTrip(kind: StoreKind) throws {
        let date = Date(timeIntervalSinceReferenceDate: 123_456_789)
        let values: [(String, Any)] = [
            ("string", "red"), ("empty", ""), ("emoji", "🎛 é e\u{301}"),
            ("true", true), ("false", false),
            ("zero", 0), ("one", 1), ("smallest", Int.min), ("largest", Int.max), ("unsigned", UInt.max),
            ("half", 0.5), ("tenth", 0.1), ("whole", 2.0),
            ("data", Data([0, 1, 255])), ("no data", Data()), ("date", date),
            ("array", [1, "two", [3.5]] as [Any]), ("no array", [Any]()),
            ("dictionary", ["a": 1, "b": ["c": [true, Data([9])]] as [String: Any]] as [String: Any]),
        ]
        try kind.withStore { store in
            for (key, value) in values {
                try store.set(value, forKey: key)
            }
            for (key, value) in values {
                let stored = try #require(store.object(forKey: key), "\(key)")
                #expect(type(of: stored) == type(of: value), "\(key)")
                #expect(try PropertyListValue(stored) == PropertyListValue(value), "\(key)")
            }
            let all = store.dictionaryRepresentation()
            #expect(values.allSatisfy { all[$0.0] != nil })
            #expect(try store.synchronize())
        }
    }

    @Test("gives Data as data, and nothing else as data", arguments: StoreKind.allCases)
    func dataForKey(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.set(Data([1, 2, 3]), forKey: "data")
            try store.set("text", forKey: "text")
            #expect(store.data(forKey: "data") == Data([1, 2, 3]))
            #expect(store.data(forKey: "text") == nil)
            #expect(store.data(forKey: "absent") == nil)
            #expect(store.object(forKey: "absent") == nil)
        }
    }

    @Test(
        "replaces a value by one of another type, and removes with nil and removeObject",
        arguments: StoreKind.allCases
    )
    func replaceAndRemove(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.set("text", forKey: "a")
            try store.set(5, forKey: "a")
            #expect(store.object(forKey: "a") as? Int == 5)
            try store.set(nil, forKey: "a")
            #expect(store.object(forKey: "a") == nil)
            try store.set(6, forKey: "a")
            try store.removeObject(forKey: "a")
            try store.removeObject(forKey: "never stored")
            #expect(store.object(forKey: "a") == nil)
            #expect(store.dictionaryRepresentation()["a"] == nil)
        }
    }

    @Test("keeps keys apart that differ in any byte", arguments: StoreKind.allCases)
    func keys(kind: StoreKind) throws {
        let keys = [
            "a", "a.b", "a.b.c", "a@b", "@a", "a b", " a", "a ", "🎛", "👩‍👩‍👧", "👩‍👩‍👦", "\u{E9}", "e\u{301}", "\u{1E9B}\u{323}",
            "\u{1E9B}\u{323}\u{301}", "\u{E000}e%CC%81", "A", "ä", "a\u{308}", "\n", "\t", "a/b", "../a", "%", "%41",
            String(repeating: "k", count: 65_535),
        ]
        try kind.withStore { store in
            for (index, key) in keys.enumerated() {
                try store.set(index, forKey: key)
            }
            for (index, key) in keys.enumerated() {
                #expect(store.object(forKey: key) as? Int == index, "\(key.debugDescription)")
            }
            for key in keys.dropFirst() {
                try store.removeObject(forKey: key)
            }
            #expect(store.object(forKey: "a") as? Int == 0)
        }
    }

    @Test("refuses keys that are empty, hold NUL or are too long, and stores nothing", arguments: StoreKind.allCases)
    func invalidKeys(kind: StoreKind) throws {
        try kind.withStore { store in
            for key in keysThatNoStoreTakes {
                expectError(.invalidKey) { try store.set(1, forKey: key) }
                expectError(.invalidKey) { try store.removeObject(forKey: key) }
                #expect(store.object(forKey: key) == nil)
            }
        }
    }

    @Test("refuses what is no property-list value, and keeps what was there", arguments: StoreKind.allCases)
    func unsupportedValues(kind: StoreKind) throws {
        let tooDeep = (0..<1_000).reduce(1 as Any) { inner, _ in [inner] }
        let unsupported: [Any] = [
            NSObject(), NSNull(), URL(filePath: "/"), Optional<Int>.none as Any, [1, NSObject()] as [Any],
            ["a": ["b": NSNull()]] as [String: Any], [1: "a"] as [Int: String], tooDeep, StoreKind.memory, (1, 2),
        ]
        try kind.withStore { store in
            try store.set("before", forKey: "k")
            for object in unsupported {
                expectError(.unsupportedValue, "\(type(of: object))") { try store.set(object, forKey: "k") }
                #expect(store.object(forKey: "k") as? String == "before")
            }
        }
    }

    @Test("says where in a value the unsupported part is", arguments: StoreKind.allCases)
    func unsupportedPath(kind: StoreKind) throws {
        try kind.withStore { store in
            let error = expectError(.unsupportedValue) {
                try store.set(["a": [1, NSNull()]] as [String: Any], forKey: "k")
            }
            #expect(error?.description.contains("NSNull") == true)
            #expect(error?.description.contains(".a[1]") == true)
            #expect(error?.store == store.storeDescription)
        }
    }

    @Test("copies a mutable object as it is set", arguments: StoreKind.allCases)
    func mutableObjects(kind: StoreKind) throws {
        try kind.withStore { store in
            let array = NSMutableArray(array: [1])
            try store.set(array, forKey: "k")
            array.add(2)
            #expect(store.object(forKey: "k") as? [Int] == [1])
        }
    }

    @Test("lets exclusive access nest, and lets go of it when the body throws", arguments: StoreKind.allCases)
    func exclusiveAccess(kind: StoreKind) throws {
        struct Stop: Error {}
        try kind.withStore { store in
            let result = try store.withExclusiveAccess {
                try store.withExclusiveAccess { try store.set(1, forKey: "k") }
                return store.object(forKey: "k") as? Int
            }
            #expect(result == 1)
            #expect(throws: Stop.self) { try store.withExclusiveAccess { throw Stop() } }
            try store.set(2, forKey: "k")
            #expect(store.object(forKey: "k") as? Int == 2)
        }
    }

    @Test(
        "makes the changes of a transaction, and where it has transactions takes back those of a failed one",
        arguments: StoreKind.allCases
    )
    func transactions(kind: StoreKind) throws {
        struct Stop: Error {}
        try kind.withStore { store in
            try store.transaction {
                try store.set(1, forKey: "a")
                try store.set(1, forKey: "b")
            }
            #expect(store.object(forKey: "a") as? Int == 1)
            #expect(store.object(forKey: "b") as? Int == 1)
            #expect(throws: Stop.self) {
                try store.transaction {
                    try store.set(2, forKey: "a")
                    throw Stop()
                }
            }
            #expect(store.object(forKey: "a") as? Int == (kind == .userDefaults ? 2 : 1))
        }
    }

    @Test("is described as itself and no other", arguments: StoreKind.allCases)
    func descriptions(kind: StoreKind) throws {
        try kind.withStore { first in
            try kind.withStore { second in
                #expect(first.storeDescription != second.storeDescription)
            }
        }
    }
}
