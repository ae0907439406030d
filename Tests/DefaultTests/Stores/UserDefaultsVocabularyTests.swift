import Default
import Foundation
import Testing

/// The stores of this library that have the method names of `UserDefaults`.
enum VocabularyKind: CaseIterable, Sendable {
    case memory
    case file

    func withStore(_ test: (any UserDefaultsVocabulary) throws -> Void) throws {
        switch self {
        case .memory:
            try test(MemoryDefaults())
        case .file:
            try withTemporaryDirectory { directory in
                try test(FileDefaults(url: directory.appending(path: "suite.defaults")))
            }
        }
    }
}

/// The results of the typed getters for a value.
struct Conversion: Sendable, CustomTestStringConvertible {
    let stored: PropertyListValue
    var string: String?
    var integer = 0
    var double = 0.0
    var bool = false

    var testDescription: String { "\(stored)" }

    static let all = [
        Conversion(stored: .string("red"), string: "red"),
        Conversion(stored: .string(" 42 "), string: " 42 ", integer: 42, double: 42, bool: true),
        Conversion(stored: .string("-7.9"), string: "-7.9", integer: -7, double: -7.9, bool: true),
        Conversion(stored: .string("YES"), string: "YES", bool: true),
        Conversion(stored: .string("text"), string: "text", bool: true),
        Conversion(stored: .string("NO"), string: "NO"),
        Conversion(stored: .boolean(true), string: "1", integer: 1, double: 1, bool: true),
        Conversion(stored: .boolean(false), string: "0"),
        Conversion(stored: .integer(-5), string: "-5", integer: -5, double: -5, bool: true),
        Conversion(stored: .integer(.max), string: "9223372036854775807", integer: .max, double: 0x1p63, bool: true),
        Conversion(stored: .integer(0), string: "0"),
        Conversion(stored: .unsigned(.max), string: "18446744073709551615", integer: .max, double: 0x1p64, bool: true),
        Conversion(stored: .real(-3.99), string: "-3.99", integer: -3, double: -3.99, bool: true),
        Conversion(stored: .real(0.4), string: "0.4", integer: 0, double: 0.4, bool: true),
        Conversion(stored: .real(1e300), string: "1e+300", integer: .max, double: 1e300, bool: true),
        Conversion(
            stored: .real(Double(Float(12.34))),
            string: "12.34",
            integer: 12,
            double: Double(Float(12.34)),
            bool: true
        ),
        Conversion(stored: .real(Double(Float(-0.1))), string: "-0.1", double: Double(Float(-0.1)), bool: true),
        Conversion(stored: .real(12.34), string: "12.34", integer: 12, double: 12.34, bool: true),
        Conversion(stored: .real(0.1 + 0.2), string: "0.30000000000000004", double: 0.1 + 0.2, bool: true),
        Conversion(stored: .real(0x1p-20), string: "9.5367431640625e-07", double: 0x1p-20, bool: true),
        Conversion(
            stored: .real(0x1p53),
            string: NSNumber(value: 0x1p53).stringValue,
            integer: 1 << 53,
            double: 0x1p53,
            bool: true
        ),
        Conversion(stored: .real(-.infinity), string: "-inf", integer: .min, double: -.infinity, bool: true),
        Conversion(stored: .data(Data([1]))),
        Conversion(stored: .date(Date(timeIntervalSinceReferenceDate: 1))),
        Conversion(stored: .array([.integer(1)])),
        Conversion(stored: .dictionary(["a": .integer(1)])),
    ]
}

@Suite("The vocabulary of UserDefaults")
struct UserDefaultsVocabularyTests {
    @Test("converts numbers and strings, and nothing else", arguments: Conversion.all, VocabularyKind.allCases)
    func conversions(conversion: Conversion, kind: VocabularyKind) throws {
        try kind.withStore { store in
            try store.setStoredValue(conversion.stored, forKey: "k")
            #expect(store.string(forKey: "k") == conversion.string)
            #expect(store.integer(forKey: "k") == conversion.integer)
            #expect(store.double(forKey: "k") == conversion.double)
            #expect(store.float(forKey: "k") == Float(conversion.double))
            #expect(store.bool(forKey: "k") == conversion.bool)
        }
    }

