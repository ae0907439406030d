import DefaultJournal
import Foundation
import Testing

@testable import Default

private struct Point: Codable, Equatable {
    var x = 0
    var y = 0
}

/// A type whose values can't be compared.
private struct Level: Codable {
    var number: Int
}

extension DefaultsKeys {
    fileprivate static let count = DefaultsKey<Int>("count", default: 7)
    fileprivate static let point = DefaultsKey<Point>("point", default: Point())
    fileprivate static let level = DefaultsKey<Level>("level", default: Level(number: 0))
}

private struct Look: DefaultStorable, Equatable {
    var name = "bright"
    var size = 12
    static let defaultValue = Look()
    static var previousIdentifiers: [String] { ["OldLook"] }
}

private struct Oldest: DefaultStorable {
    var name = "oldest"
    static var schemaVersion: Int { 1 }
}

private struct Versioned: DefaultMigratable, Equatable {
    struct Rejected: Error {}

    var name = "bright"
    var size = 12
    static let defaultValue = Versioned()
    static var schemaVersion: Int { 2 }

    init(name: String = "bright", size: Int = 12) { (self.name, self.size) = (name, size) }

    init(migrating previous: Oldest) throws {
        guard previous.name != "rejected" else { throw Rejected() }
        self.init(name: previous.name)
    }
}

/// A settings type whose values can't be compared.
private struct Plain: DefaultStorable {
    var name = "bright"
    static let defaultValue = Plain()
}

/// The values that handlers were called with.
private final class Record<Value: Sendable>: Sendable {
    private let recorded = Locked<[Value]>([])

    func add(_ value: Value) { recorded.withLock { $0.append(value) } }

    /// Returns the values since the last call.
    func take() -> [Value] { recorded.exchange([]) }
}

private let broken = PropertyListValue.data(Data("{".utf8))

/// The ways in which the settings type `Versioned` can become unreadable while a program runs.
private enum Breakage: CaseIterable {
    case undecodable, typeMismatch, newerVersion, migrationFailed

    var code: DefaultsError.Code {
        switch self {
        case .undecodable: .undecodable
        case .typeMismatch: .typeMismatch
        case .newerVersion: .newerVersion
        case .migrationFailed: .migrationFailed
        }
    }

