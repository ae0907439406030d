import Foundation
import Testing

@testable import Default

/// A value inside a number of arrays.
private func nested(_ value: PropertyListValue, levels: Int) -> PropertyListValue {
    (0..<levels).reduce(value) { value, _ in .array([value]) }
}

/// A type that defines its own stored form, although its raw value could be stored.
private enum Own: Int, Codable, PropertyListConvertible {
    case one = 1, two

    var propertyListValue: PropertyListValue { .string(self == .one ? "one" : "two") }

    init?(propertyListValue: PropertyListValue) {
        switch propertyListValue {
        case .string("one"): self = .one
        case .string("two"): self = .two
        default: return nil
        }
    }
}

private enum Raw: String, Codable {
    case fast, slow
}

private enum Wide: Int128, Codable, RawRepresentable {
    case one = 1
}

@Suite("A property-list value")
struct PropertyListValueTests {
    @Test("nests 256 levels and no more", arguments: StoreKind.allCases)
    func levels(kind: StoreKind) throws {
        for leaf in [PropertyListValue.integer(1), .dictionary(["k": .integer(1)])] {
            let depth = leaf == .integer(1) ? 256 : 255
            let deepest = nested(leaf, levels: depth)
            let tooDeep = nested(leaf, levels: depth + 1)
            #expect(!deepest.isTooDeep)
            #expect(tooDeep.isTooDeep)
            #expect(try PropertyListValue(object: deepest.object) == deepest)
            #expect(PropertyListValue(binaryForm: deepest.binaryForm) == deepest)
            #expect(throws: PropertyListValue.UnsupportedObject.self) { try PropertyListValue(object: tooDeep.object) }
            #expect(PropertyListValue(binaryForm: tooDeep.binaryForm) == nil)
            try kind.withStore { store in
                try store.setStoredValue(deepest, forKey: "k")
                #expect(store.storedValue(forKey: "k") == deepest)
                expectError(.unsupportedValue) { try store.setStoredValue(tooDeep, forKey: "k") }
                #expect(store.storedValue(forKey: "k") == deepest)
            }
        }
        // An empty array counts as a level too.
        #expect(!nested(.array([]), levels: 255).isTooDeep)
        #expect(nested(.array([]), levels: 256).isTooDeep)
        #expect(nested(.dictionary([:]), levels: 256).isTooDeep)
    }

    @Test("converts numbers at the ends of what integers hold")
    func largeNumbers() {
        let ends: [(PropertyListValue, integer: Int)] = [
            (.real(0x1p63), .max), (.real(0x1p63.nextDown), 9_223_372_036_854_774_784), (.real(1e19), .max),
            (.real(-0x1p63), .min), (.real(-1e19), .min), (.real(.infinity), .max), (.real(-.infinity), .min),
            (.real(.nan), 0), (.real(-2.9), -2), (.real(2.9), 2), (.unsigned(1 << 63), .max), (.unsigned(.max), .max),
            (.integer(.max), .max), (.integer(.min), .min), (.boolean(true), 1), (.date(.now), 0),
            (.string("9223372036854775807"), .max), (.string("-9223372036854775808"), .min),
        ]
        for (value, integer) in ends {
            #expect(value.asInteger == integer, "\(value)")
        }
        #expect(PropertyListValue.unsigned(1 << 63).asDouble == 0x1p63)
        #expect(PropertyListValue.unsigned(.max).asString == "18446744073709551615")
        // A number with at most 15 digits counts as a former `Double`; a number with more digits that is also a `Float`
        // counts as a former `Float`.
        #expect(PropertyListValue.real(0x1p-21).asString == "4.76837158203125e-07")
        #expect(PropertyListValue.real(0x1p-22).asString == "2.3841858e-07")
        // Zeros before the first digit don't count, but those after it do.
        #expect(PropertyListValue.real(17 / 0x1p17).asString == "0.00012969970703125")
        #expect(PropertyListValue.real(1.0000009536743164).asString == "1.000001")
        #expect(PropertyListValue.real(0.1).asBool)
        #expect(!PropertyListValue.real(-0.0).asBool)
        #expect(PropertyListValue.real(.nan).asBool)
        #expect(PropertyListValue.unsigned(.max).asBool)
    }

    @Test("gives a type the numbers that it holds exactly")
    func exactNumbers() {
        #expect(Int(propertyListValue: .real(0x1p63)) == nil)
        #expect(Int(propertyListValue: .real(-0x1p63)) == .min)
        #expect(Int(propertyListValue: .real(0.5)) == nil)
        #expect(Int(propertyListValue: .unsigned(1 << 63)) == nil)
        #expect(UInt64(propertyListValue: .real(0x1p63)) == 1 << 63)
        #expect(UInt64(propertyListValue: .real(1e19)) == 10_000_000_000_000_000_000)
        #expect(UInt64(propertyListValue: .real(0x1p64)) == nil)
        #expect(UInt64(propertyListValue: .integer(-1)) == nil)
        #expect(UInt8(propertyListValue: .integer(255)) == 255)
        #expect(UInt8(propertyListValue: .integer(256)) == nil)
        #expect(Double(propertyListValue: .unsigned(1 << 63)) == 0x1p63)
        #expect(Double(propertyListValue: .unsigned(.max)) == nil)
        #expect(Double(propertyListValue: .integer(1 << 53 + 1)) == nil)
        #expect(Float(propertyListValue: .real(0.1)) == 0.1)
        // A number that is too large is not read as infinite.
        for text in ["1e39", "-1e39"] {
            #expect(Float(propertyListValue: .real(Double(text)!)) == nil, "\(text)")
            #expect(Float(propertyListValue: .string(text)) == nil, "\(text)")
        }
        #expect(Float(propertyListValue: .real(-.infinity)) == -.infinity)
        #expect(Float(propertyListValue: .real(.nan))?.isNaN == true)
        #expect((UInt64(1) << 63).propertyListValue == .unsigned(1 << 63))
        #expect(UInt64(Int64.max).propertyListValue == .integer(.max))
        #expect([Int](propertyListValue: .array([.integer(1), .string("two")])) == nil)
        #expect([String: Int](propertyListValue: .dictionary(["a": .integer(1), "b": .real(0.5)])) == nil)
        #expect(URL(propertyListValue: .string("")) == nil)
    }

