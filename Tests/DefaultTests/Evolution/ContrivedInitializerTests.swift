import Foundation
import Testing

@testable import Default

private protocol Contrived: DefaultStorable {
    static var initial: Self { get }
}

extension Contrived {
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultIdentifier: String { "Contrived" }
    static var defaultValue: Self? { initial }
}

private struct Point: Codable, Equatable {
    var x = 1
    var y = 2
    enum CodingKeys: CodingKey { case x, y }
}

/// A type that tries one part as three types.
private struct Alternatives: Contrived {
    var place = Point()
    var name = "n"
    static var initial: Alternatives { .init() }
    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        if let x = try? container.decode(Int.self, forKey: .place) {
            place.x = x
        } else if let both = try? container.decode([String: [Int]].self, forKey: .place) {
            place.x = both.count
        } else {
            place = try container.decode(Point.self, forKey: .place)
        }
    }
}

/// A type that rejects three parts together.
private struct Together: Contrived {
    var a = 1, b = 2, c = 3
    static var initial: Together { .init() }
    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        a = try container.decode(Int.self, forKey: .a)
        b = try container.decode(Int.self, forKey: .b)
        c = try container.decode(Int.self, forKey: .c)
        guard a < b, b < c else { throw CocoaError(.coderReadCorrupt) }
    }
}

/// A type that goes through all keys.
private struct Open: Contrived {
    var entries: [String: Int] = [:]
    static var initial: Open { .init() }
    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PathKey.self)
        for key in container.allKeys {
            entries[key.stringValue] = try container.decode(Int.self, forKey: key)
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PathKey.self)
        for (key, value) in entries { try container.encode(value, forKey: PathKey(stringValue: key)) }
    }
}

/// A type that decodes the elements of an array itself.
private struct ByHand: Contrived {
    var points = [Point()]
    var name = "n"
    static var initial: ByHand { .init() }
    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var elements = try container.nestedUnkeyedContainer(forKey: .points)
        points = []
        while !elements.isAtEnd { points.append(try elements.decode(Point.self)) }
        name = try container.decode(String.self, forKey: .name)
    }
}

/// A type that flattens a nested container.
private struct Nested: Contrived {
    var width = 1, height = 2
    static var initial: Nested { .init() }
    enum CodingKeys: CodingKey { case size }
    enum SizeKeys: CodingKey { case width, height }
    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let size = try container.nestedContainer(keyedBy: SizeKeys.self, forKey: .size)
        width = try size.decode(Int.self, forKey: .width)
        height = try size.decode(Int.self, forKey: .height)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var size = container.nestedContainer(keyedBy: SizeKeys.self, forKey: .size)
        try size.encode(width, forKey: .width)
        try size.encode(height, forKey: .height)
    }
}

/// A type that opens its parts itself, in each possible way.
private struct Opening: Contrived {
    var width = 1
    var tags = ["a"]
    var x = 2
    var y = 3
    static var initial: Opening { .init() }
    enum CodingKeys: CodingKey { case size, tags, x, y }
    enum SizeKeys: CodingKey { case width }
    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        width = try container.nestedContainer(keyedBy: SizeKeys.self, forKey: .size).decode(Int.self, forKey: .width)
        var elements = try container.nestedUnkeyedContainer(forKey: .tags)
        tags = []
        while !elements.isAtEnd { tags.append(try elements.decode(String.self)) }
        x = try container.nestedContainer(keyedBy: Point.CodingKeys.self, forKey: .x).decode(Int.self, forKey: .x)
        y = try container.superDecoder(forKey: .y).singleValueContainer().decode(Int.self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var size = container.nestedContainer(keyedBy: SizeKeys.self, forKey: .size)
        try size.encode(width, forKey: .width)
        try container.encode(tags, forKey: .tags)
        try container.encode(["x": x], forKey: .x)
        try container.encode(y, forKey: .y)
    }
}

