import Default
import Foundation
import Testing

private enum Mode: String, Codable {
    case fast
}

/// A custom coder: JSON with every byte inverted.
private struct Inverted: DefaultsEncoder, DefaultsDecoder {
    func encode<Value: Encodable>(_ value: Value) throws -> Data {
        Data(try JSONEncoder().encode(value).map { ~$0 })
    }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: Data(data.map { ~$0 }))
    }
}

private struct Secret: DefaultStorable, Equatable {
    var text: String
    static let defaults = MemoryDefaults()
    static var defaultCoder: DefaultsCoder { DefaultsCoder(encoder: Inverted(), decoder: Inverted()) }
}

extension CodingUserInfoKey {
    fileprivate static let scale = CodingUserInfoKey(rawValue: "scale")!
}

/// A type that reads a level multiplied by a number from the decoder's userInfo.
private struct Scaled: DefaultStorable, Equatable {
    struct Decoder: DefaultsDecoder {
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            let decoder = JSONDecoder()
            decoder.userInfo[.scale] = 3
            return try decoder.decode(type, from: data)
        }
    }
    var level = 0
    var name = "none"
    static let defaultValue = Scaled()
    static var defaultCoder: DefaultsCoder { DefaultsCoder(encoder: JSONEncoder(), decoder: Decoder()) }

    init(level: Int = 0) { self.level = level }

    init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        level = try container.decode(Int.self, forKey: .level) * (decoder.userInfo[.scale] as? Int ?? 1)
        name = try container.decode(String.self, forKey: .name)
    }

    private enum CodingKeys: CodingKey { case level, name }
}

@Suite("A coder")
struct CoderTests {
    @Test("encodes single values of every kind", arguments: [false, true])
    func topLevelValues(asPropertyList: Bool) throws {
        let coder: DefaultsCoder = asPropertyList ? .propertyList : .json
        let store = MemoryDefaults()
        func expectRoundTrip<Value: Codable & Equatable>(_ value: Value) throws {
            try store.df.save(value, forKey: "k", encoder: coder)
            #expect(try store.df.load(forKey: "k", type: Value.self, decoder: coder) == value)
            if asPropertyList {
                try store.df.save(value, forKey: "k", encoder: PropertyListEncoder())
                #expect(try store.df.load(forKey: "k", type: Value.self, decoder: PropertyListDecoder()) == value)
            } else {
                try store.df.save(value, forKey: "k", encoder: JSONEncoder())
                #expect(try store.df.load(forKey: "k", type: Value.self, decoder: JSONDecoder()) == value)
            }
        }
        try expectRoundTrip(5)
        try expectRoundTrip(UInt64.max)
        try expectRoundTrip(-1.5)
        try expectRoundTrip("text")
        try expectRoundTrip(true)
        try expectRoundTrip(Date(timeIntervalSinceReferenceDate: 1.25))
        try expectRoundTrip(Data([1, 2]))
        try expectRoundTrip(URL(string: "https://example.com/a?b"))
        try expectRoundTrip(Mode.fast)
        try expectRoundTrip(Int?.none)
        try expectRoundTrip(Int?.some(4))
        try expectRoundTrip([1, 2])
        try expectRoundTrip(["a": [Mode.fast]])
    }

    @Test("keeps a single value in a property list under its own key, and reads it there in either format")
    func wrapper() throws {
        let store = MemoryDefaults()
        try store.df.save(5, forKey: "k", encoder: DefaultsCoder.propertyList)
        let bytes = try #require(store.data(forKey: "k"))
        #expect(try PropertyListDecoder().decode([String: Int].self, from: bytes) == ["org.default.value": 5])
        try store.set(Data(#"{"org.default.value":6}"#.utf8), forKey: "k")
        #expect(try store.df.load(forKey: "k", type: Int.self, decoder: DefaultsCoder.json) == 6)
        // If the format can hold the value itself, there is no wrapper.
        try store.df.save(7, forKey: "k", encoder: DefaultsCoder.json)
        #expect(store.data(forKey: "k") == Data("7".utf8))
        try store.df.save([7], forKey: "k", encoder: DefaultsCoder.propertyList)
        let list = try #require(store.data(forKey: "k"))
        #expect(try PropertyListDecoder().decode([Int].self, from: list) == [7])
    }

    @Test("encodes equal values to equal bytes in JSON")
    func stableJSON() throws {
        let value = Dictionary(uniqueKeysWithValues: (0..<50).map { ("key\($0)", $0) })
        let copy = Dictionary(uniqueKeysWithValues: value.map { ($0.key, $0.value) }.shuffled())
        #expect(try DefaultsCoder.json.encode(value) == DefaultsCoder.json.encode(copy))
    }

    @Test("does not confuse a stored array or dictionary with the value in it")
    func wrappersAreNotGuessed() throws {
        let store = MemoryDefaults()
        for coder in [DefaultsCoder.json, .propertyList] {
            try store.df.save([5], forKey: "k", encoder: coder)
            expectError(.undecodable) { try store.df.load(forKey: "k", type: Int.self, decoder: coder) }
            try store.df.save(["value": 5], forKey: "k", encoder: coder)
            expectError(.undecodable) { try store.df.load(forKey: "k", type: Int.self, decoder: coder) }
        }
    }

    // A started task inherits the task-local decoder, whose functions must not be kept after the decoding.
    @Test("decodes values whose initializers start tasks that go on")
    func tasksOfInitializers() throws {
        let outcome = try TestHelper.run(["tasks-of-initializers"])
        #expect(outcome.status == 0)
        #expect(outcome.output == "[\"new\"]\n")
    }

    @Test("may be a custom one")
    func ownCoder() throws {
        try Secret(text: "x").save()
        let bytes = try #require(Secret.defaults.data(forKey: "Secret"))
        #expect(Data(bytes.map { ~$0 }) == Data(#"{"text":"x"}"#.utf8))
        #expect(Secret.read() == Secret(text: "x"))
    }

    @Test("gives its decoder's userInfo to initializers, those of values that lack properties too")
    func userInfo() throws {
        let store = MemoryDefaults()
        try store.set(Data(#"{"level":2,"name":"none"}"#.utf8), forKey: "Scaled")
        #expect(try Scaled.load(from: store) == Scaled(level: 6))
        try store.set(Data(#"{"level":4}"#.utf8), forKey: "Scaled")
        #expect(try Scaled.load(from: store) == Scaled(level: 12))
    }
}
