import Foundation
import Testing

@testable import Default
import DefaultJournal

/// A value with bounds, which only the initializer compares with each other.
private struct Bounded: Codable, Equatable {
    var bounds = ["low": 1, "high": 9]
    var value = 5

    enum CodingKeys: CodingKey { case bounds, value }

    init(bounds: [String: Int] = ["low": 1, "high": 9], value: Int = 5) {
        (self.bounds, self.value) = (bounds, value)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        bounds = try container.decode([String: Int].self, forKey: .bounds)
        value = try container.decode(Int.self, forKey: .value)
        guard let low = bounds["low"], let high = bounds["high"], low <= value, value <= high else {
            throw CocoaError(.coderReadCorrupt)
        }
    }
}

/// A type with a part that it can't do without.
private struct Owner: Codable, Equatable {
    struct Limits: Codable, Equatable {
        var name = "n"
        var byName = ["max": 9]
    }
    var title = "t"
    var limits = Limits()

    enum CodingKeys: CodingKey { case title, limits }

    init(title: String = "t", limits: Limits = Limits()) { (self.title, self.limits) = (title, limits) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        title = try container.decode(String.self, forKey: .title)
        limits = try container.decode(Limits.self, forKey: .limits)
        guard limits.byName["max"] != nil else {
            throw CocoaError(.coderReadCorrupt)
        }
    }
}

/// A type that reads a count under one of two names.
private struct Amount: Codable, Equatable {
    var title = "t"
    var count = 1

    enum CodingKeys: CodingKey { case title, count, amount }

    init(title: String = "t", count: Int = 1) { (self.title, self.count) = (title, count) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        title = try container.decode(String.self, forKey: .title)
        if let count = try? container.decode(Int.self, forKey: .count) {
            self.count = count
        } else {
            count = try container.decode(Int.self, forKey: .amount)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(title, forKey: .title)
        try container.encode(count, forKey: .count)
    }
}

/// A type that needs many parts, and counts its decodings.
private struct Wide: Codable {
    static let decodings = Locked(0)
    static let count = 200
    var numbers: [Int]

    init(numbers: [Int]) { self.numbers = numbers }

    init(from decoder: any Decoder) throws {
        Self.decodings.withLock { $0 += 1 }
        let container = try decoder.container(keyedBy: PathKey.self)
        numbers = try (0..<Self.count).map { try container.decode(Int.self, forKey: PathKey(stringValue: "n\($0)")) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PathKey.self)
        for (index, number) in numbers.enumerated() {
            try container.encode(number, forKey: PathKey(stringValue: "n\(index)"))
        }
    }
}

/// A type that goes through all of its keys, and counts its decodings.
private struct Tally: Codable {
    static let decodings = Locked(0)
    var title: String?
    var note: String?
    var entries: [String: Int] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        Self.decodings.withLock { $0 += 1 }
        let container = try decoder.container(keyedBy: PathKey.self)
        for key in container.allKeys where key.stringValue.hasPrefix("n") && key.stringValue != "note" {
            entries[key.stringValue] = try container.decode(Int.self, forKey: key)
        }
        // These are decoded after the entries, so until then they look like entries.
        title = try container.decode(String.self, forKey: PathKey(stringValue: "title"))
        note = try container.decodeIfPresent(String.self, forKey: PathKey(stringValue: "note"))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PathKey.self)
        for (name, entry) in entries {
            try container.encode(entry, forKey: PathKey(stringValue: name))
        }
        try container.encodeIfPresent(title, forKey: PathKey(stringValue: "title"))
        try container.encodeIfPresent(note, forKey: PathKey(stringValue: "note"))
    }
}

/// A type that tries to decode its home as several types.
private struct Traveller: Codable, Equatable {
    struct Home: DefaultProviding, Equatable {
        var street = "s"
        var town = "t"
        static var defaultValue: Home? { Home() }
    }
    struct Boat: DefaultProviding, Equatable {
        var name = "b"
        var port = "p"
        static var defaultValue: Boat? { Boat() }
    }
    var age = 1
    var homes = ["none"]

    enum CodingKeys: CodingKey { case age, homes }

    init(age: Int = 1, homes: [String] = ["none"]) { (self.age, self.homes) = (age, homes) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let names = try? container.decode([String].self, forKey: .homes) {
            homes = names
        } else if let all = try? container.decode([Home].self, forKey: .homes) {
            homes = all.map { "\($0.street) in \($0.town)" }
        } else if let home = try? container.decode(Home.self, forKey: .homes) {
            homes = ["\(home.street) in \(home.town)"]
        } else {
            let boat = try container.decode(Boat.self, forKey: .homes)
            homes = ["\(boat.name) at \(boat.port)"]
        }
        age = try container.decode(Int.self, forKey: .age)
    }
}

