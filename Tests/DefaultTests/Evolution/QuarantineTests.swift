import Foundation
import Testing

@testable import Default

private struct Player: DefaultStorable, Equatable {
    var volume = 5
    var name = "n"
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultValue: Player? { Player() }
}

/// A type without a default value, predecessor or version.
private struct Bare: DefaultStorable, Equatable {
    var volume: Int
    static var defaults: CurrentStore { CurrentStore() }
}

@Suite("A value that can't be used", .ownCache)
struct QuarantineTests {
    @Test("is quarantined unchanged by the write that replaces it", arguments: StoreKind.allCases)
    func kept(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let unusable: [Any] = [
                Data("{".utf8), Data(), Data([0xFF, 0]), Data(#"{"volume":"loud","name":"x"}"#.utf8), "text", 3, true,
                0.5,
                Date(timeIntervalSince1970: 1), [1, 2], ["a": Data([1])],
            ]
            for (index, object) in unusable.enumerated() {
                let key = "key \(index)"
                try store.set(object, forKey: key)
                let before = Date()
                let collector = EventCollector()
                collector.collect { Player(volume: index).write(withKey: key) }
                #expect(collector.events.map(\.kind) == [.quarantined])
                #expect(collector.events.first?.description.contains("\(key).quarantine") == true)
                #expect(try Player.load(forKey: key) == Player(volume: index))
                let kept = try #require(try Player.quarantined(forKey: key).first)
                #expect(try PropertyListValue(object: kept.value.object) == PropertyListValue(object: object))
                #expect(kept.data == object as? Data)
                #expect(kept.typeName == "Player")
                #expect(kept.date.timeIntervalSince(before) > -1 && kept.date.timeIntervalSinceNow < 1)
                #expect(store.dictionaryRepresentation()[key + ".quarantine"] != nil)

                // The value that the second write replaces is usable.
                try Player(volume: 9).save(withKey: key)
                #expect(try Player.quarantined(forKey: key).count == 1)
                try Player.removeQuarantined(forKey: key)
                #expect(try Player.quarantined(forKey: key).isEmpty)
                #expect(store.object(forKey: key + ".quarantine") == nil)
                #expect(try Player.load(forKey: key)?.volume == 9)
            }
        }
    }

    @Test("is quarantined for types without a default value too", arguments: StoreKind.allCases)
    func bare(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let bytes = Data(#"{"other":1}"#.utf8)
            try store.set(bytes, forKey: "Bare")
            expectError(.undecodable) { try Bare.load() }
            expectError(.undecodable) { try Bare.update { $0.volume = 1 } }
            #expect(try Bare.quarantined().isEmpty)
            try Bare(volume: 1).save()
            #expect(try Bare.quarantined().map(\.data) == [bytes])
        }
    }

