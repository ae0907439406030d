import Foundation
import Testing

@testable import Default

/// The value that the newer release stored.
private struct Newer: Codable, Equatable {
    struct Window: Codable, Equatable {
        var width = 1
        var height: Int? = 2
        var depth = 3
    }
    struct Look: Codable, Equatable {
        var theme = "dark"
        var accent = "blue"
    }
    var name = "n"
    var note: String? = "private"
    var window: Window? = Window()
    var list = [Window()]
    var byName = ["a": Window()]
    var look = Look()
    var added = [1, 2]
    var empty: [String: Int] = [:]
}

private protocol Older: DefaultStorable, Equatable where DefaultsSuite == CurrentStore {}

extension Older {
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultIdentifier: String { "Settings" }
    static var defaultCoder: DefaultsCoder { CoderInUse.coder }
}

private enum CoderInUse {
    @TaskLocal static var coder = DefaultsCoder.json
}

private struct OlderWindow: Codable, Equatable {
    var width = 1
    var height: Int?
}

/// The same type before "added", "empty", "depth" and "accent" were added.
private struct Plain: Older {
    struct Look: Codable, Equatable { var theme = "dark" }
    var name = "n"
    var note: String?
    var window: OlderWindow?
    var list: [OlderWindow] = []
    var byName: [String: OlderWindow] = [:]
    var look = Look()
    static var defaultValue: Plain? { Plain() }
}

private struct Forgetful: Older {
    var name = "n"
    static var keepsUnknownFields: Bool { false }
}

private struct Tidy: Older {
    struct Look: Codable, Equatable { var theme = "dark" }
    var name = "n"
    var look = Look()
    static var removedProperties: [String] { ["note", "look.accent", "window.depth", "missing.one"] }
    static var renamedProperties: [String: String] { ["byName": "name"] }
}

private struct Dynamic: Older {
    var entries: [String: Int]
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PathKey.self)
        entries = [:]
        for key in container.allKeys {
            entries[key.stringValue] = try? container.decode(Int.self, forKey: key)
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PathKey.self)
        for (key, value) in entries {
            try container.encode(value, forKey: PathKey(stringValue: key))
        }
    }
}

/// A type that asks which keys there are, and reads some of them.
private struct Selective: Older {
    var names: [String: String]
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PathKey.self)
        names = [:]
        for key in container.allKeys where key.stringValue.hasPrefix("name") {
            names[key.stringValue] = try container.decode(String.self, forKey: key)
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PathKey.self)
        for (key, name) in names {
            try container.encode(name, forKey: PathKey(stringValue: key))
        }
    }
}

/// A type with a theme, or only its name.
private struct Named: Older {
    enum Look: Codable, Equatable {
        struct Theme: Codable, Equatable { var theme: String }
        case theme(Theme), named(String)
        init(from decoder: any Decoder) throws { self = .theme(try Theme(from: decoder)) }
        func encode(to encoder: any Encoder) throws {
            switch self {
            case .theme(let theme): try theme.encode(to: encoder)
            case .named(let name): try name.encode(to: encoder)
            }
        }
    }
    var look = Look.named("")
}

/// A type that writes as many bytes as it doesn't know.
private struct Padded: Older {
    var name: String
    enum CodingKeys: CodingKey { case name, pad }
    init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(12, forKey: .pad)
    }
}

/// A type that decodes the content of a part itself.
private struct Flat: Older {
    var name: String
    var width: Int
    enum CodingKeys: CodingKey { case name, window }
    enum WindowKeys: CodingKey { case width }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        let window = try container.nestedContainer(keyedBy: WindowKeys.self, forKey: .window)
        width = try window.decode(Int.self, forKey: .width)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        var window = container.nestedContainer(keyedBy: WindowKeys.self, forKey: .window)
        try window.encode(width, forKey: .width)
    }
}

/// A type that writes a number that it doesn't read.
private struct Stamped: Older {
    var name: String
    var stamp: Int?
    enum CodingKeys: CodingKey { case name, stamp }
    init(name: String, stamp: Int) { (self.name, self.stamp) = (name, stamp) }
    init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
    }
}

/// The predecessor of `Successor`, which keeps the theme and the window, and renames the title.
private struct Predecessor: Older {
    struct Look: Codable, Equatable { var theme: String }
    struct Window: Codable, Equatable { var width: Int }
    var name: String
    var look: Look
    var window: Window?
    static var removedProperties: [String] { ["note"] }
}

