import Default
import Foundation
import Testing

private enum Theme: String, Codable, CaseIterable {
    case light
    case dark
    case quoted = "\"dark\""
}

/// An enum that all libraries store as its raw value, since it is not `Codable`.
private enum Plain: String {
    case light
    case dark
}

private enum Rank: Int, Codable {
    case first = 1
    case second
}

private struct Options: OptionSet, Codable, Hashable {
    let rawValue: Int
    static let loud = Options(rawValue: 1)
    static let bright = Options(rawValue: 2)
}

private enum Shape: Codable, Hashable {
    case circle(radius: Double)
    case point
}

private struct Point: Codable, Hashable {
    var x = 1
    var name = "p"
}

/// A value in the form of another library.
private struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Checks all ways to read and replace the value in a store.
    let check: @Sendable (any DefaultsStore) throws -> Void

    /// Makes a row for a type that containers can hold too; `isOwn` if the own form is read in the same way, so that
    /// nothing is converted.
    init<Value: Codable & Equatable & Sendable>(
        _ testDescription: String,
        _ foreign: PropertyListValue,
        in key: Defaults.Key<Value>,
        is value: Value,
        own: PropertyListValue,
        isOwn: Bool = false
    ) {
        self.init(testDescription, foreign, inKey: key, is: value, own: own, isOwn: isOwn) { store in
            // The values of a container are optional already; a container for an optional type stores nil as JSON.
            guard Mirror(reflecting: value).displayStyle != .optional else { return }
            let container = KeyValueContainer<Value>(storage: store, key: key.storedName)
            #expect(container.value == value)
            #expect(store.value(forKey: key.storedName) == value)
        }
    }

    init<Value: Equatable & Sendable>(
        _ testDescription: String,
        _ foreign: PropertyListValue,
        inKey key: Defaults.Key<Value>,
        is value: Value,
        own: PropertyListValue,
        isOwn: Bool = false,
        alsoReadBy read: @escaping @Sendable (any DefaultsStore) throws -> Void = { _ in }
    ) {
        self.testDescription = testDescription
        check = { store in
            let defaults = Defaults(suite: store)
            /// Restores the foreign form, runs a write, and checks that it stored the own form.
            func expectOwn(after write: () throws -> Void) throws {
                try store.setStoredValue(nil, forKey: key.storedName)
                try store.setStoredValue(foreign, forKey: key.storedName)
                try expectEvents([]) { try write() }
                #expect(store.storedValue(forKey: key.storedName).map(content) == content(own))
                #expect(try defaults.quarantined(key).isEmpty)
                try expectEvents([]) {
                    #expect(defaults[key] == value)
                    try read(store)
                }
            }
            try store.setStoredValue(foreign, forKey: key.storedName)
            try expectEvents([]) {
                #expect(defaults[key] == value)
                #expect(try defaults.load(key) == value)
                #expect(Stored(key, suite: store).wrappedValue == value)
                try read(store)
            }
            #expect(store.storedValue(forKey: key.storedName) == foreign)
            try expectOwn { defaults[key] = value }
            try expectOwn { try defaults.save(value, for: key) }
            try expectOwn { try defaults.update(key) { $0 = $0 } }
            try expectOwn { defaults[key] = defaults[key] }
            if !isOwn {
                try expectOwn {
                    let converted = try defaults.convertForms(of: key)
                    #expect(converted == [key.storedName])
                }
            }
            try store.setStoredValue(isOwn ? foreign : own, forKey: key.storedName)
            #expect(try defaults.convertForms(of: key) == [])
            #expect(store.storedValue(forKey: key.storedName) == (isOwn ? foreign : own))
        }
    }
}

private func json(_ text: String) -> PropertyListValue { .data(Data(text.utf8)) }

private let url = URL(string: "https://example.com/a?b=c#d")!
private let uuid = UUID()

#if Foundation
private func archive(_ object: any NSObject & NSSecureCoding) -> Data {
    (try? NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)) ?? Data()
}

/// A value whose archived UUIDs are replaced by their strings: two archives of one object can differ.
private func content(_ value: PropertyListValue) -> PropertyListValue {
    switch value {
    case .array(let values): .array(values.map(content))
    case .dictionary(let entries): .dictionary(entries.mapValues(content))
    case .data(let data) where data.starts(with: Data("bplist".utf8)):
        .string((try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSUUID.self, from: data))?.uuidString ?? "")
    default: value
    }
}

