import Default
import Foundation
import Testing

// The forms in which other libraries store values, from their sources and tests, one row each. Existing rows are never
// edited: users have these values.

private enum Theme: String, Codable { case light, dark }
private enum Rank: Int, Codable { case first = 1, second }
/// An enum that is not `Codable`.
private enum Side: String { case left, right }
private struct Options: OptionSet, Codable, Hashable { let rawValue: Int }
private enum Shape: Codable, Hashable { case point, circle(radius: Double) }
private struct Point: Codable, Hashable {
    var x = 1
    var name = "p"
}
private struct Visit: Codable, Hashable { var at: Date }
private struct Saved: DefaultStorable, Equatable { var level = 3 }

/// A type that is stored by its own `Defaults.Bridge`.
private struct User: PropertyListConvertible, Equatable {
    var name: String

    init(name: String) { self.name = name }

    var propertyListValue: PropertyListValue { .dictionary(["name": .string(name)]) }

    init?(propertyListValue: PropertyListValue) {
        guard case .dictionary(let entries) = propertyListValue, case .string(let name)? = entries["name"] else {
            return nil
        }
        self.name = name
    }
}

/// A value as a library stores it.
private struct LibraryForm: Sendable, CustomTestStringConvertible {
    let library: String
    let type: String
    /// The article's words for a form that is not read.
    let unread: String?
    let check: @Sendable (any DefaultsStore) throws -> Void

    var testDescription: String { "\(library): \(type)" }

    /// Makes a row for a form that a key reads; `df` and containers read it too if its type is `Codable`.
    init<Value: Equatable & Sendable>(
        _ library: String,
        _ type: String,
        _ stored: PropertyListValue,
        _ key: Defaults.Key<Value>,
        _ value: Value
    ) {
        (self.library, self.type, unread) = (library, type, nil)
        check = { store in
            try store.setStoredValue(stored, forKey: key.storedName)
            let defaults = Defaults(suite: store)
            try expectEvents([]) {
                var values: [Any?] = [defaults[key], try defaults.load(key)]
                if let coded = codedType(of: Value.self), Value.self != Data.self {
                    values += try Self.others(coded, key.storedName, in: store)
                }
                #expect(values.allSatisfy { $0 as? Value == value }, "\(values)")
            }
            #expect(key.defaultValue != value)
            #expect(store.storedValue(forKey: key.storedName) == stored)
            // The write loses nothing, so nothing is quarantined.
            try expectEvents([]) { try defaults.save(value, for: key) }
            #expect(try defaults.quarantined(key).isEmpty)
            #expect(try defaults.load(key) == value)
        }
    }

