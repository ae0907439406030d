import Foundation
import Testing

@testable import Default

@Suite("A store's details")
struct StoreDetailTests {
    @Test("in memory are its own: values, registered values, description")
    func memory() throws {
        let one = MemoryDefaults()
        let other = MemoryDefaults()
        let numbers = [one, other].map { store in
            store.storeDescription.split(separator: "MemoryDefaults #").compactMap { Int($0) }
        }
        #expect(numbers.allSatisfy { $0.count == 1 } && numbers[0][0] < numbers[1][0])
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

    @Test("of a key that can't be used are in the error: why, and no more than its beginning")
    func keyFaults() {
        let long = String(repeating: "k", count: 65_536)
        let faults = [
            ("", #"The key "" can't be used: it is empty. Nothing was read or stored."#),
            ("a\0b", #"The key "a\0b" can't be used: it contains a NUL character. Nothing was read or stored."#),
            (
                long,
                "The key \"\(long.prefix(64))…\" can't be used: it has 65536 bytes, more than 65535. "
                    + "Nothing was read or stored."
            ),
        ]
        for (key, description) in faults {
            let error = expectError(.invalidKey) { try StoreKey(key) }
            #expect(error?.key == key && error?.description == description)
        }
    }

    @Test("of a part of a suite are the keys in the suite, which stay as they are across versions")
    func suiteKeys() throws {
        let keys = [
            ("", "k", "k"), ("audio.", "volume", "audio.volume"), ("a", "b", "a%.b"), ("a.b.", "c", "a%2Eb%2E%.c"),
            ("a.b", "c", "a%2Eb%.c"), ("100%.", "k", "100%25%2E%.k"), (".", "k", ".k"), ("..", "k", "%2E%2E%.k"),
            ("é.", "", "é."),
        ]
        for (prefix, key, suiteKey) in keys {
            let storage = try #require(PersistentStorage(keyPrefix: prefix))
            #expect(storage.suiteKey(forKey: key) == suiteKey)
            #expect(storage.keyPrefix == prefix && storage.suiteName == nil)
        }
    }

    #if !canImport(Darwin)
    @Test("of Foundation's keys are their names, which stay as they are across versions")
    func foundationNames() {
        #if Foundation
        let names = [
            ("plain %41", "plain %41"), ("\u{E9}", "\u{E9}"), ("e\u{301}", "\u{E000}e%CC%81"),
            ("\u{E000}", "\u{E000}%EE%80%80"), ("\u{E000}a%20", "\u{E000}%EE%80%80a%2520"),
        ]
        for (key, name) in names {
            #expect(Data(FoundationKey.name(forKey: key).utf8) == Data(name.utf8), "\(key.debugDescription)")
            #expect(Data(FoundationKey.key(forName: name).utf8) == Data(key.utf8), "\(key.debugDescription)")
        }
        #endif
        // Names that only other programs give.
        for name in ["%41", "\u{E000}%", "\u{E000}a%G1", "\u{E000}%FF", "\u{E001}%41"] {
            #expect(Data(FoundationKey.key(forName: name).utf8) == Data(name.utf8), "\(name.debugDescription)")
        }
    }
    #endif

    #if Foundation
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
    #endif

    @Test("of an error that a store throws of its own include the key, in UserDefaults's words too")
    func vocabulary() {
        let store = Refusing()
        let bodies: [(key: String?, body: () throws -> Void)] = [
            ("k", { try store.set(1, forKey: "k") }), ("k", { try store.set(1 as Any, forKey: "k") }),
            ("k", { try store.removeObject(forKey: "k") }), (nil, { try store.synchronize() }),
        ]
        for (key, body) in bodies {
            let error = #expect(throws: DefaultsError.self) { try body() }
            #expect(error?.key == key)
            #expect(error?.underlyingError is Refusing.Refusal)
        }
        #expect(store.double(forKey: "k") == 0)
    }

    @Test("of keys include which there can be", arguments: StoreKind.allCases)
    func keys(kind: StoreKind) throws {
        try kind.withStore { store in
            for key in keysThatNoStoreTakes {
                expectError(.invalidKey) { try store.setStoredValue(.integer(1), forKey: key) }
                #expect(store.storedValue(forKey: key) == nil)
            }
            #expect(Defaults(suite: store).keys.allSatisfy { !$0.contains("\0") })
        }
    }

    @Test("of a transaction in a transaction include that the outer one decides", arguments: [StoreKind.memory, .file])
    func nestedTransactions(kind: StoreKind) throws {
        struct Stop: Error {}
        /// Whether a transaction was stopped by an error.
        func isStopped(_ body: () throws -> Void) throws -> Bool {
            do {
                try body()
                return false
            } catch is Stop {
                return true
            }
        }
        try kind.withStore { store in
            try store.setStoredValue(.integer(0), forKey: "a")
            let outer = try isStopped {
                try store.transaction {
                    try store.setStoredValue(.integer(1), forKey: "a")
                    try store.transaction {
                        #expect(store.storedValue(forKey: "a") == .integer(1))
                        try store.setStoredValue(.integer(1), forKey: "b")
                    }
                    #expect(store.storedValue(forKey: "b") == .integer(1))
                    #expect(store.storedKeys().sorted() == ["a", "b"])
                    try store.setStoredValue(nil, forKey: "a")
                    #expect(store.storedKeys() == ["b"])
                    throw Stop()
                }
            }
            #expect(outer)
            #expect(store.storedValue(forKey: "a") == .integer(0))
            #expect(store.storedKeys() == ["a"])
            try store.transaction {
                try store.setStoredValue(.integer(2), forKey: "a")
                let inner = try isStopped {
                    try store.transaction {
                        try store.setStoredValue(.integer(3), forKey: "a")
                        throw Stop()
                    }
                }
                #expect(inner)
                #expect(store.storedValue(forKey: "a") == .integer(2))
            }
            #expect(store.storedValue(forKey: "a") == .integer(2))
        }
    }

    @Test("of sums include what overflows and what is too large for whole numbers")
    func sums() {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        defaults["k"] = 1
        defaults["k"] += 1e19
        #expect(store.storedValue(forKey: "k") == .unsigned(10_000_000_000_000_000_001))
        expectReport(.arithmeticOverflow) { defaults["k"] += 1e19 }
        #expect(store.storedValue(forKey: "k") == .unsigned(10_000_000_000_000_000_001))
        // The summand doesn't fit into 64 bits.
        defaults["k"] += 0x1p64
        #expect(store.storedValue(forKey: "k") == .real(0x1p64 + 1e19))
        for (start, summand, sum) in [(1, -0x1p64, -0x1p64 + 1), (-1, -0x1p65, -0x1p65), (5, -0x3p64, -0x3p64)] {
            defaults["k"] = start
            defaults["k"] += summand
            #expect(store.storedValue(forKey: "k") == .real(sum))
        }
        defaults["k"] = Int.min
        expectReport(.arithmeticOverflow) { defaults["k"] -= 1 }
        defaults["k"] += 0x1p63
        #expect(store.storedValue(forKey: "k") == .integer(0))
        defaults["k"] -= 0x1p63
        #expect(store.storedValue(forKey: "k") == .integer(.min))
        defaults["k"] += 1.8446744073709550e19
        #expect(store.storedValue(forKey: "k") == .integer(9_223_372_036_854_773_760))
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
        #expect(try SuiteLocation.directory(URL(filePath: "/../a//b/")).path() == "/a/b")
        #expect(try SuiteLocation.directory(URL(filePath: "/a/..data/.b/.../c")).path() == "/a/..data/.b/.../c")
        let relative = URL(filePath: "../b", relativeTo: URL(filePath: "/a/c/"))
        #expect(try SuiteLocation.directory(relative).path() == "/a/b")
        let withoutBase = try #require(URL(string: "file:b/c"))
        #expect(try SuiteLocation.directory(withoutBase).path() == "b/c")
        // Foundation removes "/private" if the directory also exists without it.
        #expect(try SuiteLocation.directory(URL(filePath: "/private/tmp")).path() == "/private/tmp")
    }

    @Test("of parts of a suite are not the beginnings of others', if their prefixes have combining characters either")
    func prefixes() throws {
        let keys = try ["a.", "a.\u{301}b.", "a", "a%\u{301}", "a%\u{301}.", "a%.", "%", "."].map { prefix in
            try #require(PersistentStorage(keyPrefix: prefix)).suiteKey(forKey: "")
        }
        for (number, key) in keys.enumerated() {
            for (other, otherKey) in keys.enumerated() where other != number {
                #expect(!otherKey.utf8.starts(with: key.utf8), "\(key.debugDescription), \(otherKey.debugDescription)")
            }
        }
    }

    #if !canImport(Darwin)
    @Test("of the place of a suite are the configuration home's, where that is an absolute path")
    func configurationHome() throws {
        try withTemporaryDirectory { home in
            let outcome = try TestHelper.run(["print-places", "\(home.path)/elsewhere", "relative", ""], home: home)
            let expected = ["elsewhere/s.defaults", ".config/s.defaults", ".config/s.defaults"].map {
                "\(home.path)/\($0)\n"
            }
            #expect(outcome.output == expected.joined(), "\(outcome.errors)")
            // The environment of a container whose user has no home.
            let root = try TestHelper.run(["print-places", "/configuration//", "/", ""], home: URL(filePath: "/"))
            #expect(root.output == "/configuration/s.defaults\n/s.defaults\n/.config/s.defaults\n", "\(root.errors)")
        }
    }
    #endif

    @Test("of a digest are the published ones of its algorithm, in sixteen digits")
    func digest() {
        // The test vectors for FNV-1a (64 bits) from its authors' page.
        #expect(ContentDigest(Data()).text == "cbf29ce484222325")
        #expect(ContentDigest(Data("a".utf8)).text == "af63dc4c8601ec8c")
        #expect(ContentDigest(Data("foobar".utf8)).text == "85944171f73967e8")
        #expect(ContentDigest(bits: 0xAB).text == "00000000000000ab")
    }

    @Test("of a coder are sorted keys and slashes as they are")
    func json() throws {
        let data = try DefaultsCoder.json.encode(["b": "a/b", "a": "", "c": "x"])
        #expect(String(decoding: data, as: UTF8.self) == #"{"a":"","b":"a/b","c":"x"}"#)
        #expect(try DefaultsCoder.propertyList.encode(["a": 1]).starts(with: Data("bplist00".utf8)))
        #expect(DefaultsCoder.json.isBuiltIn && DefaultsCoder.propertyList.isBuiltIn)
        #expect(!DefaultsCoder(encoder: JSONEncoder(), decoder: JSONDecoder()).isBuiltIn)
    }

    @Test("of an index include bytes only where they are the same ones")
    func storedBytes() throws {
        let data = StoredValue(PropertyListValue.data(Data([1, 2])))
        let text = StoredValue(PropertyListValue.string("ab"))
        func hasBytes(_ value: StoredValue, _ tag: PropertyListValue.Tag, _ bytes: [UInt8]) -> Bool {
            var isSame = false
            value.withBytes { isSame = $0 == tag.rawValue && $1.elementsEqual(bytes) }
            return isSame
        }
        #expect(hasBytes(data, .data, [1, 2]))
        #expect(!hasBytes(data, .data, [1, 3]))
        #expect(!hasBytes(data, .data, [1]))
        #expect(!hasBytes(data, .data, [1, 2, 3]))
        #expect(!hasBytes(data, .string, [1, 2]))
        #expect(hasBytes(text, .string, [0x61, 0x62]))
        #expect(!hasBytes(text, .string, [0x61, 0x63]))
        #expect(!hasBytes(text, .string, [0x61, 0x62, 0x63]))
        #expect(!hasBytes(text, .data, [0x61, 0x62]))
        #expect(data.byteCount == 3)
        #expect(text.byteCount == 3)
        let state = SuiteState()
        state.register([StoreKey(unchecked: "k"): .integer(1)])
        state.register([StoreKey(unchecked: "k"): .integer(2)])
        #expect(state.registeredValue(for: StoreKey(unchecked: "k")) == .integer(2))
    }
}
