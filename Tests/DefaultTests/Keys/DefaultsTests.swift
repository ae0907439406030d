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

/// A type with a raw value that defines its own stored form.
private enum Grade: Int, Codable, PropertyListConvertible {
    case one = 1
    case two

    var propertyListValue: PropertyListValue { .string("grade \(rawValue)") }

    init?(propertyListValue: PropertyListValue) {
        guard case .string(let text) = propertyListValue, let digit = text.last, let number = Int(String(digit)) else {
            return nil
        }
        self.init(rawValue: number)
    }
}

/// A class whose objects are stored as JSON.
private final class Sheet: Codable {
    var title = "sheet"
}

/// A class whose objects are stored as strings.
private final class Label: PropertyListConvertible {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    var propertyListValue: PropertyListValue { .string(text) }

    init?(propertyListValue: PropertyListValue) {
        guard case .string(let text) = propertyListValue else { return nil }
        self.text = text
    }
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

    @Test("of a type that says itself how it is stored never store its raw value", arguments: StoreKind.allCases)
    func ownForms(kind: StoreKind) throws {
        try kind.withStore { store in
            func expect<Value: Equatable>(
                _ key: DefaultsKey<Value>,
                _ initial: Value,
                _ value: Value,
                _ form: PropertyListValue
            ) throws {
                #expect(store[key] == initial)
                store[key] = value
                #expect(store[key] == value)
                #expect(store.storedValue(forKey: "k") == form)
                try store.setStoredValue(nil, forKey: "k")
            }
            let form = PropertyListValue.string("grade 2")
            try expect(DefaultsKey<Grade>("k", default: .one), .one, .two, form)
            try expect(DefaultsKey<Grade>("k") { .one }, .one, .two, form)
            try expect(DefaultsKey<Grade?>("k"), nil, .two, form)
            try expect(DefaultsKey<Grade?>("k", default: .one), .one, .two, form)
            try expect(DefaultsKey<[Grade]>("k"), [], [.two], .array([form]))
            try expect(DefaultsKey<[Grade]>("k", default: [.one]), [.one], [.two], .array([form]))
            try expect(DefaultsKey<Set<Grade>>("k"), [], [.two], .array([form]))
            try expect(DefaultsKey<[Grade]?>("k"), nil, [.two], .array([form]))
            try expect(DefaultsKey<[Grade]?>("k", default: [.one]), [.one], [.two], .array([form]))
            try expect(DefaultsKey<[String: Grade]>("k"), [:], ["a": .two], .dictionary(["a": form]))
        }
    }

    @Test("for optionals with a default read that again when nil was stored", arguments: StoreKind.allCases)
    func optionalDefaults(kind: StoreKind) throws {
        try kind.withStore { store in
            func expect<Value: Equatable>(_ key: DefaultsKey<Value?>, _ initial: Value, _ value: Value) {
                #expect(store[key] == initial && key.defaultValue == initial)
                store[key] = value
                #expect(store[key] == value)
                store[key] = nil
                #expect(store[key] == initial)
                #expect(store.storedKeys() == [])
            }
            expect(DefaultsKey<Int?>("k", default: 5), 5, 6)
            expect(DefaultsKey<Rank?>("k", default: .first), .first, .second)
            expect(DefaultsKey<Point?>("k", default: Point()), Point(), Point(x: 2))
            expect(DefaultsKey<[Rank]?>("k", default: [.first]), [.first], [])
            expect(DefaultsKey<[[Rank]]?>("k", default: [[.first]]), [[.first]], [[]])
            #if Foundation
            expect(DefaultsKey<NSString?>("k", default: "a"), "a", "b")
            expect(DefaultsKey<[NSString]?>("k", default: ["a"]), ["a"], [])
            expect(DefaultsKey<[[NSString]]?>("k", default: [["a"]]), [["a"]], [[]])
            #expect(store[DefaultsKey<NSString>("k", default: "a")] == "a")
            #expect(store[DefaultsKey<[NSString]>("k", default: ["a"])] == ["a"])
            #expect(store[DefaultsKey<[[NSString]]>("k", default: [["a"]])] == [["a"]])
            #expect(store[DefaultsKey<[String: NSString]>("k", default: ["b": "a"])] == ["b": "a"])
            #expect(store[DefaultsKey<[NSString]>("k")] == [] && store[DefaultsKey<[[NSString]]>("k")] == [])
            #endif
            #expect(store[DefaultsKey<[Rank]>("k", default: [.first])] == [.first])
            #expect(store[DefaultsKey<[[Rank]]>("k", default: [[.first]])] == [[.first]])
            #expect(store[DefaultsKey<[String: Rank]>("k", default: ["b": .first])] == ["b": .first])
            let any = DefaultsKey<Any?>("k", default: 5)
            #expect(store[any] as? Int == 5)
            store[any] = "text"
            #expect(store[any] as? String == "text")
            store[any] = nil
            #expect(store[any] as? Int == 5)
        }
    }