    /// Makes a row for a form that is not read: the default is read instead, and the next write quarantines the value.
    init<Value: Equatable & Sendable>(
        _ library: String,
        _ type: String,
        _ stored: PropertyListValue,
        _ key: Defaults.Key<Value>,
        unread: String
    ) {
        (self.library, self.type, self.unread) = (library, type, unread)
        check = { store in
            try store.setStoredValue(stored, forKey: key.storedName)
            let defaults = Defaults(suite: store)
            expectEvents([.readFailed]) { #expect(defaults[key] == key.defaultValue) }
            expectEvents([.quarantined]) { defaults[key] = key.defaultValue }
            #expect(try defaults.quarantined(key).map(\.value) == [stored])
        }
    }

    /// Makes a row for a form that the check reads itself.
    init(_ library: String, _ type: String, _ check: @escaping @Sendable (any DefaultsStore) throws -> Void) {
        (self.library, self.type, unread, self.check) = (library, type, nil, check)
    }

    private static func others<Coded: Codable>(_ type: Coded.Type, _ key: String, in store: any DefaultsStore) throws
        -> [Any?]
    {
        [try store.df.load(forKey: key, type: type), store.value(forKey: key) as Coded?]
    }
}

private func json(_ text: String) -> PropertyListValue { .data(Data(text.utf8)) }

private func plist(_ value: some Encodable) -> PropertyListValue {
    .data((try? DefaultsCoder.propertyList.encode(value)) ?? Data())
}

private typealias Key = Defaults.Key
private let url = URL(string: "https://example.com/a?b=c#d")!
private let home = URL(string: "https://example.com")!
private let date = Date(timeIntervalSinceReferenceDate: 736_681_689)
private let uuid = UUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D")!
private let point = Point(x: 5, name: "q")
private let pointText = #"{"x":5,"name":"q"}"#

private let forms: [LibraryForm] = [
    // Defaults 9
    .init("Defaults", "String", .string("Otto"), Key<String>("k"), "Otto"),
    .init("Defaults", "Int", .integer(12), Key<Int>("k"), 12),
    .init("Defaults", "Bool", .boolean(true), Key<Bool>("k"), true),
    .init("Defaults", "Data", .data(Data([1, 2])), Key<Data>("k"), Data([1, 2])),
    .init("Defaults", "Date", .date(date), Key<Date?>("k"), date),
    .init("Defaults", "URL", .string(#""https:\/\/example.com\/a?b=c#d""#), Key<URL?>("k"), url),
    .init("Defaults", "UUID", .string(uuid.uuidString), Key<UUID?>("k"), uuid),
    .init("Defaults", "Codable struct", .string(pointText), Key<Point>("k", default: Point()), point),
    .init("Defaults", "Codable struct with a date", .string(#"{"at":736681689}"#), Key<Visit?>("k"), Visit(at: date)),
    .init("Defaults", "Codable enum", .string(#"{"circle":{"radius":2}}"#), Key<Shape?>("k"), .circle(radius: 2)),
    .init("Defaults", "Codable enum with strings", .string(#""dark""#), Key<Theme>("k", default: .light), .dark),
    .init("Defaults", "Codable enum with integers", .string("2"), Key<Rank>("k", default: .first), .second),
    .init("Defaults", "Codable option set", .string("3"), Key<Options>("k"), Options(rawValue: 3)),
    .init("Defaults", "Decimal", .string("0.1"), Key<Decimal>("k"), Decimal(string: "0.1")!),
    .init("Defaults", "enum that prefers its raw value", .string("right"), Key<Side>("k", default: .left), .right),
    .init("Defaults", "[String]", .array([.string("a")]), Key<[String]>("k"), ["a"]),
    .init("Defaults", "[Codable struct]", .array([.string(pointText)]), Key<[Point]>("k"), [point]),
    .init("Defaults", "[Codable enum]", .array([.string(#""dark""#)]), Key<[Theme]>("k"), [.dark]),
    .init("Defaults", "[URL]", .array([.string(#""https:\/\/example.com""#)]), Key<[URL]>("k"), [home]),
    .init("Defaults", "Set<String>", .array([.string("a")]), Key<Set<String>>("k"), ["a"]),
    .init("Defaults", "Set<Codable struct>", .array([.string(pointText)]), Key<Set<Point>>("k"), [point]),
    .init("Defaults", "[String: Int]", .dictionary(["a": .integer(1)]), Key<[String: Int]>("k"), ["a": 1]),
    .init(
        "Defaults",
        "[String: Codable]",
        .dictionary(["a": .string(pointText)]),
        Key<[String: Point]>("k"),
        ["a": point]
    ),
    .init("Defaults", "[Int: String]", .dictionary(["1": .string("a")]), Key<[Int: String]>("k"), [1: "a"]),
    .init("Defaults", "Range", .array([.integer(2), .integer(5)]), Key<Range<Int>?>("k"), 2..<5),
    .init("Defaults", "ClosedRange", .array([.real(0.5), .real(1)]), Key<ClosedRange<Double>?>("k"), 0.5...1),
    .init(
        "Defaults",
        "type with a Bridge",
        .dictionary(["name": .string("Otto")]),
        Key<User?>("k"),
        User(name: "Otto")
    ),
    // SwiftyUserDefaults 5
    .init("SwiftyUserDefaults", "Double", .real(0.5), Key<Double>("k"), 0.5),
    .init("SwiftyUserDefaults", "[Date]", .array([.date(date)]), Key<[Date]>("k"), [date]),
    .init("SwiftyUserDefaults", "Codable", json(pointText), Key<Point?>("k"), point),
    .init("SwiftyUserDefaults", "[Codable]", json("[\(pointText)]"), Key<[Point]>("k"), [point]),
    .init("SwiftyUserDefaults", "RawRepresentable", .string("dark"), Key<Theme>("k", default: .light), .dark),
    .init("SwiftyUserDefaults", "[RawRepresentable]", .array([.integer(2)]), Key<[Rank]>("k"), [.second]),
    .init("SwiftyUserDefaults", "Codable enum with the bridge of Codable", json(#""dark""#), Key<Theme?>("k"), .dark),
    // Default 3
    .init("Default", "write(), under the key of the type") { store in
        try store.setStoredValue(json(#"{"level":7}"#), forKey: "Saved.Type")
        expectEvents([]) { #expect(Saved.read(from: store) == Saved(level: 7)) }
    },
    .init("Default", "write(withKey:)", json(#"{"level":7}"#), Key<Saved?>("k"), Saved(level: 7)),
    .init("Default", "df with an Int", json("12"), Key<Int>("k"), 12),
    .init("Default", "df with a Double", json("0.4"), Key<Double?>("k"), 0.4),
    .init("Default", "df with a Bool", json("true"), Key<Bool>("k"), true),
    .init("Default", "df with a String", json(#""Main""#), Key<String>("k"), "Main"),
    .init("Default", "df with a Date", json("736681689"), Key<Date>("k", default: .distantPast), date),
    .init("Default", "df with a URL", json(#""https:\/\/example.com""#), Key<URL?>("k"), home),
    .init("Default", "df with an enum with strings", json(#""dark""#), Key<Theme>("k", default: .light), .dark),
    .init("Default", "df with a UUID", json("\"\(uuid.uuidString)\""), Key<UUID?>("k"), uuid),
    .init("Default", "df with [String]", json(#"["a","b"]"#), Key<[String]>("k"), ["a", "b"]),
    .init("Default", "df with a PropertyListEncoder", plist(point), Key<Point>("k", default: Point()), point),
    .init("Default", "df with a PropertyListEncoder and an array", plist(["a", "b"]), Key<[String]>("k"), ["a", "b"]),
    // AppStorage
    .init("AppStorage", "Int", .integer(3), Key<Int>("k"), 3),
    .init("AppStorage", "enum with integers", .integer(2), Key<Rank>("k", default: .first), .second),
    .init("AppStorage", "array of numbers as a string", .string("[3,1]"), Key<[Int]>("k"), [3, 1]),
    .init("AppStorage", "array of strings as a string", .string(#"["a","b"]"#), Key<[String]>("k"), ["a", "b"]),
    .init("AppStorage", "array of Codable as a string", .string("[\(pointText)]"), Key<[Point]>("k"), [point]),
    .init("AppStorage", "array of enums as a string", .string(#"["dark"]"#), Key<[Theme]>("k"), [.dark]),
    .init("AppStorage", "array of dates as a string", .string("[736681689]"), Key<[Date]>("k"), [date]),
    .init("AppStorage", "dictionary as a string", .string(#"{"a":1}"#), Key<[String: Int]>("k"), ["a": 1]),
    .init("AppStorage", "set as a string", .string(#"["a"]"#), Key<Set<String>>("k"), ["a"]),
    .init("AppStorage", "Codable as a string", .string(pointText), Key<Point?>("k"), point),
    .init("AppStorage", "Date in ISO 8601", .string("2024-05-06T09:48:09Z"), Key<Date?>("k"), date),
    .init("AppStorage", "Date as text", .string("736681689.0"), Key<Date?>("k"), date),
    .init("AppStorage", "Date as a number", .real(736_681_689), Key<Date?>("k"), date),
    .init(
        "AppStorage",
        "Date as a number since 1970",
        .real(1_714_988_889),
        Key<Date?>("k"),
        unread: "seconds since 1970"
    ),
    .init("AppStorage", "no Date as text", .string(""), Key<Date?>("k"), unread: "empty text"),
    // DefaultsKit
    .init("DefaultsKit", "[Int]", json("[3,1]"), Key<[Int]>("k"), [3, 1]),
    .init("DefaultsKit", "URL", json(#""https:\/\/example.com""#), Key<URL>("k", default: url), home),
    .init("DefaultsKit", "Int8", json("5"), Key<Int8>("k"), 5),
    .init("DefaultsKit", "Data", json(#""AAEC""#), Key<Data>("k"), json(#""AAEC""#).bytes),
    // Foil
    .init("Foil", "Float", .real(Double(Float(12.34))), Key<Float>("k"), 12.34),
    .init("Foil", "Set<RawRepresentable>", .array([.string("dark")]), Key<Set<Theme>>("k"), [.dark]),
    .init(
        "Foil",
        "[String: RawRepresentable]",
        .dictionary(["a": .integer(2)]),
        Key<[String: Rank]>("k"),
        ["a": .second]
    ),
]

#if Foundation
private func archive(_ object: any NSObject & NSSecureCoding) -> PropertyListValue {
    .data((try? NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)) ?? Data())
}

private let token = NSUUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D")!

private let foundationForms: [LibraryForm] = [
    .init("Defaults", "CGFloat", .real(640.5), Key<CGFloat>("k"), 640.5),
    .init("Defaults", "NSSecureCoding", archive(token), Key<NSUUID?>("k"), token),
    .init("Defaults", "[NSSecureCoding]", .array([archive(token)]), Key<[NSUUID]>("k"), [token]),
    .init("SwiftyUserDefaults", "URL", archive(url as NSURL), Key<URL?>("k"), url),
    .init("SwiftyUserDefaults", "[URL]", archive([url as NSURL] as NSArray), Key<[URL]>("k"), [url]),
    .init("SwiftyUserDefaults", "NSCoding", archive(token), Key<NSUUID?>("k"), token),
    .init("SwiftyUserDefaults", "[NSCoding]", archive([token] as NSArray), Key<[NSUUID]>("k"), [token]),
    .init("AppStorage", "URL", archive(url as NSURL), Key<URL>("k", default: home), url),
    .init("Foil", "URL", archive(url as NSURL), Key<URL?>("k"), url),
]
#else
private let foundationForms: [LibraryForm] = []
#endif

extension PropertyListValue {
    fileprivate var bytes: Data { if case .data(let data) = self { data } else { Data() } }
}

@Suite("A form of another library")
struct LibraryFormsTests {
    @Test(
        "is read by keys, containers and df, and lost by nothing",
        arguments: StoreKind.allCases,
        forms + foundationForms
    )
    fileprivate func form(kind: StoreKind, form: LibraryForm) throws {
        try kind.withStore { try form.check($0) }
    }

    #if Foundation
    @Test("is one of 78, of which at least 74 are read, and the article names the others")
    func count() throws {
        let forms = forms + foundationForms
        #expect(forms.count == 78)
        #expect(Set(forms.map(\.testDescription)).count == forms.count)
        // This form is read as its text, since any `Data` is valid as `Data`.
        let unread = forms.compactMap(\.unread) + ["base64"]
        #expect(forms.count - unread.count >= 74)
        let article = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../Sources/Default/Default.docc/ComingFromOtherLibraries.md"),
            encoding: .utf8
        )
        for form in unread {
            #expect(article.contains(form), "The article doesn't say that “\(form)” is not read.")
        }
    }
    #endif
}