    @Test("has nothing, zero and false for what is not there", arguments: VocabularyKind.allCases)
    func absence(kind: VocabularyKind) throws {
        try kind.withStore { store in
            for key in ["absent", "", "a\0b"] {
                #expect(store.object(forKey: key) == nil)
                #expect(store.string(forKey: key) == nil)
                #expect(store.data(forKey: key) == nil)
                #expect(store.array(forKey: key) == nil)
                #expect(store.stringArray(forKey: key) == nil)
                #expect(store.dictionary(forKey: key) == nil)
                #expect(store.url(forKey: key) == nil)
                #expect(store.integer(forKey: key) == 0)
                #expect(store.double(forKey: key) == 0)
                #expect(store.float(forKey: key) == 0)
                #expect(!store.bool(forKey: key))
            }
        }
    }

    @Test("gives objects of Swift's own types", arguments: VocabularyKind.allCases)
    func objects(kind: VocabularyKind) throws {
        try kind.withStore { store in
            try store.set(["a": [1, UInt.max, true, 0.5] as [Any]] as [String: Any], forKey: "k")
            let dictionary = try #require(store.object(forKey: "k") as? [String: Any])
            let array = try #require(dictionary["a"] as? [Any])
            #expect(array.map { "\(type(of: $0))" } == ["Int", "UInt", "Bool", "Double"])
            #expect(store.dictionary(forKey: "k")?.keys.first == "a")
            #expect(store.array(forKey: "k") == nil)
            #expect(type(of: try #require(store.object(forKey: "k"))) == [String: Any].self)
        }
    }

    @Test("gives collections and data only where they are stored", arguments: VocabularyKind.allCases)
    func collections(kind: VocabularyKind) throws {
        try kind.withStore { store in
            try store.set(["a", "b"], forKey: "strings")
            try store.set(["a", 1] as [Any], forKey: "mixed")
            try store.set(Data([1]), forKey: "data")
            try store.set("a", forKey: "string")
            #expect(store.stringArray(forKey: "strings") == ["a", "b"])
            #expect(store.stringArray(forKey: "mixed") == nil)
            #expect(store.array(forKey: "mixed")?.count == 2)
            #expect(store.data(forKey: "data") == Data([1]))
            #expect(store.data(forKey: "string") == nil)
            #expect(store.dictionary(forKey: "strings") == nil)
        }
    }

    @Test("returns URLs as they were set, and a path as a file URL", arguments: VocabularyKind.allCases)
    func urls(kind: VocabularyKind) throws {
        try kind.withStore { store in
            for string in ["https://example.com/a%20b?c=d#e", "mailto:a@example.com", "file:///tmp/a%20b"] {
                let url = try #require(URL(string: string))
                try store.set(url, forKey: "u")
                #expect(store.url(forKey: "u") == url)
            }
            let object = try #require(NSURL(string: "https://example.com/a"))
            try store.set(object, forKey: "u")
            #expect(store.url(forKey: "u") == object as URL)
            Defaults(suite: store)["u"] = object
            #expect(store.string(forKey: "u") == "https://example.com/a")
            try store.register(defaults: ["registered": object])
            #expect(store.url(forKey: "registered") == object as URL)
            try store.set("/tmp/a b", forKey: "u")
            #expect(store.url(forKey: "u") == URL(filePath: "/tmp/a b"))
            try store.set("~/a", forKey: "u")
            #expect(store.url(forKey: "u")?.path == NSString("~/a").expandingTildeInPath)
            // The slash at the end is removed with the tilde.
            let home = NSString("~").expandingTildeInPath
            for (path, expected) in [
                ("~/no such folder/", "file://\(home)/no%20such%20folder"),
                ("~/no such folder/a/", "file://\(home)/no%20such%20folder/a"),
                ("/no such folder/a/", "file:///no%20such%20folder/a/"),
                ("/no such folder", "file:///no%20such%20folder"),
            ] {
                try store.set(path, forKey: "u")
                #expect(store.url(forKey: "u")?.absoluteString == expected)
            }
            try store.set(1, forKey: "u")
            #expect(store.url(forKey: "u") == nil)
        }
    }

