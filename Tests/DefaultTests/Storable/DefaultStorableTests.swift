import Foundation
import Testing

@testable import Default

/// A type with a default value, on the test's store.
private struct Theme: DefaultStorable, Equatable {
    var name = "bright"
    var contrast = 0.5

    static var defaults: CurrentStore { CurrentStore() }
    static var defaultValue: Theme? { Theme() }
}

private struct Unset: DefaultStorable, Equatable {
    var count: Int
    static var defaults: CurrentStore { CurrentStore() }
}

private struct InPropertyList: DefaultStorable, Equatable {
    var ratio: Double
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultCoder: DefaultsCoder { .propertyList }
}

private enum Outer {
    struct VisualSettings: DefaultStorable {}
    enum Middle { struct VisualSettings: DefaultStorable {} }
}

private struct Box<Value: Codable>: DefaultStorable {
    var value: Value
    struct Inner: DefaultStorable {}
}

private struct Renamed: DefaultStorable {
    var size: Int
    static var defaults: CurrentStore { CurrentStore() }
    static var previousIdentifiers: [String] { ["Former", "First"] }
}

/// Two types with one identifier each, which are used only in one way.
private enum Twins {
    enum Saved {
        struct One: DefaultStorable { static var defaultIdentifier: String { "saved" } }
        struct Other: DefaultStorable { static var defaultIdentifier: String { "saved" } }
    }
    enum Read {
        struct One: DefaultStorable { static var defaultIdentifier: String { "read" } }
        struct Other: DefaultStorable { static var defaultIdentifier: String { "read" } }
    }
    enum Absent {
        struct One: DefaultStorable { static var defaultIdentifier: String { "absent" } }
        struct Other: DefaultStorable { static var defaultIdentifier: String { "absent" } }
    }
    enum Updated {
        struct One: DefaultStorable {
            static var defaultIdentifier: String { "updated" }
            static let defaultValue = One()
        }
        struct Other: DefaultStorable {
            static var defaultIdentifier: String { "updated" }
            static let defaultValue = Other()
        }
    }
}

@Suite("A settings type", .ownCache)
struct DefaultStorableTests {
    @Test("that shares its identifier is reported, whichever way it is used")
    func identifierConflicts() throws {
        let store = MemoryDefaults()
        try store.set(Data("{}".utf8), forKey: "read")
        typealias Use = () throws -> Void
        let uses: [(key: String, type: Any.Type, one: Use, other: Use)] = [
            (
                "saved", Twins.Saved.Other.self, { try Twins.Saved.One().save(to: store) },
                { try Twins.Saved.Other().save(to: store) }
            ),
            (
                "read", Twins.Read.Other.self, { _ = try Twins.Read.One.load(from: store) },
                { _ = try Twins.Read.Other.load(from: store) }
            ),
            (
                "absent", Twins.Absent.Other.self, { _ = try Twins.Absent.One.loadWithReport(from: store) },
                { _ = try Twins.Absent.Other.loadWithReport(from: store) }
            ),
            (
                "updated", Twins.Updated.Other.self, { try Twins.Updated.One.update(in: store) { _ in } },
                { try Twins.Updated.Other.update(in: store) { _ in } }
            ),
        ]
        for (key, type, one, other) in uses {
            let collector = EventCollector()
            try collector.collect {
                try one()
                #expect(collector.events.isEmpty, "\(key)")
                try other()
                try one()
            }
            #expect(collector.codes == [.identifierConflict], "\(key)")
            let error = collector.events.first?.error
            #expect(error?.key == key && error?.type == type && error?.store == store.storeDescription)
        }
    }

    @Test("that shares its identifier is reported in each store where both are used, wherever they were used before")
    func identifierConflictsOfStores() throws {
        let stores = (0..<4).map { _ in MemoryDefaults() }
        let collector = EventCollector()
        try collector.collect {
            // Each type is used in its own store.
            try Twins.Saved.One().save(to: stores[0])
            try Twins.Saved.Other().save(to: stores[1])
            #expect(collector.events.isEmpty)
            for store in stores[2...] {
                try Twins.Saved.One().save(to: store)
                _ = try Twins.Saved.Other.load(from: store)
                try Twins.Saved.Other().save(to: store)
            }
        }
        #expect(collector.events.map(\.error.store) == stores[2...].map(\.storeDescription))
        #expect(collector.codes == [.identifierConflict, .identifierConflict])
    }

