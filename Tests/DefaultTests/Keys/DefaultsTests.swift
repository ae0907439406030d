import Default
import DefaultJournal
import Foundation
import Testing

/// A type that defines its own stored form.
private struct Color: PropertyListConvertible, Equatable {
    var red: UInt8

    var propertyListValue: PropertyListValue { .string(String(red, radix: 16)) }

    init(red: UInt8) {
        self.red = red
    }

    init?(propertyListValue: PropertyListValue) {
        guard case .string(let text) = propertyListValue, let red = UInt8(text, radix: 16) else { return nil }
        self.init(red: red)
    }
}

private enum Mode: String, Codable, PropertyListConvertible {
    case fast
    case slow
}

private enum Rank: Int, Codable {
    case first = 1
    case second
}

private struct Options: OptionSet, Codable {
    let rawValue: Int
    static let loud = Options(rawValue: 1)
    static let bright = Options(rawValue: 2)
}

private struct Point: Codable, Equatable {
    var x = 1.5
}

extension DefaultsKeys {
    fileprivate static let count = DefaultsKey<Int>("count")
    fileprivate static let flag = DefaultsKey<Bool>("flag")
    fileprivate static let level = DefaultsKey<Double>("level", default: 0.5)
    fileprivate static let point = DefaultsKey<Point>("point", default: Point())
    fileprivate static let points = DefaultsKey<[Point]>("points")
    fileprivate static let title = DefaultsKey<String?>("title")
}