@Suite("Filling in a type with its own initializer", .ownCache)
struct InitializerCompletionTests {
    private func fillIn<Value: Codable>(
        _ json: String,
        with fallback: Value,
        _ check: (Value, LoadReport) -> Void
    ) throws {
        for coder in [DefaultsCoder.json, .propertyList] {
            let data = try coder.converted(json)
            let outcome = try #require(Filling.run(Value.self, on: data, default: fallback, coder: coder))
            check(try #require(outcome.value as? Value), outcome.filling.report)
        }
    }

    @Test("does not count a name as filled in that neither value has")
    func otherName() throws {
        try fillIn(#"{"title":"x","count":"many"}"#, with: Amount()) { value, report in
            #expect(value == Amount(title: "x", count: 1))
            #expect(report.filledIn.isEmpty)
            #expect(report.unusablePaths == ["count"])
        }
    }

    @Test("leaves an optional property nil that is not at fault when the initializer rejects others")
    func missingOptional() throws {
        struct Range: Codable, Equatable {
            var low = 1
            var high = 9
            var note: String? = "default"
            enum CodingKeys: CodingKey { case low, high, note }
            init() {}
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                low = try container.decode(Int.self, forKey: .low)
                high = try container.decode(Int.self, forKey: .high)
                note = try container.decodeIfPresent(String.self, forKey: .note)
                guard low <= high else {
                    throw CocoaError(.coderReadCorrupt)
                }
            }
        }
        try fillIn(#"{"low":5,"high":2}"#, with: Range()) { value, report in
            #expect((value.low, value.high, value.note) == (1, 2, nil))
            #expect(report.filledIn.isEmpty)
            #expect(report.unusablePaths == ["low"])
        }
    }

    @Test("calls the initializer about once for each part that is at fault")
    func manyFaults() throws {
        let parts = (0..<Wide.count).map { "\"n\($0)\":\($0.isMultiple(of: 2) ? "\"x\"" : "\($0)")" }
        let fallback = Wide(numbers: Array(repeating: -1, count: Wide.count))
        Wide.decodings.withLock { $0 = 0 }
        try fillIn("{\(parts.joined(separator: ","))}", with: fallback) { value, report in
            #expect(value.numbers == (0..<Wide.count).map { $0.isMultiple(of: 2) ? -1 : $0 })
            #expect(report.filledIn.isEmpty)
            #expect(report.unusable.count == Wide.count / 2)
        }
        // The count is for both formats together.
        #expect(Wide.decodings.withLock { $0 } < 2 * (Wide.count / 2 + 5))
    }

    @Test("keeps the entries that can be used of a type that goes through all keys, unless there are many others")
    func manyEntries() throws {
        func json(_ count: Int, every step: Int) -> String {
            let parts = (0..<count).map { "\"n\($0)\":\($0.isMultiple(of: step) ? "\"x\"" : "\($0)")" }
            return #"{"title":"t","note":"n",\#(parts.joined(separator: ","))}"#
        }
        try fillIn(json(1_000, every: 50), with: Tally()) { value, report in
            #expect(value.title == "t" && value.note == "n")
            #expect(value.entries.count == 980)
            #expect(value.entries.allSatisfy { $0.key == "n\($0.value)" })
            #expect(report.filledIn.isEmpty)
            #expect(report.unusable.count == 20)
        }
        // The value is unusable as a whole: a read throws, and a write quarantines it.
        Tally.decodings.withLock { $0 = 0 }
        let data = Data(json(1_000, every: 2).utf8)
        #expect(Filling.run(Tally.self, on: data, default: Tally(), coder: .json) == nil)
        #expect(Tally.decodings.withLock { $0 } < 500)
    }

    @Test("takes a missing property that may be null from the default too")
    func missingNullable() throws {
        struct Choice: Codable, Equatable {
            var number: Int?
            init(_ number: Int?) { self.number = number }
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                number = container.decodeNil() ? nil : try container.decode(Int.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(number)
            }
        }
        struct Choices: Codable, Equatable {
            var name = "n"
            var choice = Choice(5)
        }
        try fillIn(#"{"name":"x"}"#, with: Choices()) { value, report in
            #expect(value == Choices(name: "x"))
            #expect(report == LoadReport(filledIn: ["choice"]))
        }
    }

    @Test("sees the default's entry in place of one that can't be used, so that the others are kept")
    func neededEntry() throws {
        try fillIn(#"{"title":"x","limits":{"name":"y","byName":{"max":"many","min":1}}}"#, with: Owner()) {
            #expect($0 == Owner(title: "x", limits: .init(name: "y", byName: ["max": 9, "min": 1])))
            #expect($1.filledIn.isEmpty)
            #expect($1.unusablePaths == ["limits.byName.max"])
        }
    }

    @Test("gives the reason for which a part that has faults is replaced as a whole")
    func firstReason() throws {
        try fillIn(#"{"bounds":{"low":4,"high":2,"x":"many"},"value":6}"#, with: Bounded()) { value, report in
            #expect(value == Bounded(value: 6))
            #expect(report.unusable.map { "\($0.path) \($0.reason)" } == ["bounds was rejected with CocoaError"])
        }
    }