    @Test("is read as a number or a Boolean where UserDefaults does so with the whole of it")
    func numbersAndBooleans() {
        for value in [
            PropertyListValue.integer(5), .integer(-1), .real(0.5), .real(-0.5), .unsigned(.max), .boolean(true),
        ] {
            #expect(Bool(propertyListValue: value) == true)
        }
        for value in [PropertyListValue.integer(0), .real(0), .unsigned(0), .boolean(false)] {
            #expect(Bool(propertyListValue: value) == false)
        }
        for text in ["YES", "yes", "Y", "true", "TRUE", "t", "1", "5", "-1", "2.5"] {
            #expect(Bool(propertyListValue: .string(text)) == true, "\(text)")
        }
        for text in ["NO", "no", "n", "false", "F", "0", "0.0", "-0"] {
            #expect(Bool(propertyListValue: .string(text)) == false, "\(text)")
        }
        for text in ["", " ", "yes!", "truth", "1 apple", "on", "nan", "0x1"] {
            #expect(Bool(propertyListValue: .string(text)) == nil, "\(text)")
        }
        let integers: [(String, Int?)] = [
            ("5", 5), ("-5", -5), ("+5", 5), ("5.0", 5), ("1e3", 1_000), ("9223372036854775807", .max), ("2.5", nil),
            ("", nil), ("-", nil), (" 5", nil), ("5 apples", nil), ("1a", nil), ("0x10", nil), ("YES", nil),
            ("9223372036854775808", nil), ("-9223372036854775808", .min), ("-9223372036854775809", nil),
        ]
        for (text, number) in integers {
            #expect(Int(propertyListValue: .string(text)) == number, "\(text)")
        }
        #expect(UInt64(propertyListValue: .string("18446744073709551615")) == .max)
        #expect(UInt8(propertyListValue: .string("256")) == nil)
        #expect(Int(propertyListValue: .boolean(true)) == 1)
        #expect(Int8(propertyListValue: .boolean(false)) == 0)
        let doubles: [(String, Double?)] = [
            ("2.5", 2.5), ("-.5", -0.5), ("1e-3", 0.001), ("5", 5), ("inf", nil), ("nan", nil), ("1e999", nil),
            ("0x1p3", nil), ("2,5", nil), ("2.5 l", nil), ("", nil),
        ]
        for (text, number) in doubles {
            #expect(Double(propertyListValue: .string(text)) == number, "\(text)")
        }
        #expect(Double(propertyListValue: .boolean(true)) == 1)
        #expect(Float(propertyListValue: .string("0.5")) == 0.5)
        #expect([Int](propertyListValue: .array([.integer(1), .string("2")])) == [1, 2])
    }

    @Test("keeps a number that the type it is given as can't represent")
    func narrowing() {
        #expect(Int64(5).narrowed(to: Int32.self) as? Int32 == 5)
        #expect(Int64(1 << 40).narrowed(to: Int32.self) as? Int64 == 1 << 40)
        #expect(Int64(-1 << 40).narrowed(to: Int32.self) as? Int64 == -1 << 40)
        #expect(UInt64.max.narrowed(to: UInt32.self) as? UInt64 == .max)
        #expect(PropertyListValue.integer(.min).object as? Int == .min)
        #expect(PropertyListValue.unsigned(.max).object as? UInt == .max)
    }

