import Default
import DefaultJournal
import Foundation
import Testing

/// A counter of decodings in the test's own task.
private enum Decodings {
    @TaskLocal static var count: Locked<Int>?

    static func note() {
        count?.withLock { $0 += 1 }
    }

}

/// Expects a body to decode a number of times.
private func expectDecodings(
    _ number: Int,
    sourceLocation: SourceLocation = #_sourceLocation,
    in body: () throws -> Void
) throws {
    let count = Locked(0)
    try Decodings.$count.withValue(count, operation: body)
    #expect(count.withLock { $0 } == number, sourceLocation: sourceLocation)
}

/// A type that consists only of values.
private struct Plain: DefaultStorable, Equatable {
    var name = "bright"
    var sizes: [String: [Double?]] = ["a": [1, nil]]
    var kind = Kind.some(URL(string: "https://example.com/a"))
    var date = Date.distantPast

    enum Kind: Codable, Equatable {
        case none
        case some(URL?)
    }

    enum CodingKeys: CodingKey {
        case name, sizes, kind, date
    }

    static var defaults: CurrentStore { CurrentStore() }

    init() {}

    init(from decoder: any Decoder) throws {
        Decodings.note()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        sizes = try container.decode([String: [Double?]].self, forKey: .sizes)
        kind = try container.decode(Kind.self, forKey: .kind)
        date = try container.decode(Date.self, forKey: .date)
    }
}

/// A type with shared mutable state.
private struct Shared: DefaultStorable {
    final class Part: Codable {
        var count = 0
    }

    var part = Part()

    static var defaults: CurrentStore { CurrentStore() }

    init() {}

    init(from decoder: any Decoder) throws {
        Decodings.note()
        part = try decoder.singleValueContainer().decode([String: Part].self)["part"] ?? Part()
    }
}

private final class Object: DefaultStorable {
    var count = 0
    static var defaults: CurrentStore { CurrentStore() }
}

private protocol Shape: Codable {}

private struct Square: Shape { var side = 1.0 }

private final class Circle: Shape { var radius = 1.0 }

/// A type that may hold a struct or an object.
private struct Drawing: DefaultStorable {
    var shape: any Shape

    init(shape: any Shape) { self.shape = shape }

    init(from decoder: any Decoder) throws {
        let shape: any Shape = if let circle = try? Circle(from: decoder) { circle } else { try Square(from: decoder) }
        self.init(shape: shape)
    }

    func encode(to encoder: any Encoder) throws { try shape.encode(to: encoder) }
}

private struct Figure: DefaultStorable {
    enum Content: Codable {
        case plain(String)
        case round(Circle)

        var circle: Circle? {
            if case .round(let circle) = self { circle } else { nil }
        }
    }

    var content: Content
}

/// A type whose values get a new identity at each decoding.
private struct Visit: DefaultStorable {
    let id = UUID()
    var name: String

    enum CodingKeys: CodingKey { case name }
}

/// A type that is stored under a mask that may change.
private struct Secret: DefaultStorable {
    var text: String

    static let mask = Locked<UInt8>(0xAA)
    static var defaultCoder: DefaultsCoder { DefaultsCoder(encoder: Coder(), decoder: Coder()) }

    struct Coder: DefaultsEncoder, DefaultsDecoder {
        func encode<Value: Encodable>(_ value: Value) throws -> Data { masked(try JSONEncoder().encode(value)) }
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            try JSONDecoder().decode(type, from: masked(data))
        }
        private func masked(_ data: Data) -> Data {
            let mask = Secret.mask.withLock { $0 }
            return Data(data.map { $0 ^ mask })
        }
    }
}

