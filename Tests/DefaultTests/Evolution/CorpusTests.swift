import Foundation
import Testing

@testable import Default

/// The settings types of this corpus, with the store, the key and the format that a test has chosen.
private protocol NewVersion: DefaultStorable, Equatable where DefaultsSuite == CurrentStore {}

extension NewVersion {
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultIdentifier: String { "Settings" }
    static var defaultCoder: DefaultsCoder { Format.current.coder }
}

private enum Format: String, CaseIterable {
    case json
    case plist

    @TaskLocal static var current = Format.json

    var coder: DefaultsCoder { self == .json ? .json : .propertyList }
}

// The new versions, one for each fixture, whose name describes the change.

private struct PropertyAdded: NewVersion {
    var theme = "bright"
    var volume = 0.5
    var fontSize = 12
    static var defaultValue: Self? { Self() }
}

private struct PropertyRemoved: NewVersion {
    var theme = "bright"
    var volume = 0.5
    static var defaultValue: Self? { Self() }
}

private struct PropertyRenamed: NewVersion {
    struct Window: Codable, Equatable { var width = 1, height = 2 }
    var color: String? = "blue"
    var window = Window()
    static var defaultValue: Self? { Self() }
    static var renamedProperties: [String: String] { ["colour": "color", "window.w": "window.width"] }
}

private struct OptionalMadeRequired: NewVersion {
    var theme = "bright"
    var nickname = "nobody"
    static var defaultValue: Self? { Self() }
}

private struct TypeChanged: NewVersion {
    var theme = "bright"
    var port = 80
    var largest: UInt64 = 0
    static var defaultValue: Self? { Self() }
}

private struct EnumCaseRemoved: NewVersion {
    enum Mode: String, Codable { case plain, inverted }
    var mode = Mode.plain
    var theme = "bright"
    var count = 0
    static var defaultValue: Self? { Self() }
}

private struct NestedStructChanged: NewVersion {
    struct Window: Codable, Equatable {
        var width = 1, height = 2, depth = 3
        var isOpen = false
    }
    var theme = "bright"
    var window = Window()
    static var defaultValue: Self? { Self() }
}

private struct ArrayElementChanged: NewVersion {
    struct Item: Codable, Equatable { var name: String, count: Int }
    var theme = "bright"
    var items = [Item(name: "default", count: 1)]
    var tags = ["default"]
    static var defaultValue: Self? { Self() }
}

private struct DateStrategyChanged: NewVersion {
    var theme = "bright"
    var lastUsed = Date(timeIntervalSince1970: 0)
    var count = 0
    static var defaultValue: Self? { Self() }
    static var defaultCoder: DefaultsCoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return Format.current == .json ? DefaultsCoder(encoder: encoder, decoder: decoder) : .propertyList
    }
}

private struct WrappedInStruct: NewVersion {
    struct Appearance: Codable, Equatable { var theme = "bright" }
    struct Sound: Codable, Equatable { var volume = 0.5 }
    var appearance = Appearance()
    var sound = Sound()
    static var defaultValue: Self? { Self() }
    static var renamedProperties: [String: String] { ["theme": "appearance.theme", "volume": "sound.volume"] }
}

private struct BeforeSplit: Codable {
    var theme: String
    var volume: Double
    var host: String
    var port: Int
}

private struct SplitAppearance: NewVersion, DefaultMigratable {
    var theme = "bright"
    var loudness = 50
    static var defaultIdentifier: String { "Appearance" }
    static var previousIdentifiers: [String] { ["Settings"] }
    init(theme: String, loudness: Int) { (self.theme, self.loudness) = (theme, loudness) }
    init(migrating previous: BeforeSplit) { self.init(theme: previous.theme, loudness: Int(previous.volume * 100)) }
}

private struct SplitServer: NewVersion, DefaultMigratable {
    var address = ""
    static var defaultIdentifier: String { "Server" }
    static var previousIdentifiers: [String] { ["Settings"] }
    init(address: String) { self.address = address }
    init(migrating previous: BeforeSplit) { address = "\(previous.host):\(previous.port)" }
}

private struct BeforeFirstBump: Codable {
    var volume: Int
    var theme: String
}

private struct FirstBump: NewVersion, DefaultMigratable {
    var volume: Double
    var theme: String
    static var schemaVersion: Int { 2 }
    init(migrating previous: BeforeFirstBump) { (volume, theme) = (Double(previous.volume) / 100, previous.theme) }
}

