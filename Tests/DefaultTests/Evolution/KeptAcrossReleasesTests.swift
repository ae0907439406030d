import Foundation
import Testing

@testable import Default

private enum CoderInUse {
    @TaskLocal static var coder = DefaultsCoder.json
}

private protocol Release: DefaultStorable, Equatable {}

extension Release {
    static var defaultIdentifier: String { "Settings" }
    static var defaultCoder: DefaultsCoder { CoderInUse.coder }
}

// MARK: Old names of containers

private struct Moved: Release {
    struct Theme: Codable, Equatable { var name = "dark" }
    var theme = Theme()
    var level = 1
    static var renamedProperties: [String: String] { ["theme": "theme.name"] }
    static var defaultValue: Moved? { Moved() }
}

private struct Reused: Release {
    struct Look: Codable, Equatable { var color = "red" }
    struct Window: Codable, Equatable {
        var look = Look()
        var style: Look?
    }
    var window = Window()
    var level = 1
    static var renamedProperties: [String: String] { ["window.look": "window.style"] }
    static var defaultValue: Reused? { Reused() }
}

private struct MigratedInto: Release, DefaultMigratable {
    struct Old: Codable {
        struct Theme: Codable { var name: String }
        var theme: Theme
        var volume: Int
    }
    struct Theme: Codable, Equatable { var name: String }
    var theme: Theme
    var level: Int
    static var schemaVersion: Int { 2 }
    static var renamedProperties: [String: String] { ["theme": "theme.name", "old": "level"] }
    init(migrating previous: Old) {
        theme = Theme(name: previous.theme.name)
        level = previous.volume
    }
}

// MARK: What is inside collections and cases

private struct Pane: Codable, Hashable {
    var width: Int
    var tag: String?
}

private enum Mode: Codable, Equatable {
    case plain
    case tiled(columns: Int)
}

private struct Older: Release {
    var level = 1
    var panes: [Pane] = []
    var byName: [String: Pane] = [:]
    var byPane: [Pane: Pane] = [:]
    var set: Set<Pane> = []
    var nested: [[String: [Pane]]] = []
    var mode = Mode.plain
    var first: Pane?
}

/// A type that decodes the elements of an array itself.
private struct ByHand: Release {
    var level: Int
    var widths: [Int]
    enum CodingKeys: CodingKey { case level, panes }
    enum PaneKeys: CodingKey { case width }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        level = try container.decode(Int.self, forKey: .level)
        widths = []
        var panes = try container.nestedUnkeyedContainer(forKey: .panes)
        while !panes.isAtEnd {
            let pane = try panes.nestedContainer(keyedBy: PaneKeys.self)
            widths.append(try pane.decode(Int.self, forKey: .width))
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(level, forKey: .level)
        var panes = container.nestedUnkeyedContainer(forKey: .panes)
        for width in widths {
            var pane = panes.nestedContainer(keyedBy: PaneKeys.self)
            try pane.encode(width, forKey: .width)
        }
    }
}

@Suite("Data that a newer release has added", .ownCache)
struct KeptAcrossReleasesTests {
    /// Stores JSON with each coder, and calls a body.
    private func withStored(_ json: String, _ body: (MemoryDefaults, Data) throws -> Void) throws {
        for coder in [DefaultsCoder.json, .propertyList] {
            let store = MemoryDefaults()
            let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
            let data =
                try !coder.encode([1]).isPropertyList
                ? Data(json.utf8)
                : try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
            try store.setStoredValue(.data(data), forKey: "Settings")
            try CoderInUse.$coder.withValue(coder) {
                try EventCollector().collect { try body(store, data) }
            }
        }
    }

