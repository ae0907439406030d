import Foundation
import Testing

@testable import Default

@Suite("A store's details")
struct StoreDetailTests {
    @Test("in memory are its own: values, registered values, description")
    func memory() throws {
        let one = MemoryDefaults()
        let other = MemoryDefaults()
        #expect(one.storeDescription != other.storeDescription)
        try one.register(defaults: ["a": 1, "b": 1])
        try one.register(defaults: ["b": 2])
        try one.set(3, forKey: "a")
        #expect(one.dictionaryRepresentation() as? [String: Int] == ["a": 3, "b": 2])
        #expect(one.integer(forKey: "a") == 3)
        #expect(one.storedKeys() == ["a"])
        #expect(other.dictionaryRepresentation().isEmpty)
        try one.removeObject(forKey: "a")
        #expect(one.integer(forKey: "a") == 1)
        expectError(.invalidKey) { try one.register(defaults: ["c": 1, "": 1]) }
        #expect(one.object(forKey: "c") == nil)
        #expect(one.double(forKey: "c") == 0)
        #expect(expectError(.invalidKey) { try one.set(1, forKey: "\0") }?.key == "\0")
    }

    @Test("of a UserDefaults include the keys as they were given, whatever Foundation makes of them")
    func foundationKeys() throws {
        try withTemporarySuite { name in
            let suite: any DefaultsStore = try #require(UserDefaults(suiteName: name))
            let keys = ["plain", "a b%20", "\u{E9}", "e\u{301}", "\u{E000}", "\u{E000}a%20", "\u{FB01}"]
            for (number, key) in keys.enumerated() {
                try suite.setStoredValue(.integer(Int64(number)), forKey: key)
            }
            let listed = Set(suite.storedKeys().map { Data($0.utf8) })
            for (number, key) in keys.enumerated() {
                #expect(suite.storedValue(forKey: key) == .integer(Int64(number)), "\(key.debugDescription)")
                #expect(listed.contains(Data(key.utf8)), "\(key.debugDescription)")
            }
            for key in keysThatNoStoreTakes {
                expectError(.invalidKey) { try suite.setStoredValue(.integer(1), forKey: key) }
            }
        }
    }

    @Test("of a UserDefaults include the type that was stored, where Foundation takes two for equal")
    func foundationEquality() throws {
        try withTemporarySuite { name in
            let suite: any DefaultsStore = try #require(UserDefaults(suiteName: name))
            for value in [PropertyListValue.integer(1), .real(1), .boolean(true), .integer(1)] {
                try suite.setStoredValue(value, forKey: "k")
                #expect(suite.storedValue(forKey: "k") == value)
            }
        }
    }

    @Test("of sums include what overflows and what is too large for whole numbers")
    func sums() {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        defaults["k"] = 1
        defaults["k"] += 1e19
        #expect(store.storedValue(forKey: "k") == .unsigned(10_000_000_000_000_000_001))
        expectReport(.arithmeticOverflow) { defaults["k"] += 0x1p64 }
        #expect(store.storedValue(forKey: "k") == .unsigned(10_000_000_000_000_000_001))
        defaults["k"] = 1
        defaults["k"] += 0x1p100
        #expect(store.storedValue(forKey: "k") == .real(0x1p100 + 1))
        defaults["k"] = 2
        defaults["k"] += 0x1p63
        #expect(store.storedValue(forKey: "k") == .unsigned(1 << 63 + 2))
        defaults["k"] = -1
        defaults["k"] += 0x1p63
        #expect(store.storedValue(forKey: "k") == .integer(.max))
        defaults["k"] = 2
        defaults["k"] -= 0.5
        #expect(store.storedValue(forKey: "k") == .real(1.5))
        defaults["k"] = false
        defaults["k"] += 1
        #expect(store.storedValue(forKey: "k") == .integer(1))
        defaults["k"] = -1
        defaults["k"] -= Int.min
        #expect(store.storedValue(forKey: "k") == .integer(.max))
        defaults["k"] = 1
        defaults["k"] -= Int.max
        #expect(store.storedValue(forKey: "k") == .integer(Int64(-Int.max + 1)))
    }