private struct Successor: Older, DefaultMigratable {
    struct Look: Codable, Equatable { var theme: String }
    var title: String
    var look = Look(theme: "dark")
    var window: [String: Int] = [:]
    static var removedProperties: [String] { ["list", "byName", "empty"] }
    init(title: String, window: [String: Int] = [:]) { (self.title, self.window) = (title, window) }
    init(migrating previous: Predecessor) {
        self.init(title: previous.name, window: ["width": previous.window?.width ?? 0])
        look.theme = previous.look.theme
    }
}

private struct ForgetfulSuccessor: Older, DefaultMigratable {
    var title: String
    static var keepsUnknownFields: Bool { false }
    init(migrating previous: Predecessor) { title = previous.name }
}

private struct SuccessorOfForgetful: Older, DefaultMigratable {
    var title: String
    init(migrating previous: Forgetful) { title = previous.name }
}

private struct SuccessorOfForgetfulSuccessor: Older, DefaultMigratable {
    var heading: String
    init(migrating previous: ForgetfulSuccessor) { heading = previous.title }
}

private struct Converted: DefaultMigratable {
    struct Old: DefaultStorable { var colour: String }
    var color: String
    static var defaultCoder: DefaultsCoder { .propertyList }
    init(migrating previous: Old) { color = previous.colour }
}

@Suite("A field that a type doesn't know", .ownCache)
struct UnknownFieldTests {
    private func withNewer(_ test: (any DefaultsStore, Data) throws -> Void) throws {
        for kind in StoreKind.allCases {
            for coder in [DefaultsCoder.json, .propertyList] {
                try CoderInUse.$coder.withValue(coder) {
                    try kind.withCurrentStore { store in
                        let data = try coder.encode(Newer())
                        try store.set(data, forKey: "Settings")
                        try EventCollector().collect { try test(store, data) }
                    }
                }
            }
        }
    }

    @Test("is kept by each write, in nested structs too, and not reported or quarantined")
    func kept() throws {
        try withNewer { store, _ in
            for _ in 0..<3 {
                try Plain.update {
                    $0.name = "changed"
                    $0.window?.width = 7
                }
                let bytes = try #require(store.data(forKey: "Settings"))
                let tree = try #require(StoredTree.parse(bytes)).tree
                #expect(tree[["added"]] != nil && tree[["empty"]] != nil)
                #expect(tree[["window", "depth"]] != nil && tree[["look", "accent"]] != nil)
                #expect(tree[["byName", "a", "depth"]] != nil)
            }
            #expect(try Plain.quarantined().isEmpty)
            try Plain(name: "other").save()
            let tree = try #require(StoredTree.parse(store.data(forKey: "Settings") ?? Data())).tree
            #expect(tree[["added"]] != nil && tree[["look", "accent"]] != nil)
            #expect(try Plain.loadWithReport()?.report.isEmpty == true)
            // The window, the elements and the entries are gone, with the unknown fields in them.
            #expect(try Plain.quarantined().count == 1)
        }
    }

    @Test("is kept in a part that the type decodes in its own initializer")
    func keptInNestedContainers() throws {
        try withNewer { store, _ in
            try Flat.update { $0.width = 7 }
            let tree = try #require(StoredTree.parse(store.data(forKey: "Settings") ?? Data())).tree
            #expect(tree[["window", "height"]] != nil && tree[["window", "depth"]] != nil)
            #expect(tree[["added"]] != nil)
            #expect(try Flat.load()?.width == 7)
        }
    }