    #if Foundation
    @Test("is copied from Foundation's numbers as what they are")
    func foundationNumbers() throws {
        let numbers: [(NSNumber, PropertyListValue)] = [
            (NSNumber(value: true), .boolean(true)), (NSNumber(value: Int8(1)), .integer(1)),
            (NSNumber(value: 1.0), .real(1)), (NSNumber(value: Float(2)), .real(2)),
            (NSNumber(value: Float(0.5)), .real(0.5)),
            (NSNumber(value: 0x1p63), .real(0x1p63)), (NSNumber(value: 1e19), .real(1e19)),
            (NSNumber(value: UInt64(1) << 63), .unsigned(1 << 63)), (NSNumber(value: UInt64.max), .unsigned(.max)),
            (NSNumber(value: UInt64(1)), .integer(1)), (NSNumber(value: Int64.min), .integer(.min)),
            (NSNumber(value: Double.infinity), .real(.infinity)),
        ]
        for (number, value) in numbers {
            #expect(try PropertyListValue(object: number) == value, "\(number)")
        }
        #expect(try PropertyListValue(object: PropertyListValue.data(Data([1]))) == .data(Data([1])))
        #expect(try PropertyListValue(object: Optional(5) as Any) == .integer(5))
        #expect(try PropertyListValue(object: NSArray(array: ["a", 1])) == .array([.string("a"), .integer(1)]))
        #expect(try PropertyListValue(object: NSMutableString(string: "s")) == .string("s"))
        let object: [String: Any] = ["list": [1, ["inner": NSUUID()] as [String: Any]] as [Any]]
        let error = #expect(throws: PropertyListValue.UnsupportedObject.self) { try PropertyListValue(object: object) }
        #expect(error?.path == ".list[1].inner")
        let key = #expect(throws: PropertyListValue.UnsupportedObject.self) { try PropertyListValue(object: [1: 2]) }
        #expect(key?.path == "")
        #expect(key?.reason == "A dictionary with keys of type Int is not a property-list value")
        #expect(throws: PropertyListValue.UnsupportedObject.self) { try PropertyListValue(object: Int?.none as Any) }
    }
    #endif

    @Test("is the same as none where there is none on both sides")
    func missing() {
        let value = PropertyListValue.integer(1)
        #expect([nil, value].areSame(as: [nil, value]))
        #expect(![nil].areSame(as: [value]))
        #expect(![value].areSame(as: [nil]))
        #expect(![value].areSame(as: [value, nil]))
    }

    @Test(
        "comes before or after any other in a stored set",
        arguments: [(0.0, -0.0), (1, 2), (.nan, 0), (-.nan, .nan)]
    )
    func order(one: Double, other: Double) {
        let (one, other) = (PropertyListValue.real(one), PropertyListValue.real(other))
        #expect(one.precedes(other) != other.precedes(one))
    }

    @Test("has the same bytes as each value that is equal, with keys in the order of their UTF-8")
    func sortedKeys() throws {
        let keys = ["b", "f", "e\u{301}", "a", "", "aa", "\u{1F39B}", "\u{FFFD}", "Z"]
        // In UTF-16 order the last two would change places, and in string order "f" and the one before it.
        let sorted = ["", "Z", "a", "aa", "b", "e\u{301}", "f", "\u{FFFD}", "\u{1F39B}"]
        var expected = Data([10])
        for key in sorted {
            for part in [Data(key.utf8), Data([4])] {
                expected += withUnsafeBytes(of: UInt32(part.count).littleEndian) { Data($0) } + part
            }
        }
        for keys in [keys, keys.reversed(), sorted] {
            var entries: [String: PropertyListValue] = [:]
            for key in keys {
                entries[key] = .boolean(true)
            }
            #expect(PropertyListValue.dictionary(entries).binaryForm == expected)
        }
        let many = (0..<100).map { ("key \($0)", PropertyListValue.integer($0)) }
        let one = PropertyListValue.dictionary(Dictionary(uniqueKeysWithValues: many))
        let other = PropertyListValue.dictionary(Dictionary(uniqueKeysWithValues: many.reversed()))
        #expect(one.binaryForm == other.binaryForm)
    }

    @Test("has bytes that are those of a value only as a whole")
    func truncatedBytes() {
        let values: [PropertyListValue] = [
            .integer(-2), .unsigned(.max), .real(0.1), .date(.distantPast), .boolean(true), .boolean(false),
            .array([.integer(1), .array([]), .string("x")]),
            .dictionary(["a": .array([.boolean(true)]), "b": .dictionary(["c": .data(Data([1]))]), "": .string("")]),
        ]
        for value in values {
            let bytes = value.binaryForm
            #expect(PropertyListValue(binaryForm: bytes) == value)
            // The value is read in the middle of other bytes too.
            #expect(PropertyListValue(binaryForm: (Data([7, 7]) + bytes + [7]).dropFirst(2).dropLast()) == value)
            for count in 0..<bytes.count {
                #expect(PropertyListValue(binaryForm: bytes.prefix(count)) != value)
            }
            #expect(PropertyListValue(binaryForm: bytes + [0]) == nil)
        }
        // The counts are one too large, or as large as they can be.
        for bytes in [
            [9, 2, 0, 0, 0, 4], [9, 255, 255, 255, 255, 4], [10, 0, 0, 0, 0, 2, 0, 0, 0, 4], [9, 0, 0, 0, 0],
        ] {
            #expect(PropertyListValue(binaryForm: Data(bytes.map { UInt8($0) })) == nil, "\(bytes)")
        }
        #expect(PropertyListValue(binaryForm: Data([9, 1, 0, 0, 0, 4])) == .array([.boolean(true)]))
        #expect(PropertyListValue(binaryForm: Data([9])) == .array([]))
        #expect(PropertyListValue(binaryForm: Data([10, 1, 0, 0, 0, 0xFF, 1, 0, 0, 0, 4])) == nil)
    }

