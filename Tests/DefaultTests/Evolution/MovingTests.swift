import Foundation
import Testing

@testable import Default

private struct Sound: DefaultStorable, Equatable {
    var name = "n"
    var volume = 0.5
    var isMuted = false
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultValue: Sound? { Sound() }
    static var previousIdentifiers: [String] { ["Audio"] }
}

private struct Nested: DefaultStorable {
    struct Level: Codable { var number: Int }
    var level: Level
}

@Suite("Moving")
struct MovingTests {
    private let moved = Sound(name: "x", volume: 0.1, isMuted: true)

    /// Values of other libraries and older versions.
    private var sources: [(String, Any)] {
        get throws {
            let json = #"{"isMuted":true,"name":"x","volume":0.1}"#
            return [
                ("JSON data", Data(json.utf8)),
                ("JSON string", json),
                ("property-list data", try DefaultsCoder.propertyList.encode(moved)),
                ("dictionary", ["name": "x", "volume": 0.1, "isMuted": true] as [String: Any]),
            ]
        }
    }

    @Test("imports values of other libraries once, and keeps the originals", arguments: StoreKind.allCases)
    func sources(kind: StoreKind) throws {
        for (description, object) in try sources {
            for key in ["Sound", "Audio", "Sound.Type"] {
                try kind.withCurrentStore { store in
                    let source = MemoryDefaults()
                    #expect(try !Sound.move(from: source))
                    try source.set(object, forKey: key)
                    #expect(try Sound.move(from: source), "\(description)")
                    #expect(store.data(forKey: "Sound") == Data(#"{"isMuted":true,"name":"x","volume":0.1}"#.utf8))
                    #expect(source.object(forKey: key) != nil)

                    // The import at the next launch undoes neither a change nor a removal.
                    try Sound.update { $0.name = "changed" }
                    #expect(try !Sound.move(from: source))
                    #expect(try Sound.load()?.name == "changed")
                    Sound.clear()
                    #expect(try !Sound.move(from: source, removingOriginal: true))
                    #expect(try Sound.load() == nil)
                    #expect(source.object(forKey: key) != nil)
                }
            }
        }
    }