    @Test("is not quarantined if nothing is lost", arguments: StoreKind.allCases)
    func nothingLost(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            // These values lack a property, have an unknown one, or have no fault.
            for json in [#"{"volume":3}"#, #"{"volume":3,"name":null}"#, #"{"volume":3,"name":"x","old":1}"#] {
                try store.set(Data(json.utf8), forKey: "Player")
                try Player(volume: 1).save()
                #expect(try Player.load() == Player(volume: 1))
            }
            #expect(try Player.quarantined().isEmpty)
            #expect(store.object(forKey: "Player.quarantine") == nil)
        }
    }

    @Test("is quarantined once for the same bytes: the oldest and the newest two values", arguments: StoreKind.allCases)
    func capacity(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            for (written, kept) in [(["1", "2", "1", "2"], ["2", "1"]), (["3", "3", "4", "5"], ["5", "4", "1"])] {
                for text in written {
                    try store.set(Data(text.utf8), forKey: "Player")
                    try Player().save()
                }
                let texts = try Player.quarantined().map { $0.data.map { String(decoding: $0, as: UTF8.self) } }
                #expect(texts == kept)
            }
        }
    }

    @Test(
        "is reported once by each of two releases that alternate, and quarantined each time",
        arguments: StoreKind.allCases
    )
    func alternatingReleases(kind: StoreKind) throws {
        struct First: DefaultStorable, Equatable {
            var size = 1
            var name = ""
            static let defaultValue = First()
            static var defaultIdentifier: String { "Alternating" }
        }
        struct Second: DefaultStorable, Equatable {
            var size = "1"
            var name = ""
            static let defaultValue = Second()
            static var defaultIdentifier: String { "Alternating" }
        }
        try kind.withStore { store in
            let first = Defaults.Key<First>("key", default: First())
            let second = Defaults.Key<Second>("key", default: Second())
            let collector = EventCollector()
            try collector.collect {
                for round in 0..<4 {
                    try First.update(in: store) { $0.name = "first \(round)" }
                    let ofFirst = store.data(forKey: "Alternating")
                    try Second.update(in: store) { $0.name += ", second" }
                    // It has the part that both can use, and the rest is quarantined.
                    #expect(Second.read(from: store) == Second(name: "first \(round), second"))
                    try #expect(Second.quarantined(in: store).first?.data == ofFirst)
                    Defaults(suite: store)[first].name = "first \(round)"
                    Defaults(suite: store)[second].name = "second \(round)"
                }
            }
            let events = collector.events.filter { $0.kind == .quarantined }
            let subjects = events.map { event in "\(event.error.key ?? "") \(event.error.type.map { "\($0)" } ?? "")" }
            #expect(subjects.sorted() == ["Alternating First", "Alternating Second", "key First", "key Second"])
        }
    }

    @Test("keeps its date, its type and its version when another one joins it")
    func joined() throws {
        try StoreKind.memory.withCurrentStore { store in
            let entry: PropertyListValue = .dictionary([
                "date": .date(Date(timeIntervalSinceReferenceDate: 60)), "type": .string("Former"),
                "value": .string("old"), "version": .string("1.2"),
            ])
            try store.setStoredValue(.array([entry]), forKey: "Player.quarantine")
            try store.set(Data("1".utf8), forKey: "Player")
            try Player().save()
            let values = try Player.quarantined()
            #expect(values.map(\.data) == [Data("1".utf8), nil])
            #expect(values[1].date == Date(timeIntervalSinceReferenceDate: 60) && values[1].typeName == "Former")
            guard case .array(let entries)? = store.storedValue(forKey: "Player.quarantine") else {
                Issue.record("There is no list.")
                return
            }
            #expect(entries.count == 2 && entries.last == entry)
        }
    }

    @Test("displaces values other than the oldest if they are large, which is reported")
    func room() throws {
        try StoreKind.memory.withCurrentStore { store in
            let collector = EventCollector()
            try collector.collect {
                for byte in 1...3 {
                    // The comma near the beginning ends the search for a value, which would be long otherwise.
                    let bytes = [UInt8(byte), UInt8(ascii: ",")] + [UInt8](repeating: 0, count: 3 << 20)
                    try store.set(Data(bytes), forKey: "Player")
                    try Player().save()
                }
            }
            #expect(try Player.quarantined().compactMap { $0.data?.first } == [3, 1])
            let full = collector.events.filter { $0.kind == .quarantineFull }
            #expect(full.map(\.error.code) == [.quarantineFailed])
            #expect(full.first?.error.description.contains("a copy of what was stored under") == true)
        }
    }

    @Test("is quarantined by an update, which keeps the rest", arguments: StoreKind.allCases)
    func update(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let bytes = Data(#"{"volume":"loud","name":"kept"}"#.utf8)
            try store.set(bytes, forKey: "Player")
            try Player.update { $0.volume += 1 }
            #expect(try Player.load() == Player(volume: 6, name: "kept"))
            #expect(try Player.quarantined().map(\.data) == [bytes])
        }
    }

    @Test("is not replaced if it can't be quarantined", arguments: StoreKind.allCases)
    func occupied(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let entry: [String: Any] = ["date": Date.distantPast, "type": "Player", "value": 1]
            let foreign: [Any] = ["mine", [1, 2], [["date": 1]], [entry, 2] as [Any]]
            for object in foreign {
                try store.set(object, forKey: "Player.quarantine")
                try store.set(Data("{".utf8), forKey: "Player")
                let error = expectError(.quarantineFailed) { try Player().save() }
                #expect(error?.description.contains("Player.quarantine") == true)
                #expect(error?.description.contains("mine") == false)
                let collector = EventCollector()
                collector.collect { Player().write() }
                #expect(collector.events.map(\.kind) == [.writeFailed])
                #expect(store.data(forKey: "Player") == Data("{".utf8))
                expectError(.typeMismatch) { try Player.quarantined() }
                expectError(.typeMismatch) { try Player.removeQuarantined() }
                #expect(
                    try PropertyListValue(object: store.object(forKey: "Player.quarantine") as Any)
                        == PropertyListValue(object: object)
                )
            }
        }
    }

    @Test("is not replaced if the store fails while it is quarantined")
    func failingStore() throws {
        struct Broken: DefaultStorable {
            var count = 0
            nonisolated(unsafe) static let defaults = HalfFullStore()
        }
        try Broken.defaults.base.set(Data("{".utf8), forKey: "Broken")
        let error = expectError(.quarantineFailed) { try Broken().save() }
        #expect(error?.underlyingError is HalfFullStore.Full)
        #expect(Broken.defaults.data(forKey: "Broken") == Data("{".utf8))
    }

    @Test("is quarantined only if it is replaced, if the store has transactions")
    func transactions() throws {
        struct Replaced: DefaultStorable {
            var count = 0
            nonisolated(unsafe) static let defaults = HalfFullStore(rejectsValues: true)
            static var schemaVersion: Int { 1 }
        }
        try Replaced.defaults.base.set(Data("{".utf8), forKey: "Replaced")
        expectError(.storeFailed) { try Replaced().save() }
        #expect(Replaced.defaults.base.dictionaryRepresentation() as? [String: Data] == ["Replaced": Data("{".utf8)])
    }

    @Test("remains in quarantine when the key is cleared, until it is removed there", arguments: StoreKind.allCases)
    func clearing(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try store.set("text", forKey: "Player")
            try Player().save()
            Player.clear()
            #expect(try Player.load() == nil)
            #expect(try Player.quarantined().count == 1)
            try Player.removeQuarantined()
            #expect(store.object(forKey: "Player.quarantine") == nil)
            try Player.removeQuarantined()
            expectError(.invalidKey) { try Player.removeQuarantined(forKey: "") }
        }
    }

    @Test("is quarantined for keys of maximum length, separately for each", arguments: StoreKind.allCases)
    func longKeys(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let lengths = [65_524, 65_525, 65_534, 65_535]
            let keys = lengths.map { String(repeating: "k", count: $0) } + [String(repeating: "k", count: 65_534) + "j"]
            for (index, key) in (keys + [String(repeating: "é", count: 32_767)]).enumerated() {
                try store.set("text \(index)", forKey: key)
                try Player(volume: index).save(withKey: key)
                #expect(try Player.load(forKey: key)?.volume == index)
                #expect(try Player.quarantined(forKey: key).map { $0.value.object as? String } == ["text \(index)"])
                // The name is the key's with a suffix if the limit leaves room for that.
                let hasWholeName = key.utf8.count + ".quarantine".utf8.count <= 65_535
                #expect(store.storedKeys().contains(key + ".quarantine") == hasWholeName)
            }
        }
    }

    @Test("is detected even if this process has written the key before", arguments: StoreKind.allCases)
    func otherWriter(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try Player(volume: 1).save()
            try Player.update { $0.volume = 2 }
            try store.set(Data("other".utf8), forKey: "Player")
            try Player(volume: 3).save()
            #expect(try Player.quarantined().map(\.data) == [Data("other".utf8)])
        }
    }
}