    @Test("is read as numbers, Booleans, URLs and strings where it means one")
    func conversions() {
        for text in ["1", " 1", "+1", "-1", ".5", "-.5", "1x", "2.5 apples"] {
            #expect(PropertyListValue.string(text).isNumeric, "\(text)")
        }
        for text in ["", " ", "x", "-", ".", "-.", ".x", "x1", "١"] {
            #expect(!PropertyListValue.string(text).isNumeric, "\(text)")
        }
        for text in ["YES", "true", "no", "False", " y", "1", "0"] {
            #expect(PropertyListValue.string(text).isBoolean, "\(text)")
        }
        for text in ["", "on", "off", "x"] {
            #expect(!PropertyListValue.string(text).isBoolean, "\(text)")
        }
        #expect(PropertyListValue.boolean(true).asString == "1")
        #expect(PropertyListValue.data(Data()).asString == nil)
        #expect(!PropertyListValue.data(Data([1])).asBool)
        #expect(!PropertyListValue.date(.now).isBoolean)
        #expect(!PropertyListValue.array([]).isNumeric)
        #expect(PropertyListValue.string("/a b").asURL == URL(filePath: "/a b"))
        #expect(PropertyListValue.string("~/a").asURL?.path == (("~/a" as NSString).expandingTildeInPath))
        #expect(PropertyListValue.string("https://example.com/a").asURL == URL(string: "https://example.com/a"))
        #expect(PropertyListValue.integer(1).asURL == nil)
        // Text in quotation marks is JSON.
        for json in [#""https://example.com""#, #""a""#, #""/a%20b""#, #"""#] {
            #expect(URL(propertyListValue: .string(json)) == nil, "\(json)")
        }
        #expect(URL(propertyListValue: .string("https://example.com")) == URL(string: "https://example.com"))
        #expect(
            Float(propertyListValue: .real(1e300)) == nil && Float(propertyListValue: .real(.infinity)) == .infinity
        )
    }

    @Test("is a type's own form before its raw value, and its raw value before JSON", arguments: StoreKind.allCases)
    func forms(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults[DefaultsKey<Own>("own", default: .one)] = .two
            #expect(store.storedValue(forKey: "own") == .string("two"))
            defaults[DefaultsKey<Own?>("optional")] = .two
            #expect(store.storedValue(forKey: "optional") == .string("two"))
            store.setValue(Own.two, forKey: "contained")
            #expect(store.storedValue(forKey: "contained") == .string("two"))
            #expect(store.value(forKey: "contained") == Own.two)
            store.setValue([Own.one], forKey: "elements")
            #expect(store.storedValue(forKey: "elements") == .array([.string("one")]))

            defaults[DefaultsKey<Raw>("raw", default: .slow)] = .fast
            #expect(store.storedValue(forKey: "raw") == .string("fast"))
            store.setValue(Raw.fast, forKey: "raw contained")
            #expect(store.storedValue(forKey: "raw contained") == .string("fast"))
            #expect(store.value(forKey: "raw contained") == Raw.fast)
            let missing: Raw? = store.value(forKey: "own")
            #expect(missing == nil)

            store.setValue(Wide.one, forKey: "wide")
            #expect(store.storedValue(forKey: "wide") == .data(Data("1".utf8)))
            #expect(store.value(forKey: "wide") == Wide.one)
            let nothing = DefaultsKey<Int??>("nothing")
            store.setValue(Int??.some(nil), forKey: "null")
            defaults[nothing] = .some(nil)
            #expect(store.storedValue(forKey: "nothing") == .data(Data("null".utf8)))
            defaults[nothing] = nil
            #expect(store.storedValue(forKey: "nothing") == nil)
        }
    }

    @Test("under keys that are the same text in other bytes is another one")
    func keys() {
        #expect(StoreKey(unchecked: "\u{E9}") != StoreKey(unchecked: "e\u{301}"))
        #expect(StoreKey(unchecked: "key") == StoreKey(unchecked: "k" + "ey"))
        let long = String(repeating: "k", count: 100)
        #expect(StoreKey(unchecked: long) == StoreKey(unchecked: String(decoding: Array(long.utf8), as: UTF8.self)))
        #expect(StoreKey(unchecked: long) != StoreKey(unchecked: long.dropLast() + "l"))
        #expect(StoreKey(unchecked: long) != StoreKey(unchecked: long + "k"))
        #expect(StoreKey(unchecked: String(repeating: "k", count: 65_535)).fault == nil)
        #expect(StoreKey(unchecked: String(repeating: "k", count: 65_536)).fault != nil)
        #expect(StoreKey(unchecked: "k\0").fault != nil)
        #expect(StoreKey(unchecked: "").fault != nil)
        #expect(Defaults.Key<Int>("\u{E9}") != Defaults.Key<Int>("e\u{301}"))
        #expect(Set([Defaults.Key<Int>("a"), Defaults.Key<Int>("a")]).count == 1)
    }

    @Test("is equal to one of its own kind with equal contents, and the same as one with the same bytes")
    func equality() {
        let values: [PropertyListValue] = [
            .string("1"), .string("2"), .string(""), .boolean(true), .boolean(false), .integer(1), .integer(0),
            .integer(2), .unsigned(.max), .unsigned(1 << 63), .real(1), .real(2), .data(Data([1])), .data(Data()),
            .date(Date(timeIntervalSinceReferenceDate: 1)), .date(Date(timeIntervalSinceReferenceDate: 2)), .array([]),
            .array([.integer(1)]), .array([.integer(2)]), .array([.integer(1), .integer(2)]), .dictionary([:]),
            .dictionary(["a": .integer(1)]), .dictionary(["a": .integer(2)]), .dictionary(["b": .integer(1)]),
            .dictionary(["a": .integer(1), "b": .integer(1)]),
        ]
        for (index, value) in values.enumerated() {
            for (otherIndex, other) in values.enumerated() {
                let isSame = index == otherIndex
                #expect((value == other) == isSame, "\(value), \(other)")
                #expect(value.isSame(as: other) == isSame, "\(value), \(other)")
                #expect(Optional(value).isSame(as: other) == isSame, "\(value), \(other)")
                #expect((value.binaryForm == other.binaryForm) == isSame, "\(value), \(other)")
            }
            #expect(value.isReal == [.real(1), .real(2)].contains(value))
            #expect(value.propertyListValue == value && PropertyListValue(propertyListValue: value) == value)
        }
        #expect(Set(values + values).count == values.count)
        // These values are equal, but have different bytes.
        for (one, other) in [
            (.string("\u{E9}"), .string("e\u{301}")), (.real(0), .real(-0.0)),
            (.array([.real(0)]), .array([.real(-0.0)])),
            (.dictionary(["a": .string("\u{E9}")]), .dictionary(["a": .string("e\u{301}")])),
            (.dictionary(["\u{E9}": .integer(1)]), .dictionary(["e\u{301}": .integer(1)])),
            (.date(Date(timeIntervalSinceReferenceDate: 0)), .date(Date(timeIntervalSinceReferenceDate: -0.0))),
        ] as [(PropertyListValue, PropertyListValue)] {
            #expect(one == other && one.hashValue == other.hashValue && !one.isSame(as: other), "\(one)")
            #expect(![one].areSame(as: [other]) && [one].areSame(as: [one]), "\(one)")
        }
        // These values are not equal to themselves, but have the same bytes.
        for value in [PropertyListValue.real(.nan), .array([.real(.nan)])] {
            #expect(value != value && value.isSame(as: value))
        }
        #expect([PropertyListValue?]().areSame(as: []) && ![nil].areSame(as: []))
    }

    @Test("has the binary form that the documentation describes")
    func documentedBytes() {
        let forms: [(PropertyListValue, [UInt8])] = [
            (.data(Data([7, 8])), [1, 7, 8]), (.string("aé"), [2, 0x61, 0xC3, 0xA9]), (.boolean(false), [3]),
            (.boolean(true), [4]), (.integer(-2), [5, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            (.unsigned(1 << 63 + 1), [6, 1, 0, 0, 0, 0, 0, 0, 0x80]), (.real(1), [7, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]),
            (.date(Date(timeIntervalSinceReferenceDate: 1)), [8, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]),
            (.array([.boolean(true), .array([])]), [9, 1, 0, 0, 0, 4, 1, 0, 0, 0, 9]),
            (.dictionary(["k": .string("")]), [10, 1, 0, 0, 0, 0x6B, 1, 0, 0, 0, 2]),
        ]
        for (value, bytes) in forms {
            #expect(Array(value.binaryForm) == bytes && value.bytes == bytes, "\(value)")
            #expect(PropertyListValue(binaryForm: Data(bytes)) == value, "\(value)")
            // A journal takes the first byte and the rest separately.
            value.withBytes { tag, rest in
                #expect([tag] + Array(rest) == bytes, "\(value)")
            }
        }
        for bytes in [[], [0], [11], [255], [2, 0xFF], [5, 1], [7] + Array(repeating: 0, count: 9)] as [[UInt8]] {
            #expect(PropertyListValue(binaryForm: Data(bytes)) == nil, "\(bytes)")
        }
    }

    @Test("is made of Swift's own types, and given in them")
    func objects() throws {
        let now = Date(timeIntervalSinceReferenceDate: 5)
        let list = PropertyListValue.array([.boolean(true), .string("c")])
        let objects: [(Any, PropertyListValue)] = [
            ("s", .string("s")), (Data([1]), .data(Data([1]))), (now, .date(now)), (true, .boolean(true)),
            (5, .integer(5)), (Int8(-5), .integer(-5)), (Int16(-5), .integer(-5)), (Int32(-5), .integer(-5)),
            (Int64.min, .integer(.min)), (UInt8(200), .integer(200)), (UInt16(5), .integer(5)),
            (UInt32.max, .integer(4_294_967_295)), (UInt(5), .integer(5)), (UInt64.max, .unsigned(.max)),
            (0.5, .real(0.5)), (2.0, .real(2)), (Float(0.5), .real(0.5)), (Decimal(0.5), .real(0.5)),
            ([String: Any](), .dictionary([:])), ([Any](), .array([])),
            (["a": ["b": [true, "c"] as [Any]]], .dictionary(["a": .dictionary(["b": list])])),
            (PropertyListValue.integer(1), .integer(1)),
            ([PropertyListValue.unsigned(.max)], .array([.unsigned(.max)])),
            (Optional([1]) as Any, .array([.integer(1)])), (Optional(Optional("x")) as Any, .string("x")),
            ([Optional(1), 2], .array([.integer(1), .integer(2)])),
        ]
        for (object, value) in objects {
            #expect(try PropertyListValue(object: object) == value, "\(object)")
        }
        func fault(_ object: Any) -> PropertyListValue.UnsupportedObject? {
            #expect(throws: PropertyListValue.UnsupportedObject.self) { try PropertyListValue(object: object) }
        }
        struct Other {}
        #expect(fault(Other())?.reason == "A value of type Other is not a property-list value")
        #expect(fault(Other())?.path == "")
        #expect(fault([1, Other()] as [Any])?.path == "[1]")
        #expect(fault(["a": [Other()]])?.path == ".a[0]")
        #expect(fault([1, nil] as [Int?])?.path == "[1]")
        #expect(fault([1, nil] as [Int?])?.reason == "A value of type Optional<Int> is not a property-list value")
        #expect(fault(["a": [1: 2]])?.reason == "A dictionary with keys of type Int is not a property-list value")
        #expect(fault(["a": [1: 2]])?.path == ".a")
        let tooDeep = fault(nested(.integer(1), levels: 257).object)
        #expect(tooDeep?.reason == "The value nests more than 256 levels")
        #expect(tooDeep?.path == String(repeating: "[0]", count: 256))

        #expect(PropertyListValue.string("s").object as? String == "s")
        #expect(PropertyListValue.boolean(true).object is Bool)
        #expect(PropertyListValue.integer(5).object as? Int == 5)
        #expect(PropertyListValue.real(2).object as? Double == 2 && !(PropertyListValue.real(2).object is Int))
        #expect(PropertyListValue.data(Data([1])).object as? Data == Data([1]))
        #expect(PropertyListValue.date(now).object as? Date == now)
        #expect(PropertyListValue.array([.integer(1)]).object as? [Int] == [1])
        #expect(PropertyListValue.dictionary(["a": .real(1)]).object as? [String: Double] == ["a": 1])
    }

    @Test("has what the typed getters of UserDefaults give for its kind, and nothing of another")
    func getters() {
        let others: [PropertyListValue] = [
            .data(Data([1])), .date(.now), .array([.integer(1)]), .dictionary(["a": .real(1)]),
        ]
        for value in others {
            #expect(value.asString == nil && value.asURL == nil)
            #expect(value.asInteger == 0 && value.asDouble == 0 && !value.asBool)
            #expect(!value.isNumeric && !value.isBoolean)
        }
        for value in [PropertyListValue.boolean(false), .integer(0), .unsigned(.max), .real(0)] {
            #expect(value.isNumeric && value.isBoolean && value.asURL == nil)
        }
        #expect(PropertyListValue.boolean(false).asString == "0" && PropertyListValue.boolean(false).asInteger == 0)
        #expect(PropertyListValue.boolean(true).asDouble == 1 && PropertyListValue.boolean(false).asDouble == 0)
        #expect(PropertyListValue.boolean(true).asBool && !PropertyListValue.boolean(false).asBool)
        #expect(
            PropertyListValue.string("12.5 km").asInteger == 12 && PropertyListValue.string("12.5 km").asDouble == 12.5
        )
        #expect(PropertyListValue.string("/a/").asURL?.absoluteString == "file:///a/")
        #expect(PropertyListValue.string("/a").asURL?.absoluteString == "file:///a")
        #expect(PropertyListValue.string("a/b").asURL?.absoluteString == "a/b")
        #expect(PropertyListValue.string("x~").asURL?.absoluteString == "x~")
        // A `Float` with a fraction is written as one, and a whole number as the `Double` that it has become.
        #expect(PropertyListValue.real(Double(Float(16.1))).asString == "16.1")
        #expect(PropertyListValue.real(Double(Float(1e20))).asString == NumberText.text(of: Double(Float(1e20))))
        #expect(PropertyListValue.real(Double(Float(1e20))).asString != "\(Float(1e20))")
        #expect(
            PropertyListValue.real(.nan).asString == "nan"
                && PropertyListValue.real(.infinity).asString?.contains("inf") == true
        )
    }
}

