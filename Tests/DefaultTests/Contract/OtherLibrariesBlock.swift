import Default
import DefaultJournal
import Foundation
import Testing

private enum Theme: String {
    case light
    case dark
}

private final class Unsupported {}

private struct Sides: OptionSet {
    let rawValue: Int
    static let left = Sides(rawValue: 1)
    static let right = Sides(rawValue: 2)
}

extension Defaults.Keys {
    fileprivate static let quality = Key<Double>("quality", default: 0.8)
    fileprivate static let list = Key<[Any]>("list")
    fileprivate static let table = Key<[String: Any]>("table")
    fileprivate static let any = Key<Any?>("any")
    fileprivate static let raw = Key<PropertyListValue?>("raw")
    fileprivate static let themes = Key<[Theme]>("themes")
    fileprivate static let sorted = Key<[String: Theme]>("sorted")
    fileprivate static let optional = Key<[Theme]?>("optional themes")
    fileprivate static let sides = Key<[Sides]>("sides")
    fileprivate static let side = Key<Sides>("side")
    fileprivate static let tags = Key<Set<String>>("tags")
    fileprivate static let themeSet = Key<Set<Theme>>("theme set")
    fileprivate static let ratio = Key<Float>("ratio")
    fileprivate static let small = Key<Int8>("small")
    fileprivate static let price = Key<Decimal>("price")
    fileprivate static let now = Key<Date>("now") { Date() }
    fileprivate static let theme = Key<Theme>("theme") { .dark }
    fileprivate static let startDates = Key<[Date]>("start dates") { [Date()] }
    fileprivate static let startList = Key<[Any]>("start list", default: [1])
    fileprivate static let startTable = Key<[String: Any]>("start table", default: ["a": 1])
    fileprivate static let range = Key<Range<Int>>("range", default: 1..<3)
    fileprivate static let sparse = Key<[Int?]>("sparse")
    fileprivate static let identifier = Key<UUID?>("identifier")
}

#if Foundation
extension Defaults.Keys {
    fileprivate static let width = Key<CGFloat>("width", default: 9)
    fileprivate static let string = Key<NSString?>("string")
    fileprivate static let array = Key<NSArray?>("array")
    fileprivate static let dictionary = Key<NSDictionary>("dictionary", default: NSDictionary())
    fileprivate static let bytes = Key<NSData?>("bytes")
    fileprivate static let number = Key<NSNumber?>("number")
    fileprivate static let date = Key<NSDate?>("date")
    fileprivate static let colors = Key<[NSUUID]>("colors")
    fileprivate static let named = Key<[String: NSString]?>("named")
}
#endif

@Suite("The types of other libraries")
struct OtherLibrariesBlock {
    /// Stores a value, reads it back, and checks the stored form.
    private func expect<Value>(
        _ value: Value,
        in key: Defaults.Key<Value>,
        storedAs form: PropertyListValue?,
        in store: any DefaultsStore,
        isEqual: (Value, Value) -> Bool
    ) {
        let defaults = Defaults(suite: store)
        expectEvents([]) { defaults[key] = value }
        #expect(isEqual(defaults[key], value), "\(key.storedName)")
        #expect(store.storedValue(forKey: key.storedName) == form, "\(key.storedName)")
    }

    private func expect<Value: Equatable>(
        _ value: Value,
        in key: Defaults.Key<Value>,
        storedAs form: PropertyListValue?,
        in store: any DefaultsStore
    ) {
        expect(value, in: key, storedAs: form, in: store, isEqual: ==)
    }