/// A store that rejects either companion keys or all other keys.
private final class HalfFullStore: DefaultsStore {
    struct Full: Error {}
    let base = MemoryDefaults()
    private let rejectsValues: Bool

    init(rejectsValues: Bool = false) {
        self.rejectsValues = rejectsValues
    }

    var storeDescription: String { "HalfFullStore(\(base.storeDescription))" }
    func storedValue(forKey key: String) -> PropertyListValue? { base.storedValue(forKey: key) }
    func storedKeys() -> [String] { base.storedKeys() }
    func flush() {}

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        guard value == nil || key.contains(".") == rejectsValues else { throw Full() }
        try base.setStoredValue(value, forKey: key)
    }

    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try base.transaction(body)
    }
}

/// Releases of one type: the second one reads values that the first one could not.
private enum Restored {
    struct Strict: DefaultStorable, Equatable {
        var level: Int
        static var defaultIdentifier: String { "Restored" }
    }
    struct Lenient: DefaultStorable, Equatable {
        var level: Double
        static var defaultIdentifier: String { "Restored" }
    }
    struct FilledIn: DefaultStorable, Equatable {
        var level = 1.0
        static var defaultIdentifier: String { "Restored" }
        static var defaultValue: FilledIn? { FilledIn() }
    }
    struct V2: DefaultStorable, Equatable {
        var size = 1
        static var defaultIdentifier: String { "Restored" }
        static var schemaVersion: Int { 2 }
    }
    struct V3: DefaultMigratable, Equatable {
        var size = 1
        static var defaultIdentifier: String { "Restored" }
        static var schemaVersion: Int { 3 }
        init(size: Int) { self.size = size }
        init(migrating previous: V2) { size = previous.size * 10 }
    }
}