private let token = NSUUID()
private let other = NSUUID()

private let archives: [Row] = [
    Row(
        "An object as an archive",
        .data(archive(token)),
        inKey: Defaults.Key<NSUUID?>("k"),
        is: token,
        own: .data(archive(token)),
        isOwn: true
    ),
    Row(
        "An array of objects as an array of archives",
        .array([.data(archive(token)), .data(archive(other))]),
        inKey: Defaults.Key<[NSUUID]>("k"),
        is: [token, other],
        own: .array([.data(archive(token)), .data(archive(other))]),
        isOwn: true
    ),
    Row(
        "A dictionary of objects as a dictionary of archives",
        .dictionary(["a": .data(archive(token))]),
        inKey: Defaults.Key<[String: NSUUID]>("k"),
        is: ["a": token],
        own: .dictionary(["a": .data(archive(token))]),
        isOwn: true
    ),
    Row(
        "An array of URLs as an archive",
        .data(archive([url as NSURL] as NSArray)),
        in: Defaults.Key<[URL]>("k"),
        is: [url],
        own: .array([.string(url.absoluteString)])
    ),
    Row(
        "An array of objects as an archive",
        .data(archive([token, other] as NSArray)),
        inKey: Defaults.Key<[NSUUID]>("k"),
        is: [token, other],
        own: .array([.data(archive(token)), .data(archive(other))])
    ),
    Row(
        "A URL as an archive",
        .data(archive(url as NSURL)),
        in: Defaults.Key<URL>("k", default: URL(fileURLWithPath: "/")),
        is: url,
        own: .string(url.absoluteString)
    ),
]
#else
private let archives: [Row] = []

private func content(_ value: PropertyListValue) -> PropertyListValue { value }
#endif