    private func value(of data: Data?) throws -> [String: PropertyListValue] {
        guard case .dictionary(let fields) = try StoredForm.value(of: #require(data)) else { return [:] }
        return fields
    }

    private func expect(
        _ store: MemoryDefaults,
        stores json: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let stored = try value(of: store.data(forKey: "Settings"))
        #expect(try stored == value(of: Data(json.utf8)), sourceLocation: location)
    }

    @Test("is kept in a container whose name is also an old name")
    func underOldNames() throws {
        try withStored(#"{"theme":{"name":"x","accent":"blue"},"level":1}"#) { store, _ in
            try Moved.update(in: store) { $0.level = 2 }
            try expect(store, stores: #"{"theme":{"name":"x","accent":"blue"},"level":2}"#)
            #expect(try Moved.quarantined(in: store).isEmpty)
        }
        // The container has moved, and its old name is now the name of another property.
        let reused = #"{"window":{"look":{"color":"r","x":1},"style":{"color":"s","y":2}},"level":1}"#
        try withStored(reused) { store, _ in
            try Reused.update(in: store) { $0.level = 2 }
            try expect(store, stores: reused.replacing(#""level":1"#, with: #""level":2"#))
        }
        try withStored(#"{"theme":{"name":"x","accent":"blue"},"volume":3}"#) { store, _ in
            try MigratedInto.update(in: store) { $0.level = 4 }
            try expect(store, stores: #"{"theme":{"name":"x","accent":"blue"},"level":4}"#)
            #expect(try MigratedInto.quarantined(in: store).isEmpty)
        }
        // The predecessor doesn't know a value with an old name of the new type.
        try withStored(#"{"theme":{"name":"x"},"volume":3,"old":9}"#) { store, data in
            try MigratedInto.update(in: store) { $0.level = 4 }
            try expect(store, stores: #"{"theme":{"name":"x"},"level":4}"#)
            #expect(try MigratedInto.quarantined(in: store).map(\.data) == [data])
        }
    }

    private func elements(_ value: PropertyListValue?) -> [PropertyListValue] {
        if case .array(let elements)? = value { elements } else { [] }
    }

    private func pairs(_ value: PropertyListValue?) -> [PropertyListValue: PropertyListValue] {
        let all = elements(value)
        return Dictionary(uniqueKeysWithValues: stride(from: 0, to: all.count, by: 2).map { (all[$0], all[$0 + 1]) })
    }

    private let newer = """
        {"level":1,"first":{"width":9,"depth":9},\
        "panes":[{"width":1,"depth":10},{"width":2,"tag":"b","depth":20,"more":{"x":[1]}},{"width":1,"depth":30}],\
        "byName":{"a":{"width":3,"depth":40},"b":{"width":4}},\
        "byPane":[{"width":5},{"width":6,"depth":50},{"width":7},{"width":6,"depth":60}],\
        "set":[{"width":8,"depth":70},{"width":9}],\
        "nested":[{"a":[{"width":1,"depth":80}]}],\
        "mode":{"tiled":{"columns":2,"gap":5}}}
        """

    @Test("is kept in arrays, dictionaries, sets and cases that an older one writes back as they were")
    func collections() throws {
        try withStored(newer) { store, _ in
            for level in 2...4 {
                try Older.update(in: store) { $0.level = level }
            }
            let (old, new) = (try value(of: Data(newer.utf8)), try value(of: store.data(forKey: "Settings")))
            for key in ["first", "byName", "mode", "nested", "panes"] {
                #expect(new[key] == old[key], "\(key)")
            }
            #expect(Set(elements(new["set"])) == Set(elements(old["set"])))
            // A value stays with its key, whatever the order of the pairs.
            #expect(pairs(new["byPane"]) == pairs(old["byPane"]))
            #expect(try Older.quarantined(in: store).isEmpty)
        }
    }

    @Test("is kept in elements that stay when others are added, moved and removed; the rest is quarantined")
    func changedElements() throws {
        func json(_ panes: String) -> String {
            #"{"level":1,"panes":[\#(panes)],"byName":{},"byPane":[],"set":[],"nested":[],"mode":{"plain":{}}}"#
        }
        try withStored(json(#"{"width":1,"d":1},{"width":2,"d":2},{"width":3,"d":3}"#)) { store, data in
            try Older.update(in: store) { $0.panes = [Pane(width: 7), $0.panes[2], $0.panes[0], $0.panes[1]] }
            #expect(try Older.quarantined(in: store).isEmpty)
            let moved = try #require(store.data(forKey: "Settings"))
            let rest = #"{"width":1,"d":1},{"width":2,"d":2}"#
            try expect(store, stores: json(#"{"width":7},{"width":3,"d":3},\#(rest)"#))
            try Older.update(in: store) { $0.panes[1].width = 4 }
            try expect(store, stores: json(#"{"width":7},{"width":4},\#(rest)"#))
            #expect(try Older.quarantined(in: store).map(\.data) == [moved])
            #expect(moved != data)
        }
    }

    @Test("is kept in a value that changes, if its key stays")
    func changedValues() throws {
        func json(_ pairs: String) -> String {
            #"{"level":1,"panes":[],"byName":{},"byPane":[\#(pairs)],"set":[],"nested":[],"mode":{"plain":{}}}"#
        }
        try withStored(json(#"{"width":1},{"width":2,"d":2}"#)) { store, _ in
            try Older.update(in: store) { $0.byPane[Pane(width: 1)] = Pane(width: 5) }
            try expect(store, stores: json(#"{"width":1},{"width":5,"d":2}"#))
            #expect(try Older.quarantined(in: store).isEmpty)
        }
    }

    @Test("is quarantined with an entry, a case or a container that is gone")
    func withoutPlace() throws {
        let changes: [@Sendable (inout Older) -> Void] = [
            { $0.byName["a"] = nil }, { $0.mode = .plain }, { $0.first = nil }, { $0.byPane = [:] }, { $0.set = [] },
            { $0.nested = [] }, { $0.panes = [] },
        ]
        for change in changes {
            try withStored(newer) { store, data in
                try Older.update(in: store, change)
                #expect(try Older.quarantined(in: store).map(\.data) == [data])
                try Older.update(in: store) { $0.level += 1 }
                #expect(try Older.quarantined(in: store).count == 1)
            }
        }
    }

    @Test("is kept in an array that a type decodes itself")
    func byHand() throws {
        try withStored(#"{"level":1,"panes":[{"width":1,"depth":10},{"width":2}]}"#) { store, _ in
            try ByHand.update(in: store) {
                $0.level = 2
                $0.widths.append(3)
            }
            try expect(store, stores: #"{"level":2,"panes":[{"width":1,"depth":10},{"width":2},{"width":3}]}"#)
        }
    }
}

// MARK: Bytes without a version

/// A type with the volume in percent, and its properties in either order.
private struct Percent: Codable {
    var name: String
    var volume: Int
}

private struct PercentFirst: Codable {
    enum Kind: String, Codable { case loud }
    var volume: Int
    var kind: Kind
    var name: String
}

private struct PercentOfKind: Codable {
    enum Kind: String, Codable { case loud }
    var kind: Kind
    var volume: Int
}

private struct VersionedPercent: DefaultStorable {
    enum Kind: String, Codable { case loud }
    var kind: Kind
    var volume: Int
    static var schemaVersion: Int { 1 }
}

private struct NumberedPercent: Codable {
    var name: Int
    var volume: Int
}

private struct NamedScale: DefaultMigratable {
    var volume = 0.5
    var name = "n"
    static var defaultIdentifier: String { "Scale" }
    static var schemaVersion: Int { 2 }
    init() {}
    init(migrating previous: NumberedPercent) { volume = 0.01 }
}

private struct Scale<Old: Decodable & Sendable>: DefaultMigratable {
    var volume = 0.5
    static var defaultIdentifier: String { "Scale" }
    static var schemaVersion: Int { 2 }
    init(volume: Double) { self.volume = volume }
    init(migrating previous: Old) throws { volume = 0.01 }
}

private struct ScaleWithDefault<Old: Decodable & Sendable>: DefaultMigratable {
    var volume = 0.5
    var balance = 0.0
    static var defaultIdentifier: String { "Scale" }
    static var schemaVersion: Int { 2 }
    static var defaultValue: Self? { Self() }
    init() {}
    init(migrating previous: Old) throws { volume = 0.01 }
}

@Suite("Bytes without a version", .ownCache)
struct UnversionedBytesTests {
    private func check<Settings: DefaultStorable>(
        _ type: Settings.Type,
        _ json: String,
        _ expected: Double?,
        _ volume: (Settings) -> Double,
        replacement: Settings
    ) throws {
        let store = MemoryDefaults()
        let data = Data(json.utf8)
        try store.setStoredValue(.data(data), forKey: "Scale")
        try EventCollector().collect {
            if let expected {
                #expect(try Settings.load(from: store).map(volume) == expected, "\(type) \(json)")
            } else {
                expectError(.undecodable) { try Settings.load(from: store) }
                try replacement.save(to: store)
                #expect(try Settings.quarantined(in: store).map(\.data) == [data])
            }
        }
    }

    @Test("are not read as a type with a version while a predecessor may mean something else by them")
    func scales() throws {
        for json in [#"{"volume":80}"#, #"{"volume":80,"other":true}"#] {
            try check(Scale<Percent>.self, json, nil, \.volume, replacement: .init(volume: 1))
            try check(Scale<PercentFirst>.self, json, nil, \.volume, replacement: .init(volume: 1))
            try check(Scale<PercentOfKind>.self, json, nil, \.volume, replacement: .init(volume: 1))
            try check(ScaleWithDefault<Percent>.self, json, nil, \.volume, replacement: .init())
            try check(ScaleWithDefault<PercentFirst>.self, json, nil, \.volume, replacement: .init())
        }
        // The bytes are a complete value of the predecessor.
        try check(Scale<Percent>.self, #"{"volume":80,"name":"x"}"#, 0.01, \.volume, replacement: .init(volume: 1))
    }

    @Test("are read as a type with a version if no predecessor can use them")
    func ownBytes() throws {
        try check(Scale<Percent>.self, #"{"volume":0.25}"#, 0.25, \.volume, replacement: .init(volume: 1))
        try check(ScaleWithDefault<Percent>.self, #"{"volume":0.25}"#, 0.25, \.volume, replacement: .init())
        try check(ScaleWithDefault<Percent>.self, #"{"balance":1}"#, 0.5, \.volume, replacement: .init())
        try check(ScaleWithDefault<Percent>.self, "{}", 0.5, \.volume, replacement: .init())
        // A predecessor with a version would have recorded that.
        try check(Scale<VersionedPercent>.self, #"{"volume":80}"#, 80, \.volume, replacement: .init(volume: 1))
        // The predecessor could use the volume, but not the name.
        try check(NamedScale.self, #"{"volume":80,"name":"x"}"#, 80, \.volume, replacement: .init())
    }
}

// MARK: Filling in, removing and reporting

@Suite("Old bytes that are read", .ownCache)
struct OldBytesTests {
    struct Pane: Codable, Equatable {
        var width = 1
        var height = 2
    }
    struct Panes: DefaultStorable, Equatable {
        var panes = ["left": Pane(width: 10, height: 20)]
        var elements: [Int] = []
        static let defaultValue = Panes()
    }
    struct Tidy: DefaultStorable, Equatable {
        struct Inner: Codable, Equatable { var a = 1 }
        var name = "n"
        var inner = Inner()
        static var removedProperties: [String] { ["token", "inner.secret", "name", "gone.part"] }
    }

    @Test("have an entry filled in from the default's entry, and not replaced by it")
    func entries() throws {
        let store = MemoryDefaults()
        let json = #"{"panes":{"left":{"width":5},"right":{"width":6,"height":7}},"elements":[]}"#
        try store.setStoredValue(.data(Data(json.utf8)), forKey: "Panes")
        let (value, report) = try #require(try Panes.loadWithReport(from: store))
        #expect(value.panes == ["left": Pane(width: 5, height: 20), "right": Pane(width: 6, height: 7)])
        #expect(report.filledIn == ["panes.left.height"] && report.unusable.isEmpty)
    }

    @Test("have the version that is recorded when they are replaced, not the one that they had when they were read")
    func recordedLater() throws {
        struct Levels: DefaultStorable {
            var level = 1
            static var schemaVersion: Int { 2 }
        }
        let store = MemoryDefaults()
        try Levels().save(to: store)
        #expect(try Levels.load(from: store)?.level == 1)
        let record = try #require(store.string(forKey: "Levels.schemaVersion"))
        #expect(record.hasPrefix("2 "))
        // A newer release records that its values are the same, and that the older one can read and write them.
        try store.set("3/" + record, forKey: "Levels.schemaVersion")
        try Levels(level: 2).save(to: store)
        #expect(store.string(forKey: "Levels.schemaVersion")?.hasPrefix("3/2 ") == true)
    }

    @Test("are found under an earlier name, with an event about those under the present one that can't be read")
    func unreadableBeforeEarlier() throws {
        struct Named: DefaultStorable {
            var level = 1
            static var previousIdentifiers: [String] { ["Older"] }
        }
        let store = MemoryDefaults()
        try store.set(Data("{".utf8), forKey: "Named")
        try store.set(Data(#"{"level":7}"#.utf8), forKey: "Older")
        let collector = EventCollector()
        collector.collect { #expect(Named.read(from: store)?.level == 7) }
        #expect(collector.events.map(\.kind) == [.readFailed])
        #expect(collector.codes == [.undecodable])
        #expect(collector.events.map(\.error.key) == ["Named"])
    }

    @Test("lose their removed properties when they are migrated, once")
    func removed() throws {
        for (json, expected) in [
            (#"{"name":"n","inner":{"a":1},"token":"t"}"#, #"{"inner":{"a":1},"name":"n"}"#),
            (#"{"name":"n","inner":{"a":1,"secret":1,"b":2}}"#, #"{"inner":{"a":1,"b":2},"name":"n"}"#),
            (#"{"name":"n","inner":{"a":1},"gone":{"part":1,"b":2}}"#, #"{"gone":{"b":2},"inner":{"a":1},"name":"n"}"#),
        ] {
            let store = MemoryDefaults()
            try store.setStoredValue(.data(Data(json.utf8)), forKey: "Tidy")
            #expect(try Tidy.migrate(in: store))
            #expect(store.data(forKey: "Tidy") == Data(expected.utf8))
            #expect(try !Tidy.migrate(in: store))
            #expect(try Tidy.quarantined(in: store).isEmpty)
        }
    }

    @Test("are reported again when content or reason of a failure changes, and when the reason of a difference does")
    func reports() throws {
        struct Bare: DefaultStorable { var volume: Int }
        let store = MemoryDefaults()
        func events(_ json: String, reads: Int = 2, _ read: () -> Void) throws -> [DefaultsDiagnostics.Event.Kind] {
            try store.setStoredValue(.data(Data(json.utf8)), forKey: "Bare")
            try store.setStoredValue(.data(Data(json.utf8)), forKey: "Panes")
            let collector = EventCollector()
            collector.collect { for _ in 0..<reads { read() } }
            return collector.events.map(\.kind)
        }
        for json in [#"{"volume":"a"}"#, #"{"volume":"b"}"#, #"{"volume":"long"}"#, "{}", "[]"] {
            #expect(try events(json) { _ = Bare.read(from: store) } == [.readFailed], "\(json)")
        }
        try store.setStoredValue(.string("text"), forKey: "Bare")
        let collector = EventCollector()
        collector.collect { for _ in 0..<3 { _ = Bare.read(from: store) } }
        #expect(collector.events.map(\.kind) == [.readFailed])

        let read = { _ = Panes.read(from: store) }
        #expect(try events(#"{"panes":{},"elements":"a"}"#, read) == [.filledIn])
        for text in ["b", "c", "longer"] {
            #expect(try events(#"{"panes":{},"elements":"\#(text)"}"#, read).isEmpty)
        }
        #expect(try events(#"{"panes":{"left":{"width":1}},"elements":[]}"#, read) == [.filledIn])
        #expect(try events(#"{"panes":{},"elements":"b"}"#, read).isEmpty)
    }

    @Test("are reported with the index of an element right behind the array's name")
    func indexes() throws {
        struct Item: DefaultProviding {
            var number = 1
            static let defaultValue = Item()
        }
        struct Items: DefaultStorable {
            var elements: [Item] = []
            static let defaultValue = Items()
        }
        let store = MemoryDefaults()
        let elements = Array(repeating: #"{"number":1}"#, count: 1_000) + [#"{"number":"x"}"#, "{}", "7"]
        try store.setStoredValue(
            .data(Data(#"{"elements":[\#(elements.joined(separator: ","))]}"#.utf8)),
            forKey: "Items"
        )
        let (_, report) = try #require(try Items.loadWithReport(from: store))
        #expect(report.filledIn == ["elements[1001].number"])
        #expect(report.unusable.map(\.path) == ["elements[1000].number", "elements[1002]"])
        struct Strict: DefaultStorable { var elements: [[Int]] }
        try store.setStoredValue(.data(Data(#"{"elements":[[1],[2,"x"]]}"#.utf8)), forKey: "Strict")
        #expect(throws: DefaultsError.self) { try Strict.load(from: store) }
        do {
            _ = try Strict.load(from: store)
        } catch {
            #expect(error.description.contains(#""elements[1][1]""#))
        }
    }
}
