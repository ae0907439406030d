import Foundation
import Testing

@testable import Default

private struct Point: Codable, Equatable {
    var x = 0
    var y = 0
}

private struct Look: DefaultStorable, Equatable {
    var name = "bright"
    static let defaultValue = Look()
}

private struct Lacking: DefaultStorable, Equatable {
    var name = "bright"
    var size = 12
    static let defaultValue = Lacking()
}

private struct Versioned: DefaultStorable, Equatable {
    var name = "bright"
    static let defaultValue = Versioned()
    static var schemaVersion: Int { 2 }
}

private struct ListCoded: DefaultStorable, Equatable {
    var name = "bright"
    static let defaultValue = ListCoded()
    static var defaultCoder: DefaultsCoder { .propertyList }
}

extension DefaultsKeys {
    fileprivate static let count = DefaultsKey<Int>("k", default: 7)
    fileprivate static let point = DefaultsKey<Point>("k", default: Point())
}

@Suite("A value that breaks again after it was good", .ownCache)
struct RepeatedReportTests {
    /// A read, a value that it can return, and a value that it can't.
    private struct Reader: Sendable {
        let name: String
        var key = "k"
        let good: PropertyListValue
        let broken: PropertyListValue
        let read: @Sendable (any DefaultsStore) -> Void
    }

