import Default
import Foundation

/// A settings type, as a program has it.
struct VisualSettings: Codable, Equatable {
    var themeName = "dark"
    var apiToken = "secret-1"
}

/// One value of each type, and of each that some format loses.
enum Samples {
    static let values: [String: PropertyListValue] = [
        "string": .string("é, \u{1F600}, \"quoted\", a\nline"),
        "control characters": .string("\u{0}\u{1}\u{7F}\r"),
        "empty string": .string(""),
        "true": .boolean(true),
        "false": .boolean(false),
        "one": .integer(1),
        "zero": .integer(0),
        "smallest": .integer(.min),
        "largest": .integer(.max),
        "over Int64": .unsigned(UInt64(Int64.max) + 1),
        "largest unsigned": .unsigned(.max),
        "real one": .real(1),
        "real zero": .real(0),
        "negative zero": .real(-0.0),
        "nan": .real(.nan),
        "infinity": .real(.infinity),
        "negative infinity": .real(-.infinity),
        "tiny": .real(.leastNonzeroMagnitude),
        "third": .real(1.0 / 3),
        "date": .date(Date(timeIntervalSinceReferenceDate: 816_955_200)),
        "date with a fraction": .date(Date(timeIntervalSinceReferenceDate: 816_955_200.123_456_7)),
        "date before": .date(Date(timeIntervalSinceReferenceDate: -0.25)),
        "distant future": .date(.distantFuture),
        "distant past": .date(.distantPast),
        "negative zero date": .date(Date(timeIntervalSinceReferenceDate: -0.0)),
        "tiny date": .date(Date(timeIntervalSinceReferenceDate: .leastNonzeroMagnitude)),
        "data": .data(Data([0, 1, 0xFF])),
        "empty data": .data(Data()),
        "json": .data(Data(#"{"themeName":"dark","size":1.50,"list":[1,null]}"#.utf8)),
        "json with space": .data(Data(#"{ "a" : 1 }"#.utf8)),
        "array": .array([
            .integer(1), .real(1), .boolean(true), .array([]), .date(Date(timeIntervalSinceReferenceDate: 0.5)),
        ]),
        "empty array": .array([]),
        "dictionary": .dictionary(["a": .integer(1), "b": .dictionary(["c": .real(-0.0)])]),
        "empty dictionary": .dictionary([:]),
        "dictionary like a tag": .dictionary(["$data": .string("AQI=")]),
        "data in containers": .dictionary([
            "list": .array([.data(Data([0, 0xFF])), .data(Data()), .data(Data("[1, 2]".utf8)), .data(Data("{}".utf8))]),
            "numbers": .array([.real(.nan), .real(-.infinity), .unsigned(.max), .integer(.min)]),
            "empty": .array([.array([]), .dictionary([:]), .string(""), .array([.dictionary([:])])]),
        ]),
        "JSON like a tag": .data(Data(#"{"$data":"AQI="}"#.utf8)),
        "list in a list in a list": nested { .array([$0]) },
        "tag in a tag in a tag": nested { .dictionary(["$dict": $0]) },
        "JSON in JSON": .data(Data((String(repeating: "[", count: 256) + String(repeating: "]", count: 256)).utf8)),
        "$date": .string("a key like a tag"),
        "a.b \"c\"\n\u{1F600}": .string("a key that is not a word"),
    ]

    /// As deep as a suite's values may nest.
    private static func nested(_ wrap: (PropertyListValue) -> PropertyListValue) -> PropertyListValue {
        (0..<256).reduce(.date(Date(timeIntervalSinceReferenceDate: 0.5))) { value, _ in wrap(value) }
    }

    static func store(in suite: FileDefaults) throws {
        for (key, value) in values {
            try suite.setStoredValue(value, forKey: key)
        }
    }
}

extension FileDefaults {
    /// All that is stored, each value with the bits of its numbers, so that what is not a number equals itself.
    func exactContents() -> [String: String] {
        var contents: [String: String] = [:]
        for key in storedKeys() {
            contents[key] = storedValue(forKey: key).map(Self.exactText)
        }
        return contents
    }

    private static func exactText(_ value: PropertyListValue) -> String {
        switch value {
        case .real(let real): "real \(real.bitPattern)"
        case .date(let date): "date \(date.timeIntervalSinceReferenceDate.bitPattern)"
        case .data(let data): "data \(data.base64EncodedString())"
        case .array(let elements): "[\(elements.map(exactText).joined(separator: ", "))]"
        case .dictionary(let entries):
            "{\(entries.sorted { $0.key < $1.key }.map { "\($0.key): \(exactText($0.value))" }.joined(separator: ", "))}"
        default: "\(value)"
        }
    }
}