    func breakSettings(in store: any DefaultsStore) throws {
        switch self {
        case .undecodable:
            try store.setStoredValue(broken, forKey: "Versioned")
        case .typeMismatch:
            try store.setStoredValue(.string("text"), forKey: "Versioned")
        case .newerVersion:
            try setSettings(#"{"name":"new","size":3}"#, version: 5, in: store)
        case .migrationFailed:
            try setSettings(#"{"name":"rejected"}"#, version: 1, in: store)
        }
    }

    private func setSettings(_ text: String, version: Int, in store: any DefaultsStore) throws {
        let data = Data(text.utf8)
        let record = SchemaRecord(version: SchemaVersion(version), data: data, replacing: nil)
        try store.transaction {
            try store.setStoredValue(.string(record.text), forKey: "Versioned.schemaVersion")
            try store.setStoredValue(.data(data), forKey: "Versioned")
        }
    }
}

@Suite("A value that breaks while a program runs", .ownCache, .waits)
struct BrokenValueTests {
    @Test("is not delivered by the updates of a key, and what is readable next is", arguments: StoreKind.allCases)
    func updates(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let (counts, points) = (Record<Int>(), Record<Point>())
            let observations = [
                defaults.updates(.count).observe(counts.add), defaults.updates(.point).observe(points.add),
            ]
            defer { observations.forEach { $0.cancel() } }
            #expect(counts.take() == [7] && points.take() == [Point()])
            for round in 1...2 {
                defaults[.count] = round
                defaults[.point] = Point(x: round)
                #expect(counts.take() == [round] && points.take() == [Point(x: round)])
                let collector = EventCollector()
                try collector.collect {
                    try set(.string("text"), forKey: "count", in: store)
                    try set(broken, forKey: "point", in: store)
                }
                #expect(counts.take() == [] && points.take() == [])
                #expect(collector.codes == [.typeMismatch, .undecodable], "round \(round)")
                // A plain read returns the default, as before.
                #expect(defaults[.count] == 7 && defaults[.point] == Point())
                // The value from before is no change.
                try set(.integer(Int64(round)), forKey: "count", in: store)
                try set(.data(Data(#"{"x":\#(round),"y":0}"#.utf8)), forKey: "point", in: store)
                #expect(counts.take() == [] && points.take() == [])
            }
            try set(.string("text"), forKey: "count", in: store)
            try set(.integer(5), forKey: "count", in: store)
            #expect(counts.take() == [5])
            // A removed value counts as the default.
            try set(broken, forKey: "point", in: store)
            defaults.reset(.count, .point)
            #expect(counts.take() == [7] && points.take() == [Point()])
        }
    }

    @Test("is the default if it is the first that is delivered")
    func first() async throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        try store.setStoredValue(.string("text"), forKey: "count")
        var counts = defaults.updates(.count).makeAsyncIterator()
        let collector = EventCollector()
        try await DefaultsDiagnostics.$taskHandler.withValue(.init { collector.add($0) }) {
            #expect(await counts.next(isolation: nil) == 7)
            try store.setStoredValue(.string("other text"), forKey: "count")
            defaults[.point] = Point(x: 1)
            try store.setStoredValue(.integer(3), forKey: "count")
            #expect(await counts.next(isolation: nil) == 3)
        }
        #expect(collector.codes == [.typeMismatch])
        // Without the current value, the first delivery is the first readable value.
        try store.setStoredValue(.string("text"), forKey: "count")
        var later = defaults.updates(.count, initial: false).makeAsyncIterator()
        try store.setStoredValue(.string("other text"), forKey: "count")
        try store.setStoredValue(.integer(4), forKey: "count")
        #expect(await later.next(isolation: nil) == 4)
    }

    @Test(
        "is nothing new for types that can't be compared, when it is repaired or removed",
        arguments: StoreKind.allCases
    )
    func incomparable(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let (levels, names) = (Record<Int>(), Record<String>())
            try store.setStoredValue(broken, forKey: "level")
            let observations = [
                defaults.updates(.level).observe { levels.add($0.number) },
                Plain.updates(in: store).observe { names.add($0?.name ?? "nil") },
            ]
            defer { observations.forEach { $0.cancel() } }
            #expect(levels.take() == [0] && names.take() == ["bright"])
            defaults.reset(.level)
            #expect(levels.take() == [])
            defaults[.level] = Level(number: 2)
            Plain(name: "dark").write(to: store)
            #expect(levels.take() == [2] && names.take() == ["dark"])
            let stored = store.storedValue(forKey: "level")
            try set(broken, forKey: "level", in: store)
            try set(broken, forKey: "Plain", in: store)
            try set(stored, forKey: "level", in: store)
            try set(.data(Data(#"{"name":"dark"}"#.utf8)), forKey: "Plain", in: store)
            #expect(levels.take() == [] && names.take() == [])
        }
    }

    @Test("keeps its own last value in the updates of several keys", arguments: StoreKind.allCases)
    func severalKeys(kind: StoreKind) throws {
        struct Values: Equatable {
            var count: Int
            var point: Point
            var level: Int
        }
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let record = Record<Values>()
            let observation = defaults.updates(.count, .point, .level).observe {
                record.add(Values(count: $0, point: $1, level: $2.number))
            }
            defer { observation.cancel() }
            defaults[.count] = 1
            defaults[.point] = Point(x: 1)
            defaults[.level] = Level(number: 1)
            _ = record.take()
            try set(.string("text"), forKey: "count", in: store)
            try set(broken, forKey: "level", in: store)
            #expect(record.take() == [])
            defaults[.point] = Point(x: 2)
            #expect(record.take() == [Values(count: 1, point: Point(x: 2), level: 1)])
            try set(.integer(1), forKey: "count", in: store)
            #expect(record.take() == [])
            try set(.integer(2), forKey: "count", in: store)
            #expect(record.take() == [Values(count: 2, point: Point(x: 2), level: 1)])
            defaults[.level] = Level(number: 3)
            #expect(record.take() == [Values(count: 2, point: Point(x: 2), level: 3)])
        }
    }

    @Test(
        "is no change of a key, and the next change is one from the last value that could be read",
        arguments: StoreKind.allCases
    )
    func changes(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            let (counts, points) = (Record<[Int]>(), Record<[Point]>())
            let observations = [
                defaults.changes(.count).observe { counts.add([$0.old, $0.new]) },
                defaults.changes(.point).observe { points.add([$0.old, $0.new]) },
            ]
            defer { observations.forEach { $0.cancel() } }
            defaults[.count] = 1
            defaults[.point] = Point(x: 1)
            #expect(counts.take() == [[7, 1]] && points.take() == [[Point(), Point(x: 1)]])
            let collector = EventCollector()
            try collector.collect {
                try set(.string("text"), forKey: "count", in: store)
                try set(broken, forKey: "point", in: store)
                try set(.data(Data("[".utf8)), forKey: "point", in: store)
            }
            #expect(collector.codes == [.typeMismatch, .undecodable, .undecodable])
            try set(.integer(1), forKey: "count", in: store)
            try set(.data(Data(#"{"y":0,"x":1}"#.utf8)), forKey: "point", in: store)
            #expect(counts.take() == [] && points.take() == [])
            try set(.string("text"), forKey: "count", in: store)
            try set(broken, forKey: "point", in: store)
            defaults[.count] = 2
            defaults.reset(.point)
            #expect(counts.take() == [[1, 2]] && points.take() == [[Point(x: 1), Point()]])
        }
    }

    @Test("is no change of several keys, which each keep their last value")
    func changesOfSeveralKeys() async throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        try store.setStoredValue(broken, forKey: "point")
        // The changes are read only after all of them were made.
        var changes = defaults.changes(.count, .point).makeAsyncIterator()
        defaults[.count] = 1
        try store.setStoredValue(.string("text"), forKey: "count")
        defaults[.point] = Point(x: 1)
        try store.setStoredValue(broken, forKey: "point")
        try store.setStoredValue(.integer(2), forKey: "count")
        var change = try #require(await changes.next(isolation: nil))
        #expect(change.old == (7, Point()) && change.new == (1, Point()))
        change = try #require(await changes.next(isolation: nil))
        #expect(change.old == (1, Point()) && change.new == (1, Point(x: 1)))
        change = try #require(await changes.next(isolation: nil))
        #expect(change.old == (1, Point(x: 1)) && change.new == (2, Point(x: 1)))
    }

    @Test("is not delivered by the updates of a container", arguments: StoreKind.allCases)
    func containers(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let storage = try #require(PersistentStorage(keyPrefix: "part."))
            let plain: KeyValueContainer<Int> = storage.makeContainer(default: 7, key: "count")
            let coded: KeyValueContainer<Point> = store.makeContainer(key: "coded", coder: .propertyList)
            let (counts, points) = (Record<Int?>(), Record<Point?>())
            let observations = [plain.updates.observe(counts.add), coded.updates.observe(points.add)]
            defer { observations.forEach { $0.cancel() } }
            plain.value = 1
            coded.value = Point(x: 1)
            #expect(counts.take() == [7, 1] && points.take() == [nil, Point(x: 1)])
            let collector = EventCollector()
            try collector.collect {
                try set(.string("text"), forKey: "part.count", in: store)
                try set(broken, forKey: "coded", in: store)
            }
            #expect(collector.codes == [.typeMismatch, .undecodable])
            #expect(counts.take() == [] && points.take() == [])
            plain.value = 2
            coded.value = Point(x: 1)
            #expect(counts.take() == [2] && points.take() == [])
            plain.remove()
            coded.remove()
            #expect(counts.take() == [7] && points.take() == [nil])
        }
    }

    @Test("is not delivered by the updates of a container of a storage with the container's own coder")
    func customStorage() throws {
        let storage = Vault()
        let container = KeyValueContainer<Point>(storage: storage, key: "k", coder: .json)
        let points = Record<Point?>()
        let observation = container.updates.observe(points.add)
        defer { observation.cancel() }
        container.value = Point(x: 1)
        let bytes = KeyValueContainer<Data>(storage: storage, key: "k")
        expectReport(.undecodable) { bytes.value = Data("{".utf8) }
        container.value = Point(x: 1)
        container.value = Point(x: 2)
        #expect(points.take() == [nil, Point(x: 1), Point(x: 2)])
    }

    @Test(
        "is not delivered by the updates of a settings type, whatever is wrong with it",
        arguments: StoreKind.allCases
    )
    func settings(kind: StoreKind) throws {
        for breakage in Breakage.allCases {
            try kind.withStore { store in
                let values = Record<Versioned?>()
                let observation = Versioned.updates(in: store).observe(values.add)
                defer { observation.cancel() }
                Versioned(name: "dark").write(to: store)
                #expect(values.take() == [Versioned(), Versioned(name: "dark")])
                let collector = EventCollector()
                try collector.collect {
                    try breakage.breakSettings(in: store)
                    store.notifyChange(forKey: "Versioned")
                    #expect(values.take() == [])
                    #expect(Versioned.read(from: store) == Versioned())
                }
                #expect(collector.codes == [breakage.code], "\(breakage)")
                Versioned(name: "dark").write(to: store)
                #expect(values.take() == [], "\(breakage)")
                Versioned(name: "new").write(to: store)
                #expect(values.take() == [Versioned(name: "new")], "\(breakage)")
                Versioned.clear(in: store)
                #expect(values.take() == [Versioned()], "\(breakage)")
            }
        }
    }

    @Test("is not replaced by a value under an older name, which is used only if nothing else was read")
    func olderNames() throws {
        let store = MemoryDefaults()
        Look(name: "old").write(to: store, withKey: "OldLook")
        Look(name: "dark").write(to: store)
        let values = Record<Look?>()
        let observation = Look.updates(in: store).observe(values.add)
        defer { observation.cancel() }
        let live = LiveSettings<Look>(in: store)
        #expect(live.name == "dark")
        expectReport(.undecodable) { try? store.setStoredValue(broken, forKey: "Look") }
        #expect(values.take() == [Look(name: "dark")] && live.name == "dark")
        let other = LiveSettings<Look>(in: store)
        #expect(other.name == "old" && Look.read(from: store)?.name == "old")
        live.size += 1
        #expect(values.take() == [Look(name: "dark", size: 13)])
        try store.setStoredValue(broken, forKey: "Look")
        other.size = 9
        // The other object has never read the value that was stored last.
        #expect(values.take() == [Look(name: "old", size: 9)])
    }

    /// Stores a value, and notifies the observers of stores that report only the library's typed calls.
    private func set(_ value: PropertyListValue?, forKey key: String, in store: any DefaultsStore) throws {
        try store.setStoredValue(value, forKey: key)
        store.notifyChange(forKey: key)
    }
}

/// A test's own storage.
private struct Vault: KeyValueStorage {
    private let contents = Locked<[String: Data]>([:])

    func value<T: Codable>(forKey key: String) -> T? {
        contents.withLock { $0[key] }.flatMap { try? JSONDecoder().decode(T.self, from: $0) }
    }

    func setValue<T: Codable>(_ value: T?, forKey key: String) {
        let data = value.flatMap { try? JSONEncoder().encode($0) }
        contents.withLock { $0[key] = data }
    }
}

@Suite("Live settings whose stored value breaks", .ownCache)
struct BrokenLiveSettingsTests {
    @Test("keep the value that they read last, and change that", arguments: StoreKind.allCases)
    func lastValue(kind: StoreKind) throws {
        typealias Change = (LiveSettings<Versioned>) -> Void
        let changes: [Change] = [{ $0.size = 3 }, { $0.size -= 9 }, { $0.value.size = 3 }]
        for breakage in Breakage.allCases {
            for (index, change) in changes.enumerated() {
                try kind.withStore { store in
                    let live = LiveSettings<Versioned>(in: store)
                    Versioned(name: "dark").write(to: store)
                    #expect(live.name == "dark")
                    try breakage.breakSettings(in: store)
                    let stored = store.storedValue(forKey: "Versioned")
                    let reads = EventCollector()
                    reads.collect {
                        for _ in 0..<2 { #expect(live.value == Versioned(name: "dark")) }
                        #expect(Versioned.read(from: store) == Versioned())
                    }
                    #expect(reads.events.map(\.kind) == [.readFailed] && reads.codes == [breakage.code])
                    expectEvents([.quarantined]) { change(live) }
                    let expected = Versioned(name: "dark", size: 3)
                    #expect(live.value == expected && Versioned.read(from: store) == expected, "\(breakage) \(index)")
                    let quarantined = try Versioned.quarantined(in: store)
                    #expect(quarantined.map(\.value) == [stored], "\(breakage) \(index)")
                }
            }
        }
    }

    @Test(
        "change the default, or the value that they were given, if they never read another",
        arguments: StoreKind.allCases
    )
    func neverRead(kind: StoreKind) throws {
        for breakage in Breakage.allCases {
            try kind.withStore { store in
                try breakage.breakSettings(in: store)
                expectEvents([.readFailed, .quarantined]) { LiveSettings<Versioned>(in: store).size = 3 }
                #expect(Versioned.read(from: store) == Versioned(size: 3))
                try breakage.breakSettings(in: store)
                let given = LiveSettings(default: Versioned(name: "given"), in: store)
                expectEvents([.readFailed, .quarantined]) { given.size += 1 }
                #expect(Versioned.read(from: store) == Versioned(name: "given", size: 13))
            }
        }
    }

    @Test("keep what they stored themselves, each object its own", arguments: StoreKind.allCases)
    func ownChanges(kind: StoreKind) throws {
        try kind.withStore { store in
            let (live, other) = (LiveSettings<Look>(in: store), LiveSettings<Look>(in: store))
            live.name = "dark"
            live.value.size += 1
            try store.setStoredValue(broken, forKey: "Look")
            #expect(live.value == Look(name: "dark", size: 13) && other.value == Look())
            live.value = Look(name: "whole")
            try store.setStoredValue(broken, forKey: "Look")
            #expect(live.value == Look(name: "whole"))
            // A value that could not be stored was never the current one.
            expectReport(.encodingFailed) { LiveSettings(default: Ratio(), in: store).value = Ratio(number: .nan) }
            // A removed value counts as the default, and as a read value.
            Look.clear(in: store)
            #expect(live.value == Look())
            try store.setStoredValue(broken, forKey: "Look")
            #expect(live.value == Look())
        }
    }

    private struct Ratio: DefaultStorable {
        var number = 1.0
    }
}