    private static let readers: [Reader] = [
        Reader(name: "number", good: .integer(1), broken: .string("text")) { _ = $0[.count] },
        Reader(name: "point", good: data(#"{"x":1,"y":2}"#), broken: data("{")) { _ = $0[.point] },
        Reader(name: "point as text", good: data(#"{"x":1,"y":2}"#), broken: .integer(1)) { _ = $0[.point] },
        Reader(name: "lacking point", good: data(#"{"x":1}"#), broken: .integer(1)) { _ = $0[.point] },
        Reader(name: "container", good: .integer(1), broken: data("{")) { store in
            let container: KeyValueContainer<Int> = store.makeContainer(key: "k")
            _ = container.value
        },
        Reader(name: "coded container", good: data(#"{"x":1,"y":2}"#), broken: data("{")) { store in
            let container: KeyValueContainer<Point> = store.makeContainer(key: "k", coder: .json)
            _ = container.value
        },
        Reader(name: "storage", good: .integer(1), broken: data("{")) { _ = $0.value(forKey: "k") as Int? },
        Reader(name: "df", good: data(#"{"x":1,"y":2}"#), broken: data("{")) {
            _ = $0.df.fetch(forKey: "k", type: Point.self)
        },
        Reader(name: "settings", key: "Look", good: data(#"{"name":"dark"}"#), broken: data("{")) {
            _ = Look.read(from: $0)
        },
        Reader(name: "settings as text", key: "Look", good: data(#"{"name":"dark"}"#), broken: .string("text")) {
            _ = Look.read(from: $0)
        },
        Reader(name: "list", key: "ListCoded", good: list(ListCoded()), broken: data("{")) {
            _ = ListCoded.read(from: $0)
        },
        Reader(name: "lacking settings", key: "Lacking", good: data(#"{"name":"dark"}"#), broken: data("{")) {
            _ = Lacking.read(from: $0)
        },
        Reader(name: "version", key: "Versioned", good: data(#"{"name":"dark"}"#), broken: data("{")) {
            _ = Versioned.read(from: $0)
        },
        Reader(name: "live", key: "Look", good: data(#"{"name":"dark"}"#), broken: data("{")) {
            _ = LiveSettings<Look>(in: $0).name
        },
    ]

    private static func data(_ text: String) -> PropertyListValue { .data(Data(text.utf8)) }

    private static func list(_ value: some Encodable) -> PropertyListValue {
        .data((try? PropertyListEncoder().encode(value)) ?? Data())
    }

    @Test("is reported again, by each kind of read and on each kind of store", arguments: StoreKind.allCases)
    func again(kind: StoreKind) throws {
        for reader in Self.readers {
            try kind.withStore { store in
                // A value that is read several times is cached.
                func read() { for _ in 0..<3 { reader.read(store) } }
                try store.setStoredValue(reader.good, forKey: reader.key)
                read()
                for round in 1...3 {
                    try store.setStoredValue(reader.broken, forKey: reader.key)
                    expectEvents([.readFailed], "\(reader.name) \(round)", from: read)
                    try store.setStoredValue(round == 2 ? nil : reader.good, forKey: reader.key)
                    let collector = EventCollector()
                    collector.collect(read)
                    #expect(!collector.events.contains { $0.kind == .readFailed }, "\(reader.name) \(round)")
                }
            }
        }
    }

    @Test("is reported again where only its version was wrong", arguments: StoreKind.allCases)
    func versions(kind: StoreKind) throws {
        let bytes = Data(#"{"name":"dark"}"#.utf8)
        func record(_ version: Int, of bytes: Data) -> PropertyListValue {
            .string(SchemaRecord(version: SchemaVersion(version), data: bytes, replacing: nil).text)
        }
        let other = Data(#"{"name":"new"}"#.utf8)
        let breakages: [(DefaultsError.Code, Data, PropertyListValue)] = [
            (.newerVersion, other, record(5, of: other)), (.newerVersion, bytes, record(5, of: bytes)),
            (.typeMismatch, bytes, .integer(1)),
        ]
        for (index, (code, broken, brokenRecord)) in breakages.enumerated() {
            try kind.withStore { store in
                func set(_ bytes: Data, _ record: PropertyListValue) throws {
                    try store.setStoredValue(record, forKey: "Versioned.schemaVersion")
                    try store.setStoredValue(.data(bytes), forKey: "Versioned")
                }
                for _ in 1...3 {
                    try set(bytes, record(2, of: bytes))
                    for _ in 0..<4 { #expect(Versioned.read(from: store)?.name == "dark") }
                    try set(broken, brokenRecord)
                    let collector = EventCollector()
                    collector.collect {
                        for _ in 0..<3 { #expect(Versioned.read(from: store) == Versioned()) }
                    }
                    #expect(collector.codes == [code], "\(index)")
                }
            }
        }
    }

    @Test("is reported again when a write has replaced it, even if nothing was read in between")
    func replaced() throws {
        let store = MemoryDefaults()
        let broken = Self.data("{")
        for _ in 1...3 {
            for key in ["k", "Look"] { try store.setStoredValue(broken, forKey: key) }
            expectEvents([.readFailed, .readFailed]) {
                _ = store[.point]
                _ = Look.read(from: store)
            }
            expectEvents([.quarantined, .quarantined]) {
                store[.point] = Point(x: 1)
                Look(name: "dark").write(to: store)
            }
        }
        for _ in 1...3 {
            try store.setStoredValue(.string("text"), forKey: "k")
            expectEvents([.readFailed, .quarantined]) { Defaults(suite: store)["k"] += 1 }
        }
    }

    @Test("is the only one that is reported again, and not one that is only filled in")
    func others() throws {
        let stores = [MemoryDefaults(), MemoryDefaults()]
        let lacking = Self.data(#"{"x":1}"#)
        for store in stores {
            for key in ["k", "l"] { try store.setStoredValue(Self.data("{"), forKey: key) }
        }
        func read(_ key: String, in store: MemoryDefaults) {
            _ = store[DefaultsKey<Point>(key, default: Point())]
            _ = store.df.fetch(forKey: key, type: [Int].self)
        }
        expectEvents(Array(repeating: .readFailed, count: 8)) {
            for store in stores {
                for key in ["k", "l"] { read(key, in: store) }
            }
        }
        try stores[0].setStoredValue(lacking, forKey: "k")
        expectEvents([.filledIn, .readFailed]) { read("k", in: stores[0]) }
        try stores[0].setStoredValue(Self.data("{"), forKey: "k")
        expectEvents([.readFailed]) {
            for store in stores {
                for key in ["k", "l"] { read(key, in: store) }
            }
        }
        try stores[0].setStoredValue(lacking, forKey: "k")
        expectEvents([]) { read("k", in: stores[0]) }
    }
}