/// A type that consists of another value.
private struct Wrapper: Contrived {
    var point = Point()
    static var initial: Wrapper { .init() }
    init() {}
    init(from decoder: any Decoder) throws { point = try decoder.singleValueContainer().decode(Point.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(point)
    }
}

/// A type that decodes one part twice, as different types.
private struct Twice: Contrived {
    var point = Point()
    var keys: [String] = []
    static var initial: Twice { .init() }
    enum CodingKeys: CodingKey { case point }
    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        keys = try container.decode([String: Int].self, forKey: .point).keys.sorted()
        point = try container.decode(Point.self, forKey: .point)
    }
}

/// A type that rejects a value because of another part, which it decodes later.
private struct Dependent: Contrived {
    var number = 5
    var limits = ["max": 9]
    static var initial: Dependent { .init() }
    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        number = try container.decode(Int.self, forKey: .number)
        limits = try container.decode([String: Int].self, forKey: .limits)
        guard let maximum = limits["max"], number <= maximum else {
            throw DecodingError.dataCorruptedError(forKey: .number, in: container, debugDescription: "")
        }
    }
}

/// A type that throws its own errors after a part that it can do without.
private struct Moody: Contrived {
    struct Refusal: Error {}
    var mood = "good"
    var count = 1
    static var initial: Moody { .init() }
    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mood = (try? container.decode(String.self, forKey: .mood)) ?? "unknown"
        count = try container.decode(Int.self, forKey: .count)
        if mood == "bad" || mood == "unknown" && count < 0 { throw Refusal() }
    }
}

/// A type that reads through a super decoder that isn't always there.
private struct Inherited: Contrived {
    var base = Point()
    var own = 3
    static var initial: Inherited { .init() }
    enum CodingKeys: CodingKey { case own }
    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        own = try container.decode(Int.self, forKey: .own)
        base = try Point(from: container.superDecoder())
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(own, forKey: .own)
        try base.encode(to: container.superEncoder())
    }
}

/// A class that checks the properties it inherits.
private final class Checked: Contrived {
    var low = 1
    var parts: [Point?] = []
    static var initial: Checked { Checked() }
    init() {}
    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard !container.contains(.parts) || container.contains(.low) else { throw CocoaError(.coderReadCorrupt) }
        low = try container.decodeIfPresent(Int.self, forKey: .low) ?? -1
        parts = try container.decode([Point?].self, forKey: .parts)
    }
}