    @Test("are stored natively, alone and in collections", arguments: StoreKind.allCases)
    func forms(kind: StoreKind) throws {
        try kind.withStore { store in
            expect(["a", 1], in: .list, storedAs: .array([.string("a"), .integer(1)]), in: store) {
                ($0 as NSArray) == ($1 as NSArray)
            }
            expect(["a": [true]], in: .table, storedAs: .dictionary(["a": .array([.boolean(true)])]), in: store) {
                ($0 as NSDictionary) == ($1 as NSDictionary)
            }
            expect("a", in: .any, storedAs: .string("a"), in: store) { $0 as? String == $1 as? String }
            expect(nil, in: .any, storedAs: nil, in: store) { $0 == nil && $1 == nil }
            expect(.array([.real(1)]), in: .raw, storedAs: .array([.real(1)]), in: store)
            expect([.dark, .light], in: .themes, storedAs: .array([.string("dark"), .string("light")]), in: store)
            expect(["a": .dark], in: .sorted, storedAs: .dictionary(["a": .string("dark")]), in: store)
            expect([.dark], in: .optional, storedAs: .array([.string("dark")]), in: store)
            expect(nil, in: .optional, storedAs: nil, in: store)
            expect([[.left, .right]], in: .sides, storedAs: .array([.integer(3)]), in: store)
            expect([.left], in: .side, storedAs: .integer(1), in: store)
            expect(
                ["b", "a", "c"],
                in: .tags,
                storedAs: .array([.string("a"), .string("b"), .string("c")]),
                in: store
            )
            expect([.light, .dark], in: .themeSet, storedAs: .array([.string("dark"), .string("light")]), in: store)
            expect(0.5, in: .ratio, storedAs: .real(0.5), in: store)
            expect(-5, in: .small, storedAs: .integer(-5), in: store)
            expect(Decimal(string: "1.10")!, in: .price, storedAs: .data(Data("1.1".utf8)), in: store)
            expect(2..<4, in: .range, storedAs: .array([.integer(2), .integer(4)]), in: store)
            expect([1, nil], in: .sparse, storedAs: .data(Data("[1,null]".utf8)), in: store)
            let identifier = UUID()
            expect(identifier, in: .identifier, storedAs: .string(identifier.uuidString), in: store)
        }
    }

    #if Foundation
    @Test("are stored natively as objects too, alone and in collections", arguments: StoreKind.allCases)
    func objects(kind: StoreKind) throws {
        try kind.withStore { store in
            expect(1.5, in: .width, storedAs: .real(1.5), in: store)
            expect("é", in: .string, storedAs: .string("é"), in: store)
            expect(["a", 1] as NSArray, in: .array, storedAs: .array([.string("a"), .integer(1)]), in: store)
            expect(["a": 1] as NSDictionary, in: .dictionary, storedAs: .dictionary(["a": .integer(1)]), in: store)
            expect(NSData(data: Data([1])), in: .bytes, storedAs: .data(Data([1])), in: store)
            expect(NSNumber(value: 1.5), in: .number, storedAs: .real(1.5), in: store)
            expect(NSNumber(value: true), in: .number, storedAs: .boolean(true), in: store)
            let date = Date(timeIntervalSinceReferenceDate: 60)
            expect(date as NSDate, in: .date, storedAs: .date(date), in: store)
            expect(["a": "b"], in: .named, storedAs: .dictionary(["a": .string("b")]), in: store)

            let colors = [NSUUID(), NSUUID()]
            let defaults = Defaults(suite: store)
            defaults[.colors] = colors
            #expect(defaults[.colors] == colors)
            #expect((store.object(forKey: "colors") as? [Data])?.count == 2)
            #expect(MemoryDefaults()[.width] == 9)
            #expect(MemoryDefaults()[.colors] == [] && MemoryDefaults()[.named] == nil)
            expectReport(.unsupportedValue) { defaults[.list] = [1, NSObject()] }
            expectReport(.unsupportedValue) { defaults[.array] = [NSNull()] }
            try store.set(Data(), forKey: "string")
            expectReport(.typeMismatch) { #expect(defaults[.string] == nil) }
        }
    }
    #endif

    @Test("have empty values and defaults that are created at each read", arguments: StoreKind.allCases)
    func defaults(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            #expect(defaults[.quality] == 0.8)
            #expect(defaults[.list].isEmpty && defaults[.table].isEmpty && defaults[.any] == nil)
            #expect(defaults[.themes] == [] && defaults[.sorted] == [:] && defaults[.optional] == nil)
            #expect(defaults[.sides] == [] && defaults[.side] == [] && defaults[.tags] == [])
            #expect(defaults[.themeSet] == [])
            #expect(defaults[.ratio] == 0 && defaults[.small] == 0 && defaults[.price] == 0)
            #expect(defaults[.theme] == .dark && defaults[.startDates].count == 1)
            #expect(defaults[.startList].count == 1 && defaults[.startTable].count == 1)
            #expect(abs(defaults[.now].timeIntervalSinceNow) < 3_600)
            #expect(defaults[.now] <= defaults[.now])
            let made = Locked(0)
            let counting = Defaults.Key<Int>("made") {
                made.withLock { count in
                    count += 1
                    return count
                }
            }
            #expect(defaults[counting] == 1)
            #expect(defaults[counting] == 2)
        }
    }

