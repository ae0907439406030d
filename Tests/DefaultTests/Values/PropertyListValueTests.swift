import Foundation
import Testing

@testable import Default

/// A value inside a number of arrays.
private func nested(_ value: PropertyListValue, levels: Int) -> PropertyListValue {
    (0..<levels).reduce(value) { value, _ in .array([value]) }
}

/// A type that says itself how it is stored, though its raw value could be.
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
        // An empty array is a level as well.
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
        // What has at most 15 digits was a `Double`, as far as can be told; what has more, and is a `Float` as well, was one.
        #expect(PropertyListValue.real(0x1p-21).asString == "4.76837158203125e-07")
        #expect(PropertyListValue.real(0x1p-22).asString == "2.3841858e-07")
        // Zeros before the first digit don't count, those after it do.
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

    @Test("is made of a text whose characters are all digits, and of no other")
    func digits() {
        #expect(UInt64(digits: "fF", radix: 16) == 255)
        #expect(UInt64(digits: "fg", radix: 16) == nil)
        #expect(UInt64(digits: "9a") == nil)
        #expect(UInt64(digits: "18446744073709551615") == .max)
        #expect(UInt64(digits: "18446744073709551616") == nil)
        #expect(UInt64(digits: "-0") == 0)
        #expect(UInt64(digits: "-1") == nil)
        #expect(Int64(digits: "-9223372036854775808") == .min)
        #expect(Int64(digits: "-9223372036854775809") == nil)
        #expect(Int64(digits: "+9223372036854775807") == .max)
        #expect(Int64(digits: "9223372036854775808") == nil)
    }

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
        // By UTF-16 the last two would change places, as strings "f" and what is before it.
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
            // Also in the middle of other bytes.
            #expect(PropertyListValue(binaryForm: (Data([7, 7]) + bytes + [7]).dropFirst(2).dropLast()) == value)
            for count in 0..<bytes.count {
                #expect(PropertyListValue(binaryForm: bytes.prefix(count)) != value)
            }
            #expect(PropertyListValue(binaryForm: bytes + [0]) == nil)
        }
        // Counts that are one too large, and as large as they can be.
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
        // A text in quotes is JSON.
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
}