/// A color with a raw value.
private enum Tint: Int, PropertyListConvertible {
    case red = 1, blue = 300
}

private enum Word: String, PropertyListConvertible {
    case yes = "YES"
}

/// A custom collection, as in the documentation.
private struct Recents<Element>: EmptyValueProviding {
    var elements: [Element] = []
}

extension Recents: PropertyListCollection {
    func propertyListValue(of element: (Element) throws -> PropertyListValue) rethrows -> PropertyListValue {
        .array(try elements.map(element))
    }

    init?(propertyListValue: PropertyListValue, element: (PropertyListValue) throws -> Element) rethrows {
        guard case .array(let values) = propertyListValue else { return nil }
        elements = try values.map(element)
    }
}

extension Recents: PropertyListConvertible where Element: PropertyListConvertible {}

@Suite("A type that is stored as a property-list value")
struct PropertyListConvertibleTests {
    /// One value of each kind.
    private static let kinds: [PropertyListValue] = [
        .string("text"), .boolean(true), .integer(7), .unsigned(.max), .real(0.5), .data(Data([1])),
        .date(Date(timeIntervalSinceReferenceDate: 1)), .array([.integer(7)]), .dictionary(["a": .integer(7)]),
    ]

    /// Expects that a type can be made of the kinds with some numbers, and of no other kind.
    private func expect<Value: PropertyListConvertible>(
        _ type: Value.Type,
        of indexes: Set<Int>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (index, kind) in Self.kinds.enumerated() {
            let value = Value(propertyListValue: kind)
            #expect((value != nil) == indexes.contains(index), "\(kind)", sourceLocation: sourceLocation)
        }
    }

