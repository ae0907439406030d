import Default
import Foundation
import Testing

private enum Theme: String, Codable { case light, dark }
private enum Rank: Int, Codable { case first = 1, second }
private struct Options: OptionSet, Codable, Hashable { let rawValue: Int }
private struct Point: Codable, Hashable { var x = 5 }

/// The ways to store and read a value under a key.
private enum FrontEnd: CaseIterable {
    case key, container, storage, df

    func save<Value: Codable & Sendable>(_ value: Value, by key: Defaults.Key<Value?>, to store: any DefaultsStore) {
        switch self {
        case .key: Defaults(suite: store)[key] = value
        case .container: KeyValueContainer<Value>(storage: store, key: key.storedName).value = value
        case .storage: store.setValue(value, forKey: key.storedName)
        case .df: store.df.store(value, forKey: key.storedName)
        }
    }

    func load<Value: Codable & Sendable>(by key: Defaults.Key<Value?>, from store: any DefaultsStore) -> Value? {
        switch self {
        case .key: Defaults(suite: store)[key]
        case .container: KeyValueContainer<Value>(storage: store, key: key.storedName).value
        case .storage: store.value(forKey: key.storedName)
        case .df: store.df.fetch(forKey: key.storedName, type: Value.self)
        }
    }
}

/// A store with one value, which another process removes just after it has been read.
private final class Vanishing: DefaultsStore, Sendable {
    let storeDescription = "Vanishing"
    private let contents = MemoryDefaults()

    init(_ value: PropertyListValue) throws { try contents.setStoredValue(value, forKey: "n") }

    func storedValue(forKey key: String) -> PropertyListValue? {
        defer { try? contents.setStoredValue(nil, forKey: "n") }
        return contents.storedValue(forKey: key)
    }

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try contents.setStoredValue(value, forKey: key)
    }

    func storedKeys() -> [String] { contents.storedKeys() }

    func flush() {}
}

/// A value of a type that all front ends know.
private struct Shared: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let check: @Sendable (any DefaultsStore) -> Void

    init<Value: Codable & Equatable & Sendable>(
        _ key: Defaults.Key<Value?>,
        _ value: Value,
        between frontEnds: [FrontEnd] = FrontEnd.allCases
    ) {
        testDescription = "\(Value.self)"
        check = { store in
            for writer in frontEnds {
                for reader in frontEnds {
                    expectEvents([]) {
                        writer.save(value, by: key, to: store)
                        #expect(reader.load(by: key, from: store) == value, "\(writer) to \(reader)")
                    }
                }
            }
            #expect(store.storedValue(forKey: "k.quarantine") == nil)
        }
    }

    static let all = [
        Shared(Defaults.Key("k"), 5),
        Shared(Defaults.Key("k"), Int8(-5)),
        Shared(Defaults.Key("k"), UInt64.max),
        Shared(Defaults.Key("k"), 0.4),
        Shared(Defaults.Key("k"), Float(0.1)),
        Shared(Defaults.Key("k"), CGFloat(0.5)),
        Shared(Defaults.Key("k"), Decimal(string: "0.1")!),
        Shared(Defaults.Key("k"), true),
        Shared(Defaults.Key("k"), "text"),
        Shared(Defaults.Key("k"), "5"),
        Shared(Defaults.Key("k"), "\"[1]\""),
        Shared(Defaults.Key("k"), Date(timeIntervalSinceReferenceDate: 5)),
        Shared(Defaults.Key("k"), Date(timeIntervalSince1970: 4_000_000_000)),
        Shared(Defaults.Key("k"), URL(string: "https://example.com/a?b=c")!),
        Shared(Defaults.Key("k"), UUID()),
        Shared(Defaults.Key("k"), Theme.dark),
        Shared(Defaults.Key("k"), Rank.second),
        Shared(Defaults.Key("k"), Options(rawValue: 3)),
        Shared(Defaults.Key("k"), Point(x: 7)),
        Shared(Defaults.Key("k"), [1, 2]),
        Shared(Defaults.Key("k"), [Theme.dark]),
        Shared(Defaults.Key("k"), [Point()]),
        Shared(Defaults.Key("k"), [Data([1])]),
        Shared(Defaults.Key("k"), ["a": URL(string: "https://example.com")!]),
        Shared(Defaults.Key("k"), Set(["a"])),
        Shared(Defaults.Key("k"), 1..<5),
        Shared(Defaults.Key("k"), [1: "a"]),
        // df stores Data as the encoder's bytes, which keys and containers read as plain Data.
        Shared(Defaults.Key("k"), Data("\"AAEC\"".utf8), between: [.key, .container, .storage]),
    ]
}

@Suite("Keys, containers and df")
struct FrontEndsTests {
    @Test("agree on a value, whichever of them stored it", arguments: StoreKind.allCases, Shared.all)
    fileprivate func agreement(kind: StoreKind, shared: Shared) throws {
        try kind.withStore { shared.check($0) }
    }

    @Test("use only the coder that is given, and read no other form", arguments: StoreKind.allCases)
    func givenCoder(kind: StoreKind) throws {
        try kind.withStore { store in
            let own = DefaultsCoder(encoder: JSONEncoder(), decoder: JSONDecoder())
            try store.setStoredValue(.integer(5), forKey: "n")
            #expect(try store.df.load(forKey: "n", type: Int.self) == 5)
            expectError(.typeMismatch) { try store.df.load(forKey: "n", type: Int.self, decoder: own) }
            expectError(.typeMismatch) { try store.df.load(forKey: "n", type: Int.self, decoder: JSONDecoder()) }
        }
    }

    @Test("read Data as what was stored, and df as what was encoded", arguments: StoreKind.allCases)
    func data(kind: StoreKind) throws {
        try kind.withStore { store in
            store.df.store(Data([0, 1, 2]), forKey: "k")
            #expect(Defaults(suite: store)[Defaults.Key<Data>("k")] == Data("\"AAEC\"".utf8))
            #expect(store.df.fetch(forKey: "k", type: Data.self) == Data([0, 1, 2]))
            Defaults(suite: store)[Defaults.Key<Data>("k")] = Data([1])
            expectError(.undecodable) { try store.df.load(forKey: "k", type: Data.self) }
        }
    }

    @Test("read a value in one look, even if it is removed just afterwards", arguments: FrontEnd.allCases)
    fileprivate func oneLook(frontEnd: FrontEnd) throws {
        for value in [PropertyListValue.integer(5), .data(Data("5".utf8))] {
            let store = try Vanishing(value)
            let collector = EventCollector()
            collector.collect {
                #expect(frontEnd.load(by: Defaults.Key<Int?>("n"), from: store) == 5, "\(value)")
            }
            #expect(collector.events.isEmpty)
        }
    }
}