@Suite("A quarantined value", .ownCache)
struct RestoringTests {
    @Test(
        "is stored again as it was if it can be read now, and exchanged with what it replaces",
        arguments: StoreKind.allCases
    )
    func exchanged(kind: StoreKind) throws {
        try kind.withStore { store in
            try EventCollector().collect {
                #expect(try Restored.Strict.restoreQuarantined(in: store) == nil)
                let old = Data(#"{"level":0.5,"other":[1]}"#.utf8)
                try store.set(old, forKey: "Restored")
                try Restored.Strict(level: 2).save(to: store)
                let new = try #require(store.data(forKey: "Restored"))
                // This release can't read it yet.
                expectError(.undecodable) { try Restored.Strict.restoreQuarantined(in: store) }
                #expect(store.data(forKey: "Restored") == new)

                let restored = try #require(try Restored.Lenient.restoreQuarantined(in: store))
                #expect(restored.data == old && restored.typeName == "Strict")
                #expect(store.data(forKey: "Restored") == old)
                #expect(try Restored.Lenient.load(from: store) == Restored.Lenient(level: 0.5))
                #expect(try Restored.Lenient.quarantined(in: store).map(\.data) == [new])

                #expect(try Restored.Lenient.restoreQuarantined(in: store)?.data == new)
                #expect(try Restored.Lenient.quarantined(in: store).map(\.data) == [old])
                // Nothing is stored, so nothing is replaced.
                try Restored.Lenient.remove(from: store)
                #expect(try Restored.Lenient.restoreQuarantined(in: store)?.data == old)
                #expect(try Restored.Lenient.quarantined(in: store).isEmpty)
                #expect(store.storedKeys() == ["Restored"])
                #expect(try Restored.Lenient.restoreQuarantined(in: store) == nil)
                // The value that is stored again is the stored one, so nothing is quarantined.
                try Restored.Strict(level: 3).save(to: store)
                try store.set(old, forKey: "Restored")
                #expect(try Restored.Lenient.restoreQuarantined(in: store)?.data == old)
                #expect(try Restored.Lenient.quarantined(in: store).isEmpty)
            }
        }
    }

    @Test("is exchanged with the stored one by one record of the suite's file")
    func atomicExchange() throws {
        try withTemporaryDirectory { directory in
            let store = try FileDefaults(url: directory.appending(path: "s"))
            try EventCollector().collect {
                try store.set(Data(#"{"level":0.5}"#.utf8), forKey: "Restored")
                try Restored.Strict(level: 2).save(to: store)
                let records = try store.verify().recordCount
                #expect(try Restored.Lenient.restoreQuarantined(in: store) != nil)
                #expect(try store.verify().recordCount == records + 1)
            }
        }
    }

    @Test("is the newest that can be read whole")
    func newest() throws {
        let store = MemoryDefaults()
        try EventCollector().collect {
            for text in [#"{"level":0.25}"#, #"{"level":0.5}"#, #"{"level":"x"}"#, "7"] {
                try store.setStoredValue(.data(Data(text.utf8)), forKey: "Restored")
                try Restored.Strict(level: 1).save(to: store)
            }
            let readable = try Restored.Strict.quarantined(in: store).compactMap(\.data).first { $0.count == 14 }
            // Two values are newer: one that can be filled in without a part of it, and one that can't be.
            let before = try Restored.Strict.quarantined(in: store).map(\.data).filter { $0 != readable }
            #expect(before.count == 2)
            let replaced = try #require(store.data(forKey: "Restored"))
            #expect(try Restored.FilledIn.restoreQuarantined(in: store)?.data == readable)
            // The newest one is the value that it replaced.
            #expect(try Restored.Strict.quarantined(in: store).map(\.data) == [replaced] + before)
            try store.setStoredValue(.string("mine"), forKey: "Other.quarantine")
            expectError(.typeMismatch) { try Restored.Lenient.restoreQuarantined(in: store, forKey: "Other") }
            expectError(.invalidKey) { try Restored.Lenient.restoreQuarantined(in: store, forKey: "") }
        }
    }

    @Test("is used in part if none can be used as a whole, and otherwise the reason is thrown")
    func partly() throws {
        let store = MemoryDefaults()
        #expect(try Restored.FilledIn.restoreQuarantined(in: store) == nil)
        let collector = EventCollector()
        try collector.collect {
            for text in ["7", #"{"level":"x"}"#] {
                try store.setStoredValue(.data(Data(text.utf8)), forKey: "Restored")
                try Restored.FilledIn(level: 1).save(to: store)
            }
            let restored = try Restored.FilledIn.restoreQuarantined(in: store)
            #expect(restored?.data == Data(#"{"level":"x"}"#.utf8))
        }
        #expect(collector.events.contains { $0.kind == .readFailed && $0.error.description.contains("level") })
        #expect(store.data(forKey: "Restored") == Data(#"{"level":"x"}"#.utf8))
        let broken = MemoryDefaults()
        try EventCollector().collect {
            try broken.setStoredValue(.data(Data("7".utf8)), forKey: "Restored")
            try Restored.FilledIn(level: 1).save(to: broken)
            expectError(.undecodable) { try Restored.FilledIn.restoreQuarantined(in: broken) }
        }
    }

    @Test("has the version that it had when it was replaced", arguments: StoreKind.allCases)
    func versions(kind: StoreKind) throws {
        try kind.withStore { store in
            try EventCollector().collect {
                try Restored.V3(size: 7).save(to: store)
                let newer = store.data(forKey: "Restored")
                // The user goes back a release for a while, and changes the settings more than once.
                for size in 1...4 {
                    Restored.V2(size: size).write(to: store)
                }
                expectError(.newerVersion) { try Restored.V2.restoreQuarantined(in: store) }
                #expect(try Restored.V3.load(from: store)?.size == 40)
                #expect(try Restored.V3.restoreQuarantined(in: store)?.data == newer)
                #expect(try Restored.V3.load(from: store) == Restored.V3(size: 7))
                // The replaced value belonged to the older release.
                #expect(try Restored.V3.restoreQuarantined(in: store) != nil)
                #expect(try Restored.V3.load(from: store)?.size == 40)
            }
        }
    }
}