private struct VersionBumpedTwice: NewVersion, DefaultMigratable {
    var volume: Double
    var theme: String?
    static var schemaVersion: Int { 3 }
    init(volume: Double, theme: String?) { (self.volume, self.theme) = (volume, theme) }
    init(migrating previous: FirstBump) { self.init(volume: previous.volume / 2, theme: previous.theme.uppercased()) }
}

private struct AssociatedValuesChanged: NewVersion {
    enum Source: Codable, Equatable {
        case none
        case file(String)
        case stream(url: String)
    }
    var primary = Source.none
    var secondary = Source.none
    var theme = "bright"
    static var defaultValue: Self? { Self() }
}

private struct DictionaryValuesChanged: NewVersion {
    var theme = "bright"
    var limits: [String: Int] = ["default": 1]
    var counts: [String: Int] = ["default": 2]
    static var defaultValue: Self? { Self() }
}

private struct ElementsChanged: NewVersion {
    enum Kind: String, Codable { case web, mail }
    struct Bookmark: DefaultProviding, Equatable {
        var url: String
        var tags: [String] = []
        static var defaultValue: Bookmark? { Bookmark(url: "blank") }
    }
    var theme = "bright"
    var bookmarks: [Bookmark] = []
    var byKind: [Kind: Bookmark] = [:]
    var kinds: Set<Kind> = []
    static var defaultValue: Self? { Self() }
}

private struct PropertyRenamedTwice: NewVersion {
    struct Window: Codable, Equatable { var width = 1 }
    var color = "blue"
    var window = Window()
    static var renamedProperties: [String: String] {
        ["z": "y", "y": "color", "pane": "window", "window.w": "window.width"]
    }
}

private struct OtherType: NewVersion {
    var theme = "bright"
    var volume = 0.5
    static var defaultValue: Self? { Self() }
}

private struct SkippedSecond: NewVersion {
    var volume = 20
    var name = "none"
    static var defaultValue: Self? { Self() }
}

private struct SkippedThird: NewVersion, DefaultMigratable {
    var volume: Double
    var name: String
    var balance = 0.5
    static var defaultValue: Self? { Self(volume: 0.2, name: "new") }
    init(volume: Double, name: String) { (self.volume, self.name) = (volume, name) }
    init(migrating previous: SkippedSecond) {
        self.init(volume: Double(previous.volume) / 100, name: previous.name)
    }
}

private struct InitializerErrors: NewVersion {
    /// A type whose error names a path that leads nowhere.
    struct Port: Codable, Equatable {
        var number = 80
        init() {}
        init(from decoder: any Decoder) throws {
            number = try decoder.singleValueContainer().decode(Int.self)
            guard number < 65_536 else {
                throw DecodingError.typeMismatch(Int.self, .init(codingPath: [], debugDescription: "Too large."))
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(number)
        }
    }
    /// A type that throws its own error.
    struct Volume: Codable, Equatable {
        var level = 0.5
        init() {}
        init(from decoder: any Decoder) throws {
            level = try decoder.singleValueContainer().decode(Double.self)
            guard (0...1).contains(level) else { throw CocoaError(.coderReadCorrupt) }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(level)
        }
    }
    enum Mode: String, Codable { case plain }
    var theme = "bright"
    var port = Port()
    var volume = Volume()
    var mode = Mode.plain
    var count = 0
    static var defaultValue: Self? { Self() }
}

private struct AlternativeKeys: NewVersion {
    var theme = "bright"
    var port = 80
    var count = 0
    enum CodingKeys: String, CodingKey { case theme, oldTheme = "old_theme", port, count }
    static var defaultValue: Self? { Self() }
    init(theme: String = "bright", count: Int = 0) { (self.theme, self.count) = (theme, count) }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        theme =
            try container.decodeIfPresent(String.self, forKey: .theme)
            ?? container.decode(String.self, forKey: .oldTheme)
        port = try container.decode(Int.self, forKey: .port)
        count = try container.decode(Int.self, forKey: .count)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(theme, forKey: .theme)
        try container.encode(port, forKey: .port)
        try container.encode(count, forKey: .count)
    }
}

private struct NamesEscaped: NewVersion {
    var size = 1
    var path = ""
    var depth = 0
    static var renamedProperties: [String: String] { ["gr\u{F6}\u{DF}e": "size", "a/b": "path", "z": "depth"] }
}

private struct UnknownFieldsStored: NewVersion {
    struct Window: Codable, Equatable { var width: Int }
    struct Account: Codable, Equatable { var name: String }
    var theme = "bright"
    var volume = 0.5
    var window: Window
    var windows: [Window]
    var account: Account
    static var removedProperties: [String] { ["token", "account.token"] }
}

