@testable import Default
import DefaultJournal
import Foundation
import Testing

/// A type without a default value.
private struct Bare: DefaultStorable, Equatable {
    var name: String
    var count: Int
    static let defaultIdentifier = "Bare"
}

/// A type whose form isn't an object.
private enum Level: String, DefaultStorable {
    case low, high
    static let defaultValue: Level? = .low
    static let defaultIdentifier = "Level"
    static let previousIdentifiers = ["Loudness"]
}

/// A release with another name and renamed properties.
private struct Renamed: DefaultStorable, Equatable {
    var colour = "grey"
    var size = 1
    static let defaultValue: Renamed? = Renamed()
    static let defaultIdentifier = "Renamed"
    static let previousIdentifiers = ["Old"]
    static let renamedProperties = ["theme": "colour"]
}

/// An earlier release, whose size is a text.
private struct First: Codable, DefaultProviding {
    var size = "1"
    var theme = "grey"
    static let defaultValue: First? = First()
}

private struct Second: DefaultStorable, DefaultMigratable, Equatable {
    var width = 1
    var theme = "grey"
    static let schemaVersion = 2
    static let defaultValue: Second? = Second()
    static let defaultIdentifier = "Second"

    init(width: Int = 1, theme: String = "grey") { (self.width, self.theme) = (width, theme) }
    init(migrating previous: First) throws { self.init(width: Int(previous.size) ?? 1, theme: previous.theme) }
}

/// The same properties in a property list.
private struct Listed: DefaultStorable, Equatable {
    var theme = "bright"
    var size = 1
    var date = Date(timeIntervalSince1970: 0)
    var avatar: String?
    static let defaultValue: Listed? = Listed()
    static let defaultIdentifier = "Listed"
    static let defaultCoder = DefaultsCoder.propertyList
}

/// A type of which a whole value and a part can have the same bytes.
private struct Optionals: DefaultStorable, Equatable {
    var size: Int? = 1
    var station: String? = "none"
    var theme: String?
    static let defaultValue: Optionals? = Optionals()
    static let defaultIdentifier = "Optionals"
}

@Suite("Settings types over layers")
struct LayeredSettingsTests {
    @Test("are remembered for each key by its bytes", arguments: LayeredStoreKind.allCases)
    func equivalentKeys(kind: LayeredStoreKind) throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        try kind.withStore(fallbacks: [.values([composed: ["size": 4]], name: "vendor")]) { store in
            try Listed(size: 5).save(to: store, withKey: composed)
            for _ in 0..<3 { #expect(try Listed.load(from: store, forKey: composed)?.size == 5) }
            #expect(try Listed.load(from: store, forKey: decomposed) == nil)
        }
    }

    @Test("replace what can't be read also where all is what a source says", arguments: LayeredStoreKind.allCases)
    func unreadableUnderEqual(kind: LayeredStoreKind) throws {
        try kind.withStore(fallbacks: [.values(["Listed": ["theme": "dark"]], name: "vendor")]) { store in
            try store.setStoredValue(.data(Data("junk".utf8)), forKey: "Listed")
            try EventCollector().collect { try Listed(theme: "dark").save(to: store) }
            #expect(try Listed.load(from: store)?.theme == "dark")
            #expect(try Listed.quarantined(in: store).map(\.value) == [.data(Data("junk".utf8))])
        }
    }

    @Test("are stored beside mandatory properties whose version is stated", arguments: LayeredStoreKind.allCases)
    func mandatoryVersion(kind: LayeredStoreKind) throws {
        let policy: [String: PropertyListValue] = ["Second": ["theme": "dark"], "Second.schemaVersion": 2]
        try kind.withStore(mandatory: [.values(policy, name: "policy")]) { store in
            try Second(width: 5, theme: "dark").save(to: store)
            #expect(try Second.load(from: store) == Second(width: 5, theme: "dark"))
            try Second.remove(from: store)
            #expect(try Second.load(from: store)?.width == 1)
        }
    }

    private func source(_ fields: PropertyListValue, of type: String = "Player") -> ValuesSource {
        .values([type: fields], name: "source")
    }

    /// What is stored for a type, as an object.
    private func stored(_ key: String = "Player", in store: any DefaultsStore) throws -> [String: PropertyListValue]? {
        guard case .data(let data)? = store.ownValue(forKey: key) else { return nil }
        var bytes = [UInt8](data)
        if data.starts(with: Array("bplist".utf8)) {
            return try PropertyListFile.entries(of: data).mapValues { try $0.get() }
        }
        // Null has to be seen here.
        bytes = Array(String(decoding: bytes, as: UTF8.self).replacing(":null", with: ":\"null\"").utf8)
        guard case .dictionary(let fields)? = try JSONDocument.value(of: bytes) else { return nil }
        return fields
    }