    @Test("read a CGFloat that the other form of the library stored", arguments: StoreKind.allCases)
    func otherForm(kind: StoreKind) throws {
        let key = Defaults.Key<CGFloat>("other form", default: 9)
        try kind.withStore { store in
            for form in [PropertyListValue.real(1.5), .data(Data("1.5".utf8))] {
                try store.setStoredValue(form, forKey: key.storedName)
                expectEvents([]) { #expect(Defaults(suite: store)[key] == 1.5) }
            }
        }
    }

    @Test("store equal sets as equal bytes, in whatever order they were made")
    func sets() throws {
        let numbers = (0..<100).map { $0 * 7 % 100 - 50 }
        #expect(Set(numbers).propertyListValue == .array((-50..<50).map { .integer(Int64($0)) }))
        #expect(Set([2.5, -1, 10]).propertyListValue == .array([.real(-1), .real(2.5), .real(10)]))
        let data = (0..<50).map { Data([UInt8($0)]) }
        #expect(Set(data).propertyListValue == Set(data.reversed()).propertyListValue)
    }

    @Test("keep what a property list can't hold out of the store, with an error", arguments: StoreKind.allCases)
    func unsupported(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults[.list] = [1]
            expectReport(.unsupportedValue) { defaults[.list] = [1, Unsupported()] }
            expectReport(.unsupportedValue) { defaults[.table] = ["a": [Unsupported()]] }
            expectReport(.unsupportedValue) { defaults[.any] = Theme.dark }
            #expect(defaults[.list] as? [Int] == [1])
            #expect(store.storedValue(forKey: "table") == nil)
            // The stored value is of another type.
            try store.set("text", forKey: "list")
            expectReport(.typeMismatch) { #expect(defaults[.list].isEmpty) }
            try store.set(["dark", "blue"], forKey: "themes")
            expectReport(.typeMismatch) { #expect(defaults[.themes] == []) }
            expectEvents([.quarantined]) { defaults[.themes] = [.light] }
        }
    }
}

#if Foundation
/// A class that Foundation can name.
final class NamedToken: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    var inner: NSObject?

    init(inner: NSObject?) {
        self.inner = inner
    }

    required init?(coder: NSCoder) {}

    func encode(with coder: NSCoder) {
        coder.encode(inner, forKey: "inner")
    }
}

class BaseToken: NSObject, NSSecureCoding {
    class var supportsSecureCoding: Bool { true }

    override init() {}

    required init?(coder: NSCoder) {}

    func encode(with coder: NSCoder) {}
}

final class SubToken: BaseToken {}

// On Apple platforms the compiler refuses them.
#if !canImport(Darwin)
private final class PrivateToken: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    override init() {}

    required init?(coder: NSCoder) {}

    func encode(with coder: NSCoder) {}
}

private enum Outer {
    final class NestedToken: NSObject, NSSecureCoding {
        static var supportsSecureCoding: Bool { true }

        override init() {}

        required init?(coder: NSCoder) {}