    @Test("may be called name, as any other", arguments: StoreKind.allCases)
    func calledName(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults[.name] = "Ada"
            #expect(defaults[.name] == "Ada")
            #expect(Defaults.Keys.name.storedName == "name")
            #expect(store.storedValue(forKey: "name") == .string("Ada"))
        }
    }

    @Test("create a default that is an object, or a closure's, at each read")
    func createdDefaults() {
        let store = MemoryDefaults()
        let sheet = DefaultsKey<Sheet>("sheet", default: Sheet())
        #expect(store[sheet] !== store[sheet])
        let changed = Sheet()
        changed.title = "new"
        store[sheet] = changed
        #expect(store[sheet].title == "new")
        #expect(store.storedValue(forKey: "sheet") == .data(Data(#"{"title":"new"}"#.utf8)))
        #expect(sheet.defaultValue.title == "sheet")
        let label = DefaultsKey<Label>("label", default: Label("a"))
        #expect(store[label] !== store[label])
        store[label] = Label("b")
        #expect(store.storedValue(forKey: "label") == .string("b"))
        #if Foundation
        let token = DefaultsKey<NSUUID>("token", default: NSUUID())
        #expect(store[token] != store[token])
        let other = DefaultsKey<NSUUID>("token") { NSUUID() }
        #expect(store[other] != store[other])
        store[token] = other.defaultValue
        #expect(store[token] == store[other])
        #endif

        let made = Locked(0)
        @Sendable func next() -> Int {
            made.withLock { made in
                made += 1
                return made
            }
        }
        let rank = DefaultsKey<Rank>("rank") { Rank(rawValue: next()) ?? .first }
        #expect((store[rank], store[rank]) == (.first, .second))
        let point = DefaultsKey<Point>("point") { Point(x: Double(next())) }
        #expect((store[point].x, store[point].x) == (3, 4))
        let coded = DefaultsKey<Int>("coded", default: next(), coder: .json)
        #expect((store[coded], store[coded]) == (5, 6))
        #expect(store.storedKeys().sorted().filter { ["rank", "point", "coded"].contains($0) } == [])
    }

    @Test("are equal if the bytes of their names are, whatever their types")
    func equality() {
        let one = DefaultsKey<Int>("\u{E9}")
        #expect(one == DefaultsKey<String>("\u{E9}"))
        #expect(one != DefaultsKey<Int>("e\u{301}"))
        #expect(Set<DefaultsKeys>([one, DefaultsKey<Int>("e\u{301}"), DefaultsKey<[Int]>("\u{E9}")]).count == 2)
    }

    @Test(
        "read the default and report a stored value of another type, which is kept",
        arguments: StoreKind.allCases
    )
    func otherType(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            // Foundation's UserDefaults keeps only whole seconds.
            let date = Date(timeIntervalSinceReferenceDate: 5)
            for (object, number) in [("12 h", 0), (date, 1), ([1], 2), (0.5, 3), (UInt.max, 4)] as [(Any, Int)] {
                let key = DefaultsKey<Int>("number \(number)", default: 7)
                try store.set(object, forKey: key.storedName)
                expectReport(.typeMismatch) { #expect(defaults[key] == 7) }
                expectError(.typeMismatch) { try defaults.load(key) }
                expectError(.typeMismatch) { try defaults.update(key) { $0 += 1 } }
                #expect(
                    try PropertyListValue(object: store.object(forKey: key.storedName) as Any)
                        == PropertyListValue(object: object)
                )
                #expect(defaults.exists(key: key))
            }
            for (object, number) in [([1], 0), ("on", 1), (date, 2)] as [(Any, Int)] {
                let key = DefaultsKey<Bool>("flag \(number)")
                try store.set(object, forKey: key.storedName)
                expectReport(.typeMismatch) { #expect(!defaults[key]) }
            }
            try store.set(Data("[]".utf8), forKey: "point")
            expectReport(.undecodable) { #expect(defaults[.point] == Point()) }
            #expect(store.data(forKey: "point") == Data("[]".utf8))
        }
    }

    @Test("name the key, the type and the store in their errors", arguments: StoreKind.allCases)
    func errors(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            try store.set("many", forKey: "count")
            try store.set(Data("[]".utf8), forKey: "point")
            let number: [() throws -> Void] = [
                { _ = try defaults.load(.count) }, { try defaults.update(.count) { $0 += 1 } },
            ]
            for body in number {
                let error = expectError(.typeMismatch, from: body)
                #expect(error?.key == "count" && error?.store == store.storeDescription && error?.type == Int.self)
                #expect(error?.description.contains(#"A string is stored under "count""#) == true)
                #expect(error?.underlyingError == nil)
            }
            let error = expectError(.undecodable) { _ = try defaults.load(.point) }
            #expect(error?.key == "point" && error?.store == store.storeDescription && error?.type == Point.self)
            #expect(error?.description.contains(#"The 2 bytes stored under "point""#) == true)
            #expect(error?.underlyingError is DecodingError)
            let refusal = expectError(.encodingFailed) { try defaults.save(Point(x: .nan), for: .point) }
            #expect(refusal?.key == "point" && refusal?.store == store.storeDescription)
            #expect(refusal?.type == Point.self && refusal?.underlyingError is EncodingError)
            let collector = EventCollector()
            collector.collect {
                #expect(defaults[.count] == 0)
                defaults[.count] += 1
                defaults[.point].x = .nan
            }
            #expect(collector.events.map(\.error.key) == ["count", "count", "point", "point"])
            #expect(collector.events.allSatisfy { $0.error.store == store.storeDescription })
            #expect(collector.events.map { $0.error.type.map { "\($0)" } } == ["Int", "Int", "Point", "Point"])
        }
    }

    @Test("have no quarantine where something else is stored in its place", arguments: StoreKind.allCases)
    func occupiedQuarantine(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let defaults = Defaults(suite: store)
            try store.set("mine", forKey: "count.quarantine")
            try store.set("many", forKey: "count")
            let bodies: [() throws -> Void] = [
                { _ = try defaults.quarantined(.count) }, { try defaults.restoreQuarantined(.count) },
                { try defaults.removeQuarantined(.count) }, { _ = try Defaults().quarantined(.count) },
                { try Defaults().restoreQuarantined(.count) }, { try Defaults().removeQuarantined(.count) },
            ]
            for body in bodies {
                let error = expectError(.typeMismatch, from: body)
                #expect(error?.key == "count.quarantine" && error?.type == Int.self)
            }
            let error = expectError(.quarantineFailed) { try defaults.save(1, for: .count) }
            #expect(error?.key == "count" && error?.type == Int.self)
            #expect((error?.underlyingError as? DefaultsError)?.code == .typeMismatch)
            #expect(store.object(forKey: "count") as? String == "many")
            #expect(store.object(forKey: "count.quarantine") as? String == "mine")
            let bad = DefaultsKey<Int>("a\0b")
            expectError(.invalidKey) { try defaults.restoreQuarantined(bad) }
            expectError(.invalidKey) { try defaults.removeQuarantined(bad) }
            expectError(.invalidKey) { try defaults.update(bad) { $0 += 1 } }
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
        let made = Locked(0)
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
            // All named keys, and no others.
            (defaults[.count], defaults[.flag], defaults[.level]) = (1, true, 1)
            defaults.reset(.count, .flag)
            #expect(defaults.keys == ["level"])
            expectReport(.invalidKey) { defaults.reset(.level, DefaultsKey<Int>("")) }
            #expect(defaults.keys == ["level"])
            defaults.reset()
            #expect(defaults.exists(key: .level))
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
            #expect(Defaults().keys.contains("count"))
            Defaults.reset(.count, .flag)
            #expect(!Defaults.exists(key: .count))
            #expect(!Defaults.exists(key: .flag))
            #expect(Defaults.exists(key: .level))
            Defaults.removeAll()
            #expect(!Defaults.exists(key: .level))
            #expect(Defaults().keys == [])
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
            // In a binary property list a reference is the byte 0x80 and a number.
            let references = archive.indices.dropLast().filter { archive[$0] == 0x80 && archive[$0 + 1] < 32 }
            #expect(references.count > 1)
            for number in [UInt8(32), 255] {
                for reference in references {
                    var damaged = archive
                    damaged[reference + 1] = number
                    try store.set(Data(damaged), forKey: key.storedName)
                    expectError(code) { try defaults.load(key) }
                    #expect(store.data(forKey: key.storedName) == Data(damaged))
                }
            }
        }
        try check(DefaultsKey<NSUUID?>("token"), token, .undecodable)
        // An array is stored as one archive; this is the form of another library.
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
            #expect(try Defaults().quarantined(number).map(\.value) == [.string("text")])
            #expect(try Defaults.load(number) == 1)
            try Defaults.save(2, for: number)
            let sum = try Defaults.update(number) { value in
                value += 1
                return value
            }
            #expect(sum == 3 && store.storedValue(forKey: "static") == .integer(3))
            #expect(Defaults.exists(key: number) && Defaults.hasKey("static") && !Defaults.hasKey("other"))
            #expect(try Defaults().restoreQuarantined(text)?.value == .string("text"))
            #expect(store.storedValue(forKey: "static") == .string("text"))
            #expect(try Defaults().quarantined(number).map(\.value) == [.integer(3)])
            try Defaults().removeQuarantined(number)
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

    @Test("are projected as the store that they were given, and otherwise as nothing")
    func projections() {
        let player = Player()
        #expect(player.$level as? MemoryDefaults === Player.memory)
        let nothing: Void = player.$count
        withExtendedLifetime(nothing) {}
        let (store, other) = (MemoryDefaults(), MemoryDefaults())
        let property = Stored(.count, suite: store)
        property.wrappedValue = 1
        withDefaults(other) { property.wrappedValue += 1 }
        #expect(Defaults(suite: store)[.count] == 2)
        #expect(property.projectedValue.storeDescription == store.storeDescription)
        #expect(other.storedKeys() == [])
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

extension Defaults.Keys {
    fileprivate static let name = Defaults.Key<String>("name")
}