    @Test("of the place of a suite are a checked name or an absolute path")
    func places() throws {
        for name in ["", ".", "..", "a/b", "/", "a\0", String(repeating: "n", count: 201)] {
            expectError(.invalidSuiteName) { try SuiteLocation.named(name).path() }
        }
        for name in ["a", "...", "a b", String(repeating: "n", count: 200)] {
            #expect(try SuiteLocation.named(name).path().hasSuffix("/\(name).defaults"))
        }
        for url in ["https://example.com/a", "relative"] {
            let location = SuiteLocation.directory(try #require(URL(string: url)))
            expectError(.storeUnavailable) { try location.path() }
        }
        #expect(try SuiteLocation.directory(URL(filePath: "/a/../b/./c")).path() == "/b/c")
    }

    @Test("of a digest are the published ones of its algorithm, in sixteen digits")
    func digest() {
        // The test vectors of the authors' page for FNV-1a, 64 bits.
        #expect(ContentDigest(Data()).text == "cbf29ce484222325")
        #expect(ContentDigest(Data("a".utf8)).text == "af63dc4c8601ec8c")
        #expect(ContentDigest(Data("foobar".utf8)).text == "85944171f73967e8")
        #expect(ContentDigest(bits: 0xAB).text == "00000000000000ab")
    }

    @Test("of a coder are sorted keys and slashes as they are")
    func json() throws {
        let data = try DefaultsCoder.json.encode(["b": "a/b", "a": "", "c": "x"])
        #expect(String(decoding: data, as: UTF8.self) == #"{"a":"","b":"a/b","c":"x"}"#)
        #expect(DefaultsCoder.json.isBuiltIn && DefaultsCoder.propertyList.isBuiltIn)
        #expect(!DefaultsCoder(encoder: JSONEncoder(), decoder: JSONDecoder()).isBuiltIn)
    }

    @Test("of an index include bytes only where they are the same ones")
    func storedBytes() throws {
        let data = StoredValue(PropertyListValue.data(Data([1, 2])))
        let text = StoredValue(PropertyListValue.string("ab"))
        func hasBytes(_ value: StoredValue, _ tag: PropertyListValue.Tag, _ bytes: [UInt8]) -> Bool {
            bytes.withUnsafeBytes { value.hasBytes(tag.rawValue, $0) }
        }
        #expect(hasBytes(data, .data, [1, 2]))
        #expect(!hasBytes(data, .data, [1, 3]))
        #expect(!hasBytes(data, .data, [1]))
        #expect(!hasBytes(data, .string, [1, 2]))
        #expect(hasBytes(text, .string, [0x61, 0x62]))
        #expect(!hasBytes(text, .string, [0x61, 0x63]))
        #expect(!hasBytes(text, .string, [0x61, 0x62, 0x63]))
        #expect(!hasBytes(text, .data, [0x61, 0x62]))
        #expect(data.byteCount == 3)
        #expect(text.byteCount == 3)
        let index = SuiteIndex()
        index.register([StoreKey(unchecked: "k"): .integer(1)])
        index.register([StoreKey(unchecked: "k"): .integer(2)])
        #expect(index.registeredValue(for: StoreKey(unchecked: "k")) == .integer(2))
    }
}

/// A struct whose parts a mirror does not show: it is one pointer's bits, which may be an object's.
private struct Opaque: Hashable {
    private let storage = Storage()

    private final class Storage: Hashable {
        static func == (lhs: Storage, rhs: Storage) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }
}

private struct Empty {}

@Suite("Two values of which not all can be seen")
struct OpaqueValueTests {
    @Test("are interchangeable only where nothing is hidden")
    func opaque() {
        let opaque = Opaque()
        #expect(!ValueSemantics.areInterchangeable(opaque, opaque))
        #expect(!ValueSemantics.areInterchangeable(Set([opaque]), Set([opaque])))
        #expect(!ValueSemantics.areInterchangeable([opaque: 1], [opaque: 1]))
        #expect(ValueSemantics.areInterchangeable(Empty(), Empty()))
        #expect(ValueSemantics.areInterchangeable([Empty()], [Empty()]))
        // Their mirrors have no children, and they hold something.
        let pointer = UnsafeRawPointer(bitPattern: 8)!
        #expect(!ValueSemantics.areInterchangeable(pointer, pointer))
        #expect(!ValueSemantics.areInterchangeable(ObjectIdentifier(Int.self), ObjectIdentifier(Int.self)))
        #expect(!ValueSemantics.areInterchangeable([1, 2] as [Any], [1] as [Any]))
        #expect(!ValueSemantics.areInterchangeable([[1]], [[1], [2]]))
        #expect(!ValueSemantics.areInterchangeable(["a": [1]], ["a": [1], "b": [2]]))
        #expect(!ValueSemantics.areInterchangeable(["a": [1], "b": [2]], ["a": [1]]))
        #expect(!ValueSemantics.areInterchangeable(Int?.none as Any, Int?.some(1) as Any))
        #expect(!ValueSemantics.areInterchangeable(1, 1.0))
        #expect(!ValueSemantics.areInterchangeable(UInt8(1), 1))
    }
}