private let rows: [Row] = [
    // Forms of Defaults: a string of JSON.
    Row(
        "A Codable struct as a string of JSON",
        .string(#"{"x":5,"name":"q"}"#),
        in: Defaults.Key<Point>("k", default: Point()),
        is: Point(x: 5, name: "q"),
        own: json(#"{"name":"q","x":5}"#)
    ),
    Row(
        "An optional Codable struct as a string of JSON",
        .string(#"{"x":5,"name":"q"}"#),
        in: Defaults.Key<Point?>("k"),
        is: Point(x: 5, name: "q"),
        own: json(#"{"name":"q","x":5}"#)
    ),
    Row(
        "A Codable enum as a string of JSON",
        .string(#"{"circle":{"radius":2}}"#),
        in: Defaults.Key<Shape>("k", default: .point),
        is: .circle(radius: 2),
        own: json(#"{"circle":{"radius":2}}"#)
    ),
    Row(
        "A Codable enum with raw values as a string of JSON",
        .string(#""light""#),
        in: Defaults.Key<Theme>("k", default: .dark),
        is: .light,
        own: .string("light")
    ),
    Row(
        "An optional Codable enum with raw values as a string of JSON",
        .string(#""light""#),
        in: Defaults.Key<Theme?>("k"),
        is: .light,
        own: .string("light")
    ),
    Row(
        "A Codable enum with numbers as a string of JSON",
        .string("2"),
        in: Defaults.Key<Rank>("k", default: .first),
        is: .second,
        own: .integer(2),
        isOwn: true
    ),
    Row(
        "A Codable option set as a string of JSON",
        .string("3"),
        in: Defaults.Key<Options>("k"),
        is: [.loud, .bright],
        own: .integer(3),
        isOwn: true
    ),
    Row(
        "A URL as a string of JSON",
        .string(#""https:\/\/example.com\/a?b=c#d""#),
        in: Defaults.Key<URL>("k", default: URL(fileURLWithPath: "/")),
        is: url,
        own: .string(url.absoluteString)
    ),
    // Forms of Defaults: collections of strings of JSON.
    Row(
        "An array of Codable structs as an array of strings of JSON",
        .array([.string(#"{"x":5,"name":"q"}"#), .string(#"{"x":6,"name":","}"#)]),
        in: Defaults.Key<[Point]>("k"),
        is: [Point(x: 5, name: "q"), Point(x: 6, name: ",")],
        own: json(#"[{"name":"q","x":5},{"name":",","x":6}]"#)
    ),
    Row(
        "An optional array of Codable structs as an array of strings of JSON",
        .array([.string(#"{"x":5,"name":"q"}"#)]),
        in: Defaults.Key<[Point]?>("k"),
        is: [Point(x: 5, name: "q")],
        own: json(#"[{"name":"q","x":5}]"#)
    ),
    Row(
        "An empty array of Codable structs",
        .array([]),
        in: Defaults.Key<[Point]>("k", default: [Point()]),
        is: [],
        own: json("[]")
    ),
    Row(
        "A dictionary of Codable structs as a dictionary of strings of JSON",
        .dictionary(["a \"b\"": .string(#"{"x":5,"name":"q"}"#)]),
        in: Defaults.Key<[String: Point]>("k"),
        is: ["a \"b\"": Point(x: 5, name: "q")],
        own: json(#"{"a \"b\"":{"name":"q","x":5}}"#)
    ),
    Row(
        "A dictionary of arrays of Codable structs",
        .dictionary(["a": .array([.string(#"{"x":5,"name":"q"}"#)])]),
        in: Defaults.Key<[String: [Point]]>("k"),
        is: ["a": [Point(x: 5, name: "q")]],
        own: json(#"{"a":[{"name":"q","x":5}]}"#)
    ),
    Row(
        "A set of Codable structs as an array of strings of JSON",
        .array([.string(#"{"x":5,"name":"q"}"#)]),
        in: Defaults.Key<Set<Point>>("k"),
        is: [Point(x: 5, name: "q")],
        own: json(#"[{"name":"q","x":5}]"#)
    ),
    Row(
        "An array of Codable enums as an array of strings of JSON",
        .array([.string(#""light""#), .string(#""light""#)]),
        in: Defaults.Key<[Theme]>("k"),
        is: [.light, .light],
        own: .array([.string("light"), .string("light")])
    ),
    Row(
        "A set of Codable enums as an array of strings of JSON",
        .array([.string(#""light""#)]),
        in: Defaults.Key<Set<Theme>>("k"),
        is: [.light],
        own: .array([.string("light")])
    ),
    Row(
        "A dictionary of Codable enums as a dictionary of strings of JSON",
        .dictionary(["a": .string(#""light""#)]),
        in: Defaults.Key<[String: Theme]>("k"),
        is: ["a": .light],
        own: .dictionary(["a": .string("light")])
    ),
    Row(
        "An array of arrays of Codable enums",
        .array([.array([.string(#""light""#)]), .array([])]),
        in: Defaults.Key<[[Theme]]>("k"),
        is: [[.light], []],
        own: .array([.array([.string("light")]), .array([])])
    ),
    Row(
        "An array of URLs as an array of strings of JSON",
        .array([.string(#""https:\/\/example.com\/a?b=c#d""#)]),
        in: Defaults.Key<[URL]>("k"),
        is: [url],
        own: .array([.string(url.absoluteString)])
    ),
    // Forms of Defaults: its own encodings.
    Row(
        "A set as an array",
        .array([.string("b"), .string("a")]),
        in: Defaults.Key<Set<String>>("k", default: ["z"]),
        is: ["a", "b"],
        own: .array([.string("a"), .string("b")]),
        isOwn: true
    ),
    Row(
        "A UUID as its string",
        .string(uuid.uuidString),
        in: Defaults.Key<UUID?>("k"),
        is: uuid,
        own: .string(uuid.uuidString),
        isOwn: true
    ),
    Row(
        "An array of UUIDs as an array of strings",
        .array([.string(uuid.uuidString)]),
        in: Defaults.Key<[UUID]>("k"),
        is: [uuid],
        own: .array([.string(uuid.uuidString)]),
        isOwn: true
    ),
    Row(
        "A range as an array of its bounds",
        .array([.integer(1), .integer(5)]),
        in: Defaults.Key<Range<Int>>("k", default: 0..<1),
        is: 1..<5,
        own: .array([.integer(1), .integer(5)]),
        isOwn: true
    ),
    Row(
        "An empty range as an array of its bounds",
        .array([.integer(5), .integer(5)]),
        in: Defaults.Key<Range<Int>>("k", default: 0..<1),
        is: 5..<5,
        own: .array([.integer(5), .integer(5)]),
        isOwn: true
    ),
    Row(
        "A closed range of one value as an array of its bounds",
        .array([.integer(5), .integer(5)]),
        in: Defaults.Key<ClosedRange<Int>?>("k"),
        is: 5...5,
        own: .array([.integer(5), .integer(5)]),
        isOwn: true
    ),
    Row(
        "A closed range as an array of its bounds",
        .array([.real(0.5), .real(1)]),
        in: Defaults.Key<ClosedRange<Double>?>("k"),
        is: 0.5...1,
        own: .array([.real(0.5), .real(1)]),
        isOwn: true
    ),
    Row(
        "A dictionary with integers as keys, with their strings",
        .dictionary(["-7": .string("a")]),
        in: Defaults.Key<[Int: String]>("k"),
        is: [-7: "a"],
        own: json(#"{"-7":"a"}"#)
    ),
    Row(
        "A dictionary with other numbers as keys, with their strings",
        .dictionary(["1.5": .string(#""light""#)]),
        in: Defaults.Key<[Double: Theme]>("k"),
        is: [1.5: .light],
        own: json(#"[1.5,"light"]"#)
    ),
    Row(
        "A dictionary with integers as keys and Codable structs",
        .dictionary(["7": .string(#"{"x":5,"name":"q"}"#)]),
        in: Defaults.Key<[Int: Point]>("k"),
        is: [7: Point(x: 5, name: "q")],
        own: json(#"{"7":{"name":"q","x":5}}"#)
    ),
    Row(
        "A dictionary with integers as keys, and dates and data",
        .dictionary(["7": .array([.date(Date(timeIntervalSinceReferenceDate: 60))])]),
        in: Defaults.Key<[Int: [Date]]>("k"),
        is: [7: [Date(timeIntervalSinceReferenceDate: 60)]],
        own: json(#"{"7":[60]}"#)
    ),
    Row(
        "An array of optionals as an array of values",
        .array([.integer(1), .integer(3)]),
        in: Defaults.Key<[Int?]>("k"),
        is: [1, 3],
        own: json("[1,3]")
    ),
    Row(
        "An enum that is not Codable, as its raw value",
        .string("dark"),
        inKey: Defaults.Key<Plain>("k", default: .light),
        is: .dark,
        own: .string("dark"),
        isOwn: true
    ),
    Row(
        "An array of enums that are not Codable, as an array of raw values",
        .array([.string("dark")]),
        inKey: Defaults.Key<[Plain]>("k"),
        is: [.dark],
        own: .array([.string("dark")]),
        isOwn: true
    ),
    // Forms of SwiftyUserDefaults.
    Row(
        "A Codable struct as JSON Data",
        json(#"{"x":5,"name":"q"}"#),
        in: Defaults.Key<Point?>("k"),
        is: Point(x: 5, name: "q"),
        own: json(#"{"name":"q","x":5}"#),
        isOwn: true
    ),
    Row(
        "An array of Codable enums as JSON Data",
        json(#"["light"]"#),
        in: Defaults.Key<[Theme]>("k"),
        is: [.light],
        own: .array([.string("light")])
    ),
    Row(
        "An array of enums as an array of raw values",
        .array([.string("light")]),
        in: Defaults.Key<[Theme]>("k"),
        is: [.light],
        own: .array([.string("light")]),
        isOwn: true
    ),
    // Forms of AppStorage and UserDefaults.
    Row(
        "A date as the largest number that is one",
        .integer(978_307_199),
        in: Defaults.Key<Date?>("k"),
        is: Date(timeIntervalSinceReferenceDate: 978_307_199),
        own: .date(Date(timeIntervalSinceReferenceDate: 978_307_199))
    ),
    Row(
        "A date before 2001 as a number in text",
        .string("-60"),
        in: Defaults.Key<Date>("k", default: .distantPast),
        is: Date(timeIntervalSinceReferenceDate: -60),
        own: .date(Date(timeIntervalSinceReferenceDate: -60))
    ),
    Row(
        "A set of dates as an array of numbers",
        .array([.integer(60)]),
        in: Defaults.Key<Set<Date>>("k"),
        is: [Date(timeIntervalSinceReferenceDate: 60)],
        own: .array([.date(Date(timeIntervalSinceReferenceDate: 60))])
    ),
    Row(
        "A dictionary of dates, of which one is a number",
        .dictionary(["a": .integer(60), "b": .date(Date(timeIntervalSinceReferenceDate: 5))]),
        in: Defaults.Key<[String: Date]>("k"),
        is: ["a": Date(timeIntervalSinceReferenceDate: 60), "b": Date(timeIntervalSinceReferenceDate: 5)],
        own: .dictionary([
            "a": .date(Date(timeIntervalSinceReferenceDate: 60)), "b": .date(Date(timeIntervalSinceReferenceDate: 5)),
        ])
    ),
    Row(
        "A range of dates as an array of numbers",
        .array([.integer(5), .integer(60)]),
        in: Defaults.Key<Range<Date>?>("k"),
        is: Date(timeIntervalSinceReferenceDate: 5)..<Date(timeIntervalSinceReferenceDate: 60),
        own: .array([
            .date(Date(timeIntervalSinceReferenceDate: 5)), .date(Date(timeIntervalSinceReferenceDate: 60)),
        ])
    ),
    Row(
        "A closed range of dates as an array of numbers",
        .array([.integer(5), .integer(5)]),
        in: Defaults.Key<ClosedRange<Date>?>("k"),
        is: Date(timeIntervalSinceReferenceDate: 5)...Date(timeIntervalSinceReferenceDate: 5),
        own: .array([
            .date(Date(timeIntervalSinceReferenceDate: 5)), .date(Date(timeIntervalSinceReferenceDate: 5)),
        ])
    ),
    Row(
        "An array of optional dates as an array of numbers",
        .array([.integer(60), .integer(5)]),
        in: Defaults.Key<[Date?]>("k"),
        is: [Date(timeIntervalSinceReferenceDate: 60), Date(timeIntervalSinceReferenceDate: 5)],
        own: json("[60,5]")
    ),
    Row(
        "An enum as its raw value",
        .integer(2),
        in: Defaults.Key<Rank>("k", default: .first),
        is: .second,
        own: .integer(2),
        isOwn: true
    ),
]

@Suite("A value that another library stored")
struct ForeignFormTests {
    @Test(
        "is read, replaced by the own form at the next write, and neither quarantined nor reported",
        arguments: StoreKind.allCases,
        rows + archives
    )
    fileprivate func form(kind: StoreKind, row: Row) throws {
        try kind.withStore { store in
            // A row whose foreign form is the own one has nothing to convert.
            try row.check(store)
        }
    }

    @Test("is filled in from the default if it lacks a property", arguments: StoreKind.allCases)
    func filledIn(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let key = Defaults.Key<Point>("point", default: Point(x: 1, name: "default"))
            // The contents differ for each kind of store, since equal contents are reported once.
            let x = "\(kind)".count
            let foreign = PropertyListValue.string(#"{"x":\#(x)}"#)
            try store.setStoredValue(foreign, forKey: "point")
            expectEvents([.filledIn]) { #expect(defaults[key] == Point(x: x, name: "default")) }
            // Without being asked to convert, only values that can be read completely are converted.
            #expect(try defaults.convertForms(of: key) == [])
            #expect(store.storedValue(forKey: "point") == foreign)
            defaults[key].x += 1
            #expect(store.data(forKey: "point") == Data(#"{"name":"default","x":\#(x + 1)}"#.utf8))
            #expect(try defaults.quarantined(key).isEmpty)
        }
    }

    @Test("is not looked for where the own form is there", arguments: StoreKind.allCases)
    func ownFormFirst(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            // The JSON of one case is the raw value of another.
            try store.setStoredValue(.string(#""dark""#), forKey: "theme")
            #expect(defaults[Defaults.Key<Theme>("theme", default: .light)] == .quoted)
            try store.setStoredValue(.array([.string(#""dark""#), .string(#""light""#)]), forKey: "themes")
            #expect(defaults[Defaults.Key<[Theme]>("themes")] == [.quoted, .light])
            for text in [#""text""#, "5", "[1]", "null"] {
                try store.setStoredValue(.string(text), forKey: "text")
                #expect(defaults[Defaults.Key<String?>("text")] == text)
                try store.setStoredValue(.array([.string(text)]), forKey: "texts")
                #expect(defaults[Defaults.Key<[String]>("texts")] == [text])
                #expect(defaults[Defaults.Key<PropertyListValue?>("text")] == .string(text))
                #expect(defaults[Defaults.Key<Any?>("text")] as? String == text)
            }
            try store.setStoredValue(.string("relative/path"), forKey: "url")
            #expect(defaults[Defaults.Key<URL?>("url")]?.absoluteString == "relative/path")
        }
    }

    private func expectUnread<Value>(
        _ stored: PropertyListValue,
        _ key: Defaults.Key<Value>,
        in store: any DefaultsStore
    ) throws {
        try store.setStoredValue(stored, forKey: key.storedName)
        expectEvents([.readFailed]) { _ = Defaults(suite: store)[key] }
        let converted = try Defaults(suite: store).convertForms(of: key)
        #expect(converted == [])
        #expect(store.storedValue(forKey: key.storedName) == stored)
    }

    @Test("is not seen in other values, which stay and are reported", arguments: StoreKind.allCases)
    func otherValues(kind: StoreKind) throws {
        try kind.withStore { store in
            // Some of these numbers could be seconds since 1970, and the others are no dates.
            try expectUnread(.string("1700000000"), Defaults.Key<Date?>("date"), in: store)
            try expectUnread(.integer(978_307_200), Defaults.Key<Date?>("date number"), in: store)
            try expectUnread(.real(-.infinity), Defaults.Key<Date?>("no date"), in: store)
            try expectUnread(.boolean(true), Defaults.Key<Date?>("Boolean"), in: store)
            try expectUnread(.string("nan"), Defaults.Key<Date?>("not a number"), in: store)
            // Text in quotation marks is none of the other types.
            try expectUnread(.string("\"AAEC\""), Defaults.Key<Data?>("data"), in: store)
            try expectUnread(.string("\"\(uuid.uuidString)\""), Defaults.Key<UUID?>("uuid"), in: store)
            try expectUnread(.string("\"5\""), Defaults.Key<Int?>("int"), in: store)
            try expectUnread(.string("1"), Defaults.Key<[Int]>("ints"), in: store)
            try expectUnread(.string("[1,\"a\"]"), Defaults.Key<[Int]>("mixed ints"), in: store)
            try expectUnread(json("\"5\""), Defaults.Key<Int?>("number"), in: store)
            try expectUnread(json("dark"), Defaults.Key<String?>("text data"), in: store)
            try expectUnread(json("\"blue\""), Defaults.Key<Theme?>("theme data"), in: store)
            try expectUnread(json(#"{"light":{"x":1}}"#), Defaults.Key<Theme?>("case with a value"), in: store)
            try expectUnread(json(#"{"light":{},"dark":{}}"#), Defaults.Key<Theme?>("two cases"), in: store)
            try expectUnread(json(#"{"light":{}}"#), Defaults.Key<String?>("case as text"), in: store)
            // JSON of another type, and text that is almost JSON, are not read.
            try expectUnread(.string("\"blue\""), Defaults.Key<Theme?>("theme"), in: store)
            try expectUnread(.string("dark blue"), Defaults.Key<Theme?>("words"), in: store)
            try expectUnread(.string("\"dark"), Defaults.Key<Theme?>("open"), in: store)
            try expectUnread(.string("\"not closed"), Defaults.Key<URL?>("open url"), in: store)
            try expectUnread(.string(#"{"x":5"#), Defaults.Key<Point?>("open object"), in: store)
            try expectUnread(.string("5"), Defaults.Key<Point?>("other type"), in: store)
            // Elements are not joined: "1,2" is not a JSON value.
            try expectUnread(.array([.string("1,2")]), Defaults.Key<[Shape]>("merged"), in: store)
            try expectUnread(.array([.string(#"{"point":{}},{"point":{}}"#)]), Defaults.Key<[Shape]>("two"), in: store)
            try expectUnread(
                .array([.string(#"{"point":{}}"#), .integer(1)]),
                Defaults.Key<[Shape]>("mixed"),
                in: store
            )
            try expectUnread(.dictionary(["a": .string("b")]), Defaults.Key<[Int: String]>("no number"), in: store)
            try expectUnread(.dictionary(["x": .integer(5)]), Defaults.Key<Point?>("dictionary"), in: store)
            let reversed = PropertyListValue.array([.integer(5), .integer(4)])
            try expectUnread(reversed, Defaults.Key<Range<Int>?>("reversed"), in: store)
            try expectUnread(reversed, Defaults.Key<ClosedRange<Int>?>("reversed and closed"), in: store)
            try expectUnread(.array([.integer(5)]), Defaults.Key<ClosedRange<Int>?>("one bound"), in: store)
            let three = PropertyListValue.array([.integer(5), .integer(6), .integer(7)])
            try expectUnread(three, Defaults.Key<Range<Int>?>("three bounds"), in: store)
            let words = PropertyListValue.array([.string("a"), .string("b")])
            try expectUnread(words, Defaults.Key<Range<Int>?>("words for bounds"), in: store)
            try expectUnread(.data(Data("bplist00".utf8)), Defaults.Key<[URL]>("empty"), in: store)
        }
    }

    #if Foundation
    @Test("is not seen in archives of other classes", arguments: StoreKind.allCases)
    func otherArchives(kind: StoreKind) throws {
        // Foundation ends a process that unarchives these without a check.
        try kind.withStore { store in
            try expectUnread(.data(archive(token)), Defaults.Key<URL?>("archive of a UUID"), in: store)
            try expectUnread(.data(archive(url as NSURL)), Defaults.Key<NSUUID?>("archive of a URL"), in: store)
            try expectUnread(.data(archive([token] as NSArray)), Defaults.Key<[URL]>("UUIDs"), in: store)
            try expectUnread(.data(archive(token)), Defaults.Key<[NSUUID]>("one object"), in: store)
            try expectUnread(
                .data(archive([token, "a" as NSString] as NSArray)),
                Defaults.Key<[NSUUID]>("a text among objects"),
                in: store
            )
            try expectUnread(.data(archive(url as NSURL).prefix(90)), Defaults.Key<URL?>("cut off"), in: store)
        }
    }
    #endif

    @Test("is quarantined when it is replaced, if a part of it can't be used", arguments: StoreKind.allCases)
    func quarantined(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let key = Defaults.Key<Point>("point", default: Point())
            // The contents differ for each kind of store, since equal contents are reported once.
            let foreign = PropertyListValue.string(#"{"x":"five \#(kind)","name":"q"}"#)
            try store.setStoredValue(foreign, forKey: "point")
            expectEvents([.filledIn, .quarantined]) { defaults[key].name += "!" }
            #expect(defaults[key] == Point(x: 1, name: "q!"))
            #expect(try defaults.quarantined(key).map(\.value) == [foreign])
        }
    }

    @Test("is converted together with others, or not at all", arguments: StoreKind.allCases)
    func conversion(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let theme = Defaults.Key<Theme>("theme", default: .light)
            let point = Defaults.Key<Point?>("point")
            let count = Defaults.Key<Int>("count")
            let absent = Defaults.Key<URL?>("absent")
            try store.setStoredValue(.string(#""light""#), forKey: "theme")
            try store.setStoredValue(.string(#"{"x":5,"name":"q"}"#), forKey: "point")
            try store.setStoredValue(.integer(5), forKey: "count")
            #expect(try Defaults().convertForms(of: theme, point, count, absent) == ["theme", "point"])
            #expect(store.storedValue(forKey: "theme") == .string("light"))
            #expect(store.storedValue(forKey: "count") == .integer(5))
            #expect(store.storedValue(forKey: "absent") == nil)
            #expect(try Defaults().convertForms(of: theme, point) == [])

            try store.setStoredValue(.string(#""light""#), forKey: "theme")
            expectError(.invalidKey) { try Defaults().convertForms(of: theme, Defaults.Key<Int>("a\0b")) }
            if kind != .userDefaults {
                #expect(store.storedValue(forKey: "theme") == .string(#""light""#))
            }
        }
    }
}