    @Test("does not report what the default has in a filled-in value and the type doesn't read")
    func unreadParts() throws {
        struct Stamp: Codable, Equatable {
            var name = "n"
            var note: String? = "written only"
            enum CodingKeys: CodingKey { case name, note }
            init() {}
            init(from decoder: any Decoder) throws {
                name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
                note = nil
            }
        }
        struct Stamped: Codable, Equatable {
            var title = "t"
            var stamp = Stamp()
        }
        try fillIn(#"{"title":"x"}"#, with: Stamped()) { value, report in
            #expect(value.title == "x" && value.stamp.name == "n" && value.stamp.note == nil)
            #expect(report == LoadReport(filledIn: ["stamp"]))
        }
    }

    @Test(
        "decodes a part as each type that the initializer tries",
        arguments: [
            (#"["x","y"]"#, ["x", "y"]),
            (#"{"street":"x","town":"y"}"#, ["x in y"]),
            (#"{"name":"x","port":"y"}"#, ["x at y"]),
        ]
    )
    func alternatives(_ stored: String, _ homes: [String]) throws {
        try fillIn(#"{"homes":\#(stored)}"#, with: Traveller()) { value, report in
            #expect(value == Traveller(homes: homes))
            #expect(report == LoadReport(filledIn: ["age"]))
        }
    }

    @Test("replaces a part that the initializer tries to decode as several types, and that is none of them as it is")
    func filledInAlternatives() throws {
        try fillIn(#"{"homes":[{"town":"x"},{"street":"y"}],"age":"old"}"#, with: Traveller()) { value, report in
            #expect(value == Traveller())
            #expect(report.filledIn.isEmpty)
            #expect(report.unusablePaths == ["age", "homes"])
        }
        try fillIn(#"{"homes":{"name":"x"},"age":5}"#, with: Traveller()) { value, report in
            #expect(value == Traveller(age: 5))
            #expect(report.filledIn.isEmpty)
            #expect(report.unusablePaths == ["homes"])
        }
        try fillIn(#"{"homes":7,"age":5}"#, with: Traveller()) { value, report in
            #expect(value == Traveller(age: 5))
            #expect(report.unusablePaths == ["homes"])
        }
    }

    @Test("replaces a value that could be filled in as several types, and keeps one that is any of them as it is")
    func wholeAlternatives() throws {
        enum Dwelling: Codable, Equatable {
            case home(Traveller.Home)
            case boat(Traveller.Boat)
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                do {
                    self = .home(try container.decode(Traveller.Home.self))
                } catch {
                    self = .boat(try container.decode(Traveller.Boat.self))
                }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .home(let home): try container.encode(home)
                case .boat(let boat): try container.encode(boat)
                }
            }
        }
        struct Owner: Codable, Equatable {
            var first = Dwelling.boat(.init())
            var second = Dwelling.home(.init())
        }
        let json = #"{"first":{"name":"x","port":"y"},"second":{"port":"z"}}"#
        try fillIn(json, with: Owner()) { value, report in
            #expect(value == Owner(first: .boat(.init(name: "x", port: "y"))))
            #expect(report.filledIn.isEmpty)
            #expect(report.unusablePaths == ["second"])
        }
    }

    @Test("fills in what an initializer decodes after a part that it rejects")
    func partsAfterRejectedOne() throws {
        struct Strict: Codable, Equatable {
            var age = 1
            var homes: [Traveller.Home] = []
            init(age: Int = 1, homes: [Traveller.Home] = []) { (self.age, self.homes) = (age, homes) }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                age = try container.decode(Int.self, forKey: .age)
                guard age < 100 else {
                    throw CocoaError(.coderReadCorrupt)
                }
                homes = try container.decode([Traveller.Home].self, forKey: .homes)
            }
        }
        try fillIn(#"{"age":1000,"homes":[{"town":"x"}]}"#, with: Strict()) { value, report in
            #expect(value == Strict(homes: [.init(town: "x")]))
            #expect(report.filledIn == ["homes[0].street"])
            #expect(report.unusablePaths == ["age"])
        }
    }

    @Test("finds what is at fault in an optional that has to be there")
    func requiredOptional() throws {
        struct Box<Content: Codable & Equatable>: Codable, Equatable { var content: Content }
        struct Boxes: Codable, Equatable {
            var number = Box<Int?>(content: 5)
            var name = Box<String?>(content: "n")
            var title = "t"
        }
        try fillIn(#"{"number":{"content":"x"},"name":{},"title":"y"}"#, with: Boxes()) { value, report in
            #expect(value == Boxes(title: "y"))
            #expect(report.filledIn == ["name.content"])
            #expect(report.unusablePaths == ["number.content"])
        }
    }

    @Test("fills in types with integers of 128 bits")
    func wideIntegers() throws {
        struct Amounts: Codable, Equatable {
            var large: Int128 = 1
            var larger: UInt128? = 2
            var title = "t"
        }
        try #require(JSONDecoder().decode(Int128.self, from: Data("5".utf8)) == 5)
        let data = Data(#"{"large":5,"larger":6}"#.utf8)
        let outcome = Filling.run(Amounts.self, on: data, default: Amounts(), coder: .json)
        #expect(outcome?.value as? Amounts == Amounts(large: 5, larger: 6))
    }
}
