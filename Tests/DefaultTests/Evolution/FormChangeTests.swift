import Default
import Foundation
import Testing

private struct Point: Codable, Hashable {
    var x = 1
    var name = "p"
}

/// `Point` after it has become `PropertyListConvertible`.
private struct NativePoint: Codable, Hashable, PropertyListConvertible {
    var x = 1
    var name = "p"

    var propertyListValue: PropertyListValue { .string("\(x) \(name)") }
}

extension NativePoint {
    init?(propertyListValue: PropertyListValue) {
        guard case .string(let text) = propertyListValue, let x = Int(text.prefix { $0 != " " }) else { return nil }
        self.init(x: x, name: String(text.drop { $0 != " " }.dropFirst()))
    }
}

/// `Point` after it is no longer `Codable`.
private struct PlainPoint: Hashable, PropertyListConvertible {
    var text: String
    var propertyListValue: PropertyListValue { .string(text) }

    init?(propertyListValue: PropertyListValue) {
        guard case .string(let text) = propertyListValue else { return nil }
        self.text = text
    }
}

/// A type that has become raw-representable, but is still encoded as before.
private struct RawPoint: RawRepresentable, Codable, Hashable {
    var x = 1
    var name = "p"
    var rawValue: String { "\(x) \(name)" }

    init(x: Int, name: String) { (self.x, self.name) = (x, name) }

    init?(rawValue: String) {
        guard let x = Int(rawValue.prefix { $0 != " " }) else { return nil }
        self.init(x: x, name: String(rawValue.drop { $0 != " " }.dropFirst()))
    }

    enum CodingKeys: CodingKey { case x, name }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        x = try container.decode(Int.self, forKey: .x)
        name = try container.decode(String.self, forKey: .name)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(x, forKey: .x)
        try container.encode(name, forKey: .name)
    }
}

/// A type that is encoded as a single string.
private struct Tag: Codable, Hashable {
    var text: String

    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

private enum Theme: String, Codable { case light, dark }
private enum Rank: Int, Codable { case first = 1, second }
private struct Options: OptionSet, Codable, Hashable { let rawValue: Int }
/// `Theme` before it had raw values, or after one of its cases has got a value.
private enum Look: Codable, Hashable { case light, dark, tinted(Int) }
/// A type that can be decoded from any object.
private struct Lenient: Codable, Hashable { var x: Int? }

/// A key whose type has changed, and with it the form in which its values are stored.
private struct FormChange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let check: @Sendable (any DefaultsStore) throws -> Void

    /// Declares that the value is read in the old form, without a report, and stored in the new one by the next write.
    init<Old, New: Equatable & Sendable>(
        _ old: Defaults.Key<Old>,
        _ value: @autoclosure @escaping @Sendable () -> Old,
        _ new: Defaults.Key<New>,
        reads expected: New
    ) {
        testDescription = "\(Old.self) to \(New.self)"
        check = { store in
            let defaults = Defaults(suite: store)
            try defaults.save(value(), for: old)
            let stored = store.storedValue(forKey: "k")
            try expectEvents([]) {
                #expect(defaults[new] == expected)
                let loaded = try defaults.load(new)
                #expect(loaded == expected)
                if let type = codedType(of: New.self) {
                    #expect(Self.contained(type, in: store) as? New == expected)
                }
                #expect(store.storedValue(forKey: "k") == stored)
                try defaults.update(new) { $0 = $0 }
                #expect(defaults[new] == expected)
            }
            #expect(try defaults.quarantined(new).isEmpty)
        }
    }