@Suite("Bytes for an initializer of a contrived kind", .ownCache)
struct ContrivedInitializerTests {
    private static let cases: [(any Contrived.Type, [String])] = [
        (
            Alternatives.self,
            [#"{"place":{"x":71},"name":"72"}"#, #"{"place":{"x":[73]},"name":74}"#, #"{"place":"75"}"#]
        ),
        (Together.self, [#"{"a":71,"b":72,"c":70}"#, #"{"a":73,"b":72,"c":71}"#, #"{"a":"71","b":72}"#]),
        (
            Open.self,
            [#"{"a":71,"b":"72","c":73}"#, "{" + (0..<90).map { "\"k\($0)\":\"\($0)\"" }.joined(separator: ",") + "}"]
        ),
        (ByHand.self, [#"{"points":[{"x":71,"y":72},{"x":73,"y":74}],"name":75}"#, #"{"points":[{"x":76,"y":77}]}"#]),
        (ByHand.self, [#"{"points":[{"x":71},{"x":72,"y":73}],"name":"74"}"#, #"{"points":[71],"name":72}"#]),
        (Nested.self, [#"{"size":{"width":71}}"#, #"{"size":{"width":71,"height":"72"}}"#, #"{"size":73}"#]),
        (Opening.self, [#"{"size":71,"tags":"72","x":73,"y":"74"}"#, #"{"tags":[75],"x":{"y":76}}"#]),
        (Wrapper.self, [#"{"x":71}"#, #"{"x":71,"y":"72"}"#, #"{"y":{"x":73}}"#]),
        (Twice.self, [#"{"point":{"x":71}}"#, #"{"point":{"x":71,"y":"72"}}"#, #"{"point":[73]}"#]),
        (Dependent.self, [#"{"number":71,"limits":{"max":60}}"#, #"{"number":71,"limits":{"min":72}}"#]),
        (Moody.self, [#"{"mood":"bad","count":71}"#, #"{"mood":72,"count":"73"}"#, #"{"mood":74,"count":-75}"#]),
        (Inherited.self, [#"{"own":71}"#, #"{"own":"71","super":{"x":72}}"#, #"{"own":71,"super":73}"#]),
        (Checked.self, [#"{"parts":[{"x":71},null]}"#, #"{"low":"71","parts":[{"x":72,"y":73}]}"#, #"{"parts":[]}"#]),
    ]

    @Test("are read the same twice, stay as they are, and are quarantined where a write loses any of them")
    func nothingInSilence() throws {
        let store = MemoryDefaults()
        try EventCollector().collect {
            try CurrentStore.with(store) {
                for (type, stored) in Self.cases {
                    for json in stored {
                        try check(type, Data(json.utf8), in: store)
                    }
                }
            }
        }
    }

    @Test("are used apart from the containers in them that can't be opened, however many these are")
    func containers() throws {
        let parts = [
            ("size", #"{"width":71}"#, "72"), ("tags", #"["73"]"#, "74"), ("x", #"{"x":75}"#, #""76""#),
            ("y", "77", "[]"),
        ]
        let initial = [#"{"width":1}"#, #"["a"]"#, #"{"x":2}"#, "3"]
        let store = MemoryDefaults()
        try CurrentStore.with(store) {
            // Each part is good, of another kind, or missing.
            for number in 0..<81 {
                let states = sequence(first: number) { $0 / 3 }.prefix(4).map { $0 % 3 }
                let stored = zip(parts, states).filter { $1 < 2 }.map { #""\#($0.0)":\#($1 == 0 ? $0.1 : $0.2)"# }
                let json = "{" + stored.joined(separator: ",") + "}"
                try store.set(Data(json.utf8), forKey: "Contrived")
                let (value, report) = try #require(try Opening.loadWithReport(), "\(json)")
                let expected = parts.indices.map {
                    #""\#(parts[$0].0)":\#(states[$0] == 0 ? parts[$0].1 : initial[$0])"#
                }
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                let found = String(decoding: try encoder.encode(value), as: UTF8.self)
                #expect(found == "{" + expected.joined(separator: ",") + "}", "\(json)")
                func names(_ state: Int) -> [String] { zip(parts, states).filter { $1 == state }.map(\.0.0) }
                #expect(report.unusablePaths.sorted() == names(1).sorted(), "\(json)")
                #expect(report.filledIn.sorted() == names(2).sorted(), "\(json)")
            }
        }
    }

    private func check<Settings: Contrived>(_ type: Settings.Type, _ data: Data, in store: MemoryDefaults) throws {
        let text = "\(type): \(String(decoding: data, as: UTF8.self))"
        try store.set(data, forKey: "Contrived")
        let outcomes = (0..<2).map { _ in try? Settings.loadWithReport() }
        let values = try outcomes.map { try $0.map { try DefaultsCoder.json.encode($0.value) } }
        #expect(values[0] == values[1] && outcomes[0]?.report == outcomes[1]?.report, "\(text)")
        #expect(store.data(forKey: "Contrived") == data, "\(text)")
        if let value = outcomes[0]?.value {
            try value.save()
        } else {
            try Settings.initial.save()
        }
        let isKept = try numbers(in: data).isSubset(of: numbers(in: #require(store.data(forKey: "Contrived"))))
        let quarantined = try Settings.quarantined().map(\.data)
        #expect(isKept ? quarantined.isEmpty || quarantined == [data] : quarantined == [data], "\(text)")
        #expect(try Settings.loadWithReport()?.report.isEmpty == true, "\(text)")
        try Settings.removeQuarantined()
    }

    /// All numbers from 60 on, as text too; no default has such numbers.
    private func numbers(in data: Data) -> Set<String> {
        let words = String(decoding: data, as: UTF8.self).split { !$0.isNumber }.map(String.init)
        return Set(words.filter { (60...99).contains(Int($0) ?? 0) })
    }
}