    @Test("is made of its own kind of value, numbers of each other, and nothing else")
    func kinds() {
        expect(String.self, of: [0])
        expect(URL.self, of: [0])
        expect(UUID.self, of: [])
        expect(Bool.self, of: [1, 2, 3, 4])
        expect(Int.self, of: [1, 2])
        expect(UInt8.self, of: [1, 2])
        expect(UInt64.self, of: [1, 2, 3])
        expect(Double.self, of: [1, 2, 4])
        expect(Float.self, of: [1, 2, 4])
        expect(Data.self, of: [5])
        expect(Date.self, of: [6])
        expect([Int].self, of: [7])
        expect(Set<Int>.self, of: [7])
        expect([String: Int].self, of: [8])
        expect([String].self, of: [])
        expect(Set<String>.self, of: [])
        expect([String: String].self, of: [])
        expect(Range<Int>.self, of: [])
        expect(PropertyListValue.self, of: Set(Self.kinds.indices))
        expect(Word.self, of: [])
        #if Foundation
        expect(CGFloat.self, of: [1, 2, 4])
        #expect(CGFloat(0.5).propertyListValue == .real(0.5) && CGFloat(propertyListValue: .string("2.5")) == 2.5)
        #endif
    }

    @Test("has one form, whatever others it is made of")
    func forms() {
        let uuid = "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D"
        #expect(UUID(propertyListValue: .string(uuid.lowercased()))?.propertyListValue == .string(uuid))
        #expect(UUID(propertyListValue: .string("{\(uuid)}")) == nil)
        #expect(URL(filePath: "/a b").propertyListValue == .string("file:///a%20b"))
        #expect(
            URL(string: "b", relativeTo: URL(string: "https://example.com/a/"))?.propertyListValue
                == .string("https://example.com/a/b")
        )
        #expect(Float(0.1).propertyListValue == .real(0.10000000149011612))
        #expect(Int8(-1).propertyListValue == .integer(-1) && UInt.max.propertyListValue == .unsigned(.max))
        #expect(Tint.blue.propertyListValue == .integer(300) && Word.yes.propertyListValue == .string("YES"))
        #expect(Tint(propertyListValue: .integer(300)) == .blue && Tint(propertyListValue: .string("1")) == .red)
        #expect(Tint(propertyListValue: .integer(2)) == nil && Tint(propertyListValue: .string("x")) == nil)
        #expect(Word(propertyListValue: .string("NO")) == nil)
        #expect([Tint.red, .blue].propertyListValue == .array([.integer(1), .integer(300)]))
        #expect([Tint](propertyListValue: .array([.integer(1), .integer(2)])) == nil)
        #expect(["a": Tint.red].propertyListValue == .dictionary(["a": .integer(1)]))
        #expect((1..<5).propertyListValue == .array([.integer(1), .integer(5)]))
        #expect((1...5).propertyListValue == .array([.integer(1), .integer(5)]))
        #expect(ClosedRange<Int>(propertyListValue: .array([.integer(5), .integer(5)])) == 5...5)
        #expect(Range<Int>(propertyListValue: .array([.integer(5), .integer(5)])) == 5..<5)
        #expect(UInt64(propertyListValue: .string("1e19")) == 10_000_000_000_000_000_000)
        #expect(UInt64(propertyListValue: .string("-1")) == nil && UInt64(propertyListValue: .string("-0")) == 0)
    }

    @Test("is in a set in one order, numbers and strings by value and others by their bytes")
    func sets() {
        for _ in 0..<4 {
            #expect(Set([10, 2, -1, 300]).propertyListValue == [-1, 2, 10, 300].propertyListValue)
            #expect(Set(["b", "a", "B", "aa"]).propertyListValue == ["B", "a", "aa", "b"].propertyListValue)
            #expect(Set([2.5, -1, 10, 0.5]).propertyListValue == [-1, 0.5, 2.5, 10].propertyListValue)
            #expect(Set([UInt64.max, 1, 5]).propertyListValue == [1, 5, UInt64.max].propertyListValue)
            #expect(Set([true, false]).propertyListValue == .array([.boolean(false), .boolean(true)]))
            let data = [Data([1]), Data([1, 2]), Data([2])]
            #expect(Set(data).propertyListValue == data.propertyListValue)
        }
        let words = Set<String>(propertyListValue: .array([.string("a"), .string("b"), .string("a")]))
        #expect(words == ["a", "b"])
        #expect(Set<Int>(propertyListValue: .array([.integer(1), .string("x")])) == nil)
    }

    @Test("is converted to a property list and back, and JSON is told from what is none")
    func propertyLists() throws {
        let values: [PropertyListValue] = [
            .array(Self.kinds), .dictionary(["a": .array(Self.kinds), "": .string("")]), .array([]), .dictionary([:]),
        ]
        for value in values {
            let data = try #require(value.propertyListData)
            #expect(PropertyListValue.decoded(from: data) == value)
            #expect(data.isPropertyList && data.starts(with: "bplist00"))
        }
        #expect(
            PropertyListValue.integer(1).propertyListData == nil
                && PropertyListValue.string("a").propertyListData == nil
        )
        let xml = #"<?xml version="1.0"?><plist version="1.0"><array><string>a</string><true/></array></plist>"#
        #expect(PropertyListValue.decoded(from: Data(xml.utf8)) == .array([.string("a"), .boolean(true)]))
        #expect(PropertyListValue.decoded(from: Data("bplist00".utf8)) == nil)
        #expect(PropertyListValue.decoded(from: Data()) == nil)
        for text in ["null", "1", "-0.5", "true", #""a""#, "[]", "[null,1]", "{}", #"{"a":[1]}"#, " [1] "] {
            #expect(PropertyListValue.isJSON(Data(text.utf8)), "\(text)")
        }
        for text in ["", "a", "{", "[1,", "1 2", "[1]]", "'a'", "nul"] {
            #expect(!PropertyListValue.isJSON(Data(text.utf8)), "\(text)")
        }
        #expect(Data("<a".utf8).isPropertyList && !Data("{}".utf8).isPropertyList && !Data("bplis".utf8).isPropertyList)
        #expect(!Data().isPropertyList && Data("a".utf8).starts(with: "") && !Data("a".utf8).starts(with: "ab"))
        #expect(Data("xaby".utf8).contains("ab") && !Data("xa".utf8).contains("ab") && !Data("axb".utf8).contains("ab"))
        #expect(Data("xab".utf8).dropFirst().starts(with: "ab"))
    }

    @Test("has a key that is compared by its bytes, as it was given")
    func keys() throws {
        let keys = ["\u{E9}", "e\u{301}", "a", "a"].map { StoreKey(unchecked: $0) }
        #expect(Set(keys).count == 3)
        #expect(try StoreKey("e\u{301}").string.utf8.elementsEqual("e\u{301}".utf8))
        #expect(keys[0].withUTF8 { Array($0) } == [0xC3, 0xA9])
        let long = String(repeating: "k", count: 40)
        let copy = StoreKey(unchecked: String(decoding: Array(long.utf8), as: UTF8.self))
        #expect(StoreKey(unchecked: long) == copy && StoreKey(unchecked: long).hashValue == copy.hashValue)
        #expect("\u{E9}".hasSameUTF8(as: "\u{E9}") && !"\u{E9}".hasSameUTF8(as: "e\u{301}"))
        #expect("a".precedesInUTF8("b") && !"b".precedesInUTF8("a") && !"a".precedesInUTF8("a"))
        #expect("a".precedesInUTF8("aa") && "".precedesInUTF8("a") && "\u{FFFD}".precedesInUTF8("\u{1F39B}"))
        #expect(
            Data([1, 2]).isSame(as: Data([1, 2])) && !Data([1, 2]).isSame(as: Data([1])) && Data().isSame(as: Data())
        )
        #expect(!Data([1, 2]).isSame(as: Data([1, 3])) && Data([9, 1]).dropFirst().isSame(as: Data([1])))
    }

    @Test("may be a custom collection, with elements in their own forms", arguments: StoreKind.allCases)
    func ownCollection(kind: StoreKind) throws {
        #expect(Recents(elements: [2, 1]).propertyListValue == .array([.integer(2), .integer(1)]))
        #expect(Recents<Int>(propertyListValue: .array([.integer(2), .integer(1)]))?.elements == [2, 1])
        #expect(Recents<Int>(propertyListValue: .array([.integer(2), .string("x")])) == nil)
        #expect(Recents<Int>(propertyListValue: .integer(2)) == nil)
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let modes = DefaultsKey<Recents<Raw>>("modes")
            let optional = DefaultsKey<Recents<Raw>?>("optional")
            #expect(defaults[modes].elements == [] && defaults[optional] == nil)
            defaults[modes].elements.append(.slow)
            defaults[modes].elements.append(.fast)
            defaults[optional] = defaults[modes]
            for key in ["modes", "optional"] {
                #expect(store.storedValue(forKey: key) == .array([.string("slow"), .string("fast")]))
            }
            #expect(defaults[modes].elements == [.slow, .fast] && defaults[optional]?.elements == [.slow, .fast])
            try store.setStoredValue(.array([.string("fast"), .string("other")]), forKey: "modes")
            expectEvents([.readFailed]) { #expect(defaults[modes].elements == []) }
            defaults[optional] = nil
            #expect(store.storedKeys() == ["modes"])
        }
    }

    @Test("passes on what the conversion of an element throws")
    func throwingElements() {
        struct Stop: Error {}
        func stop(_ value: Int) throws -> PropertyListValue { throw Stop() }
        func stop(_ value: PropertyListValue) throws -> Int { throw Stop() }
        let (list, entries) = (PropertyListValue.array([.integer(1)]), PropertyListValue.dictionary(["a": .integer(1)]))
        let conversions: [() throws -> Void] = [
            { _ = try [1].propertyListValue(of: stop) }, { _ = try Set([1]).propertyListValue(of: stop) },
            { _ = try ["a": 1].propertyListValue(of: stop) },
            { _ = try [Int](propertyListValue: list, element: stop) },
            { _ = try Set<Int>(propertyListValue: list, element: stop) },
            { _ = try [String: Int](propertyListValue: entries, element: stop) },
        ]
        for (number, convert) in conversions.enumerated() {
            #expect(throws: Stop.self, "conversion \(number)") { try convert() }
        }
    }
}