    @Test(
        "are read property by property, each from the highest layer that has it",
        arguments: LayeredStoreKind.allCases
    )
    func reading(kind: LayeredStoreKind) throws {
        try kind.withStore(
            mandatory: [source(["isMuted": true])],
            overrides: [source(["size": 7])],
            fallbacks: [source(["theme": "vendor", "size": 3]), source(["avatar": "x.png", "theme": "last"])]
        ) { store in
            var expected = Deck(theme: "vendor", size: 7, isMuted: true)
            expected.avatar = "x.png"
            for _ in 0..<3 {
                #expect(Deck.read(from: store) == expected)
                #expect(try Deck.load(from: store) == expected)
            }
            try SettingsWriting.run(for: ["Player"]) {
                try store.setStoredValue(.data(Data(#"{"theme":"mine","size":4}"#.utf8)), forKey: "Player")
            }
            // Whole bytes say nil for an optional property that they lack, as without sources.
            (expected.theme, expected.station) = ("mine", nil)
            #expect(Deck.read(from: store) == expected)
            #expect(Deck.origins(ofProperty: "theme", in: store).map(\.kind) == [.stored, .fallback, .fallback])
            #expect(Deck.origin(ofProperty: "size", in: store)?.kind == .override)
            #expect(Deck.origins(ofProperty: "size", in: store).map(\.kind) == [.override, .stored, .fallback])
            #expect(Deck.origin(ofProperty: "isMuted", in: store)?.kind == .mandatory)
            #expect(Deck.origin(ofProperty: "tags", in: store) == nil)
        }
    }

    /// Each way to change one property.
    enum Way: CaseIterable {
        case save, write, update, live, liveInPlace, liveValue

        func setSize(_ size: Int, in store: any DefaultsStore) throws {
            switch self {
            case .save:
                var player = try #require(try Deck.load(from: store) ?? Deck.defaultValue)
                player.size = size
                try player.save(to: store)
            case .write:
                var player = Deck.read(from: store) ?? Deck()
                player.size = size
                player.write(to: store)
            case .update: try Deck.update(in: store) { $0.size = size }
            case .live: LiveSettings<Deck>(in: store).size = size
            case .liveInPlace: LiveSettings<Deck>(in: store).size += size - (Deck.read(from: store)?.size ?? 0)
            case .liveValue:
                let live = LiveSettings<Deck>(in: store)
                var player = live.value
                player.size = size
                live.value = player
            }
        }
    }

    enum Layer: CaseIterable { case mandatory, override, fallback }

    @Test(
        "store only what the caller changed, so that everything else is as without the write when a source goes away",
        arguments: LayeredStoreKind.allCases
    )
    func writing(kind: LayeredStoreKind) throws {
        let fields: PropertyListValue = [
            "theme": "vendor", "isMuted": true, "tags": ["b", "c", "d"], "avatar": "x", "station": "vendor",
        ]
        for way in Way.allCases {
            for layer in Layer.allCases {
                let changing = ChangingSource(["Player": fields])
                try kind.withStore(
                    mandatory: layer == .mandatory ? [changing] : [],
                    overrides: layer == .override ? [changing] : [],
                    fallbacks: layer == .fallback ? [changing] : []
                ) { store in
                    try expectEvents([], "\(way) \(layer)") { try way.setSize(5, in: store) }
                    #expect(try stored(in: store) == ["size": 5], "\(way) \(layer)")
                    var expected = Deck(theme: "vendor", size: 5, isMuted: true, tags: ["b", "c", "d"])
                    (expected.avatar, expected.station) = ("x", "vendor")
                    #expect(Deck.read(from: store) == expected, "\(way) \(layer)")
                    changing.change(to: ["Player": ["theme": "other"]])
                    #expect(Deck.read(from: store) == Deck(theme: "other", size: 5), "\(way) \(layer)")
                    changing.change(to: [:])
                    // Without the source, and without an event.
                    try expectEvents([], "\(way) \(layer)") {
                        #expect(Deck.read(from: store) == Deck(size: 5), "\(way) \(layer)")
                        let loaded = try Deck.load(from: store)
                        #expect(loaded == Deck(size: 5))
                    }
                    try way.setSize(6, in: store)
                    #expect(Deck.read(from: store) == Deck(size: 6), "\(way) \(layer)")
                }
            }
        }
    }

    @Test("store and read the same whether or not anything is remembered of the write before")
    func remembering() throws {
        var random = SeededGenerator(state: TestExtent.seed)
        func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }
        for _ in 0..<TestExtent.pick(brief: 20, full: 100) {
            let sources = (0..<3).map { _ in ChangingSource([:]) }
            func layered() -> MemoryDefaults {
                MemoryDefaults(mandatory: [sources[0]], overrides: [sources[1]], fallbacks: [sources[2]])
            }
            let (store, forgetful) = (layered(), layered())
            /// Does the same in both stores, of which one remembers nothing.
            func both(_ body: (MemoryDefaults) throws -> Void) rethrows {
                try body(store)
                forgetful.sources?.forget()
                try body(forgetful)
                forgetful.sources?.forget()
            }
            var steps: [String] = []
            for _ in 0..<20 {
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    let fields: PropertyListValue? = pick([
                        nil, ["theme": "vendor", "size": 3], ["isMuted": true], ["tags": ["b", "c"], "station": "x"],
                        ["avatar": "y", "theme": "bright"], ["size": "many"],
                    ])
                    let index = Int.random(in: 0..<3, using: &random)
                    steps.append("source \(index): \(fields as Any)")
                    sources[index].change(to: fields.map { ["Player": $0] } ?? [:])
                case 1:
                    let bytes = pick([
                        #"{"theme":"other"}"#, #"{"size":5,"later":[1]}"#, #"{"size":null}"#, #"{"size":"x"}"#, "[",
                        #"{"avatar":null,"isMuted":false,"size":1,"station":"none","tags":["a"],"theme":"bright"}"#,
                    ])
                    steps.append(bytes)
                    try both { store in
                        try SettingsWriting.run(for: ["Player"]) {
                            try store.setStoredValue(.data(Data(bytes.utf8)), forKey: "Player")
                        }
                    }
                case 2:
                    let isUnset = Bool.random(using: &random)
                    steps.append("register, or remove: \(isUnset)")
                    try both { store in
                        if isUnset {
                            try Deck.remove(from: store)
                        } else {
                            try store.register(defaults: ["Player": Data(#"{"theme":"registered"}"#.utf8)])
                        }
                    }
                default:
                    let property = Int.random(in: 0..<6, using: &random)
                    let number = Int.random(in: 0..<3, using: &random)
                    steps.append("property \(property): \(number)")
                    try both { store in
                        try Deck.update(in: store) { deck in
                            switch property {
                            case 0: deck.theme = ["bright", "vendor", "mine"][number]
                            case 1: deck.size = number
                            case 2: deck.isMuted = number == 0
                            case 3: deck.tags = [["a"], ["c", "b"], []][number]
                            case 4: deck.avatar = [nil, "x", "y"][number]
                            default: deck.station = [nil, "x", "none"][number]
                            }
                        }
                    }
                }
                let expected = Deck.read(from: forgetful)
                #expect(Deck.read(from: store) == expected, "\(steps)")
                #expect(Deck.read(from: store) == expected, "\(steps)")
                let (own, other) = (content(of: store), content(of: forgetful))
                #expect(own == other, "\(steps)")
                #expect(Set(store.storedKeys()) == Set(forgetful.storedKeys()), "\(steps)")
                guard Deck.read(from: store) == expected, own == other else { return }
            }
        }
    }

    /// What is stored, with the elements of sets in one order; nil for nothing that can be read.
    private func content(of store: any DefaultsStore) -> [String: PropertyListValue]? {
        (try? stored(in: store)).flatMap(\.self)?.mapValues { value in
            guard case .array(let elements) = value else { return value }
            return .array(elements.sorted { "\($0)" < "\($1)" })
        }
    }

    @Test("that were stored in part are read so by a store without sources, with no event")
    func partialWithoutSources() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let layered = try FileDefaults(url: url, fallbacks: [source(["theme": "vendor", "station": "vendor"])])
            try Deck.update(in: layered) { $0.size = 5 }
            let plain = try FileDefaults(url: url)
            expectEvents([]) {
                for _ in 0..<3 { #expect(Deck.read(from: plain) == Deck(size: 5)) }
            }
            // It writes whole values: of the station nil, which a part would not say.
            var player = Deck(size: 5)
            player.station = nil
            try player.save(to: plain)
            #expect(Deck.read(from: plain)?.station == nil)
            #expect(plain.ownValue(forKey: "Player.partial") == nil)
            #expect(Deck.read(from: layered)?.theme == "bright")
            try Deck.remove(from: layered)
            #expect(layered.storedKeys().isEmpty)
            #expect(Deck.read(from: layered)?.theme == "vendor")
        }
    }

    @Test("that were stored in part stay a part while a source has a mistake or is missing")
    func partialWithSilentSources() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let vendor = source(["theme": "vendor", "station": "vendor"])
            let layered = try FileDefaults(url: url, fallbacks: [vendor])
            try Deck.update(in: layered) { $0.size = 5 }
            let broken = directory.appending(path: "broken.json")
            try Data(#"{"Player":{"theme":"vendor}}"#.utf8).write(to: broken)
            for file in [broken, directory.appending(path: "missing.json")] {
                try expectEvents(file == broken ? [.sourceUnusable] : []) {
                    let silent = try FileDefaults(url: url, fallbacks: [.file(file)])
                    try Deck.update(in: silent) { $0.size += 1 }
                    #expect(silent.ownValue(forKey: "Player.partial") != nil)
                }
                #expect(Deck.read(from: layered)?.theme == "vendor")
            }
            #expect(Deck.read(from: layered) == Deck(theme: "vendor", size: 7, station: "vendor"))
        }
    }

    @Test("are re-read when another program stores a whole value with the part's bytes", arguments: [true, false])
    func sameBytes(updates: Bool) throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let vendor = ValuesSource.values(["Optionals": ["theme": "vendor"]], name: "vendor")
            let layered = try FileDefaults(url: url, fallbacks: [vendor])
            let plain = try FileDefaults(url: url)
            for _ in 0..<2 {
                try Optionals.update(in: layered) { $0.size = 5 }
                let part = layered.ownValue(forKey: "Optionals")
                for _ in 0..<3 { #expect(Optionals.read(from: layered) == Optionals(size: 5, theme: "vendor")) }
                try Optionals(size: 5, station: nil).save(to: plain)
                #expect(layered.ownValue(forKey: "Optionals") == part)
                if updates {
                    // What was written last isn't stored any more.
                    try Optionals.update(in: layered) { #expect($0.station == nil) }
                }
                for _ in 0..<3 { #expect(Optionals.read(from: layered)?.station == nil) }
                try Optionals.remove(from: layered)
            }
        }
    }

    @Test("store nil as null over a source's value or a default that isn't nil", arguments: LayeredStoreKind.allCases)
    func null(kind: LayeredStoreKind) throws {
        try kind.withStore(fallbacks: [source(["avatar": "x"])]) { store in
            try Deck.update(in: store) { $0.avatar = nil }
            #expect(try stored(in: store) == ["avatar": "null"])
            #expect(Deck.read(from: store)?.avatar == nil && Deck.read(from: store)?.station == "none")
            try Deck.update(in: store) { $0.station = nil }
            #expect(Deck.read(from: store)?.station == nil && Deck.read(from: store)?.avatar == nil)
            try Deck.update(in: store) { ($0.station, $0.avatar) = ("a", "b") }
            #expect(Deck.read(from: store)?.station == "a" && Deck.read(from: store)?.avatar == "b")
        }
    }

    @Test("compare values, not bytes: a set is written in any order", arguments: LayeredStoreKind.allCases)
    func sets(kind: LayeredStoreKind) throws {
        let tags = (0..<40).map { "tag\($0)" }
        try kind.withStore(fallbacks: [source(["tags": .array(tags.map { .string($0) })])]) { store in
            for size in 2..<12 {
                var player = try #require(Deck.read(from: store))
                player.tags = Set(tags.shuffled())
                player.size = size
                try player.save(to: store)
                #expect(try stored(in: store) == ["size": .integer(Int64(size))])
            }
        }
    }

    @Test("keep what is stored beside mandatory properties, and say which of a write were refused")
    func mandatoryProperties() throws {
        for kind in LayeredStoreKind.allCases {
            let policy = ChangingSource([:])
            try kind.withStore(mandatory: [policy]) { store in
                try Deck(theme: "mine", size: 2).save(to: store)
                policy.change(to: ["Player": ["theme": "policy"]])
                let collector = EventCollector()
                try collector.collect { try Deck(theme: "other", size: 3).save(to: store) }
                #expect(collector.events.map(\.kind) == [.writeFailed] && collector.codes == [.mandatory])
                #expect(collector.events[0].error.description.contains("\"theme\" (changing)"))
                #expect(Deck.read(from: store) == Deck(theme: "policy", size: 3))
                try expectEvents([]) { try Deck.update(in: store) { $0.size = 4 } }
                policy.change(to: [:])
                #expect(Deck.read(from: store) == Deck(theme: "mine", size: 4))
                policy.change(to: ["Player": ["theme": "policy"]])
                try Deck.remove(from: store)
                #expect(store.storedKeys().isEmpty && Deck.read(from: store) == Deck(theme: "policy"))
                // As one value the key can't be written.
                expectError(.mandatory) { try store.set("x", forKey: "Player") }
            }
        }
    }

    @Test(
        "without a default value are written whole, and read where a source says all",
        arguments: LayeredStoreKind.allCases
    )
    func withoutDefault(kind: LayeredStoreKind) throws {
        let vendor = ChangingSource(["Bare": ["name": "vendor"]])
        try kind.withStore(fallbacks: [vendor]) { store in
            #expect(try Bare.load(from: store) == nil)
            vendor.change(to: ["Bare": ["name": "vendor", "count": 2]])
            #expect(try Bare.load(from: store) == Bare(name: "vendor", count: 2))
            try Bare.update(in: store) { $0.count = 3 }
            vendor.change(to: [:])
            #expect(try Bare.load(from: store) == Bare(name: "vendor", count: 3))
        }
    }

    @Test("whose form isn't an object count as a whole", arguments: LayeredStoreKind.allCases)
    func wholeValues(kind: LayeredStoreKind) throws {
        let vendor = ChangingSource(["Level": "high"])
        try kind.withStore(fallbacks: [vendor]) { store in
            #expect(Level.read(from: store) == .high)
            try Level.low.save(to: store)
            #expect(Level.read(from: store) == .low)
            try Level.remove(from: store)
            expectEvents([.sourceUnusable]) {
                vendor.change(to: ["Level": "middle"])
                #expect(Level.read(from: store) == .low)
            }
        }
        try kind.withStore(mandatory: [source("high", of: "Level")]) { store in
            expectError(.mandatory) { try Level.low.save(to: store) }
            #expect(Level.read(from: store) == .high)
        }
    }

    @Test("that count as a whole stay the user's own under an override", arguments: LayeredStoreKind.allCases)
    func hiddenWholeValues(kind: LayeredStoreKind) throws {
        let own = PropertyListValue.data(try DefaultsCoder.json.encode(Level.low))
        let lever = ChangingSource(["Level": "high"])
        try kind.withStore(overrides: [lever]) { store in
            try store.setStoredValue(own, forKey: "Loudness")
            #expect(try Level.migrate(in: store))
            #expect(store.ownValue(forKey: "Level") == own)
            try Level.update(in: store) { _ in }
            #expect(store.ownValue(forKey: "Level") == own)
            lever.change(to: [:])
            #expect(Level.read(from: store) == .low)
        }
        try kind.withStore(fallbacks: [lever]) { store in
            lever.change(to: ["Level": "high"])
            try Level.update(in: store) { _ in }
            #expect(store.ownValue(forKey: "Level") == nil && Level.read(from: store) == .high)
            try store.setStoredValue("unreadable", forKey: "Level")
            try Level.high.save(to: store)
            #expect(try Level.quarantined(in: store).map(\.value) == ["unreadable"])
        }
    }

    @Test("are found in a source under another name of the type, and with the names of an older release")
    func olderSources() throws {
        for kind in LayeredStoreKind.allCases {
            let old: [String: PropertyListValue] = ["Old": ["theme": "blue"]]
            try kind.withStore(fallbacks: [.values(old, name: "old")]) { store in
                #expect(Renamed.read(from: store) == Renamed(colour: "blue"))
                try Renamed.update(in: store) { $0.size = 2 }
                #expect(try stored("Renamed", in: store) == ["size": 2])
                #expect(Renamed.read(from: store) == Renamed(colour: "blue", size: 2))
            }
            // Each source is asked under all names before the next one.
            let sources: [any DefaultsSource] = [.values(old, name: "old"), source(["colour": "red"], of: "Renamed")]
            try kind.withStore(fallbacks: sources) { store in #expect(Renamed.read(from: store)?.colour == "blue") }
        }
    }

    @Test("are migrated from a source of an earlier release, by its version or its names")
    func migratedSources() throws {
        for kind in LayeredStoreKind.allCases {
            let byNames = source(["size": "7"], of: "Second")
            try kind.withStore(fallbacks: [byNames]) { store in
                #expect(Second.read(from: store) == Second(width: 7))
                try Second.update(in: store) { $0.theme = "blue" }
                #expect(try stored("Second", in: store) == ["theme": "blue"])
                #expect(Second.read(from: store) == Second(width: 7, theme: "blue"))
            }
            let byVersion: [String: PropertyListValue] = ["Second": ["theme": "red"], "Second.schemaVersion": 1]
            try kind.withStore(fallbacks: [.values(byVersion, name: "old")]) { store in
                #expect(Second.read(from: store) == Second(theme: "red"))
            }
            try kind.withStore(fallbacks: [source(["width": 4], of: "Second")]) { store in
                #expect(Second.read(from: store) == Second(width: 4))
            }
        }
    }

    @Test("report what can't be used of a source, in words of its own, and quarantine nothing")
    func unusableParts() throws {
        for kind in LayeredStoreKind.allCases {
            try kind.withStore(fallbacks: [source(["theme": "vendor", "size": "large"]), source(3)]) { store in
                let collector = EventCollector()
                try collector.collect {
                    for _ in 0..<3 { #expect(Deck.read(from: store) == Deck(theme: "vendor")) }
                    try Deck.update(in: store) { $0.isMuted = true }
                }
                #expect(Set(collector.events.map(\.kind)) == [.sourceUnusable] && collector.events.count == 2)
                let text = collector.events.map { "\($0)" }.joined()
                #expect(text.contains("\"size\" is not of type Int") && text.contains("it is not of type Deck"))
                #expect(!text.contains("stored value was left unchanged"))
                #expect(try Deck.quarantined(in: store).isEmpty)
                #expect(try stored(in: store) == ["isMuted": true])
            }
        }
    }

    @Test(
        "keep unknown fields of what is stored, and quarantine what can't be used of it",
        arguments: LayeredStoreKind.allCases
    )
    func storedParts(kind: LayeredStoreKind) throws {
        try kind.withStore(fallbacks: [source(["theme": "vendor"])]) { store in
            let bytes = Data(#"{"size":"large","newer":[1],"isMuted":true}"#.utf8)
            try store.setStoredValue(.data(bytes), forKey: "Player")
            _ = try EventCollector.codes {
                #expect(Deck.read(from: store) == Deck(theme: "vendor", isMuted: true, station: nil))
                try Deck.update(in: store) { $0.tags = ["z"] }
            }
            #expect(try stored(in: store) == ["newer": [1], "isMuted": true, "tags": ["z"], "station": "null"])
            #expect(try Deck.quarantined(in: store).map(\.data) == [bytes])
        }
    }

    @Test("that can't be read are what sources say, and start from that", arguments: LayeredStoreKind.allCases)
    func unreadable(kind: LayeredStoreKind) throws {
        try kind.withStore(fallbacks: [source(["theme": "vendor"])]) { store in
            try store.setStoredValue(.data(Data("{".utf8)), forKey: "Player")
            _ = try EventCollector.codes {
                #expect(Deck.read(from: store) == Deck(theme: "vendor"))
                #expect(throws: DefaultsError.self) { try Deck.load(from: store) }
                try Deck.update(in: store) { $0.size = 9 }
            }
            #expect(Deck.read(from: store) == Deck(theme: "vendor", size: 9))
            #expect(try stored(in: store) == ["size": 9])
        }
    }

    @Test("in property lists work the same", arguments: LayeredStoreKind.allCases)
    func propertyLists(kind: LayeredStoreKind) throws {
        let date = Date(timeIntervalSince1970: 1_000)
        let fields: PropertyListValue = .dictionary(["theme": "vendor", "date": .date(date), "avatar": "x"])
        try kind.withStore(fallbacks: [source(fields, of: "Listed")]) { store in
            var expected = Listed(theme: "vendor", date: date)
            expected.avatar = "x"
            #expect(Listed.read(from: store) == expected)
            try Listed.update(in: store) { $0.size = 2 }
            #expect(try stored("Listed", in: store) == ["size": 2])
            try Listed.update(in: store) { $0.avatar = nil }
            expected.size = 2
            expected.avatar = nil
            #expect(Listed.read(from: store) == expected)
        }
    }

    @Test("start from a LiveSettings' own default, whose values are stored with the first change")
    func liveDefault() throws {
        for kind in LayeredStoreKind.allCases {
            try kind.withStore(fallbacks: [source(["theme": "vendor"])]) { store in
                let live = LiveSettings(default: Deck(size: 8, isMuted: true), in: store)
                #expect(live.value == Deck(theme: "vendor", size: 8, isMuted: true))
                live.tags = []
                #expect(live.value == Deck(theme: "vendor", size: 8, isMuted: true, tags: []))
                let fields = try stored(in: store)
                #expect(fields == ["size": 8, "isMuted": true, "tags": .array([])])
            }
        }
    }

    @Test("are delivered when a source changes")
    func updates() async throws {
        let vendor = ChangingSource(["Player": ["theme": "vendor"]])
        let store = MemoryDefaults(fallbacks: [vendor])
        try Deck.update(in: store) { $0.size = 2 }
        var values = Deck.updates(in: store).makeAsyncIterator()
        #expect(await values.next(isolation: nil) == .some(Deck(theme: "vendor", size: 2)))
        vendor.change(to: ["Player": ["theme": "other"]])
        #expect(await values.next(isolation: nil) == .some(Deck(theme: "other", size: 2)))
    }

    @Test(
        "are stored as the encoder's data where no source speaks about the type",
        arguments: LayeredStoreKind.allCases
    )
    func unspoken(kind: LayeredStoreKind) throws {
        try kind.withStore(fallbacks: [source(["a": 1], of: "Other")]) { store in
            try Deck(size: 3).save(to: store)
            #expect(
                store.data(forKey: "Player").flatMap { try? JSONDecoder().decode(Deck.self, from: $0) } == Deck(size: 3)
            )
            #expect(store.storedKeys() == ["Player"])
        }
    }

    @Test("use one state of the sources from the read to the write of an update")
    func oneSnapshot() throws {
        for kind in LayeredStoreKind.allCases {
            let vendor = ChangingSource(["Player": ["theme": "vendor"]])
            try kind.withStore(fallbacks: [vendor]) { store in
                try Deck.update(in: store) { player in
                    vendor.change(to: ["Player": ["theme": "other"]])
                    player.size = 2
                }
                // Compared with the new source, the theme would be a change of the caller's.
                #expect(try stored(in: store) == ["size": 2])
                #expect(Deck.read(from: store) == Deck(theme: "other", size: 2))
            }
        }
    }

    @Test("are moved and migrated by what is stored, never by what a source says")
    func moving() throws {
        let store = MemoryDefaults(fallbacks: [source(["theme": "vendor"])])
        #expect(try Deck.migrate(in: store) == false)
        #expect(store.storedKeys().isEmpty)
        let target = MemoryDefaults()
        #expect(try Deck.move(from: store, to: target) == false)
        let old = MemoryDefaults()
        try Deck(size: 4).save(to: old)
        #expect(try Deck.move(from: old, to: store))
        #expect(Deck.read(from: store)?.size == 4)
    }
}

/// An enum whose form is an object of one key: its case.
private enum Mode: Codable, DefaultStorable, Equatable {
    case low, high(Int)
    static let defaultValue: Mode? = .low
    static let defaultIdentifier = "Mode"
}

@Suite("Layers that were attacked")
struct LayerAttackTests {
    private let vendor = ValuesSource.values(
        ["Player": ["size": 3], "Mode": ["high": ["_0": 7]], "Optionals": ["size": 7]],
        name: "vendor"
    )

    @Test("leave the bytes of an enum as they are where nothing is changed", arguments: LayeredStoreKind.allCases)
    func unchangedEnums(kind: LayeredStoreKind) throws {
        let spaced = PropertyListValue.data(Data(#"{ "low" : {} }"#.utf8))
        let policy = ChangingSource([:])
        try kind.withStore(mandatory: [policy], fallbacks: [vendor]) { store in
            try store.setStoredValue(spaced, forKey: "Mode")
            try Mode.update(in: store) { _ in }
            #expect(store.ownValue(forKey: "Mode") == spaced)
            policy.change(to: ["Mode": ["high": ["_0": 9]]])
            try Mode.update(in: store) { _ in }
            #expect(store.ownValue(forKey: "Mode") == spaced)
            expectError(.mandatory) { try Mode.high(8).save(to: store) }
        }
    }

    @Test("keep the cases of an enum apart", arguments: LayeredStoreKind.allCases)
    func enums(kind: LayeredStoreKind) throws {
        try kind.withStore(fallbacks: [vendor]) { store in
            #expect(Mode.read(from: store) == .high(7))
            try Mode.high(2).save(to: store)
            #expect(Mode.read(from: store) == .high(2))
            try Mode.low.save(to: store)
            #expect(Mode.read(from: store) == .low)
        }
    }

    @Test(
        "take whole stored bytes for all that they say: nil, and what equals a default",
        arguments: LayeredStoreKind.allCases
    )
    func wholeBytes(kind: LayeredStoreKind) throws {
        let source = ChangingSource([:])
        try kind.withStore(fallbacks: [source]) { store in
            var deck = Deck(size: 4)
            deck.station = nil
            try deck.save(to: store)
            try store.setStoredValue(.data(Data(#"{"size":"1","theme":"blue"}"#.utf8)), forKey: "Second")
            source.change(to: ["Player": ["size": 3], "Second": ["width": 7]])
            #expect(Deck.read(from: store) == deck)
            #expect(Second.read(from: store) == Second(width: 1, theme: "blue"))
        }
    }

    @Test("are read as they were stored, whenever another writes", arguments: 1...8)
    func interruptedReads(lookUp: Int) throws {
        let store = InterruptedStore(layers: DefaultsSources(fallbacks: [vendor]))
        let (part, whole) = (Optionals(size: 7, theme: "dark"), Optionals(size: 2, theme: "red"))
        let rows = try (part: store.rows(of: part, beside: vendor), whole: store.rows(of: whole))
        for _ in 0..<2 {
            try store.store(rows.part)
            store.store(rows.whole, afterLookUp: lookUp)
            let read = Optionals.read(from: store)
            #expect(read == part || read == whole)
        }
        try store.store(rows.whole)
        for _ in 0..<3 { #expect(Optionals.read(from: store) == whole) }
    }

    @Test("are read beside a writer at each look-up, with the lock or without", arguments: [true, false])
    func restlessStore(isReadOnly: Bool) throws {
        let store = InterruptedStore(layers: DefaultsSources(fallbacks: [vendor]), isReadOnly: isReadOnly)
        let written = [Optionals(size: 2, theme: "red"), Optionals(size: 3, theme: "blue")]
        let rows = try written.map { try store.rows(of: $0) }
        try store.store(rows[0])
        for lookUp in 1...500 { store.store(rows[lookUp % 2], afterLookUp: lookUp) }
        #expect(Optionals.read(from: store).map(written.contains) == true)
    }

    @Test("are read without sources as they are stored, whatever was there in between", arguments: 1...8)
    func interruptedReadsOfParts(lookUp: Int) throws {
        let store = InterruptedStore(layers: nil)
        let part = try store.rows(of: Optionals(size: 7, theme: "dark"), beside: vendor)
        let whole = try store.rows(of: Optionals(station: nil, theme: "red"))
        for _ in 0..<2 {
            try store.store(part)
            store.store(whole, afterLookUp: lookUp)
            _ = Optionals.read(from: store)
        }
        try store.store(part)
        for _ in 0..<3 { #expect(Optionals.read(from: store) == Optionals(theme: "dark")) }
    }

    @Test("leave a program's own value under the mark's key alone", arguments: LayeredStoreKind.allCases)
    func foreignMark(kind: LayeredStoreKind) throws {
        try kind.withStore { store in
            try store.set(true, forKey: "Player.partial")
            try Deck(size: 4).save(to: store)
            try Deck(size: 5).save(to: store)
            try Deck.remove(from: store)
            #expect(store.bool(forKey: "Player.partial"))
        }
        try kind.withStore(fallbacks: [vendor]) { store in
            try store.set(true, forKey: "Player.partial")
            expectError(.typeMismatch) { try Deck.update(in: store) { $0.theme = "dark" } }
            #expect(store.bool(forKey: "Player.partial") && store.ownValue(forKey: "Player") == nil)
        }
    }

    @Test("don't share a LiveSettings' own default with other readers")
    func liveDefaults() throws {
        let store = MemoryDefaults(fallbacks: [.values(["Player": ["theme": "vendor"]], name: "vendor")])
        let live = LiveSettings(default: Deck(size: 8), in: store)
        // A value is shared when it has been read twice.
        for _ in 0..<3 {
            for _ in 0..<3 { #expect(live.value == Deck(theme: "vendor", size: 8)) }
            for _ in 0..<3 { #expect(Deck.read(from: store) == Deck(theme: "vendor")) }
        }
    }

    @Test("survive a source that signals a change while it is read")
    func reentrance() throws {
        let source = RestlessSource()
        let store = MemoryDefaults(fallbacks: [source])
        #expect(store.integer(forKey: "count") > 0)
        store.sources?.look()
        #expect(store.integer(forKey: "count") > 1)
    }

    @Test("let a handler write no mandatory key while settings are written")
    func handlersAreRefused() throws {
        let store = MemoryDefaults(mandatory: [.values(["volume": 1, "Player": ["size": 3]], name: "policy")])
        let refusals = Locked(0)
        let observation = store.observeChanges { [weak store] _ in
            do { try store?.set(2, forKey: "volume") } catch { refusals.withLock { $0 += 1 } }
        }
        // Not in exclusive access of its own, so that the handler is called while the settings are written.
        try Deck(theme: "dark", size: 3).save(to: store)
        #expect(refusals.withLock { $0 } > 0 && store.ownValue(forKey: "volume") == nil)
        observation.cancel()
    }

    @Test(
        "keep the version and the mark of what may not be removed with the rest",
        arguments: LayeredStoreKind.allCases
    )
    func companionsStay(kind: LayeredStoreKind) throws {
        let policy = ChangingSource([:])
        let vendor = ValuesSource.values(["Second": ["width": 7]], name: "vendor")
        try kind.withStore(mandatory: [policy], fallbacks: [vendor]) { store in
            try Second.update(in: store) { $0.theme = "blue" }
            try store.set(1, forKey: "other")
            policy.change(to: ["Second": ["width": 9]])
            expectError(.mandatory) { try store.removeAll() }
            #expect(Set(store.storedKeys()) == ["Second", "Second.schemaVersion", "Second.partial"])
            policy.change(to: [:])
            #expect(Second.read(from: store) == Second(width: 7, theme: "blue"))
        }
    }

    @Test("move and restore settings beside mandatory properties")
    func movingBesideMandatory() throws {
        let old = MemoryDefaults()
        try Deck(theme: "old", size: 4).save(to: old)
        let store = MemoryDefaults(mandatory: [.values(["Player": ["size": 3]], name: "policy")])
        #expect(try Deck.move(from: old, to: store))
        #expect(Deck.read(from: store) == Deck(theme: "old", size: 3))
    }
}

/// A store that another process writes to between two look-ups.
private struct InterruptedStore: FaultyLayeredStore {
    let base = MemoryDefaults()
    let layers: DefaultsSources?
    let isReadOnly: Bool
    /// How many look-ups there have been, and what is stored after some.
    private let state = Locked<(lookUps: Int, plan: [Int: Rows])>((0, [:]))

    /// The values of a settings type and of its mark.
    typealias Rows = [String: PropertyListValue?]

    init(layers: DefaultsSources?, isReadOnly: Bool = false) { (self.layers, self.isReadOnly) = (layers, isReadOnly) }

    /// What a process stores, with a source or without.
    func rows(of settings: Optionals, beside source: ValuesSource? = nil) throws -> Rows {
        let store = MemoryDefaults(fallbacks: source.map { [$0] } ?? [])
        try settings.save(to: store)
        let keys = ["Optionals", "Optionals.partial"]
        return Rows(uniqueKeysWithValues: keys.map { ($0, store.ownValue(forKey: $0)) })
    }

    func store(_ rows: Rows, afterLookUp lookUp: Int) { state.withLock { $0.plan[lookUp] = rows } }

    /// Stores values now, and nothing else afterwards.
    func store(_ rows: Rows) throws {
        state.withLock { $0 = (0, [:]) }
        try set(rows)
    }

    private func set(_ rows: Rows) throws {
        for (key, value) in rows { try base.setStoredValue(value, forKey: key) }
    }

    func ownValue(forKey key: String) -> PropertyListValue? {
        let value = base.storedValue(forKey: key)
        let due = state.withLock { state in
            state.lookUps += 1
            return state.plan[state.lookUps]
        }
        #expect(throws: Never.self) { try due.map(set) }
        return value
    }

    func storedValue(forKey key: String) -> PropertyListValue? {
        layers?.value(forKey: key, own: { ownValue(forKey: key) }) ?? ownValue(forKey: key)
    }

    func beginExclusiveAccess() throws {
        if isReadOnly { throw DefaultsError(.storeReadOnly, ErrorContext(in: self), "It is read-only.") }
        base.beginExclusiveAccess()
    }
}

/// A source that says that it has changed whenever it is read, a few times.
private final class RestlessSource: DefaultsSource {
    let name = "restless"
    private let state = Locked((count: 0, handler: (@Sendable () -> Void)?.none))

    func values() -> [String: PropertyListValue] {
        let (count, handler) = state.withLock { state in
            state.count += 1
            return (state.count, state.count % 3 == 0 ? nil : state.handler)
        }
        handler?()
        return ["count": .integer(Int64(count))]
    }

    func observeChanges(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? {
        state.withLock { $0.handler = handler }
        return StoreObservation {}
    }
}