@Suite("Typed keys", .ownCache)
struct DefaultsTests {
    @Test("store each type in its own form", arguments: StoreKind.allCases)
    func forms(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults[DefaultsKey<Color?>("color")] = Color(red: 255)
            defaults[DefaultsKey<[Color]>("colors")] = [Color(red: 1)]
            defaults[DefaultsKey<Mode>("mode", default: .slow)] = .fast
            defaults[DefaultsKey<[Mode]>("modes")] = [.fast, .slow]
            defaults[DefaultsKey<Rank?>("rank")] = .second
            defaults[DefaultsKey<Options>("options", default: [])] = [.loud, .bright]
            defaults[.points] = [Point(), Point(x: 2)]
            #expect(store.object(forKey: "color") as? String == "ff")
            #expect(store.object(forKey: "colors") as? [String] == ["1"])
            #expect(store.object(forKey: "mode") as? String == "fast")
            #expect(store.object(forKey: "modes") as? [String] == ["fast", "slow"])
            #expect(store.object(forKey: "rank") as? Int == 2)
            #expect(store.object(forKey: "options") as? Int == 3)
            #expect(store.data(forKey: "points") == Data(#"[{"x":1.5},{"x":2}]"#.utf8))
            #expect(defaults[DefaultsKey<Rank?>("rank")] == .second)
            #expect(defaults[DefaultsKey<Options>("options", default: [])] == [.loud, .bright])
            #expect(defaults[DefaultsKey<[Color]>("colors")] == [Color(red: 1)])
        }
    }

    @Test(
        "read the default and report a stored value of another type, which is kept",
        arguments: StoreKind.allCases
    )
    func otherType(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            // Foundation's UserDefaults keeps whole seconds.
            let date = Date(timeIntervalSinceReferenceDate: 5)
            for (object, number) in [("12 h", 0), (date, 1), ([1], 2), (0.5, 3), (UInt.max, 4)] as [(Any, Int)] {
                let key = DefaultsKey<Int>("number \(number)", default: 7)
                try store.set(object, forKey: key.name)
                expectReport(.typeMismatch) { #expect(defaults[key] == 7) }
                expectError(.typeMismatch) { try defaults.load(key) }
                expectError(.typeMismatch) { try defaults.update(key) { $0 += 1 } }
                #expect(
                    try PropertyListValue(object: store.object(forKey: key.name) as Any)
                        == PropertyListValue(object: object)
                )
                #expect(defaults.exists(key: key))
            }
            for (object, number) in [([1], 0), ("on", 1), (date, 2)] as [(Any, Int)] {
                let key = DefaultsKey<Bool>("flag \(number)")
                try store.set(object, forKey: key.name)
                expectReport(.typeMismatch) { #expect(!defaults[key]) }
            }
            try store.set(Data("[]".utf8), forKey: "point")
            expectReport(.undecodable) { #expect(defaults[.point] == Point()) }
            #expect(store.data(forKey: "point") == Data("[]".utf8))
        }
    }

    @Test("read a number of another type if their type represents it exactly", arguments: StoreKind.allCases)
    func numbers(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            try store.set(5, forKey: "level")
            #expect(defaults[.level] == 5)
            try store.set(6.0, forKey: "count")
            #expect(defaults[.count] == 6)
            try store.set(300, forKey: "byte")
            expectReport(.typeMismatch) { _ = defaults[DefaultsKey<UInt8>("byte", default: 0)] }
        }
    }

    @Test("evaluate their default only when it is needed, and each time", arguments: StoreKind.allCases)
    func computedDefault(kind: StoreKind) throws {
        let made = Guarded(0)
        func make() -> Int {
            made.withLock { count in
                count += 1
                return count
            }
        }
        nonisolated(unsafe) let unsafeMake = make
        let key = DefaultsKey<Int>("k") { unsafeMake() }
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            #expect(defaults[key] == 1)
            #expect(defaults[key] == 2)
            defaults[key] = 10
            defaults[key] += 1
            #expect(defaults[key] == 11)
            #expect(made.withLock { $0 } == 2)
        }
    }

    @Test(
        "return a changed default only to users without a stored value",
        arguments: StoreKind.allCases
    )
    func changedDefault(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let old = DefaultsKey<Int>("size", default: 10)
            let new = DefaultsKey<Int>("size", default: 20)
            #expect(defaults[old] == 10)
            #expect(defaults[new] == 20)
            defaults[old] = 10
            #expect(defaults[new] == 10)
            defaults.reset(old)
            #expect(defaults[new] == 20)
        }
    }

    @Test("with the same name in two stores have separate values", arguments: StoreKind.allCases)
    func twoStores(kind: StoreKind) throws {
        try kind.withStore { first in
            try kind.withStore { second in
                Defaults(suite: first)[.count] = 1
                Defaults(suite: second)[.count] = 2
                #expect(Defaults(suite: first)[.count] == 1)
                #expect(Defaults(suite: second)[.count] == 2)
            }
        }
    }

    @Test("can be listed, reset and removed together", arguments: StoreKind.allCases)
    func removal(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            Defaults[.count] = 1
            Defaults[.flag] = true
            Defaults[.level] = 1
            try store.set(1, forKey: "precomposed \u{E9}")
            try store.set(1, forKey: "precomposed e\u{301}")
            #expect(Defaults.keys.contains("count"))
            Defaults.reset(.count, .flag)
            #expect(!Defaults.exists(key: .count))
            #expect(!Defaults.exists(key: .flag))
            #expect(Defaults.exists(key: .level))
            Defaults.removeAll()
            #expect(!Defaults.exists(key: .level))
            #expect(Defaults.keys == [])
            #expect(store.object(forKey: "precomposed \u{E9}") == nil)
            #expect(store.object(forKey: "precomposed e\u{301}") == nil)
        }
    }

    @Test("have throwing counterparts of all operations", arguments: StoreKind.allCases)
    func throwing(kind: StoreKind) throws {
        struct Stop: Error {}
        try kind.withStandardStore { _ in
            #expect(try Defaults.load(.count) == 0)
            try Defaults.save(3, for: .count)
            try Defaults.update(.count) { $0 += 1 }
            #expect(try Defaults.load(.count) == 4)
            #expect(throws: Stop.self) {
                try Defaults.update(.count) { (count: inout Int) throws in
                    count = 9
                    throw Stop()
                }
            }
            #expect(Defaults[.count] == 4)
            let bad = DefaultsKey<Int>("a\0b", default: 5)
            expectError(.invalidKey) { try Defaults.load(bad) }
            expectError(.invalidKey) { try Defaults.save(1, for: bad) }
            expectReport(.invalidKey) { #expect(Defaults[bad] == 5) }
            expectReport(.invalidKey) { Defaults[bad] = 1 }
            expectReport(.invalidKey) { Defaults[bad] += 1 }
            expectError(.encodingFailed) { try Defaults.save(Point(x: .nan), for: .point) }
            expectReport(.encodingFailed) { Defaults[.point].x = .nan }
            #expect(Defaults[.point] == Point())
        }
    }

    #if Foundation
    @Test("unarchive only their own class, and no malformed data", arguments: StoreKind.allCases)
    func archives(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let key = DefaultsKey<NSUUID?>("token")
            let other = try NSKeyedArchiver.archivedData(
                withRootObject: "text" as NSString,
                requiringSecureCoding: true
            )
            let mine = try NSKeyedArchiver.archivedData(withRootObject: NSUUID(), requiringSecureCoding: true)
            for data in [other, Data(), Data("garbage".utf8), mine.prefix(mine.count / 2), Data(mine.reversed())] {
                try store.set(data, forKey: "token")
                #expect(defaults[key] == nil)
                expectError(.undecodable) { try defaults.load(key) }
                #expect(store.data(forKey: "token") == data)
            }
        }
    }

    @Test("take an archive that refers to what isn't in it for unreadable")
    func danglingReferences() throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        let token = try #require(NSUUID(uuidString: "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D"))
        func check<Value>(
            _ key: DefaultsKey<Value>,
            _ object: any NSObject & NSSecureCoding,
            _ code: DefaultsError.Code
        ) throws {
            let archive = [UInt8](try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true))
            // In a binary property list a reference is 0x80 and a number.
            let references = archive.indices.dropLast().filter { archive[$0] == 0x80 && archive[$0 + 1] < 32 }
            #expect(references.count > 1)
            for number in [UInt8(32), 255] {
                for reference in references {
                    var damaged = archive
                    damaged[reference + 1] = number
                    try store.set(Data(damaged), forKey: key.name)
                    expectError(code) { try defaults.load(key) }
                    #expect(store.data(forKey: key.name) == Data(damaged))
                }
            }
        }
        try check(DefaultsKey<NSUUID?>("token"), token, .undecodable)
        // An array is stored as one; this is the form of another library.
        try check(DefaultsKey<[NSUUID]>("tokens"), [token] as NSArray, .typeMismatch)
    }
    #endif

    @Test(
        "do in their static form the same with the standard store, with quarantined values too",
        arguments: StoreKind.allCases
    )
    func staticForms(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let number = DefaultsKey<Int>("static")
            let text = DefaultsKey<String?>("static")
            try store.set("text", forKey: "static")
            expectEvents([.quarantined]) { Defaults[number] = 1 }
            #expect(try Defaults.quarantined(number).map(\.value) == [.string("text")])
            #expect(try Defaults.load(number) == 1)
            try Defaults.save(2, for: number)
            let sum = try Defaults.update(number) { value in
                value += 1
                return value
            }
            #expect(sum == 3 && store.storedValue(forKey: "static") == .integer(3))
            #expect(Defaults.exists(key: number) && Defaults.hasKey("static") && !Defaults.hasKey("other"))
            #expect(try Defaults.restoreQuarantined(text)?.value == .string("text"))
            #expect(store.storedValue(forKey: "static") == .string("text"))
            #expect(try Defaults.quarantined(number).map(\.value) == [.integer(3)])
            try Defaults.removeQuarantined(number)
            #expect(store.storedKeys() == ["static"])
            Defaults["other"] = "x"
            Defaults.remove("static", "other")
            #expect(store.storedKeys().isEmpty)
        }
    }

    @Test("quarantine a value that a change in place can't read", arguments: StoreKind.allCases)
    func quarantined(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let bytes = Data(#"[{"x":1},{"x":"damaged"}]"#.utf8)
            try store.set(bytes, forKey: "points")
            expectEvents([.readFailed, .quarantined]) { defaults[.points].append(Point(x: 3)) }
            #expect(defaults[.points] == [Point(x: 3)])
            #expect(try defaults.quarantined(.points).map(\.value) == [.data(bytes)])

            try store.set("text", forKey: "count")
            expectEvents([.readFailed, .quarantined]) { defaults[.count] += 1 }
            #expect(defaults[.count] == 1)
            #expect(try defaults.quarantined(.count).map(\.value) == [.string("text")])
            try defaults.removeQuarantined(.count)
            #expect(try defaults.quarantined(.count).isEmpty)

            try store.set(Data([1, 2]), forKey: "sum")
            expectEvents([.readFailed, .quarantined]) { defaults["sum"] += 1 }
            #expect(defaults["sum"].int == 1)
            #expect(try defaults.quarantined(DefaultsKey<Int>("sum")).map(\.value) == [.data(Data([1, 2]))])

            // Assigning doesn't read the value, but quarantines it too.
            try store.set(bytes, forKey: "point")
            expectEvents([.quarantined]) { defaults[.point] = Point() }
            #expect(try defaults.quarantined(.point).map(\.value) == [.data(bytes)])
            expectEvents([]) { defaults[.point] = Point(x: 2) }
            #expect(try defaults.quarantined(.point).count == 1)

            let container = KeyValueContainer<[Int]>(storage: store, key: "numbers", defaultValue: [])
            try store.set(bytes, forKey: "numbers")
            expectError(.typeMismatch) { try container.update { $0?.append(1) } }
            #expect(store.data(forKey: "numbers") == bytes)
            container.value?.append(1)
            #expect(container.value == [1])
            #expect(try defaults.quarantined(DefaultsKey<[Int]>("numbers")).map(\.value) == [.data(bytes)])
        }
    }

    @Test("store nothing if a change in place throws", arguments: StoreKind.allCases)
    func brokenOff(kind: StoreKind) throws {
        struct Stop: Error {}
        func change(_ name: inout String?) throws {
            name = "changed"
            throw Stop()
        }
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults[.title] = "before"
            do {
                try change(&defaults[.title])
            } catch {}
            #expect(defaults[.title] == "before")
            let written = onAnotherThread { [suite = UnsafeStore(store)] in
                (try? suite.store.set("after", forKey: "title")) != nil
            }
            #expect(written)
        }
    }
}

