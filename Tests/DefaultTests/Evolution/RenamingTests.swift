import Default
import Foundation
import Testing

private struct Renamed: DefaultStorable, Equatable {
    struct Window: Codable, Equatable {
        var width: Int?
        var height = 1
    }
    var color: String?
    var window = Window()
    var größe: Int?

    static var defaults: CurrentStore { CurrentStore() }
    static var defaultValue: Renamed? { Renamed() }
    static var previousIdentifiers: [String] { ["Second", "First"] }
    static var renamedProperties: [String: String] {
        [
            "colour": "color", "w": "window.width", "window.w": "window.width", "mass": "größe", "maß": "größe",
            "": "color", "color": "", "height": "window.height.value",
        ]
    }
}

/// A type with renames in an order that is not alphabetical, of parents and of their parts.
private struct Chained: DefaultStorable, Equatable {
    struct Frame: Codable, Equatable {
        var width: Int?
        var height: Int?
        var depth: Int?
    }
    struct Look: Codable, Equatable {
        var theme: String?
        var accent: String?
    }
    struct Panel: Codable, Equatable {
        var title: String?
        var caption: String?
    }
    var x: Int?
    var c: Int?
    var frame: Frame?
    var look: Look?
    var slash: Int?
    var size: Int?
    var p: Int?
    var q: Int?
    var renamed: Int?
    var reused: Int?
    var panel: Panel?
    var opacity: Int?

    @TaskLocal static var coder = DefaultsCoder.json
    static var defaultCoder: DefaultsCoder { coder }
    static let defaults = MemoryDefaults()
    static var renamedProperties: [String: String] {
        [
            "z": "y", "y": "x", "a": "b", "b": "c",
            "old": "frame", "old.w": "old.width", "frame.h": "frame.height", "frame.w": "frame.width",
            "look": "look.theme", "a/b": "slash", "größe": "size", "p": "q", "q": "p", "reused": "renamed",
            "old.d": "old.depth", "view.panel": "panel", "panel.opacity": "opacity",
            "box": "panel", "box.label": "box.caption", "panel.label": "panel.title",
        ]
    }
}

/// A type whose bytes are not parsed if they don't contain this one name.
private struct OneName: DefaultStorable {
    var color: String?

    @TaskLocal static var coder = DefaultsCoder.json
    @TaskLocal static var name = "colour"
    static var defaultCoder: DefaultsCoder { coder }
    static var renamedProperties: [String: String] { [name: "color"] }
}

extension DefaultsCoder {
    fileprivate var isJSON: Bool { (try? encode([1]).first) == UInt8(ascii: "[") }
}