@Suite("An unchanged value", .ownCache)
struct ReuseTests {
    @Test(
        "is decoded for the first two reads, and again after each change, made anywhere",
        arguments: StoreKind.allCases
    )
    func unchanged(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            var value = Plain()
            try value.save(withKey: "\(kind)")
            func read() -> Plain? { Plain.read(forKey: "\(kind)") }
            try expectDecodings(1) { #expect(read() == value) }
            // It is decoded twice, to find out whether the value can be shared.
            try expectDecodings(2) { #expect(read() == value) }
            try expectDecodings(0) { for _ in 0..<10 { #expect(read() == value) } }
            value.name = "dark"
            value.kind = .none
            try store.set(JSONEncoder().encode(value), forKey: "\(kind)")
            try expectDecodings(3) { for _ in 0..<10 { #expect(read() == value) } }
            try store.removeObject(forKey: "\(kind)")
            #expect(read() == nil)
            // Equal bytes in another store are the same value.
            try MemoryDefaults().df.save(value, forKey: "\(kind)")

            let key = DefaultsKey<Plain?>("typed \(kind)")
            Defaults(suite: store)[key] = value
            try expectDecodings(3) { for _ in 0..<10 { #expect(Defaults(suite: store)[key] == value) } }
        }
    }

    @Test("is decoded no more when two stores are read in turn, each with its own value", arguments: StoreKind.allCases)
    func stores(kind: StoreKind) throws {
        try kind.withStore { one in
            try kind.withStore { other in
                var value = Plain()
                try value.save(to: one)
                value.name = "dark"
                try value.save(to: other)
                try expectDecodings(6) {
                    for _ in 0..<20 {
                        #expect(Plain.read(from: one)?.name == "bright")
                        #expect(Plain.read(from: other)?.name == "dark")
                    }
                }
                // A write that replaces known bytes decodes nothing either.
                try expectDecodings(0) { for store in [one, other] { try value.save(to: store) } }
            }
        }
    }

    @Test("is decoded at each read if a reader could change it for others", arguments: StoreKind.allCases)
    func objects(kind: StoreKind) throws {
        try kind.withCurrentStore { _ in
            try Shared().save(withKey: "shared \(kind)")
            for _ in 0..<4 {
                let shared = try #require(try Shared.load(forKey: "shared \(kind)"))
                #expect(shared.part.count == 0)
                shared.part.count = 5
            }
            try Object().save(withKey: "object \(kind)")
            for _ in 0..<4 {
                let object = try #require(try Object.load(forKey: "object \(kind)"))
                #expect(object.count == 0)
                object.count = 5
            }
        }
    }

    @Test("is decoded at each read if a property of protocol type holds an object, whatever it held before")
    func existentials() throws {
        let store = MemoryDefaults()
        try Drawing(shape: Square()).save(to: store)
        for _ in 0..<4 {
            #expect(Drawing.read(from: store)?.shape is Square)
        }
        try Drawing(shape: Circle()).save(to: store)
        for _ in 0..<4 {
            let circle = try #require(Drawing.read(from: store)?.shape as? Circle)
            #expect(circle.radius == 1)
            circle.radius = 2
        }
        try Figure(content: .plain("x")).save(to: store)
        for _ in 0..<4 {
            #expect(Figure.read(from: store)?.content.circle == nil)
        }
        try Figure(content: .round(Circle())).save(to: store)
        for _ in 0..<4 {
            let circle = try #require(Figure.read(from: store)?.content.circle)
            #expect(circle.radius == 1)
            circle.radius = 2
        }
    }

    @Test("is decoded at each read if a property that isn't coded differs between decodings")
    func uncodedProperty() throws {
        let store = MemoryDefaults()
        try Visit(name: "x").save(to: store)
        let visits = try (0..<5).map { _ in try #require(Visit.read(from: store)) }
        #expect(Set(visits.map(\.id)).count == 5)
    }

    @Test("is decoded at each read by a custom coder, so that a changed key is noticed")
    func ownCoder() throws {
        let store = MemoryDefaults()
        try Secret(text: "s").save(to: store)
        for _ in 0..<4 {
            #expect(try Secret.load(from: store)?.text == "s")
        }
        let bytes = store.data(forKey: "Secret")
        Secret.mask.withLock { $0 = 0x55 }
        for _ in 0..<4 {
            expectError(.undecodable) { try Secret.load(from: store) }
        }
        // A value that can't be decoded with the new key is quarantined, although the old key could decode it.
        try Secret(text: "t").save(to: store)
        #expect(try Secret.quarantined(in: store).map(\.data) == [bytes])
        #expect(try Secret.load(from: store)?.text == "t")
    }

    @Test("is never read as an earlier value while many threads write and read")
    func threads() throws {
        let store = MemoryDefaults()
        let key = DefaultsKey<[[Int]?]>("k")
        try onEightThreads {
            let defaults = Defaults(suite: store)
            for _ in 0..<500 {
                defaults.suite.withExclusively {
                    let before = defaults[key].count
                    defaults[key].append([before])
                    #expect(defaults[key].count == before + 1)
                }
                if defaults[key].count > 20 {
                    defaults.reset(key)
                }
            }
        }
    }
}

extension KeyValueStorage {
    fileprivate func withExclusively(_ body: () -> Void) {
        try? withExclusiveAccess(body)
    }
}
