import Default
import Foundation
import Testing

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

@Suite("A settings type", .ownCache)
struct DefaultStorableTests {
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
            #expect(error?.key == "Unset")
            #expect(store.object(forKey: "Unset") == nil)
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

    @Test("does not start from the default value if the stored value can't be read", arguments: StoreKind.allCases)
    func undecodable(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let garbage = Data("{".utf8)
            try store.set(garbage, forKey: "Theme")
            expectError(.undecodable) { try Theme.update { $0.name = "lost" } }
            #expect(store.data(forKey: "Theme") == garbage)
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
    /// Its store is a new object at each use, as in the documentation.
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
        // Foundation rewrites the suite's file at each of these.
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