    /// Declares that the value can't be read as the new type, so this is reported, and the next write quarantines it.
    init<Old, New: Equatable & Sendable>(
        _ old: Defaults.Key<Old>,
        _ value: @autoclosure @escaping @Sendable () -> Old,
        _ new: Defaults.Key<New>
    ) {
        testDescription = "\(Old.self) to \(New.self)"
        check = { store in
            let defaults = Defaults(suite: store)
            try defaults.save(value(), for: old)
            let stored = try #require(store.storedValue(forKey: "k"))
            expectEvents([.readFailed]) { #expect(defaults[new] == new.defaultValue) }
            #expect(store.storedValue(forKey: "k") == stored)
            expectEvents([.quarantined]) { defaults[new] = new.defaultValue }
            #expect(try defaults.quarantined(new).map(\.value) == [stored])
        }
    }

    private static func contained<Value: Codable>(_ type: Value.Type, in store: any DefaultsStore) -> Any? {
        KeyValueContainer<Value>(storage: store, key: "k").value
    }
}

private typealias Key = Defaults.Key
private let uuid = UUID()
private let url = URL(string: "https://example.com/a")!
private let date = Date(timeIntervalSinceReferenceDate: 736_681_689)
private let point = Point(x: 5, name: "q")
private let native = NativePoint(x: 5, name: "q")

private let changes: [FormChange] = [
    // A type that was only `Codable` becomes `PropertyListConvertible`, and the reverse.
    .init(Key<Point?>("k"), point, Key<NativePoint>("k", default: .init()), reads: native),
    .init(Key<[Point]>("k"), [point], Key<[NativePoint]>("k"), reads: [native]),
    .init(Key<[String: Point]>("k"), ["a": point], Key<[String: NativePoint]>("k"), reads: ["a": native]),
    .init(Key<Set<Point>>("k"), [point], Key<Set<NativePoint>>("k"), reads: [native]),
    .init(Key<NativePoint?>("k"), native, Key<Point>("k", default: .init())),
    .init(Key<[NativePoint]>("k"), [native], Key<[Point]>("k")),
    .init(Key<Point?>("k"), point, Key<PlainPoint?>("k")),
    // A type becomes raw-representable, and the reverse.
    .init(
        Key<Point?>("k"),
        point,
        Key<RawPoint>("k", default: .init(x: 0, name: "")),
        reads: RawPoint(x: 5, name: "q")
    ),
    .init(Key<RawPoint?>("k"), RawPoint(x: 5, name: "q"), Key<Point>("k", default: .init())),
    .init(Key<Look?>("k"), .dark, Key<Theme>("k", default: .light), reads: .dark),
    .init(Key<Look?>("k"), .tinted(5), Key<Theme>("k", default: .light)),
    .init(Key<Look?>("k"), .dark, Key<Rank>("k", default: .first)),
    .init(Key<Theme?>("k"), .dark, Key<Look>("k", default: .light), reads: .dark),
    .init(Key<[Theme]>("k"), [.dark, .light], Key<[Look]>("k"), reads: [.dark, .light]),
    .init(Key<[String: Theme]>("k"), ["a": .dark], Key<[String: Look]>("k"), reads: ["a": .dark]),
    .init(Key<Rank?>("k"), .second, Key<Look?>("k", default: .light)),
    .init(Key<Theme?>("k"), .dark, Key<Lenient>("k", default: .init(x: 1))),
    // Changes between raw values and single values.
    .init(Key<Int>("k"), 2, Key<Rank>("k", default: .first), reads: .second),
    .init(Key<Rank?>("k"), .second, Key<Int>("k"), reads: 2),
    .init(Key<Int>("k"), 3, Key<Rank>("k", default: .first)),
    .init(Key<Int>("k"), 3, Key<Options>("k"), reads: Options(rawValue: 3)),
    .init(Key<String>("k"), "dark", Key<Theme>("k", default: .light), reads: .dark),
    .init(Key<Theme?>("k"), .dark, Key<String>("k"), reads: "dark"),
    .init(Key<Theme?>("k"), .dark, Key<Rank>("k", default: .first)),
    .init(Key<String>("k"), "rock", Key<Tag?>("k"), reads: Tag("rock")),
    .init(Key<Tag?>("k"), Tag("rock"), Key<String>("k"), reads: "rock"),
    // Changes between numbers, text and dates.
    .init(Key<Int>("k"), 5, Key<Double>("k"), reads: 5),
    .init(Key<Int>("k"), 5, Key<String>("k"), reads: "5"),
    .init(Key<Double>("k"), 0.5, Key<String>("k"), reads: "0.5"),
    .init(Key<Double>("k"), 0.5, Key<Int>("k")),
    .init(Key<Double>("k"), 0.1, Key<Decimal>("k"), reads: Decimal(string: "0.1")!),
    .init(Key<Int>("k"), 5, Key<Decimal>("k"), reads: 5),
    .init(Key<Decimal>("k"), Decimal(string: "0.1")!, Key<Double>("k"), reads: 0.1),
    .init(Key<Int>("k"), 1, Key<Bool>("k"), reads: true),
    .init(Key<Bool>("k"), true, Key<Int>("k"), reads: 1),
    .init(Key<Bool>("k"), true, Key<String>("k")),
    .init(Key<Bool>("k"), true, Key<Decimal>("k")),
    .init(Key<Bool>("k"), true, Key<Date?>("k")),
    .init(Key<String>("k"), "5", Key<Int>("k"), reads: 5),
    .init(Key<Double>("k"), 736_681_689, Key<Date?>("k"), reads: date),
    .init(Key<String>("k"), "2024-05-06T09:48:09Z", Key<Date?>("k"), reads: date),
    .init(Key<Date?>("k"), date, Key<Double>("k")),
    .init(Key<Date?>("k"), date, Key<String>("k")),
    .init(Key<Date?>("k"), date, Key<Decimal>("k")),
    // Changes between URLs, UUIDs and text.
    .init(Key<String>("k"), "https://example.com/a", Key<URL?>("k"), reads: url),
    .init(Key<URL?>("k"), url, Key<String>("k"), reads: "https://example.com/a"),
    .init(Key<String>("k"), uuid.uuidString, Key<UUID?>("k"), reads: uuid),
    .init(Key<UUID?>("k"), uuid, Key<String>("k"), reads: uuid.uuidString),
    // Changes between data and collections.
    .init(Key<Data>("k"), Data(#"{"x":5,"name":"q"}"#.utf8), Key<Point?>("k"), reads: point),
    .init(Key<Point?>("k"), point, Key<Data>("k"), reads: Data(#"{"name":"q","x":5}"#.utf8)),
    .init(Key<[Int]>("k"), [2, 1], Key<Set<Int>>("k"), reads: [1, 2]),
    .init(Key<Set<Int>>("k"), [2, 1], Key<[Int]>("k"), reads: [1, 2]),
    .init(Key<[Int]>("k"), [2, 1], Key<[Int?]>("k"), reads: [2, 1]),
    .init(Key<[Int?]>("k"), [2, 1], Key<[Int]>("k"), reads: [2, 1]),
    .init(Key<[Int?]>("k"), [2, nil], Key<[Int]>("k")),
    .init(Key<[Int]>("k"), [2, 1], Key<[String]>("k"), reads: ["2", "1"]),
    .init(Key<[String: String]>("k"), ["1": "a"], Key<[Int: String]>("k"), reads: [1: "a"]),
    .init(Key<[Int: String]>("k"), [1: "a"], Key<[String: String]>("k"), reads: ["1": "a"]),
    .init(Key<[String: Int]>("k"), ["dark": 1], Key<[Theme: Int]>("k"), reads: [.dark: 1]),
    .init(Key<[Theme: Int]>("k"), [.dark: 1], Key<[String: Int]>("k")),
    .init(Key<Int>("k"), 2, Key<[Int]>("k")),
    .init(Key<Point?>("k"), point, Key<[Point]>("k")),
]

#if Foundation
private let objectChanges: [FormChange] = [
    .init(Key<NSURL?>("k"), url as NSURL, Key<URL?>("k"), reads: url),
    .init(Key<URL?>("k"), url, Key<NSURL?>("k")),
    .init(Key<NSUUID?>("k"), NSUUID(), Key<UUID?>("k")),
    .init(Key<UUID?>("k"), uuid, Key<NSUUID?>("k")),
    .init(Key<NSUUID?>("k"), NSUUID(), Key<Lenient>("k", default: .init(x: 1))),
    .init(Key<NSNumber?>("k"), 0.5, Key<Double>("k"), reads: 0.5),
]
#else
private let objectChanges: [FormChange] = []
#endif

@Suite("A key whose type is stored in another form than before")
struct FormChangeTests {
    @Test(
        "reads the old form, or reports it and quarantines it",
        arguments: StoreKind.allCases,
        changes + objectChanges
    )
    fileprivate func change(kind: StoreKind, change: FormChange) throws {
        try kind.withStore { try change.check($0) }
    }
}
