import Default
import Foundation
import Testing

private struct Point {}

@Suite("String keys")
struct StringKeyTests {
    @Test("convert like UserDefaults", arguments: StoreKind.allCases)
    func conversions(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults["yes"] = "YES"
            defaults["no"] = "no"
            defaults["one"] = 1
            defaults["text"] = "otto"
            defaults["number"] = "12.5 apples"
            defaults["true"] = true
            defaults["date"] = Date.distantPast
            defaults["signs"] = "+-5"
            defaults["sign"] = " -.5"
            #expect(defaults["signs"].int == nil)
            #expect(defaults["signs"].double == nil)
            #expect(defaults["signs"].bool == nil)
            #expect(defaults["sign"].double == -0.5)
            #expect(defaults["yes"].bool == true)
            #expect(defaults["yes"].int == nil)
            #expect(defaults["yes"].double == nil)
            #expect(defaults["no"].bool == false)
            #expect(defaults["one"].bool == true)
            #expect(defaults["text"].bool == nil)
            #expect(defaults["text"].boolValue == false)
            #expect(defaults["text"].int == nil)
            #expect(defaults["number"].int == 12)
            #expect(defaults["number"].double == 12.5)
            #expect(defaults["one"].string == "1")
            #expect(defaults["true"].int == 1)
            #expect(defaults["date"].string == nil)
            #expect(defaults["date"].double == nil)
            #expect(defaults["date"].array == nil)
        }
    }

    @Test("read what is stored, and not the empty value, by the properties without an optional too")
    func values() throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        defaults["double"] = 2.5
        defaults["true"] = true
        defaults["data"] = Data([1])
        defaults["array"] = [1, 2]
        defaults["dictionary"] = ["a": 1]
        #expect(defaults["double"].doubleValue == 2.5 && defaults["double"].intValue == 2)
        #expect(defaults["double"].stringValue == "2.5" && defaults["double"].boolValue)
        #expect(defaults["true"].boolValue && defaults["true"].intValue == 1 && defaults["true"].doubleValue == 1)
        #expect(defaults["data"].dataValue == Data([1]) && defaults["data"].stringValue == "")
        #expect(defaults["array"].arrayValue as? [Int] == [1, 2] && defaults["array"].dictionaryValue.isEmpty)
        #expect(defaults["dictionary"].dictionaryValue as? [String: Int] == ["a": 1])
        #expect(defaults["dictionary"].arrayValue.isEmpty && defaults["dictionary"].data == nil)
        #if Foundation
        #expect(defaults["double"].numberValue == 2.5 && defaults["array"].numberValue == 0)
        #endif
        #expect(withDefaults(store) { Defaults["double"].double } == 2.5)
        defaults["large"] = 1e300
        #expect(defaults["large"].int == .max && defaults["large"].intValue == .max)
        // A registered value is found, but is not stored.
        try store.register(defaults: ["registered": 5])
        #expect(defaults.hasKey("registered"))
        #expect(defaults["registered"].int == 5 && defaults.exists(key: DefaultsKey<Int>("registered")))
        defaults.remove("registered")
        defaults.removeAll()
        #expect(defaults.hasKey("registered") && defaults.keys == [])
        defaults["registered"] += 1
        #expect(store.storedValue(forKey: "registered") == .integer(6))
    }

    @Test("are listed in the order of their names")
    func order() {
        let defaults = Defaults(suite: MemoryDefaults())
        for key in ["b", "a", "aa", "B", "\u{E9}", "10", "9"] {
            defaults[key] = 1
        }
        #expect(defaults.keys == ["10", "9", "B", "a", "aa", "b", "\u{E9}"])
    }

    @Test("name the key and the store in the errors of sums, and of what is to be stored only if absent")
    func errors() {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        defaults["full"] = UInt.max
        defaults["text"] = "red"
        let collector = EventCollector()
        collector.collect {
            defaults["full"] += 1
            defaults["text"] += 1
            defaults["none"].setIfAbsent { Point() }
            defaults["a\0b"].setIfAbsent { 1 }
            defaults["a\0b"] += 1
        }
        #expect(
            collector.codes
                == [.arithmeticOverflow, .typeMismatch, .typeMismatch, .unsupportedValue, .invalidKey, .invalidKey]
        )
        #expect(collector.events.map(\.error.key) == ["full", "text", "text", "none", "a\0b", "a\0b"])
        #expect(collector.events.prefix(4).allSatisfy { $0.error.store == store.storeDescription })
        #expect(
            collector.events.map(\.kind)
                == [.writeFailed, .readFailed, .quarantined, .writeFailed, .writeFailed, .writeFailed]
        )
        #expect(collector.events.first?.description.contains(#"The sum for "full" in MemoryDefaults"#) == true)
        #expect(defaults.keys == ["full", "text", "text.quarantine"])
    }

    @Test("add in the stored type, without truncation", arguments: StoreKind.allCases)
    func arithmetic(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let sums: [(stored: Any?, summand: Double, sum: PropertyListValue)] = [
                (nil, 1, .real(1)), (1, 2, .integer(3)), (1, 0.5, .real(1.5)), (1.0, 2, .real(3)),
                (0.1, 0.2, .real(0.1 + 0.2)), (true, 1, .integer(2)), ("41", 1, .integer(42)), ("0.5", 1, .real(1.5)),
            ]
            for (number, (stored, summand, sum)) in sums.enumerated() {
                let key = "key \(number)"
                defaults[key] = stored
                defaults[key] += summand
                // A missing value counts as the integer 0.
                let expected = stored == nil ? .integer(1) : sum
                #expect(store.storedValue(forKey: key) == expected, "\(String(describing: stored)) + \(summand)")
            }
            // A value that is not a number is quarantined, and counts as 0.
            let others: [PropertyListValue] = [
                .string("red"), .string(""), .string("-"), .data(Data("1".utf8)), .date(.distantPast), .array([]),
                .array([.integer(1)]), .dictionary(["a": .integer(1)]),
            ]
            let changes: [(sum: PropertyListValue, change: (Defaults, String) -> Void)] = [
                (.integer(2), { $0[$1] += 2 }), (.integer(-2), { $0[$1] -= 2 }), (.real(0.5), { $0[$1] += 0.5 }),
                (.real(-0.5), { $0[$1] -= 0.5 }),
            ]
            for (number, (sum, change)) in changes.enumerated() {
                for (index, other) in others.enumerated() {
                    let key = "other \(number) \(index)"
                    try store.setStoredValue(other, forKey: key)
                    expectEvents([.readFailed, .quarantined]) { change(defaults, key) }
                    #expect(store.storedValue(forKey: key) == sum, "\(other)")
                    #expect(try defaults.quarantined(DefaultsKey<Int>(key)).map(\.value) == [other])
                    expectEvents([]) { change(defaults, key) }
                    #expect(try defaults.quarantined(DefaultsKey<Int>(key)).count == 1)
                }
            }
            // The stored value stays if the sum overflows.
            try store.setStoredValue(.unsigned(.max), forKey: "full")
            expectReport(.arithmeticOverflow) { defaults["full"] += 1 }
            #expect(store.storedKeys().allSatisfy { $0 != "full.quarantine" })
            defaults["down"] -= 3
            defaults["down"] -= 0.5
            #expect(defaults["down"].double == -3.5)
            defaults["big"] = Int.max
            defaults["big"] += 1
            #expect(store.storedValue(forKey: "big") == .unsigned(UInt64(Int64.max) + 1))
            defaults["big"] = Int.max
            defaults["big"] -= Int.min
            #expect(store.storedValue(forKey: "big") == .unsigned(UInt64.max))
            expectReport(.arithmeticOverflow) { defaults["big"] += 1 }
            #expect(store.storedValue(forKey: "big") == .unsigned(UInt64.max))
            defaults["big"] -= 1
            #expect(store.storedValue(forKey: "big") == .unsigned(UInt64.max - 1))
            defaults["huge"] = 1
            defaults["huge"] += 1e300
            #expect(defaults["huge"].double == 1e300)
            defaults["nan"] = 1
            defaults["nan"] += Double.nan
            #expect(defaults["nan"].double?.isNaN == true)
        }
    }
}
