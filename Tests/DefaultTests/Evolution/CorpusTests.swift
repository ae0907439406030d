import Foundation
import Testing

@testable import Default

/// Shared by the settings types of this corpus: the store, the key and the format that a test has chosen.
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

// The new versions, one per fixture. The fixture's name describes the change.

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

@Suite("A value from an old version")
struct CorpusTests {
    // The same bytes of a type are reported once, in whichever store, so one store after the other.
    @Test(
        "is read by a new one with every usable part, and a report of the others",
        .serialized,
        arguments: StoreKind.allCases
    )
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
            filledIn: ["bookmarks.[0].tags", "bookmarks.[1].tags", "byKind.[1].tags"],
            unusable: ["bookmarks.[2]", "byKind.[2]", "byKind.[3]", "kinds.[1]"]
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
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let bytes = try #require(
            Fixtures.data(named: "Evolution/\(fixture).\(format.rawValue)"),
            sourceLocation: sourceLocation
        )
        let comment: Comment = "\(fixture).\(format.rawValue)"
        for key in store.dictionaryRepresentation().keys {
            try store.removeObject(forKey: key)
        }
        try store.set(bytes, forKey: "Settings")

        let (value, report) = try #require(try Settings.loadWithReport(), comment, sourceLocation: sourceLocation)
        #expect(value == expected, comment, sourceLocation: sourceLocation)
        #expect(report.filledIn == filledIn, comment, sourceLocation: sourceLocation)
        #expect(report.unusable.map(\.path) == unusable, comment, sourceLocation: sourceLocation)
        #expect(report.migratedFrom == migratedFrom, comment, sourceLocation: sourceLocation)

        // A read reports it once, and writes nothing.
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
        #expect(store.dictionaryRepresentation().keys.sorted() == ["Settings"], comment, sourceLocation: sourceLocation)

        // A write quarantines the value if parts of it would be lost.
        value.write()
        let kept = try Settings.quarantined().map(\.data)
        #expect(kept == (unusable.isEmpty ? [] : [bytes]), comment, sourceLocation: sourceLocation)
        let again = try #require(try Settings.loadWithReport(), comment, sourceLocation: sourceLocation)
        #expect(again.value == expected, comment, sourceLocation: sourceLocation)
        #expect(again.report == LoadReport(), comment, sourceLocation: sourceLocation)
    }
}