    @Test("takes values of any width", arguments: VocabularyKind.allCases)
    func setters(kind: VocabularyKind) throws {
        let objects: [(Any, PropertyListValue)] = [
            (Int8(-5), .integer(-5)), (UInt8(200), .integer(200)), (UInt(5), .integer(5)),
            (UInt64(1) << 63, .unsigned(1 << 63)), (Float(0.5), .real(0.5)), (Optional("held") as Any, .string("held")),
            (["a", 1, true] as [Any], .array([.string("a"), .integer(1), .boolean(true)])),
        ]
        try kind.withStore { store in
            for (object, value) in objects {
                try store.set(object, forKey: "k")
                #expect(store.storedValue(forKey: "k") == value)
            }
            let identifier = try #require(UUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D"))
            try store.set(identifier as Any, forKey: "k")
            #expect(store.string(forKey: "k") == "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D")
            try store.set((1..<3) as Any, forKey: "k")
            #expect(store.storedValue(forKey: "k") == .array([.integer(1), .integer(3)]))
            try store.set(Float(0.1), forKey: "k")
            #expect(store.float(forKey: "k") == 0.1)
            try store.set(UInt.max, forKey: "k")
            #expect(store.storedValue(forKey: "k") == .unsigned(.max))
        }
    }

    #if Foundation
    @Test("takes Foundation's classes", arguments: VocabularyKind.allCases)
    func foundationObjects(kind: VocabularyKind) throws {
        let objects: [(Any, PropertyListValue)] = [
            (NSNumber(value: true), .boolean(true)), (NSNumber(value: 1), .integer(1)),
            (NSNumber(value: 1.0), .real(1)),
            (NSString("text"), .string("text")), (NSData(data: Data([1])), .data(Data([1]))),
            (NSArray(array: [1, true]), .array([.integer(1), .boolean(true)])),
            (NSDictionary(dictionary: ["a": 0.5]), .dictionary(["a": .real(0.5)])),
        ]
        try kind.withStore { store in
            for (object, value) in objects {
                try store.set(object, forKey: "k")
                #expect(store.storedValue(forKey: "k") == value)
            }
            let array = NSMutableArray(array: [1])
            try store.set(array, forKey: "k")
            array.add(2)
            #expect(store.storedValue(forKey: "k") == .array([.integer(1)]))
        }
    }
    #else
    @Test("refuses numbers of Foundation, whose type can't be told, and stores nothing of them")
    func foundationNumbers() throws {
        let store = MemoryDefaults()
        let objects: [Any] = [NSNumber(value: true), NSNumber(value: 1), NSNumber(value: 0.5), NSArray(array: [1])]
        for object in objects {
            expectError(.unsupportedValue) { try store.set(object, forKey: "k") }
            expectError(.unsupportedValue) { try store.set(["a": [object]] as Any, forKey: "k") }
        }
        #expect(store.storedKeys() == [])
    }
    #endif

    @Test("refuses what no property list can hold, and says what and where", arguments: VocabularyKind.allCases)
    func refusals(kind: VocabularyKind) throws {
        let objects: [Any] = [
            NSObject(), NSNull(), [1, NSObject()] as [Any], [1: "a"] as [Int: String], Optional<Int>.none as Any,
            (1, 2),
        ]
        try kind.withStore { store in
            try store.set("before", forKey: "k")
            for object in objects {
                let error = expectError(.unsupportedValue) { try store.set(object, forKey: "k") }
                #expect(error?.key == "k")
                #expect(error?.store == store.storeDescription)
            }
            let error = expectError(.unsupportedValue) {
                try store.set(["a": [1, NSNull()] as [Any]] as [String: Any], forKey: "k")
            }
            #expect(error?.description.contains("NSNull") == true)
            #expect(error?.description.contains(".a[1]") == true)
            #expect(store.string(forKey: "k") == "before")
            for key in keysThatNoStoreTakes {
                expectError(.invalidKey) { try store.set(1, forKey: key) }
                expectError(.invalidKey) { try store.set(1 as Any, forKey: key) }
                expectError(.invalidKey) { try store.removeObject(forKey: key) }
            }
        }
    }