    @Test(
        "reports nothing when the report is asked for, and what it lacks when it is migrated",
        arguments: StoreKind.allCases
    )
    func reports(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try store.set(Data(#"{"name":"x"}"#.utf8), forKey: "Theme")
            let collector = EventCollector()
            try collector.collect {
                let report = try Theme.loadWithReport()?.report
                #expect(report?.filledIn == ["contrast"] && report?.isEmpty == false)
                #expect(collector.events.isEmpty)
                let isMigrated = try Theme.migrate()
                #expect(isMigrated)
            }
            #expect(collector.events.map(\.kind) == [.filledIn])
            let event = try #require(collector.events.first)
            #expect(event.severity == .info && event.report?.filledIn == ["contrast"])
            #expect(event.error.code == .filledIn && event.error.key == "Theme" && event.error.type == Theme.self)
            #expect(event.error.store == store.storeDescription)
            #expect(event.error.description.contains(#""contrast" is missing"#))
        }
    }

    @Test("is not read under an older name if a newer version, or a failed migration, keeps it from being read")
    func newerBeforeOlder() throws {
        struct Gauge: DefaultMigratable, Equatable {
            struct Old: Codable { var old: Int }
            struct Refusal: Error {}
            var level: Int
            static var schemaVersion: Int { 2 }
            static var previousIdentifiers: [String] { ["Former"] }
            init(migrating previous: Old) throws { throw Refusal() }
        }
        let store = MemoryDefaults()
        try store.set(Data(#"{"level":1}"#.utf8), forKey: "Former")
        #expect(try Gauge.load(from: store)?.level == 1)
        let newer = Data(#"{"level":2}"#.utf8)
        try store.set("3 \(ContentDigest(newer).text)", forKey: "Gauge.schemaVersion")
        try store.set(newer, forKey: "Gauge")
        let error = expectError(.newerVersion) { try Gauge.load(from: store) }
        #expect(error?.key == "Gauge")
        expectReport(.newerVersion) { #expect(Gauge.read(from: store) == nil) }
        try store.set(Data(#"{"old":1}"#.utf8), forKey: "Gauge")
        let failure = expectError(.migrationFailed) { try Gauge.load(from: store) }
        #expect(failure?.key == "Gauge" && failure?.type == Gauge.self && failure?.store == store.storeDescription)
        #expect(failure?.underlyingError is Gauge.Refusal)
        #expect(failure?.description.contains("could not be migrated to Gauge") == true)
        expectReport(.migrationFailed) { #expect(Gauge.read(from: store) == nil) }
    }

    @Test("in a store that fails has the store's own error, with key, type and store")
    func failingStore() throws {
        let store = Refusing()
        let calls: [() throws -> Void] = [
            { try Theme().save(to: store) }, { _ = try Theme.load(from: store) }, { try Theme.remove(from: store) },
            { _ = try Theme.loadWithReport(from: store) }, { try Theme.migrate(in: store) },
            { try Theme.update(in: store) { _ in } }, { try Theme.move(from: store, to: MemoryDefaults()) },
        ]
        for (number, call) in calls.enumerated() {
            let error = expectError(.storeFailed, "call \(number)", from: call)
            #expect(error?.key == "Theme" && error?.type == Theme.self && error?.store == "Refusing", "call \(number)")
            #expect(error?.underlyingError is Refusing.Refusal, "call \(number)")
        }
        let collector = EventCollector()
        collector.collect {
            Theme().write(to: store)
            #expect(Theme.read(from: store) == Theme())
            Theme.clear(in: store)
            Theme().clear(in: store, forKey: "k")
        }
        #expect(collector.events.map(\.kind) == [.writeFailed, .readFailed, .removalFailed, .removalFailed])
        #expect(collector.events.map(\.error.key) == ["Theme", "Theme", "Theme", "k"])
    }

    @Test("that can be read under none of its names has the error of the newest", arguments: StoreKind.allCases)
    func severalErrors(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try store.set(Data(#"{"size":"large"}"#.utf8), forKey: "Former")
            try store.set("text", forKey: "First")
            let error = expectError(.undecodable) { try Renamed.load() }
            #expect(error?.key == "Former")
            #expect(error?.description.contains(#""size" is not of type Int"#) == true)
        }
    }

    @Test("is stored under its plain name, wherever it is declared")
    func identifiers() {
        struct Local: DefaultStorable {}
        #expect(Outer.VisualSettings.defaultIdentifier == "VisualSettings")
        #expect(Outer.Middle.VisualSettings.defaultIdentifier == "VisualSettings")
        #expect(Box<Int>.defaultIdentifier == "Box<Int>")
        #expect(Box<[String: Int]>.defaultIdentifier == "Box<Dictionary<String, Int>>")
        #expect(Box<Int>.Inner.defaultIdentifier == "Inner")
        #expect(Local.defaultIdentifier == "Local")
    }

    @Test("is stored as the encoder's bytes and nothing else", arguments: StoreKind.allCases)
    func bytes(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try Theme(name: "a/b", contrast: 1).save()
            #expect(store.data(forKey: "Theme") == Data(#"{"contrast":1,"name":"a/b"}"#.utf8))
            try InPropertyList(ratio: .infinity).save()
            let data = try #require(store.data(forKey: "InPropertyList"))
            #expect(data.starts(with: Data("bplist00".utf8)))
            #expect(try PropertyListDecoder().decode(InPropertyList.self, from: data).ratio == .infinity)
            #expect(try InPropertyList.load()?.ratio == .infinity)
        }
    }

    @Test("reads as its default value while nothing is stored, and loads as nil", arguments: StoreKind.allCases)
    func absent(kind: StoreKind) throws {
        try kind.withCurrentStore { _ in
            let collector = EventCollector()
            try collector.collect {
                #expect(Theme.read() == Theme())
                #expect(Theme.read(forKey: "elsewhere") == Theme())
                let loaded = try Theme.load()
                #expect(loaded == nil)
                #expect(Unset.read() == nil)
            }
            #expect(collector.events.isEmpty)
        }
    }

    @Test("is found under the key of version 3 of the older library", arguments: StoreKind.allCases)
    func legacyKey(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try store.set(Data(#"{"name":"old","contrast":1}"#.utf8), forKey: "Theme.Type")
            #expect(Theme.read()?.name == "old")
            #expect(try Theme.load()?.name == "old")
            #expect(Theme.read(forKey: "other") == Theme())

            try Theme.update { $0.contrast = 2 }
            #expect(store.data(forKey: "Theme") == Data(#"{"contrast":2,"name":"old"}"#.utf8))
            #expect(store.data(forKey: "Theme.Type") == Data(#"{"name":"old","contrast":1}"#.utf8))

            try store.set(Data("garbage".utf8), forKey: "Theme.Type")
            #expect(Theme.read()?.contrast == 2)
            Theme.clear()
            #expect(store.object(forKey: "Theme") == nil)
            #expect(store.object(forKey: "Theme.Type") == nil)
        }
    }

    @Test("clears and removes only the requested keys", arguments: StoreKind.allCases)
    func clear(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            Theme(name: "a").write()
            Theme(name: "b").write(withKey: "b")
            Theme.clear(forKey: "b")
            #expect(store.object(forKey: "b") == nil)
            #expect(Theme.read()?.name == "a")
            try Theme.remove()
            #expect(store.object(forKey: "Theme") == nil)
            try Theme.remove()
        }
    }
}

@Suite("An update", .ownCache)
struct UpdateTests {
    private struct Refusal: Error {}

    @Test("starts from the stored value, and returns its body's result", arguments: StoreKind.allCases)
    func stored(kind: StoreKind) throws {
        try kind.withCurrentStore { _ in
            try Unset(count: 4).save()
            let result = try Unset.update { value in
                value.count += 1
                return "was \(value.count - 1)"
            }
            #expect(result == "was 4")
            #expect(try Unset.load() == Unset(count: 5))
            try Unset(count: 7).save(withKey: "k")
            try Unset.update(forKey: "k") { $0.count = 8 }
            #expect(try Unset.load(forKey: "k")?.count == 8)
            #expect(try Unset.load() == Unset(count: 5))
        }
    }

    @Test("starts from the default value if nothing is stored, and throws without one", arguments: StoreKind.allCases)
    func absent(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try Theme.update { $0.name += "er" }
            #expect(try Theme.load()?.name == "brighter")
            let error = expectError(.valueMissing) { try Unset.update { $0.count += 1 } }
            #expect(error?.key == "Unset" && error?.type == Unset.self && error?.store == store.storeDescription)
            #expect(store.object(forKey: "Unset") == nil)
            #expect(expectError(.valueMissing) { try Unset.update(forKey: "k") { $0.count += 1 } }?.key == "k")
            try Theme.update(forKey: "k") { $0.name = "k" }
            #expect(try Theme.load(forKey: "k")?.name == "k")
            #expect(try Theme.load()?.name == "brighter")
        }
    }

    @Test("stores nothing if its body throws or the result can't be encoded", arguments: StoreKind.allCases)
    func failures(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try Theme(name: "kept", contrast: 1).save()
            let before = store.data(forKey: "Theme")
            do {
                try Theme.update { theme in
                    theme.name = "lost"
                    throw Refusal()
                }
                Issue.record("the body's error was lost")
            } catch is Refusal {}
            #expect(store.data(forKey: "Theme") == before)
            expectError(.encodingFailed) { try Theme.update { $0.contrast = .nan } }
            #expect(store.data(forKey: "Theme") == before)
        }
    }

    @Test(
        "starts from the default value if the stored value can't be read, and quarantines that",
        arguments: StoreKind.allCases
    )
    func undecodable(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let garbage = Data("{".utf8)
            try store.set(garbage, forKey: "Theme")
            let collector = EventCollector()
            try collector.collect {
                try Theme.update { $0.name = "new" }
                try Theme.update { $0.name += "er" }
            }
            #expect(try Theme.load()?.name == "newer")
            #expect(try Theme.quarantined().map(\.data) == [garbage])
            #expect(collector.events.map(\.kind) == [.readFailed, .quarantined])
            // If the change throws, nothing is stored.
            try store.set(garbage, forKey: "Theme")
            #expect(throws: CancellationError.self) {
                try EventCollector().collect { try Theme.update { _ in throw CancellationError() } }
            }
            #expect(store.data(forKey: "Theme") == garbage)
        }
    }

    @Test(
        "reports a newer version's value, starts from the default value, and quarantines the other",
        arguments: StoreKind.allCases
    )
    func newer(kind: StoreKind) throws {
        struct NewerDial: DefaultStorable {
            var level = 1
            static var defaultIdentifier: String { "Dial" }
            static var schemaVersion: Int { 2 }
        }
        struct Dial: DefaultStorable {
            var level = 5
            static var defaultIdentifier: String { "Dial" }
            static var schemaVersion: Int { 1 }
            static let defaultValue = Dial()
        }
        try kind.withStore { store in
            try NewerDial(level: 9).save(to: store)
            let bytes = store.data(forKey: "Dial")
            let collector = EventCollector()
            try collector.collect { try Dial.update(in: store) { $0.level += 1 } }
            // The identifier that two types share is reported too.
            let events = collector.events.filter { $0.kind != .identifierConflict }
            #expect(events.map(\.kind) == [.readFailed, .quarantined])
            #expect(events.map(\.error.code) == [.newerVersion, .newerVersion])
            #expect(events.map(\.error.key) == ["Dial", "Dial"])
            #expect(try Dial.load(from: store)?.level == 6)
            #expect(try Dial.quarantined(in: store).map(\.data) == [bytes])
        }
    }

    @Test("may read, write and update the same store in its body", arguments: StoreKind.allCases)
    func nested(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try Theme.update { theme in
                #expect(Theme.read() == Theme())
                try Unset(count: 1).save()
                try Unset.update { $0.count += 1 }
                try Theme.update { $0.contrast = 9 }
                try store.set("direct", forKey: "direct")
                theme.name = "outer"
            }
            #expect(try Theme.load() == Theme(name: "outer"))
            #expect(try Unset.load() == Unset(count: 2))
            #expect(store.object(forKey: "direct") as? String == "direct")
        }
    }
}

@Suite("Updates by many threads", .ownCache)
struct ConcurrentUpdateTests {
    private struct MemoryCounter: DefaultStorable {
        var count = 0
        static let defaults = MemoryDefaults()
        static var defaultValue: MemoryCounter? { MemoryCounter() }
    }

    #if Foundation
    /// A settings type whose store is a new object at each use, as in the documentation.
    private struct SuiteCounter: DefaultStorable {
        var count = 0
        static let suiteName = TestHome.makeSuiteName()
        static var defaults: UserDefaults { UserDefaults(suiteName: suiteName)! }
        static var defaultValue: SuiteCounter? { SuiteCounter() }
    }
    #endif

    private struct ThirdPartyCounter: DefaultStorable {
        var count = 0
        private static let base = MemoryDefaults()
        static var defaults: ForwardingStore { ForwardingStore(base: base) }
        static var defaultValue: ThirdPartyCounter? { ThirdPartyCounter() }
    }

    @Test("count exactly in memory")
    func memory() throws {
        try onEightThreads { for _ in 0..<200 { try MemoryCounter.update { $0.count += 1 } } }
        #expect(MemoryCounter.read()?.count == 1_600)
    }

    #if Foundation
    @Test("count exactly in UserDefaults")
    func userDefaults() throws {
        defer { SuiteCounter.defaults.removePersistentDomain(forName: SuiteCounter.suiteName) }
        // Foundation rewrites the suite's file at each of these updates.
        try onEightThreads { for _ in 0..<50 { try SuiteCounter.update { $0.count += 1 } } }
        #expect(SuiteCounter.read()?.count == 400)
    }
    #endif

    @Test("count exactly in a third-party store, next to writes of other keys")
    func thirdParty() throws {
        try onEightThreads {
            for number in 0..<200 {
                try ThirdPartyCounter.update { $0.count += 1 }
                try ThirdPartyCounter(count: number).save(withKey: "other")
                _ = ThirdPartyCounter.read()
            }
        }
        #expect(ThirdPartyCounter.read()?.count == 1_600)
    }
}

/// A third-party store with only the five required members.
private struct ForwardingStore: DefaultsStore {
    let base: MemoryDefaults

    func storedValue(forKey key: String) -> PropertyListValue? { base.storedValue(forKey: key) }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value, forKey: key)
    }
    func storedKeys() -> [String] { base.storedKeys() }
    func flush() {}
    var storeDescription: String { "ForwardingStore(\(base.storeDescription))" }
}