@Suite("Renaming")
struct RenamingTests {
    @Test(
        "a type finds values under its previous identifiers, in order",
        arguments: StoreKind.allCases
    )
    func identifiers(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let keys = ["Renamed.Type", "First", "Second", "Renamed"]
            for (index, key) in keys.enumerated() {
                try store.set(Data(#"{"color":"\#(index)","window":{"height":1}}"#.utf8), forKey: key)
                #expect(Renamed.read()?.color == "\(index)")
            }
            #expect(Renamed.read(forKey: "other") == Renamed())
            try store.removeObject(forKey: "Renamed")
            // The value is written under the new key once, and kept under the old one.
            #expect(try Renamed.migrate())
            #expect(try !Renamed.migrate())
            try Renamed.update { $0.color? += "!" }
            #expect(store.data(forKey: "Second") == Data(#"{"color":"2","window":{"height":1}}"#.utf8))
            #expect(try Renamed.load()?.color == "2!")

            // A given key is the only one that is used.
            Renamed.clear(forKey: "other")
            try Renamed.remove(forKey: "First")
            #expect(Set(store.storedKeys()) == ["Renamed.Type", "Second", "Renamed"])
            Renamed.clear()
            #expect(try Renamed.load() == nil)
            for key in keys {
                #expect(store.object(forKey: key) == nil)
            }
        }
    }

    @Test("a type uses no other key than the one that a call gives", arguments: StoreKind.allCases)
    func givenKey(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            func snapshot() -> [String: PropertyListValue] {
                var values: [String: PropertyListValue] = [:]
                for key in store.storedKeys() {
                    values[key] = store.storedValue(forKey: key)
                }
                return values
            }
            let old = Data(#"{"colour":"old","window":{"height":1}}"#.utf8)
            for key in ["First", "Second", "Renamed"] {
                try store.set("text", forKey: key)
                EventCollector().collect { Renamed().write(withKey: key) }
                try store.set(old, forKey: key)
            }
            let before = snapshot()
            #expect(before.count == 6)

            // Nothing is stored under this key.
            #expect(try Renamed.load(forKey: "other") == nil)
            #expect(Renamed.read(forKey: "other") == Renamed())
            #expect(try Renamed.loadWithReport(forKey: "other")?.value == nil)
            #expect(try !Renamed.migrate(forKey: "other"))
            #expect(try Renamed.quarantined(forKey: "other").isEmpty)
            #expect(try Renamed.restoreQuarantined(forKey: "other") == nil)
            #expect(try !Renamed.move(from: store, forKey: "other"))
            #expect(try !Renamed.move(from: store, sourceKey: "none", to: store))
            try Renamed.removeQuarantined(forKey: "other")
            Renamed.clear(forKey: "other")
            #expect(snapshot() == before)

            try Renamed.update(forKey: "other") { $0.window.height = 9 }
            #expect(try Renamed.load(forKey: "other") == Renamed(window: .init(height: 9)))
            let live = LiveSettings<Renamed>(forKey: "live")
            live.color = "x"
            #expect(live.value == Renamed(color: "x"))
            #expect(try Renamed.load(forKey: "live") == Renamed(color: "x"))
            try store.set(old, forKey: "third")
            #expect(try Renamed.migrate(forKey: "third"))
            #expect(store.data(forKey: "third") != old)
            #expect(try Renamed.loadWithReport(forKey: "third")?.value.color == "old")
            for key in ["other", "live", "third"] {
                Renamed.clear(forKey: key)
            }
            #expect(snapshot() == before)
        }
    }

    @Test(
        "a type finds a value under an older identifier if that under a newer one can't be read",
        arguments: StoreKind.allCases
    )
    func unreadableIdentifier(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try store.set(Data(#"{"color":"old","window":{"height":1}}"#.utf8), forKey: "First")
            for unreadable in [Data("{".utf8), "text"] as [Any] {
                try store.set(unreadable, forKey: "Renamed")
                try store.set(unreadable, forKey: "Second")
                try EventCollector().collect {
                    #expect(try Renamed.load()?.color == "old")
                    #expect(Renamed.read()?.color == "old")
                    try Renamed.update { $0.color? += "!" }
                }
                #expect(try Renamed.load()?.color == "old!")
                #expect(try Renamed.quarantined().first?.value.object as? NSObject == unreadable as? NSObject)
            }
            try store.removeObject(forKey: "First")
            try store.removeObject(forKey: "Renamed")
            expectError(.typeMismatch) { try Renamed.load() }
        }
    }

    @Test("properties takes the value with the newest of several old names, whatever their order")
    func newestName() throws {
        struct Moved: DefaultStorable {
            var z: Int
            static var renamedProperties: [String: String] { ["a": "m", "m": "z", "y": "b", "b": "c", "c": "w"] }
            var w: Int?
        }
        let store = MemoryDefaults()
        for (json, z, w) in [
            (#"{"a":1,"m":2}"#, 2, nil), (#"{"a":1}"#, 1, nil), (#"{"a":1,"m":2,"z":3}"#, 3, nil),
            (#"{"m":2,"y":1,"b":2,"c":3}"#, 2, 3), (#"{"m":2,"y":1,"b":2}"#, 2, 2), (#"{"m":2,"y":1}"#, 2, 1),
        ] {
            try store.set(Data(json.utf8), forKey: "Moved")
            let value = try Moved.load(from: store)
            #expect(value?.z == z && value?.w == w, "\(json)")
        }
    }

    @Test("properties of a type that came before is seen by its successors")
    func predecessors() throws {
        struct First: DefaultStorable {
            var size: Int
            static var defaultIdentifier: String { "Sized" }
            static var renamedProperties: [String: String] { ["width": "size"] }
        }
        struct Second: DefaultMigratable {
            var area: Int
            static var defaultIdentifier: String { "Sized" }
            static var renamedProperties: [String: String] { ["surface": "area"] }
            init(migrating previous: First) { area = previous.size * previous.size }
        }
        struct Third: DefaultMigratable {
            var volume: Int
            static var defaultIdentifier: String { "Sized" }
            init(migrating previous: Second) { volume = previous.area * 10 }
        }
        let store = MemoryDefaults()
        for (json, volume) in [
            (#"{"width":3}"#, 90), (#"{"size":3}"#, 90), (#"{"surface":3}"#, 30), (#"{"area":3}"#, 30),
        ] {
            try store.set(Data(json.utf8), forKey: "Sized")
            #expect(try Third.load(from: store)?.volume == volume, "\(json)")
        }
    }

    @Test("properties replaces what has an old name beside the new one by a migration, once, and quarantines it")
    func bothNames() throws {
        let store = MemoryDefaults()
        let stored = Data(#"{"color":"blue","colour":"red","window":{"height":1}}"#.utf8)
        try store.set(stored, forKey: "Renamed")
        let (color, isMigrated) = try EventCollector().collect {
            (try Renamed.load(from: store)?.color, try Renamed.migrate(in: store))
        }
        #expect(color == "blue" && isMigrated)
        #expect(store.data(forKey: "Renamed") == Data(#"{"color":"blue","window":{"height":1}}"#.utf8))
        #expect(try Renamed.quarantined(in: store).map(\.data) == [stored])
        #expect(try !Renamed.migrate(in: store))
    }

    @Test("an identifier keeps the version", arguments: StoreKind.allCases)
    func versions(kind: StoreKind) throws {
        struct Old: DefaultStorable {
            var size = 1
            static var defaults: CurrentStore { CurrentStore() }
            static var schemaVersion: Int { 1 }
        }
        struct New: DefaultMigratable {
            var size = 1
            static var defaults: CurrentStore { CurrentStore() }
            static var schemaVersion: Int { 2 }
            static var previousIdentifiers: [String] { ["Old"] }
            init(migrating previous: Old) { size = previous.size * 10 }
        }
        try kind.withCurrentStore { store in
            try Old(size: 3).save()
            #expect(try New.load()?.size == 30)
            try New.migrate()
            #expect(try New.load()?.size == 30)
            try New.remove(forKey: "New")
            #expect(Set(store.storedKeys()) == ["Old", "Old.schemaVersion"])
            #expect(try New.load()?.size == 30)
            try New.remove()
            #expect(store.object(forKey: "Old.schemaVersion") == nil)
            #expect(store.object(forKey: "New.schemaVersion") == nil)
        }
    }

    @Test("properties finds their values, nested or not, optional or not", arguments: StoreKind.allCases)
    func properties(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let cases: [(String, Renamed)] = [
                (#"{"colour":"red","window":{"height":2}}"#, Renamed(color: "red", window: .init(height: 2))),
                (
                    #"{"colour":"red","color":"blue","window":{"height":2}}"#,
                    Renamed(color: "blue", window: .init(height: 2))
                ),
                (#"{"window":{"height":2,"w":5}}"#, Renamed(window: .init(width: 5, height: 2))),
                (#"{"w":4,"window":{"height":2}}"#, Renamed(window: .init(width: 4, height: 2))),
                (#"{"w":4}"#, Renamed(window: .init(width: 4, height: 1))),
                (#"{"w":4,"window":null}"#, Renamed(window: .init(width: 4, height: 1))),
                (#"{"maß":6,"window":{"height":2}}"#, Renamed(window: .init(height: 2), größe: 6)),
            ]
            for (json, expected) in cases {
                try store.set(Data(json.utf8), forKey: "Renamed")
                let (value, report) = try #require(try Renamed.loadWithReport())
                #expect(value == expected, "\(json)")
                #expect(report.filledIn == (json.contains("height") ? [] : ["window.height"]))
                let isInUse = json.contains("colour") && json.contains("color")
                #expect(report.unusable.map(\.path) == (isInUse ? ["colour"] : []))
                #expect(store.data(forKey: "Renamed") == Data(json.utf8))
                try Renamed.update { _ in }
                #expect(try Renamed.loadWithReport()?.report.isEmpty == true)
                #expect(try Renamed.load() == expected)
            }
            // Another value is in the way at the new path, so the property keeps its old name.
            try Renamed.removeQuarantined()
            let blocked = Data(#"{"height":3,"window":{"height":2}}"#.utf8)
            try store.set(blocked, forKey: "Renamed")
            let (value, report) = try #require(try Renamed.loadWithReport())
            #expect(value == Renamed(window: .init(height: 2)))
            #expect(report.unusable.map(\.path) == ["height"])
            try value.save()
            #expect(try Renamed.quarantined().map(\.data) == [blocked])
        }
    }

    @Test(
        "properties follows chains and moved parents, whatever the order, and replaces null",
        arguments: [
            (#"{"z":1}"#, Chained(x: 1)),
            (#"{"y":1}"#, Chained(x: 1)),
            (#"{"y":null,"z":1}"#, Chained(x: 1)),
            (#"{"x":null,"y":1}"#, Chained(x: 1)),
            (#"{"a":2}"#, Chained(c: 2)),
            (#"{"old":{"w":3,"h":4}}"#, Chained(frame: .init(width: 3, height: 4))),
            (#"{"old":{"width":3,"h":4}}"#, Chained(frame: .init(width: 3, height: 4))),
            (#"{"frame":{"w":3,"height":4}}"#, Chained(frame: .init(width: 3, height: 4))),
            (#"{"frame":null,"old":{"w":3,"height":4}}"#, Chained(frame: .init(width: 3, height: 4))),
            (#"{"look":"dark"}"#, Chained(look: .init(theme: "dark"))),
            (#"{"look":{"theme":"dark"}}"#, Chained(look: .init(theme: "dark"))),
            (#"{"look":{"accent":"blue"}}"#, Chained(look: .init(accent: "blue"))),
            (#"{"\u007a":1,"\u006c\u006fok":"dark"}"#, Chained(x: 1, look: .init(theme: "dark"))),
            (#"{"a\/b":5,"gr\u00f6\u00dfe":6}"#, Chained(slash: 5, size: 6)),
            (#"{"größe":6}"#, Chained(size: 6)),
            // The beginning of a name occurs shortly before the name.
            (#"{"look":{"theme":"r"},"reused":9}"#, Chained(look: .init(theme: "r"), renamed: 9)),
            (#"{"p":7}"#, Chained(p: 7)),
            (#"{"q":8}"#, Chained(q: 8)),
            // The name is known under the parent's new name too, unless another property had that name.
            (#"{"old":{"d":5}}"#, Chained(frame: .init(depth: 5))),
            (#"{"frame":{"d":5}}"#, Chained(frame: .init(depth: 5))),
            (#"{"box":{"caption":"c"}}"#, Chained(panel: .init(caption: "c"))),
            (#"{"panel":{"label":"t"}}"#, Chained(panel: .init(title: "t"))),
            // The value is at its old path only after another one has moved there.
            (
                #"{"view":{"panel":{"opacity":7,"title":"t"}}}"#,
                Chained(panel: .init(title: "t"), opacity: 7)
            ),
        ]
    )
    fileprivate func chains(json: String, expected: Chained) throws {
        let store = MemoryDefaults()
        for coder in [DefaultsCoder.json, .propertyList] {
            let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any] ?? [:]
            let hasNull = json.contains("null")
            guard coder.isJSON || !hasNull else {
                continue
            }
            let data =
                coder.isJSON
                ? Data(json.utf8)
                : try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
            try store.set(data, forKey: "Chained")
            try Chained.$coder.withValue(coder) {
                let (value, report) = try #require(try Chained.loadWithReport(from: store), "\(json)")
                #expect(value == expected, "\(json)")
                #expect(report.isEmpty, "\(json)")
                #expect(store.data(forKey: "Chained") == data)
            }
        }
    }

    @Test(
        "reports an old name whose new name has a value, unless it is a property's name again",
        arguments: [
            (#"{"x":1,"y":2}"#, Chained(x: 1), ["y"]),
            (#"{"y":2,"z":3}"#, Chained(x: 2), ["z"]),
            (#"{"frame":{"height":4},"old":{"h":5}}"#, Chained(frame: .init(height: 4)), ["old"]),
            (#"{"p":7,"q":8}"#, Chained(p: 7, q: 8), []),
            (#"{"reused":1,"renamed":2}"#, Chained(renamed: 2, reused: 1), []),
        ] as [(String, Chained, [String])]
    )
    fileprivate func unused(json: String, expected: Chained, unusable: [String]) throws {
        let store = MemoryDefaults()
        let data = Data(json.utf8)
        try store.set(data, forKey: "Chained")
        let (value, report) = try #require(try Chained.loadWithReport(from: store))
        #expect(value == expected)
        #expect(report.unusable.map(\.path) == unusable)
        try value.save(to: store)
        #expect(try Chained.quarantined(in: store).map(\.data) == (unusable.isEmpty ? [] : [data]))
    }

    @Test(
        "properties finds a name in each form in which a format can contain it",
        arguments: [
            ("colour", #"{"\u0063olour":"red"}"#),
            // The beginning of the name occurs just before the name.
            ("colour", #"{"a":"c","colour":"red"}"#),
            ("größe", #"{"größe":"red"}"#),
            ("größe", #"{"gro\#u{308}ße":"red"}"#),
            ("colour", "<plist version=\"1.0\"><dict><key>&#99;olour</key><string>red</string></dict></plist>"),
        ]
    )
    func forms(name: String, text: String) throws {
        let coder = text.hasPrefix("{") ? DefaultsCoder.json : .propertyList
        try checkForm(name, Data(text.utf8), coder)
    }

    @Test("properties finds a name in binary property lists", arguments: ["colour", "größe"])
    func binaryForm(name: String) throws {
        let object = [name: "red"]
        let data = try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
        try checkForm(name, data, .propertyList)
    }

    private func checkForm(_ name: String, _ data: Data, _ coder: DefaultsCoder) throws {
        let store = MemoryDefaults()
        try store.set(data, forKey: "OneName")
        try OneName.$coder.withValue(coder) {
            try OneName.$name.withValue(name) {
                let settings = try OneName.load(from: store)
                #expect(settings?.color == "red")
            }
        }
    }

    @Test("properties leaves null under an old name where it is")
    func oldNull() throws {
        let store = MemoryDefaults()
        let data = Data(#"{"z":null}"#.utf8)
        try store.set(data, forKey: "Chained")
        #expect(try Chained.load(from: store) == Chained())
        #expect(try !Chained.migrate(in: store))
        #expect(store.data(forKey: "Chained") == data)
    }

    @Test("properties changes nothing if a name that moves with its parent is listed too")
    func listedTwice() throws {
        struct Boxed: DefaultStorable {
            struct Frame: Codable { var name: String }
            var frame: Frame
            static let defaults = MemoryDefaults()
            static var defaultCoder: DefaultsCoder { .propertyList }
            static var renamedProperties: [String: String] { ["box": "frame", "box.name": "frame.name"] }
        }
        for name in ["n", "$null"] {
            for (key, isOld) in [("box", true), ("frame", false)] {
                let data = try DefaultsCoder.propertyList.encode([key: ["name": name]])
                try Boxed.defaults.set(data, forKey: "Boxed")
                #expect(try Boxed.load()?.frame.name == name)
                #expect(try Boxed.migrate() == isOld)
            }
        }
    }

    @Test("properties moves a value that may be a string in a property list, and replaces it under the new name")
    func nullText() throws {
        struct New: DefaultStorable {
            var color: String
            static let defaults = MemoryDefaults()
            static var defaultCoder: DefaultsCoder { .propertyList }
            static var renamedProperties: [String: String] { ["colour": "color"] }
        }
        for (stored, expected) in [
            (["colour": "$null"], "$null"), (["color": "$null"], "$null"),
            (["colour": "red", "color": "$null"], "red"),
        ] {
            try New.defaults.set(try DefaultsCoder.propertyList.encode(stored), forKey: "New")
            #expect(try New.load()?.color == expected)
        }
    }

    @Test("properties works in property lists")
    func propertyLists() throws {
        struct Old: Codable { var colour = "red" }
        struct New: DefaultStorable {
            var color: String?
            static let defaults = MemoryDefaults()
            static var defaultCoder: DefaultsCoder { .propertyList }
            static var renamedProperties: [String: String] { ["colour": "color"] }
        }
        try New.defaults.df.save(Old(), forKey: "New", encoder: DefaultsCoder.propertyList)
        #expect(try New.load()?.color == "red")
    }
}