private struct NegativeZero: NewVersion {
    var offset = 1.0
    var theme = "bright"
    var count = 3
    static var defaultValue: Self? { Self() }
    static func == (one: Self, other: Self) -> Bool {
        one.offset == other.offset && one.offset.sign == other.offset.sign && one.theme == other.theme
            && one.count == other.count
    }
}

private struct NullString: NewVersion {
    var name = "n"
    var list: [String] = []
    var byName: [String: String] = [:]
    var count = 3
    static var defaultValue: Self? { Self() }
}

private struct ClassHierarchy: NewVersion {
    class Shape: Codable {
        var name = "n"
        var sides = 0
        init() {}
    }
    final class Square: Shape {
        var side = 1
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            side = try container.decode(Int.self, forKey: .side)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(side, forKey: .side)
            try super.encode(to: container.superEncoder())
        }
        enum CodingKeys: CodingKey { case side }
    }
    var shape = Square()
    var theme = "bright"
    static var defaultValue: Self? { Self() }
    static func == (one: Self, other: Self) -> Bool {
        (one.shape.name, one.shape.sides, one.shape.side, one.theme)
            == (other.shape.name, other.shape.sides, other.shape.side, other.theme)
    }
}

private struct StructKeys: NewVersion {
    struct ID: Codable, Hashable { var id: Int }
    var limits: [ID: Int] = [:]
    var theme = "bright"
    static var defaultValue: Self? { Self() }
}

/// The reader of a fixture of release 4, whose values release 3 can read.
private struct ReadableRelease3: NewVersion {
    var theme: String
    var volume: Double
    static var schemaVersion: Int { 3 }
}

private struct ReadableRelease2: NewVersion {
    var theme = "bright"
    static var schemaVersion: Int { 2 }
    static var defaultValue: Self? { Self() }
}

private struct NewIdentifier: NewVersion {
    var theme = "bright"
    var volume = 0.5
    var fontSize = 12
    static var defaultIdentifier: String { "NewSettings" }
    static var previousIdentifiers: [String] { ["NewerSettings", "Settings"] }
    static var defaultValue: Self? { Self() }
}

extension Defaults.Keys {
    fileprivate struct Palette: Codable, Equatable {
        var name = "bright"
        var colors = ["red"]
        var isShared = false
    }
    fileprivate static let palette = Defaults.Key<Palette>("Settings", default: Palette())
}

@Suite("A value from an old version", .ownCache)
struct CorpusTests {
    @Test("is read by a new one with every usable part, and a report of the others", arguments: StoreKind.allCases)
    func corpus(kind: StoreKind) throws {
        for format in Format.allCases {
            try Format.$current.withValue(format) {
                try kind.withCurrentStore { store in try checkCorpus(in: store, format: format) }
            }
        }
    }

    private func checkCorpus(in store: any DefaultsStore, format: Format) throws {
        let corpus = Corpus(store: store, format: format)
        try corpus.check(
            "elements-changed",
            ElementsChanged(
                theme: "dark",
                bookmarks: [.init(url: "a"), .init(url: "b")],
                byKind: [.web: .init(url: "c")],
                kinds: [.web]
            ),
            filledIn: ["bookmarks[0].tags", "bookmarks[1].tags", "byKind[1].tags"],
            unusable: ["bookmarks[2]", "byKind[2]", "byKind[3]", "kinds[1]"]
        )
        try corpus.check("property-renamed-twice", PropertyRenamedTwice(color: "red", window: .init(width: 3)))
        try corpus.check("property-added", PropertyAdded(theme: "dark", volume: 0.1), filledIn: ["fontSize"])
        try corpus.check("property-removed", PropertyRemoved(theme: "dark", volume: 0.1))
        try corpus.check(
            "property-renamed",
            PropertyRenamed(color: "red", window: .init(width: 640, height: 480))
        )
        try corpus.check("optional-made-required", OptionalMadeRequired(theme: "dark"), filledIn: ["nickname"])
        try corpus.check("type-changed", TypeChanged(theme: "dark", largest: .max), unusable: ["port"])
        try corpus.check("enum-case-removed", EnumCaseRemoved(theme: "dark", count: 3), unusable: ["mode"])
        try corpus.check(
            "nested-struct-changed",
            NestedStructChanged(theme: "dark", window: .init(width: 640, isOpen: true)),
            filledIn: ["window.depth"],
            unusable: ["window.height"]
        )
        try corpus.check(
            "array-element-changed",
            ArrayElementChanged(theme: "dark", tags: ["x", "y"]),
            unusable: ["items"]
        )
        try corpus.check("date-strategy-changed", DateStrategyChanged(theme: "dark", count: 3), unusable: ["lastUsed"])
        try corpus.check(
            "wrapped-in-struct",
            WrappedInStruct(appearance: .init(theme: "dark"), sound: .init(volume: 0.1))
        )
        try corpus.check("split-in-two", SplitAppearance(theme: "dark", loudness: 10), migratedFrom: "BeforeSplit")
        try corpus.check("split-in-two", SplitServer(address: "example.com:8080"), migratedFrom: "BeforeSplit")
        try corpus.check(
            "version-bumped-twice",
            VersionBumpedTwice(volume: 0.35, theme: "DARK"),
            migratedFrom: "BeforeFirstBump"
        )
        try corpus.check(
            "associated-values-changed",
            AssociatedValuesChanged(primary: .file("a.mp3"), theme: "dark"),
            unusable: ["secondary"]
        )
        try corpus.check(
            "dictionary-values-changed",
            DictionaryValuesChanged(theme: "dark", limits: [:], counts: ["kept": 3]),
            unusable: ["limits.a", "limits.b"]
        )
        try corpus.check(
            "other-type",
            OtherType(),
            filledIn: ["theme", "volume"]
        )
        try checkReading(corpus)
        try checkWhatIsKept(corpus)
    }