    @Test("is kept beside integers of 128 bits, and however deep it is")
    func wideAndDeep() throws {
        struct Amounts: Codable, DefaultStorable {
            var large: Int128 = 1
            var larger: UInt128? = 2
        }
        let deep = String(repeating: #"{"a":"#, count: 500) + "1" + String(repeating: "}", count: 500)
        let store = MemoryDefaults()
        try store.setStoredValue(.data(Data(#"{"deep":\#(deep),"large":5,"larger":6}"#.utf8)), forKey: "Amounts")
        var value = try #require(try Amounts.load(from: store))
        value.large = 7
        try value.save(to: store)
        #expect(store.data(forKey: "Amounts") == Data(#"{"deep":\#(deep),"large":7,"larger":6}"#.utf8))
    }

    @Test("is kept if it takes as many bytes as what the type adds, and with the element that it was in")
    func sizesAndElements() throws {
        struct Links: DefaultStorable {
            struct Link: Codable { var url: String }
            var links: [Link]
        }
        let store = MemoryDefaults()
        try store.set(Data(#"{"name":"n","xyz":34}"#.utf8), forKey: "Settings")
        try Padded.update(in: store) { $0.name = "m" }
        #expect(store.data(forKey: "Settings") == Data(#"{"name":"m","pad":12,"xyz":34}"#.utf8))

        let start = String(repeating: "x", count: 50)
        func link(_ number: Int) -> String { #"{"added":\#(number),"url":"\#(start)\#(number)"}"# }
        try store.set(Data(#"{"links":[\#(link(1)),\#(link(2)),\#(link(3))]}"#.utf8), forKey: "Links")
        try Links.update(in: store) { $0.links.removeFirst() }
        #expect(store.data(forKey: "Links") == Data(#"{"links":[\#(link(2)),\#(link(3))]}"#.utf8))
        try Links.update(in: store) { $0.links.reverse() }
        #expect(store.data(forKey: "Links") == Data(#"{"links":[\#(link(3)),\#(link(2))]}"#.utf8))
    }

    @Test("is kept by whatever name, and however the text is laid out")
    func namesAndLayouts() throws {
        struct Amounts: Codable, DefaultStorable {
            var number = 1
            var added = 2
            static var defaultValue: Amounts? { Amounts() }
        }
        let names = [
            "quote \"", "\"", "reverse solidus \\", "\\\"", "line\r\n", "\u{1}", "\u{7F}", "\u{2028}", "é🙂", "/", " ",
            "",
        ]
        let store = MemoryDefaults()
        for space in ["", " ", "\t", "\n", "\r", "\r\n"] {
            for hasAdded in [true, false] {
                let fields =
                    try names.map { name in
                        let quoted = String(decoding: try JSONEncoder().encode(name), as: UTF8.self)
                        return "\(quoted)\(space):\(space)[\(space)\(quoted)\(space),\(space)1\(space)]"
                    } + ["\"number\":5"] + (hasAdded ? ["\"added\":6"] : [])
                let json = "\(space){\(space)\(fields.joined(separator: "\(space),\(space)"))\(space)}\(space)"
                try store.set(Data(json.utf8), forKey: "Amounts")
                var (value, report) = try #require(try Amounts.loadWithReport(from: store))
                #expect(value.number == 5 && report.filledIn == (hasAdded ? [] : ["added"]) && report.unusable.isEmpty)
                value.number = 7
                try value.save(to: store)
                let data = store.data(forKey: "Amounts") ?? Data()
                let kept = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
                #expect(kept.count == names.count + 2)
                for name in names {
                    let field = kept[name] as? [Any]
                    #expect(field?.first as? String == name && field?.last as? Int == 1, "\(name.debugDescription)")
                }
                #expect(kept["number"] as? Int == 7 && kept["added"] as? Int == (hasAdded ? 6 : 2))
                #expect(try Amounts.quarantined(in: store).isEmpty)
            }
        }
    }

    @Test("does not replace what the type writes under the same name")
    func written() throws {
        try withNewer { store, _ in
            try store.set(CoderInUse.coder.encode(Stamped(name: "n", stamp: 7)), forKey: "Settings")
            let value = Stamped(name: "x", stamp: 1)
            try value.save()
            let expected = try #require(StoredTree.parse(CoderInUse.coder.encode(value))).tree
            let stored = try #require(StoredTree.parse(store.data(forKey: "Settings") ?? Data())).tree
            #expect(stored == expected)
        }
    }

    @Test("leaves out what was set to nil, with all that is in it")
    func removed() throws {
        try withNewer { store, _ in
            try Plain.update {
                $0.note = nil
                $0.window = nil
            }
            let tree = try #require(StoredTree.parse(store.data(forKey: "Settings") ?? Data())).tree
            #expect(tree[["note"]].map(\.isNull) ?? true)
            #expect(tree[["window"]].map(\.isNull) ?? true)
            #expect(tree[["added"]] != nil)
        }
    }

    @Test("is quarantined, with a report, when the type writes something else in place of what it was in")
    func otherKind() throws {
        try withNewer { store, data in
            let events = EventCollector()
            try events.collect { try Named.update { $0.look = .named("dark") } }
            #expect(try Named.quarantined(in: store).map(\.data) == [data])
            let fault = #""look.accent" is not a property of the type, and has no place in the new value"#
            #expect(events.events.last?.error.description.contains(fault) == true, "\(events.events)")
            let tree = try #require(StoredTree.parse(store.data(forKey: "Settings") ?? Data())).tree
            #expect(tree[["look"]] != nil && tree[["look", "accent"]] == nil && tree[["window", "depth"]] != nil)
        }
    }

    @Test("is kept when the value has to be filled in too")
    func filledIn() throws {
        try withNewer { store, data in
            let parsed = try #require(StoredTree.parse(data))
            var tree = parsed.tree
            tree[["name"]] = nil
            let lacking: Data = try #require(tree.data(in: parsed.format))
            try store.set(lacking, forKey: "Settings")
            let (value, report) = try #require(try Plain.loadWithReport())
            #expect(report.filledIn == ["name"] && report.unusable.isEmpty)
            try value.save()
            let kept = try #require(StoredTree.parse(store.data(forKey: "Settings") ?? Data())).tree
            #expect(kept[["added"]] != nil && kept[["window", "depth"]] != nil)
            #expect(try Plain.quarantined().isEmpty)
        }
    }

    @Test("is dropped where the type says so, and by its names")
    func dropped() throws {
        try withNewer { store, _ in
            try Tidy.update { $0.name = "x" }
            let tree = try #require(StoredTree.parse(store.data(forKey: "Settings") ?? Data())).tree
            #expect(tree[["note"]] == nil && tree[["look", "accent"]] == nil && tree[["byName"]] == nil)
            #expect(tree[["added"]] != nil && tree[["window", "width"]] != nil)
            #expect(tree[["window", "depth"]] == nil)
        }
        try withNewer { store, _ in
            try Forgetful(name: "x").save()
            #expect(try store.data(forKey: "Settings") == CoderInUse.coder.encode(["name": "x"]))
        }
        try withNewer { store, _ in
            let before = try #require(try Dynamic.load())
            try before.save()
            let tree = try #require(StoredTree.parse(store.data(forKey: "Settings") ?? Data())).tree
            #expect(tree.fields?.isEmpty == true)
        }
        try withNewer { store, _ in
            try Selective.update { $0.names["name"] = "x" }
            let tree = try #require(StoredTree.parse(store.data(forKey: "Settings") ?? Data())).tree
            #expect(tree.fields?.keys.sorted() == ["name"])
        }
    }

    @Test("does not change how a type without it is stored, whichever release wrote it")
    func unchanged() throws {
        for kind in StoreKind.allCases {
            try kind.withCurrentStore { store in
                // The bytes are not in the encoder's order, and have nulls, which carry no information.
                try store.set(
                    Data(#"{"name":"x","look":{"theme":"t","a":null},"list":[],"byName":{},"b":null}"#.utf8),
                    forKey: "Settings"
                )
                var value = try #require(try Plain.load())
                for name in ["a", "b"] {
                    value.name = name
                    try value.save()
                    #expect(try store.data(forKey: "Settings") == DefaultsCoder.json.encode(value))
                }
            }
        }
    }

    @Test("is kept when a predecessor's value is migrated, unless the new type uses it otherwise")
    func migrated() throws {
        for updates in [false, true] {
            try withNewer { store, data in
                if updates {
                    try Successor.update { $0.title = "changed" }
                } else {
                    try #require(try Successor.load()).save()
                }
                let tree = try #require(StoredTree.parse(store.data(forKey: "Settings") ?? Data())).tree
                #expect(tree[["added"]] != nil && tree[["look", "accent"]] != nil)
                // The predecessor knew `name` and dropped `note`, and the new type dropped `list`.
                #expect(tree[["name"]] == nil && tree[["note"]] == nil && tree[["list"]] == nil)
                #expect(tree[["window"]]?.fields?.keys.sorted() == ["width"])
                #expect(try Successor.load() == Successor(title: updates ? "changed" : "n", window: ["width": 1]))
                // The height and the depth of the window have no place in the new type.
                #expect(try Successor.quarantined().map(\.data) == [data])
            }
        }
    }

    @Test("is quarantined by a migration to another format, and dropped where the type says so")
    func migratedWithout() throws {
        try withNewer { store, data in
            try ForgetfulSuccessor.update { $0.title = "changed" }
            #expect(try ForgetfulSuccessor.quarantined().isEmpty)
            #expect(try store.data(forKey: "Settings") == CoderInUse.coder.encode(["title": "changed"]))
        }
        let store = MemoryDefaults()
        let bytes = Data(#"{"colour":"red","other":[1]}"#.utf8)
        try store.set(bytes, forKey: "Converted")
        try EventCollector().collect { try Converted.update(in: store) { $0.color = "blue" } }
        #expect(try store.data(forKey: "Converted") == DefaultsCoder.propertyList.encode(["color": "blue"]))
        #expect(try Converted.quarantined(in: store).map(\.data) == [bytes])
    }

    @Test("is dropped by a migration if a type in the chain keeps nothing")
    func migratedFromForgetful() throws {
        try withNewer { store, _ in
            try SuccessorOfForgetful.update { $0.title = "changed" }
            #expect(try store.data(forKey: "Settings") == CoderInUse.coder.encode(["title": "changed"]))
            #expect(try SuccessorOfForgetful.quarantined().isEmpty)
        }
        try withNewer { store, _ in
            try SuccessorOfForgetfulSuccessor.update { $0.heading = "changed" }
            #expect(try store.data(forKey: "Settings") == CoderInUse.coder.encode(["heading": "changed"]))
            #expect(try SuccessorOfForgetfulSuccessor.quarantined().isEmpty)
        }
    }

    @Test("is moved too or quarantined when a predecessor's value is moved")
    func movedFromPredecessor() throws {
        let (source, target) = (MemoryDefaults(), MemoryDefaults())
        let bytes = Data(#"{"name":"n","look":{"theme":"t","accent":"a"},"window":{"width":1},"added":1}"#.utf8)
        try source.set(bytes, forKey: "Settings")
        try EventCollector().collect {
            let isMoved = try Successor.move(from: source, to: target, removingOriginal: true)
            #expect(isMoved)
        }
        #expect(source.data(forKey: "Settings") == nil)
        let tree = try #require(StoredTree.parse(target.data(forKey: "Settings") ?? Data())).tree
        #expect(tree[["added"]] != nil && tree[["look", "accent"]] != nil)
        #expect(try Successor.quarantined(in: target).isEmpty)

        // The new type has another kind of value in the place of the window.
        let other = MemoryDefaults()
        let lossy = Data(#"{"name":"n","look":{"theme":"t"},"window":{"width":1,"height":2}}"#.utf8)
        try source.set(lossy, forKey: "Settings")
        try EventCollector().collect {
            let isMoved = try Successor.move(from: source, to: other, removingOriginal: true)
            #expect(isMoved)
        }
        #expect(source.data(forKey: "Settings") == nil)
        #expect(try Successor.quarantined(in: other).map(\.data) == [lossy])
    }

    @Test("is not missed after a move from another format, where the type drops it")
    func droppedByMove() throws {
        let (source, target) = (MemoryDefaults(), MemoryDefaults())
        struct Theme: Codable { var name = "n", look = ["theme": "t", "accent": "a"] }
        try source.set(DefaultsCoder.propertyList.encode(Theme()), forKey: "Settings")
        let collector = EventCollector()
        try collector.collect {
            let isMoved = try Tidy.move(from: source, to: target, removingOriginal: true)
            #expect(isMoved)
        }
        #expect(collector.events.isEmpty)
        #expect(try Tidy.quarantined(in: target).isEmpty)
        #expect(try target.data(forKey: "Settings") == DefaultsCoder.json.encode(Tidy(look: .init(theme: "t"))))
    }

    @Test("is kept if it may be a string in a property list")
    func nullText() throws {
        struct Small: DefaultStorable {
            var count = 1
            static let defaults = MemoryDefaults()
            static var defaultCoder: DefaultsCoder { .propertyList }
        }
        let bytes = try PropertyListSerialization.data(
            fromPropertyList: ["count": 1, "name": "$null"],
            format: .binary,
            options: 0
        )
        try Small.defaults.set(bytes, forKey: "Small")
        try Small.update { $0.count = 2 }
        let tree = try #require(StoredTree.parse(Small.defaults.data(forKey: "Small") ?? Data())).tree
        #expect(tree[["name"]] == .propertyList(.string("$null")))
    }

    @Test("is found with a coder that converts keys")
    func convertedKeys() throws {
        struct Snake: DefaultStorable {
            struct Inner: Codable { var firstName = "f" }
            var lastName = "l"
            var innerPart = Inner()
            static let defaults = MemoryDefaults()
            static var defaultCoder: DefaultsCoder {
                let encoder = JSONEncoder()
                encoder.keyEncodingStrategy = .convertToSnakeCase
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                return DefaultsCoder(encoder: encoder, decoder: decoder)
            }
        }
        let json = #"{"inner_part":{"first_name":"a","second_name":"b"},"last_name":"c","other_name":"d"}"#
        try Snake.defaults.set(Data(json.utf8), forKey: "Snake")
        try Snake.update { $0.lastName = "x" }
        let text = String(decoding: try #require(Snake.defaults.data(forKey: "Snake")), as: UTF8.self)
        #expect(text == json.replacingOccurrences(of: #""c""#, with: #""x""#))
    }
}