@Suite("Stored properties", .ownCache)
struct StoredTests {
    private struct Player {
        @Stored(.count) var count
        @Stored(.level, suite: memory) var level
        static let memory = MemoryDefaults()
    }

    private final class Window {
        @Stored(.title) var title
    }

    private actor Counter {
        @Stored(.count, suite: memory) var count
        static let memory = MemoryDefaults()

        func increment() {
            count += 1
        }
    }

    @Test("read and change stored values, in structs, classes and actors")
    func kinds() async throws {
        let store = MemoryDefaults()
        withDefaults(store) {
            let player = Player()
            player.count += 2
            #expect(Defaults[.count] == 2)
            player.level = 0.25
            #expect(Player.memory.object(forKey: "level") as? Double == 0.25)
            let window = Window()
            #expect(window.title == nil)
            window.title = "main"
            #expect(store.object(forKey: "title") as? String == "main")
        }
        let counter = Counter()
        await counter.increment()
        await counter.increment()
        #expect(await counter.count == 2)
    }

    @Test("lose no increment on eight threads")
    func threads() throws {
        let store = MemoryDefaults()
        try onEightThreads {
            let property = Stored(.count, suite: store)
            for _ in 0..<1_000 {
                property.wrappedValue += 1
            }
        }
        #expect(Defaults(suite: store)[.count] == 8_000)
    }
}