    private func checkReading(_ corpus: Corpus) throws {
        try corpus.check(
            "release-skipped",
            SkippedThird(volume: 0.5, name: "none"),
            filledIn: ["name"],
            migratedFrom: "SkippedSecond"
        )
        var errors = InitializerErrors()
        (errors.theme, errors.count) = ("dark", 3)
        try corpus.check("initializer-errors", errors, unusable: ["mode", "port", "volume"])
        try corpus.check("alternative-keys", AlternativeKeys(theme: "dark", count: 3), unusable: ["port"])
        try corpus.check(
            "null-under-new-name",
            PropertyRenamed(color: "red", window: .init(width: 640, height: 480))
        )
        try corpus.check("names-escaped", NamesEscaped(size: 6, path: "x", depth: 7))
        try corpus.check(
            "old-name-unused",
            PropertyRenamed(color: "blue", window: .init(width: 1, height: 2)),
            unusable: ["colour", "window.w"]
        )
        try corpus.check("negative-zero", NegativeZero(offset: -0.0, theme: "dark"), filledIn: ["count"])
        try corpus.check(
            "null-string",
            NullString(name: "$null", list: ["a", "$null"], byName: ["k": "$null"]),
            filledIn: ["count"]
        )
        let hierarchy = ClassHierarchy(theme: "dark")
        hierarchy.shape.name = "s"
        try corpus.check("class-hierarchy", hierarchy, filledIn: ["shape.super.sides"], unusable: ["shape.side"])
        try corpus.check(
            "struct-keys",
            StructKeys(limits: [.init(id: 1): 5, .init(id: 3): 7], theme: "dark"),
            unusable: ["limits[2]", "limits[3]", "limits[4]", "limits[5]"]
        )
    }

    private func checkWhatIsKept(_ corpus: Corpus) throws {
        try corpus.check(
            "unknown-fields",
            UnknownFieldsStored(
                theme: "dark",
                volume: 0.1,
                window: .init(width: 3),
                windows: [.init(width: 5)],
                account: .init(name: "n")
            ),
            unknown: [["future"], ["window", "depth"]],
            removed: [["token"], ["account", "token"]]
        )
        try corpus.check("readable-since", ReadableRelease3(theme: "dark", volume: 0.1), unknown: [["balance"]])
        let record = try #require(corpus.store.object(forKey: "Settings.schemaVersion") as? String)
        #expect(record.hasPrefix("4/3 "))
    }

    @Test("is left to a newer version by one that can't read it", arguments: StoreKind.allCases)
    func newer(kind: StoreKind) throws {
        for format in Format.allCases {
            try Format.$current.withValue(format) {
                try kind.withCurrentStore { store in
                    let bytes = try Corpus(store: store, format: format).place("readable-since")
                    try EventCollector().collect {
                        expectError(.newerVersion) { try ReadableRelease2.load() }
                        #expect(ReadableRelease2.read() == ReadableRelease2())
                        #expect(store.data(forKey: "Settings") == bytes)
                        try ReadableRelease2.update { $0.theme = "plain" }
                    }
                    #expect(try ReadableRelease2.load() == ReadableRelease2(theme: "plain"))
                    #expect(try ReadableRelease2.quarantined().map(\.data) == [bytes])
                }
            }
        }
    }