    @Test("neither converts what is registered nor quarantines it", arguments: VocabularyKind.allCases)
    func registeredIsNotStored(kind: VocabularyKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let date = Defaults.Key<Date>("date", default: .distantPast)
            let list = Defaults.Key<[Int]>("list")
            try store.register(defaults: ["date": 5, "list": "text"])
            #expect(try defaults.load(date) == Date(timeIntervalSinceReferenceDate: 5))
            #expect(try defaults.convertForms(of: date, list) == [])
            #expect(store.storedKeys() == [])
            try defaults.save([1], for: list)
            #expect(try defaults.quarantined(list).isEmpty)
            #expect(store.storedKeys() == ["list"])
        }
    }

    @Test("removes by removeObject and by nil, and what is registered shows again", arguments: VocabularyKind.allCases)
    func removal(kind: VocabularyKind) throws {
        try kind.withStore { store in
            try store.register(defaults: ["k": "registered"])
            try store.set("stored", forKey: "k")
            try store.removeObject(forKey: "k")
            try store.removeObject(forKey: "k")
            #expect(store.string(forKey: "k") == "registered")
            try store.set("stored", forKey: "k")
            try store.set(nil as String?, forKey: "k")
            #expect(store.string(forKey: "k") == "registered")
            try store.set("stored", forKey: "k")
            try store.set(nil as Any?, forKey: "k")
            #expect(store.storedKeys() == [])
        }
    }

    @Test("registers values that stored ones hide, later ones over earlier ones", arguments: VocabularyKind.allCases)
    func registration(kind: VocabularyKind) throws {
        try kind.withStore { store in
            try store.set("stored", forKey: "a")
            try store.register(defaults: ["a": "registered", "b": 1, "c": [1, 2]])
            try store.register(defaults: ["b": 2])
            #expect(store.string(forKey: "a") == "stored")
            #expect(store.integer(forKey: "b") == 2)
            #expect(store.array(forKey: "c")?.count == 2)
            #expect(store.storedKeys() == ["a"])
        }
    }

    @Test("registers nothing when one of the values or keys is not valid", arguments: VocabularyKind.allCases)
    func refusedRegistration(kind: VocabularyKind) throws {
        try kind.withStore { store in
            let error = expectError(.unsupportedValue) { try store.register(defaults: ["a": 1, "b": NSNull()]) }
            #expect(error?.key == "b" && error?.store == store.storeDescription)
            expectError(.invalidKey) { try store.register(defaults: ["a": 1, "": 2]) }
            let tooDeep = (0..<257).reduce(PropertyListValue.integer(1)) { inner, _ in .array([inner]) }
            let depth = expectError(.unsupportedValue) { try store.register(defaults: ["a": 1, "b": tooDeep]) }
            #expect(depth?.key == "b" && depth?.store == store.storeDescription)
            #expect(store.object(forKey: "a") == nil)
            #expect(store.dictionaryRepresentation().isEmpty)
        }
    }

    @Test("represents stored and registered values as a dictionary", arguments: VocabularyKind.allCases)
    func dictionaryRepresentation(kind: VocabularyKind) throws {
        try kind.withStore { store in
            try store.register(defaults: ["registered": 1, "both": 1])
            try store.set(2, forKey: "both")
            try store.set(true, forKey: "stored")
            let all = store.dictionaryRepresentation()
            #expect(all.keys.sorted() == ["both", "registered", "stored"])
            #expect(all["registered"] as? Int == 1)
            #expect(all["both"] as? Int == 2)
            #expect(all["stored"] as? Bool == true)
            #expect(try PropertyListValue(object: #require(all["stored"])) == .boolean(true))
            try store.removeObject(forKey: "both")
            #expect(store.dictionaryRepresentation()["both"] as? Int == 1)
            // Both are keys of the store, although they are equal as strings.
            for key in ["\u{E9}", "e\u{301}"] { try store.set(key, forKey: key) }
            #expect(store.storedKeys().count == 3)
            #expect(store.dictionaryRepresentation().count == 4)
        }
    }

    @Test("removes all that is stored, and nothing that is registered", arguments: VocabularyKind.allCases)
    func removingAll(kind: VocabularyKind) throws {
        try kind.withStore { store in
            try store.removeAll()
            try store.register(defaults: ["a": 1])
            for key in ["a", "b", "\u{E9}", "e\u{301}"] { try store.set(2, forKey: key) }
            try store.removeAll()
            #expect(store.storedKeys() == [] && store.integer(forKey: "a") == 1)
            #expect(store.dictionaryRepresentation() as? [String: Int] == ["a": 1])
        }
    }

    @Test("synchronizes, and says that it has", arguments: VocabularyKind.allCases)
    func synchronization(kind: VocabularyKind) throws {
        try kind.withStore { store in
            #expect(try store.synchronize())
            try store.set("text", forKey: "k")
            #expect(try store.synchronize())
            #expect(store.string(forKey: "k") == "text")
        }
    }
}
