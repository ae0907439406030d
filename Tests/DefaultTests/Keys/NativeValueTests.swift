import Default
import Foundation
import Testing

/// The values of one property-list type, and the results of `object(forKey:)` for them.
private struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Stores the type's values in a store in all forms, reads them back and compares them.
    let check: @Sendable (any DefaultsStore) throws -> Void

    init<Value: PropertyListConvertible & Codable & Equatable & Sendable>(
        _ values: [Value],
        shown: @escaping @Sendable (Value) -> any Hashable & Sendable
    ) {
        testDescription = "\(Value.self)"
        check = { store in
            let defaults = Defaults(suite: store)
            let plain = Defaults.Key<Value>("plain", default: values[0])
            let optional = Defaults.Key<Value?>("optional")
            let twice = Defaults.Key<Value??>("twice")
            for value in values {
                defaults[plain] = value
                #expect(isSame(defaults[plain], value))
                #expect(isSame(store.object(forKey: "plain"), shown(value)))
                defaults[optional] = value
                #expect(isSame(defaults[optional], value))
                #expect(isSame(store.object(forKey: "optional"), shown(value)))
            }
            defaults[optional] = nil
            #expect(defaults[optional] == nil)
            #expect(store.object(forKey: "optional") == nil)
            defaults[twice] = .some(nil)
            #expect(defaults[twice] == .some(.none))
            defaults[twice] = nil
            #expect(defaults[twice] == .none)
            #expect(store.object(forKey: "twice") == nil)

            try Self.check(values, as: values.map(shown), in: store)
            try Self.check([Value](), as: [String](), in: store)
            try Self.check([values, []], as: [values.map(shown), []], in: store)
            try Self.check(
                ["a": values[0], "": values[values.count - 1]],
                as: ["a": shown(values[0]), "": shown(values[values.count - 1])],
                in: store
            )
            try Self.check(["a": values, "b": []], as: ["a": values.map(shown), "b": []], in: store)
            try Self.check([String: Value](), as: [String: Int](), in: store)
        }
    }

    private static func check<Form: PropertyListConvertible & Codable & EmptyValueProviding>(
        _ form: Form,
        as shown: Any,
        in store: any DefaultsStore
    ) throws {
        let defaults = Defaults(suite: store)
        let key = Defaults.Key<Form>("form")
        defaults[key] = form
        #expect(isSame(defaults[key], form))
        #expect(isSame(store.object(forKey: "form"), shown))
        let contained: Form? = store.value(forKey: "form")
        #expect(isSame(contained, form))
        store.setValue(form, forKey: "contained")
        #expect(isSame(store.object(forKey: "contained"), shown))
    }
}

/// Whether two values are the same, down to NaN and the sign of zero.
private func isSame(_ one: Any?, _ other: Any?) -> Bool {
    "\(one.map { describe($0) } ?? "nil")" == "\(other.map { describe($0) } ?? "nil")"
}

private func describe(_ value: Any) -> String {
    switch value {
    case let double as Double: "\(double.isNaN ? "nan" : "\(double.bitPattern)") real"
    case let array as [Any]: "[" + array.map { describe($0) }.joined(separator: ", ") + "]"
    case let dictionary as [String: Any]:
        "[" + dictionary.sorted { $0.key < $1.key }.map { "\($0.key): \(describe($0.value))" }.joined(separator: ", ")
            + "]"
    case let date as Date: "\(date.timeIntervalSinceReferenceDate.bitPattern) date"
    case let data as Data: "\(Array(data)) data"
    default: "\(value) \(type(of: value))"
    }
}