        func encode(with coder: NSCoder) {}
    }
}

enum TokenBases {
    class Token: NSObject, NSSecureCoding {
        class var supportsSecureCoding: Bool { true }

        override init() {}

        required init?(coder: NSCoder) {}

        func encode(with coder: NSCoder) {}
    }
}

/// A class that Foundation can name, with a superclass that it can't.
final class DerivedToken: TokenBases.Token {}
#endif

private final class InsecureToken: NSObject {}

@Suite("A key for an object of Foundation's")
struct ObjectKeyTests {
    @Test("is of one kind of value, and what is of another is a mismatch", arguments: StoreKind.allCases)
    func mismatches(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let values: [PropertyListValue] = [
                .integer(5), .string("5"), .data(Data([5])), .array([.integer(5)]), .dictionary(["a": .integer(5)]),
            ]
            func expectOnly(_ index: Int, _ load: () throws -> NSObject?) throws {
                for (other, value) in values.enumerated() {
                    try store.setStoredValue(value, forKey: "k")
                    if other == index {
                        #expect(try load() == value.object as? NSObject)
                    } else {
                        expectError(.typeMismatch) { try load() }
                    }
                }
            }
            try expectOnly(1) { try defaults.load(Defaults.Key<NSString?>("k")) ?? nil }
            try expectOnly(2) { try defaults.load(Defaults.Key<NSData?>("k")) ?? nil }
            try expectOnly(3) { try defaults.load(Defaults.Key<NSArray?>("k")) ?? nil }
            try expectOnly(4) { try defaults.load(Defaults.Key<NSDictionary?>("k")) ?? nil }
        }
    }
}

@Suite("An object of a subclass")
struct SubclassTests {
    @Test("is read as what it is by a key for the class, alone and in an array", arguments: StoreKind.allCases)
    func subclasses(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let (one, several) = (Defaults.Key<BaseToken?>("one"), Defaults.Key<[BaseToken]>("several"))
            defaults[one] = SubToken()
            defaults[several] = [BaseToken(), SubToken()]
            #expect(defaults[one] is SubToken)
            #expect(defaults[several].map { $0 is SubToken } == [false, true])
            expectReport(.undecodable) { #expect(defaults[Defaults.Key<NamedToken?>("one")] == nil) }
        }
    }
}

@Suite("An object that Foundation can't archive")
struct UnnamedClassTests {
    @Test("is an error, and so is an archive of another class", arguments: StoreKind.allCases)
    func unnamed(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let named = Defaults.Key<NamedToken?>("named")
            defaults[named] = NamedToken(inner: NSUUID())
            #expect(defaults[named] != nil)
            let stored = try #require(store.data(forKey: "named"))
            expectReport(.encodingFailed) { defaults[named] = NamedToken(inner: InsecureToken()) }
            #if !canImport(Darwin)
            let unnamed = Defaults.Key<PrivateToken?>("private")
            let nested = Defaults.Key<[Outer.NestedToken]>("nested")
            expectError(.encodingFailed) { try defaults.save(PrivateToken(), for: unnamed) }
            expectReport(.encodingFailed) { defaults[nested] = [Outer.NestedToken()] }
            expectReport(.encodingFailed) { defaults[named] = NamedToken(inner: PrivateToken()) }
            expectReport(.encodingFailed) { defaults[named] = NamedToken(inner: [Outer.NestedToken()] as NSArray) }
            expectReport(.encodingFailed) { defaults[named] = NamedToken(inner: DerivedToken()) }
            for key in ["private", "nested"] {
                try store.set(stored, forKey: key)
            }
            expectError(.undecodable) { try defaults.load(unnamed) }
            expectReport(.typeMismatch) { #expect(defaults[nested] == []) }
            #endif
            #expect(store.data(forKey: "named") == stored)
            try store.set(stored, forKey: "token")
            expectError(.undecodable) { try defaults.load(Defaults.Key<NSUUID?>("token")) }
        }
    }
}
#endif