    @Test("removes the original if requested, after the value was stored", arguments: StoreKind.allCases)
    func removing(kind: StoreKind) throws {
        try kind.withCurrentStore { _ in
            let source = MemoryDefaults()
            try source.set(Data(#"{"name":"x"}"#.utf8), forKey: "old")
            try source.set(1, forKey: "other")
            let collector = EventCollector()
            try collector.collect {
                let isMoved = try Sound.move(from: source, sourceKey: "old", forKey: "new", removingOriginal: true)
                #expect(isMoved)
            }
            #expect(source.dictionaryRepresentation().keys.sorted() == ["other"])
            #expect(try Sound.load(forKey: "new") == Sound(name: "x"))
            #expect(collector.events.map(\.report?.filledIn) == [["isMuted", "volume"]])
        }
    }

    @Test("quarantines in the target what can't be used, before the original is removed", arguments: StoreKind.allCases)
    func partlyUnusable(kind: StoreKind) throws {
        let json = #"{"name":"x","volume":"loud"}"#
        for object in [Data(json.utf8), json, ["name": "x", "volume": "loud"]] as [Any] {
            try kind.withCurrentStore { _ in
                let source = MemoryDefaults()
                try source.set(object, forKey: "Sound")
                let collector = EventCollector()
                try collector.collect { _ = try Sound.move(from: source, removingOriginal: true) }
                #expect(try Sound.load() == Sound(name: "x"))
                #expect(source.object(forKey: "Sound") == nil)
                let kept = try Sound.quarantined().map(\.value)
                #expect(kept == [try PropertyListValue(object: object)])
                #expect(collector.events.map(\.kind) == [.filledIn, .quarantined])
            }
        }
    }

    @Test("moves unknown fields too, or quarantines them", arguments: StoreKind.allCases)
    func unknownFields(kind: StoreKind) throws {
        let json = #"{"future":1,"isMuted":true,"name":"x","volume":0.1}"#
        for object in [Data(json.utf8), json] as [Any] {
            try kind.withCurrentStore { store in
                let source = MemoryDefaults()
                try source.set(object, forKey: "Sound")
                try Sound.move(from: source, removingOriginal: true)
                #expect(store.data(forKey: "Sound") == Data(json.utf8))
                #expect(try Sound.quarantined().isEmpty)
                #expect(source.object(forKey: "Sound") == nil)
            }
        }
        // In another format they can't be added.
        let foreign = try DefaultsCoder.propertyList.encode(moved)
        let tree = try #require(StoredTree.parse(foreign)).tree
        var extended = tree
        extended[["future"]] = .propertyList(.integer(1))
        let bytes: Data = try #require(extended.data(in: .propertyList))
        try kind.withCurrentStore { _ in
            let source = MemoryDefaults()
            try source.set(bytes, forKey: "Sound")
            try EventCollector().collect { _ = try Sound.move(from: source, removingOriginal: true) }
            #expect(try Sound.load() == moved)
            #expect(try Sound.quarantined().map(\.data) == [bytes])
        }
    }

    @Test("reads from the key that it stores under, unless another is given", arguments: StoreKind.allCases)
    func keys(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let source = MemoryDefaults()
            for key in ["Sound", "new", "old"] {
                try source.set(Data(#"{"isMuted":true,"name":"\#(key)","volume":0.1}"#.utf8), forKey: key)
            }
            #expect(try Sound.move(from: source, forKey: "new", removingOriginal: true))
            #expect(try Sound.load(forKey: "new")?.name == "new")
            #expect(source.storedKeys().sorted() == ["Sound", "old"])
            #expect(store.storedValue(forKey: "new.moved") == .boolean(true))
            // Having moved a value to one key is not having moved one to another key.
            #expect(try !Sound.move(from: source, sourceKey: "old", forKey: "new"))
            #expect(try Sound.move(from: source, sourceKey: "old", removingOriginal: true))
            #expect(try Sound.load()?.name == "old")
            #expect(source.storedKeys() == ["Sound"])
            #expect(store.storedKeys().sorted() == ["Sound", "Sound.moved", "new", "new.moved"])
        }
    }

    @Test("takes the value of the newest of a type's names, and removes no other", arguments: StoreKind.allCases)
    func newestName(kind: StoreKind) throws {
        try kind.withCurrentStore { _ in
            let source = MemoryDefaults()
            for key in ["Audio", "Sound.Type"] {
                try source.set(Data(#"{"isMuted":true,"name":"\#(key)","volume":0.1}"#.utf8), forKey: key)
            }
            #expect(try Sound.move(from: source, removingOriginal: true))
            #expect(try Sound.load()?.name == "Audio")
            #expect(source.storedKeys() == ["Sound.Type"])
        }
    }

    @Test("within a store takes a value from another name, and replaces none by it", arguments: StoreKind.allCases)
    func withinStore(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let bytes = Data(#"{"isMuted":true,"name":"x","volume":0.1}"#.utf8)
            try store.set("text", forKey: "Sound")
            try store.set(bytes, forKey: "old")
            #expect(try !Sound.move(from: store, sourceKey: "old", removingOriginal: true))
            #expect(store.object(forKey: "Sound") as? String == "text")
            #expect(store.storedKeys().sorted() == ["Sound", "old"])
            try store.removeObject(forKey: "Sound")
            #expect(try Sound.move(from: store, sourceKey: "old", removingOriginal: true))
            #expect(store.data(forKey: "Sound") == bytes)
            #expect(store.storedKeys().sorted() == ["Sound", "Sound.moved"])
        }
        try kind.withCurrentStore { store in
            try store.set(Data(#"{"isMuted":true,"name":"x","volume":0.1}"#.utf8), forKey: "Audio")
            #expect(try Sound.move(from: store))
            #expect(store.storedKeys().sorted() == ["Audio", "Sound", "Sound.moved"])
        }
    }

    @Test("imports each format, whatever the coder of the type is")
    func formats() throws {
        struct Listed: DefaultStorable, Equatable {
            var level = 1
            static var defaultCoder: DefaultsCoder { .propertyList }
        }
        struct Own: DefaultStorable, Equatable {
            struct Reversed: DefaultsEncoder, DefaultsDecoder {
                func encode<Value: Encodable>(_ value: Value) throws -> Data {
                    Data(try JSONEncoder().encode(value).reversed())
                }
                func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                    try JSONDecoder().decode(type, from: Data(data.reversed()))
                }
            }
            var level = 1
            static var defaultCoder: DefaultsCoder { DefaultsCoder(encoder: Reversed(), decoder: Reversed()) }
        }
        /// A type that is coded as an array.
        struct Pair: DefaultStorable, Equatable {
            var one = 1
            var two = 2
            init(_ one: Int, _ two: Int) { (self.one, self.two) = (one, two) }
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                (one, two) = (try container.decode(Int.self), try container.decode(Int.self))
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(one)
                try container.encode(two)
            }
        }
        func move<Settings: DefaultStorable>(_ value: PropertyListValue, as type: Settings.Type) throws -> Settings? {
            let (source, target) = (MemoryDefaults(), MemoryDefaults())
            try source.setStoredValue(value, forKey: "theirs")
            #expect(try Settings.move(from: source, sourceKey: "theirs", to: target), "\(value)")
            return try Settings.load(from: target)
        }
        let json = #"{"level":7}"#
        let list = try DefaultsCoder.propertyList.encode(["level": 7])
        for value: PropertyListValue in [
            .data(Data(json.utf8)), .data(list), .string(json), .dictionary(["level": .integer(7)]),
        ] {
            #expect(try move(value, as: Listed.self) == Listed(level: 7), "\(value)")
            #expect(try move(value, as: Own.self) == Own(level: 7), "\(value)")
        }
        let reversed = String(json.reversed())
        for value: PropertyListValue in [.data(Data(reversed.utf8)), .string(reversed)] {
            #expect(try move(value, as: Own.self) == Own(level: 7), "\(value)")
        }
        for value: PropertyListValue in [
            .array([.integer(3), .integer(4)]), .string("[3,4]"), .data(Data("[3,4]".utf8)),
        ] {
            #expect(try move(value, as: Pair.self) == Pair(3, 4), "\(value)")
        }
    }

    @Test("throws the error of a migration, and of a newer version, and tries no other coder")
    func versions() throws {
        struct Dial: DefaultMigratable {
            struct Old: Codable { var old: Int }
            struct Refusal: Error {}
            var level: Int
            static var schemaVersion: Int { 2 }
            init(migrating previous: Old) throws { throw Refusal() }
        }
        let (source, target) = (MemoryDefaults(), MemoryDefaults())
        try source.set(Data(#"{"old":1}"#.utf8), forKey: "theirs")
        let error = expectError(.migrationFailed) { try Dial.move(from: source, sourceKey: "theirs", to: target) }
        #expect(error?.key == "theirs" && error?.store == source.storeDescription)
        #expect(error?.underlyingError is Dial.Refusal)
        let newer = Data(#"{"level":1}"#.utf8)
        try source.set(newer, forKey: "theirs")
        try source.set("3 \(ContentDigest(newer).text)", forKey: "theirs.schemaVersion")
        expectError(.newerVersion) {
            try Dial.move(from: source, sourceKey: "theirs", to: target, removingOriginal: true)
        }
        #expect(target.storedKeys() == [])
        #expect(source.storedKeys().sorted() == ["theirs", "theirs.schemaVersion"])
        // The value's version moves with it.
        try source.set("2 \(ContentDigest(newer).text)", forKey: "theirs.schemaVersion")
        #expect(try Dial.move(from: source, sourceKey: "theirs", to: target, removingOriginal: true))
        #expect(source.storedKeys() == [])
        #expect(target.string(forKey: "Dial.schemaVersion") == "2 \(ContentDigest(newer).text)")
    }

    @Test("leaves an original that was changed in the meantime")
    func changedOriginal() throws {
        let source = MemoryDefaults()
        let changed = PropertyListValue.data(Data(#"{"name":"y"}"#.utf8))
        let target = NotifyingStore { _ in try source.setStoredValue(changed, forKey: "Sound") }
        try source.set(Data(#"{"name":"x","volume":1,"isMuted":true}"#.utf8), forKey: "Sound")
        #expect(try Sound.move(from: source, to: target, removingOriginal: true))
        #expect(try Sound.load(from: target)?.name == "x")
        #expect(source.storedValue(forKey: "Sound") == changed)
    }

    @Test("converts a value in place, and quarantines the original", arguments: StoreKind.allCases)
    func inPlace(kind: StoreKind) throws {
        for (description, object) in try sources where !(object is Data) {
            try kind.withCurrentStore { store in
                try store.set(object, forKey: "Sound")
                #expect(try Sound.move(from: store, removingOriginal: true), "\(description)")
                #expect(try Sound.load() == moved)
                #expect(try Sound.quarantined().count == 1)
                #expect(try !Sound.move(from: store))
            }
        }
        try kind.withCurrentStore { store in
            try store.set(Data("{}".utf8), forKey: "Sound")
            #expect(try !Sound.move(from: store))
            #expect(store.data(forKey: "Sound") == Data("{}".utf8))
        }
    }

    @Test("converts a value in place with the parts that can be used, and reports each event once")
    func partlyUsableInPlace() throws {
        let stored = PropertyListValue.dictionary(["name": .string("x"), "volume": .string("loud")])
        let store = MemoryDefaults()
        try store.setStoredValue(stored, forKey: "Sound")
        let collector = EventCollector()
        #expect(try collector.collect { try Sound.move(from: store, to: store) })
        #expect(collector.events.map(\.kind) == [.filledIn, .quarantined])
        #expect(collector.codes.last == .typeMismatch)
        #expect(try Sound.load(from: store) == Sound(name: "x"))
        #expect(try Sound.quarantined(in: store).map(\.value) == [stored])
    }

    @Test("keeps the version of a value that a newer one stored, so that it finds its own again")
    func newerVersion() throws {
        struct Older: DefaultStorable {
            var level = 1
            static var defaultIdentifier: String { "Level" }
            static var schemaVersion: Int { 1 }
        }
        struct Newer: DefaultMigratable {
            var level = 1
            var unit = "dB"
            static var defaultIdentifier: String { "Level" }
            static var schemaVersion: Int { 2 }
            static var readableSince: Int { 1 }
            init(level: Int, unit: String) { (self.level, self.unit) = (level, unit) }
            init(migrating previous: Older) { level = previous.level * 100 }
        }
        let (source, target) = (MemoryDefaults(), MemoryDefaults())
        try Newer(level: 5, unit: "%").save(to: source)
        #expect(try Older.move(from: source, to: target))
        #expect(try Older.load(from: target)?.level == 5)
        let found = try Newer.load(from: target)
        #expect(found?.level == 5 && found?.unit == "%")
        #expect(target.string(forKey: "Level.schemaVersion")?.hasPrefix("2/1 ") == true)
    }

    @Test("a value that no coder can use throws what the type's own coder says of it")
    func firstError() throws {
        let source = MemoryDefaults()
        try source.set(Data(#"{"level":{"number":"many"}}"#.utf8), forKey: "Nested")
        let error = expectError(.undecodable) { try Nested.move(from: source, to: MemoryDefaults()) }
        let description = try #require(error?.description)
        #expect(description.contains(#""level.number" is not of type Int"#), "\(description)")
    }

    @Test("leaves a value that another program stores in place of the converted one")
    func changedInPlace() throws {
        let base = MemoryDefaults()
        let text = PropertyListValue.string(#"{"isMuted":true,"name":"x","volume":0.1}"#)
        let store = NotifyingStore(base) { key in
            if key == "Sound.moved" {
                try base.setStoredValue(text, forKey: "Sound")
            }
        }
        try base.setStoredValue(text, forKey: "Sound")
        #expect(try Sound.move(from: store, to: store, removingOriginal: true))
        #expect(base.storedValue(forKey: "Sound") == text)
    }

    @Test("does not replace a stored value", arguments: StoreKind.allCases)
    func occupied(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let source = MemoryDefaults()
            try source.set(Data("{}".utf8), forKey: "Sound")
            for object in [Data("garbage".utf8), "text"] as [Any] {
                try store.set(object, forKey: "Sound")
                #expect(try !Sound.move(from: source))
                #expect(store.object(forKey: "Sound") as? NSObject == object as? NSObject)
            }
        }
    }

    @Test("a value that can't be used throws, and changes nothing", arguments: StoreKind.allCases)
    func unusable(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let source = MemoryDefaults()
            for (object, code) in [
                ("text", .undecodable), (Data("{".utf8), .undecodable), (3, .typeMismatch), ([1, 2], .undecodable),
            ] as [(Any, DefaultsError.Code)] {
                try source.set(object, forKey: "Sound")
                expectError(code) { try Sound.move(from: source, removingOriginal: true) }
                #expect(source.object(forKey: "Sound") != nil)
                #expect(store.dictionaryRepresentation().keys.filter { $0.hasPrefix("Sound") }.isEmpty)
            }
            expectError(.invalidKey) { try Sound.move(from: source, sourceKey: "") }
            expectError(.invalidKey) { try Sound.move(from: source, sourceKey: "Sound", forKey: "") }
        }
    }

    @Test("migrates an older version's value from the other store", arguments: StoreKind.allCases)
    func migrating(kind: StoreKind) throws {
        struct Old: DefaultStorable {
            var size = 1
            static var defaults: CurrentStore { CurrentStore() }
            static var defaultIdentifier: String { "Size" }
            static var schemaVersion: Int { 1 }
        }
        struct New: DefaultMigratable {
            var size = 1
            static var defaults: CurrentStore { CurrentStore() }
            static var defaultIdentifier: String { "Size" }
            static var schemaVersion: Int { 2 }
            init(migrating previous: Old) { size = previous.size * 10 }
        }
        try kind.withCurrentStore { _ in
            let source = MemoryDefaults()
            try CurrentStore.with(source) { try Old(size: 3).save() }
            #expect(try New.move(from: source, removingOriginal: true))
            #expect(try New.load()?.size == 30)
            #expect(source.dictionaryRepresentation().isEmpty)
        }
    }
}

/// A store that runs a body before each write.
private final class NotifyingStore: DefaultsStore {
    private let base: MemoryDefaults
    private let willWrite: (_ key: String) throws -> Void

    init(_ base: MemoryDefaults = MemoryDefaults(), willWrite: @escaping (_ key: String) throws -> Void) {
        self.base = base
        self.willWrite = willWrite
    }

    var storeDescription: String { "NotifyingStore(\(base.storeDescription))" }
    func storedValue(forKey key: String) -> PropertyListValue? { base.storedValue(forKey: key) }
    func storedKeys() -> [String] { base.storedKeys() }
    func flush() {}

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try willWrite(key)
        try base.setStoredValue(value, forKey: key)
    }
}