    @Test("is found under its old name, beside an unreadable one under a newer name", arguments: StoreKind.allCases)
    func previousIdentifiers(kind: StoreKind) throws {
        for format in Format.allCases {
            try Format.$current.withValue(format) {
                try kind.withCurrentStore { store in
                    let bytes = try Corpus(store: store, format: format).place("property-added")
                    try store.set(Data("damaged".utf8), forKey: "NewerSettings")
                    try EventCollector().collect {
                        let value = try NewIdentifier.load()
                        #expect(value == NewIdentifier(theme: "dark", volume: 0.1))
                        value?.write()
                        let report = try NewIdentifier.loadWithReport()?.report
                        #expect(report?.isEmpty == true)
                    }
                    #expect(store.data(forKey: "Settings") == bytes)
                    #expect(store.data(forKey: "NewerSettings") == Data("damaged".utf8))
                }
            }
        }
    }

    @Test("of a typed key is filled in from the key's default", arguments: StoreKind.allCases)
    func typedKey(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let bytes = try Corpus(store: store, format: .json).place("typed-key")
            let defaults = Defaults(suite: store)
            EventCollector().collect {
                #expect(defaults[.palette] == .init(name: "dark"))
                #expect(store.data(forKey: "Settings") == bytes)
                defaults[.palette].isShared = true
                #expect(defaults[.palette] == .init(name: "dark", isShared: true))
            }
            #expect(try defaults.quarantined(.palette).map(\.data) == [bytes])
        }
    }
}

private struct Corpus {
    let store: any DefaultsStore
    let format: Format

    func check<Settings: NewVersion>(
        _ fixture: String,
        _ expected: Settings,
        filledIn: [String] = [],
        unusable: [String] = [],
        migratedFrom: String? = nil,
        unknown: [StoredTree.Path] = [],
        removed: [StoredTree.Path] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let comment: Comment = "\(fixture).\(format.rawValue)"
        let bytes = try place(fixture, sourceLocation: sourceLocation)
        let keys = store.dictionaryRepresentation().keys.sorted()

        let (value, report) = try #require(try Settings.loadWithReport(), comment, sourceLocation: sourceLocation)
        #expect(value == expected, comment, sourceLocation: sourceLocation)
        #expect(report.filledIn == filledIn, comment, sourceLocation: sourceLocation)
        #expect(report.unusable.map(\.path) == unusable, comment, sourceLocation: sourceLocation)
        #expect(report.migratedFrom == migratedFrom, comment, sourceLocation: sourceLocation)

        // A read reports this once, and writes nothing.
        let collector = EventCollector()
        collector.collect {
            for _ in 0..<2 {
                #expect(Settings.read() == expected, comment, sourceLocation: sourceLocation)
            }
        }
        #expect(
            collector.events.map(\.report) == (report.isEmpty ? [] : [report]),
            comment,
            sourceLocation: sourceLocation
        )
        #expect(store.data(forKey: "Settings") == bytes, comment, sourceLocation: sourceLocation)
        #expect(store.dictionaryRepresentation().keys.sorted() == keys, comment, sourceLocation: sourceLocation)

        // A write quarantines the value if it would lose parts of it.
        value.write()
        let kept = try Settings.quarantined().map(\.data)
        #expect(kept == (unusable.isEmpty ? [] : [bytes]), comment, sourceLocation: sourceLocation)
        let written = StoredTree.parse(store.data(forKey: Settings.defaultIdentifier) ?? Data())?.tree
        for path in unknown + removed {
            let (before, isKept) = (StoredTree.parse(bytes)?.tree[path], unknown.contains(path))
            #expect(before != nil, comment, sourceLocation: sourceLocation)
            #expect(written?[path] == (isKept ? before : nil), comment, sourceLocation: sourceLocation)
        }
        let again = try #require(try Settings.loadWithReport(), comment, sourceLocation: sourceLocation)
        #expect(again.value == expected, comment, sourceLocation: sourceLocation)
        #expect(again.report == LoadReport(), comment, sourceLocation: sourceLocation)
    }

    /// Makes a fixture the only value of the store, with its version if it has one.
    func place(_ fixture: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Data {
        let name = "Evolution/\(fixture).\(format.rawValue)"
        let bytes = try #require(Fixtures.data(named: name), sourceLocation: sourceLocation)
        for key in store.dictionaryRepresentation().keys {
            try store.removeObject(forKey: key)
        }
        try store.set(bytes, forKey: "Settings")
        if let version = Fixtures.data(named: "\(name).version") {
            try store.set(String(decoding: version, as: UTF8.self), forKey: "Settings.schemaVersion")
        }
        return bytes
    }
}