private let samples: [Sample] = [
    Sample(["red", "", "🎛 é e\u{301}", "nul \0"]) { $0 },
    Sample([true, false]) { $0 },
    Sample([0, 1, -1, Int.max, Int.min]) { $0 },
    Sample([0, Int8.max, Int8.min]) { Int($0) },
    Sample([0, Int16.max, Int16.min]) { Int($0) },
    Sample([0, Int32.max, Int32.min]) { Int($0) },
    Sample([0, Int64.max, Int64.min]) { Int($0) },
    Sample([0, UInt(Int.max)]) { Int($0) },
    Sample([UInt.max, UInt(Int.max) + 1]) { $0 },
    Sample([0, UInt8.max]) { Int($0) },
    Sample([0, UInt16.max]) { Int($0) },
    Sample([0, UInt32.max]) { Int($0) },
    Sample([UInt64.max, UInt64(Int64.max) + 1]) { UInt($0) },
    Sample([0.0, 0.1, .nan, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 2.0]) { $0 },
    Sample([Float(0.1), 0, .nan, .infinity, -.infinity, .greatestFiniteMagnitude, 16_777_216]) { Double($0) },
    Sample([Data([0, 255]), Data(), Data(repeating: 7, count: 5_000)]) { $0 },
    Sample([
        Date(timeIntervalSinceReferenceDate: 8), .distantPast, .distantFuture, Date(timeIntervalSince1970: -1e9),
    ]) {
        $0
    },
    Sample([URL(string: "https://example.com/a%20b?c=d#e")!, URL(filePath: "/tmp/a"), URL(string: "relative/path")!]) {
        $0.absoluteString
    },
]

/// Values that lose their sign or fraction in Foundation's file on Linux.
private let finerSamples: [Sample] = [
    Sample([-0.0, 0.0]) { $0 },
    Sample([-0.0, Float(0)]) { Double($0) },
    Sample([Date(timeIntervalSinceReferenceDate: 0.125), Date(timeIntervalSinceReferenceDate: 1e9 + 0.1)]) { $0 },
]

@Suite("A native value")
struct NativeValueTests {
    @Test(
        "is unchanged in every form on every store, and in object(forKey:)",
        arguments: StoreKind.allCases,
        samples
    )
    fileprivate func roundTrip(kind: StoreKind, sample: Sample) throws {
        try kind.withStore { store in try sample.check(store) }
    }

    @Test(
        "is unchanged down to the sign of zero and fractions of a second",
        arguments: [StoreKind.memory, .file],
        finerSamples
    )
    fileprivate func finerRoundTrip(kind: StoreKind, sample: Sample) throws {
        try kind.withStore { store in try sample.check(store) }
    }

    @Test("is a range too, of one element or of none", arguments: StoreKind.allCases)
    func ranges(kind: StoreKind) throws {
        func check<Value: PropertyListConvertible & Codable & Equatable>(
            _ range: Value,
            in store: any DefaultsStore
        ) throws {
            let defaults = Defaults(suite: store)
            let optional = Defaults.Key<Value?>("optional")
            let several = Defaults.Key<[String: [Value]]>("several")
            defaults[optional] = range
            defaults[several] = ["a": [range, range], "b": []]
            #expect(defaults[optional] == range)
            #expect(defaults[several] == ["a": [range, range], "b": []])
            guard case .array(let bounds)? = store.storedValue(forKey: "optional") else {
                Issue.record("\(range) is not stored as an array")
                return
            }
            #expect(bounds.count == 2)
            #expect(try store.df.load(forKey: "optional", type: Value.self) == range)
        }
        let now = Date(timeIntervalSinceReferenceDate: 8)
        try kind.withStore { store in
            for range in [2..<5, 3..<3, Int.min..<Int.max, Int.max..<Int.max] { try check(range, in: store) }
            for range in [2...5, 3...3, Int.min...Int.max] { try check(range, in: store) }
            for range in [0.5..<1, 0.5..<0.5] { try check(range, in: store) }
            for range in ["a"..."b", ""...""] { try check(range, in: store) }
            try check(now...now, in: store)
            try check(now..<now, in: store)
        }
    }

    @Test("of an integer type wider than 64 bits is stored as JSON", arguments: StoreKind.allCases)
    func wideIntegers(kind: StoreKind) throws {
        try kind.withStore { store in
            let key = Defaults.Key<Int128>("wide", default: 0)
            Defaults(suite: store)[key] = Int128.max
            #expect(Defaults(suite: store)[key] == Int128.max)
        }
    }

    @Test("of an optional inside an array is stored as JSON", arguments: StoreKind.allCases)
    func optionalElements(kind: StoreKind) throws {
        try kind.withStore { store in
            let key = Defaults.Key<[Int?]>("sparse")
            Defaults(suite: store)[key] = [1, nil, 3]
            #expect(Defaults(suite: store)[key] == [1, nil, 3])
        }
    }
}
