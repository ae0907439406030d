internal import Default
internal import Foundation

// Swift's own types as they come back, and Foundation's as they go in.
extension StoreConformance.Check {
    static let ofValues: [Self] = [
        Self("A property-list value comes back as it was set, with its type.") { trial in
            trial.withStore { store in
                let values = examples()
                for (key, value) in values {
                    try store.set(value, forKey: key)
                }
                for (key, value) in values {
                    trial.expect(key, in: store, is: value, "after set(_:forKey:)")
                }
            }
        },
        Self("Numbers of any width and objects of Foundation's come back as the types that stores give.") { trial in
            trial.withStore { store in
                for (index, (value, expected)) in foreignExamples().enumerated() {
                    let key = "value \(index)"
                    try store.set(value, forKey: key)
                    let given = "\(type(of: value))"
                    trial.expect(key, in: store, is: expected, "after set with a \(given)")
                }
            }
        },
        Self("data(forKey:) gives Data, and nothing else as Data.") { trial in
            trial.withStore { store in
                let bytes = Data([1, 2, 3])
                try store.set(bytes as Any?, forKey: "data")
                try store.set("text", forKey: "text")
                try store.set([bytes], forKey: "array")
                trial.expect(store.data(forKey: "data"), is: bytes, from: "data(forKey:) for Data")
                trial.expect(store.data(forKey: "text"), is: nil, from: "data(forKey:) for a string")
                trial.expect(store.data(forKey: "array"), is: nil, from: "data(forKey:) for an array")
                trial.expect(store.data(forKey: "absent"), is: nil, from: "data(forKey:) for a key never set")
                trial.expect("absent", in: store, is: nil, "for a key never set")
            }
        },
        Self("Data set with set(_: Data, forKey:) is what every other call reads and replaces.") { trial in
            trial.withStore { store in
                try store.set("text", forKey: "k")
                try store.set(Data([1]), forKey: "k")
                trial.expect("k", in: store, is: Data([1]), "after set(_: Data, forKey:)")
                trial.expect(store.data(forKey: "k"), is: Data([1]), from: "data(forKey:) after set(_: Data, forKey:)")
                try store.set(2, forKey: "k")
                trial.expect("k", in: store, is: 2, "after an Int has replaced Data")
                trial.expect(store.data(forKey: "k"), is: nil, from: "data(forKey:) after an Int has replaced Data")
                try store.set(Data([3]), forKey: "k")
                try store.removeObject(forKey: "k")
                trial.expect(store.data(forKey: "k"), is: nil, from: "data(forKey:) after removeObject(forKey:)")
            }
        },
        Self("propertyListValue(forKey:) and set with a PropertyListValue agree with the calls of Any.") { trial in
            trial.withStore { store in
                for (key, value) in examples() {
                    guard let spelledOut = spellOut(value) else {
                        continue
                    }
                    try store.set(value, forKey: key)
                    trial.expect(
                        store.propertyListValue(forKey: key) == spelledOut,
                        "propertyListValue(forKey:) gave \(Trial.describe(store.propertyListValue(forKey: key))) after "
                            + "set(_:forKey:) with \(Trial.describe(value)), not \(Trial.describe(spelledOut))."
                    )
                    let other = key + ", spelled out"
                    try store.set(spelledOut, forKey: other)
                    trial.expect(other, in: store, is: value, "after set(_: PropertyListValue, forKey:)")
                    try store.removeObject(forKey: key)
                    trial.expect(
                        store.propertyListValue(forKey: key) == nil,
                        "propertyListValue(forKey:) gave a value after removeObject(forKey:)."
                    )
                }
            }
        },
        Self("A mutable object is copied as it is set.") { trial in
            trial.withStore { store in
                let array = NSMutableArray(array: [1])
                let inner = NSMutableArray(array: [1])
                let dictionary = NSMutableDictionary(dictionary: ["a": 1])
                let data = NSMutableData(data: Data([1]))
                try store.set(array, forKey: "array")
                try store.set([inner], forKey: "nested")
                try store.set(dictionary, forKey: "dictionary")
                try store.set(data, forKey: "data")
                array.add(2)
                inner.add(2)
                dictionary["b"] = 2
                data.append(Data([2]))
                let call = "after the object that was set has been changed"
                trial.expect("array", in: store, is: [1], call)
                trial.expect("nested", in: store, is: [[1]], call)
                trial.expect("dictionary", in: store, is: ["a": 1], call)
                trial.expect("data", in: store, is: Data([1]), call)
            }
        },
    ]

    private static func examples() -> [(key: String, value: Any)] {
        [
            ("string", "red"), ("empty", ""), ("emoji", "🎛 é e\u{301}"), ("lines", "a\nb\tc\r\n<&>"),
            ("true", true), ("false", false),
            ("zero", 0), ("one", 1), ("smallest", Int.min), ("largest", Int.max), ("unsigned", UInt.max),
            ("half", 0.5), ("tenth", 0.1), ("whole", 2.0), ("zero with a point", 0.0),
            ("largest real", Double.greatestFiniteMagnitude),
            ("data", Data([0, 1, 255])), ("no data", Data()),
            ("date", Date(timeIntervalSinceReferenceDate: 123_456_789)),
            ("array", [1, "two", [3.5, false]] as [Any]), ("no array", [Any]()),
            ("dictionary", ["a": 1, "b": ["c": [true, Data([9])]] as [String: Any]] as [String: Any]),
            ("no dictionary", [String: Any]()),
        ]
    }

    private static func foreignExamples() -> [(value: Any, expected: Any)] {
        [
            (Int8(-5), -5), (UInt8(200), 200), (Int32(-70_000), -70_000), (UInt(5), 5), (Int64.min, Int.min),
            (UInt64.max, UInt.max), (Float(0.5), 0.5), (Float(2), 2.0),
            (NSNumber(value: true), true), (NSNumber(value: 1), 1), (NSNumber(value: 1.0), 1.0),
            (NSString(string: "text"), "text"), (NSData(data: Data([1])), Data([1])),
            (NSDate(timeIntervalSinceReferenceDate: 5), Date(timeIntervalSinceReferenceDate: 5)),
            (NSArray(array: [1, true]), [1, true] as [Any]), (NSDictionary(dictionary: ["a": 0.5]), ["a": 0.5]),
            (["a", "b"] as [String], ["a", "b"]), (["a": 1] as [String: Int], ["a": 1]),
        ]
    }

    /// The value of an example with its type spelled out.
    private static func spellOut(_ value: Any) -> PropertyListValue? {
        switch value {
        case let string as String:
            return .string(string)
        case let boolean as Bool where type(of: value) == Bool.self:
            return .boolean(boolean)
        case let integer as Int where type(of: value) == Int.self:
            return .integer(Int64(integer))
        case let unsigned as UInt where type(of: value) == UInt.self:
            return .unsigned(UInt64(unsigned))
        case let real as Double where type(of: value) == Double.self:
            return .real(real)
        case let data as Data:
            return .data(data)
        case let date as Date:
            return .date(date)
        case let array as [Any]:
            return .array(array.compactMap(spellOut))
        case let dictionary as [String: Any]:
            return .dictionary(dictionary.compactMapValues(spellOut))
        default:
            return nil
        }
    }
}
