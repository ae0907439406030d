import Default
import DefaultJournal
import Foundation
import Testing

/// A counter of decodings of the types below.
private enum Decodings {
    @TaskLocal static var count = Locked(0)

    static func note() { count.withLock { $0 += 1 } }
}

private protocol Counting: DefaultStorable {}

private struct Level: Codable, Equatable {
    var number: Int
    init(_ number: Int) { self.number = number }
    init(from decoder: any Decoder) throws {
        Decodings.note()
        number = try decoder.singleValueContainer().decode(Int.self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

private struct Lacking: Counting {
    var level = Level(1)
    var added = 2
    static let defaults = MemoryDefaults()
    static var defaultValue: Lacking? { Lacking() }
}

private struct Renamed: Counting {
    var level = Level(1)
    static let defaults = MemoryDefaults()
    static var renamedProperties: [String: String] { ["grade": "level"] }
}

private struct Migrated: Counting, DefaultMigratable {
    struct Old: Codable { var old: Level }
    var level = Level(1)
    static let defaults = MemoryDefaults()
    init(migrating previous: Old) { level = previous.old }
}

private struct Versioned: Counting, DefaultMigratable {
    struct Old: Codable { var old: Level }
    var level = Level(1)
    static let defaults = MemoryDefaults()
    static var schemaVersion: Int { 2 }
    init(migrating previous: Old) { level = previous.old }
}

/// A type that can't be read before it is unlocked, unless it is a default.
private struct Secret: Codable, Equatable {
    struct Locked: Error {}

    @TaskLocal static var isUnlocked = false

    var text: String
    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        guard Self.isUnlocked || text == "default" else { throw Locked() }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

private struct Account: DefaultStorable {
    var name = "n"
    var secret = Secret("default")
    static let defaults = MemoryDefaults()
    static var defaultValue: Account? { Account() }
}

private struct Extended: Counting {
    var level = Level(1)
    static let defaults = MemoryDefaults()
}

/// A type whose bytes have another meaning in each version.
private enum Scaled {
    struct V1: DefaultStorable {
        var size = 1
        static var schemaVersion: Int { 1 }
    }

    struct V2: DefaultMigratable, Equatable {
        var size = 1
        static var defaultIdentifier: String { "Scaled" }
        static var schemaVersion: Int { 2 }
        init(size: Int) { self.size = size }
        init(migrating previous: V1) { size = previous.size * 10 }
    }
}

@Suite("The outcome of reading old bytes", .ownCache)
struct RememberedOutcomeTests {
    @Test("is remembered, so that reads of the same bytes decode nothing")
    func outcomes() throws {
        try check(Lacking.self, #"{"level":5}"#, isReadable: true)
        try check(Lacking.self, #"{"level":5,"added":"x"}"#, isReadable: true)
        try check(Lacking.self, #"[5]"#, isReadable: false)
        try check(Renamed.self, #"{"grade":5}"#, isReadable: true)
        try check(Renamed.self, #"{"level":5}"#, isReadable: true)
        try check(Renamed.self, #"{"level":"x"}"#, isReadable: false)
        try check(Migrated.self, #"{"old":5}"#, isReadable: true)
        try check(Versioned.self, #"{"old":5}"#, isReadable: true)
        // The bytes have properties that no type knows.
        try check(Migrated.self, #"{"old":5,"other":{"a":[1,true]}}"#, isReadable: true)
        try check(Versioned.self, #"{"old":5,"other":"x"}"#, isReadable: true)
    }

    @Test("costs two decodings at the second read if a value was filled in or renamed, and none from then on")
    func secondRead() throws {
        let store = MemoryDefaults()
        func check(_ read: () -> Int?) {
            EventCollector().collect {
                let counts = (0..<3).map { _ in
                    let count = Locked(0)
                    Decodings.$count.withValue(count) {
                        #expect(read() == 5)
                    }
                    return count.withLock { $0 }
                }
                #expect(counts[0] > 0 && counts[1...] == [2, 0])
            }
        }
        try store.set(Data(#"{"level":5}"#.utf8), forKey: Lacking.defaultIdentifier)
        check { Lacking.read(from: store)?.level.number }
        try store.set(Data(#"{"grade":5,"second":1}"#.utf8), forKey: Renamed.defaultIdentifier)
        check { Renamed.read(from: store)?.level.number }
        struct Part: Codable {
            var level = Level(1)
            var added = 2
        }
        let key = Defaults.Key<Part>("second read", default: Part())
        let values = Defaults(suite: store)
        try store.set(Data(#"{"level":5}"#.utf8), forKey: key.storedName)
        check { values[key].level.number }
    }

    @Test("is not remembered of another coder")
    func otherCoder() throws {
        let (source, target) = (MemoryDefaults(), MemoryDefaults())
        let bytes = try PropertyListEncoder().encode(["level": 5])
        try source.set(bytes, forKey: "theirs")
        #expect(try Versioned.move(from: source, sourceKey: "theirs", to: target))
        #expect(try Versioned.load(from: target)?.level.number == 5)
        expectError(.undecodable) { try Versioned.load(from: source, forKey: "theirs") }
    }

    @Test("is remembered when other bytes have been stored in between")
    func otherBytesBetween() throws {
        func check(_ key: String, _ first: String, _ second: String, read: (MemoryDefaults) -> Int?) throws {
            let store = MemoryDefaults()
            let count = Locked(0)
            try EventCollector().collect {
                try Decodings.$count.withValue(count) {
                    for json in [first, second, first] {
                        try store.set(Data(json.utf8), forKey: key)
                        for _ in 0..<3 { #expect(read(store) == (json == first ? 5 : 6)) }
                    }
                    let before = count.withLock { $0 }
                    for _ in 0..<3 { #expect(read(store) == 5) }
                    #expect(count.withLock { $0 } == before, "\(first)")
                }
            }
        }
        try check(Versioned.defaultIdentifier, #"{"old":5}"#, #"{"level":6}"#) {
            Versioned.read(from: $0)?.level.number
        }
        try check(Versioned.defaultIdentifier, #"{"level":5}"#, #"{"old":6}"#) {
            Versioned.read(from: $0)?.level.number
        }
        try check(Renamed.defaultIdentifier, #"{"grade":5}"#, #"{"level":6}"#) { Renamed.read(from: $0)?.level.number }
        try check(Lacking.defaultIdentifier, #"{"level":5}"#, #"{"level":6,"added":1}"#) {
            Lacking.read(from: $0)?.level.number
        }
        struct Part: Codable {
            var level = Level(1)
            var added = 2
        }
        let key = Defaults.Key<Part>("other bytes between", default: Part())
        try check(key.storedName, #"{"level":5}"#, #"{"level":6,"added":1}"#) { Defaults(suite: $0)[key].level.number }
    }

    private func check<Settings: Counting>(_ type: Settings.Type, _ json: String, isReadable: Bool) throws {
        let store = MemoryDefaults()
        try store.set(Data(json.utf8), forKey: Settings.defaultIdentifier)
        let count = Locked(0)
        EventCollector().collect {
            Decodings.$count.withValue(count) {
                for _ in 0..<5 {
                    _ = Settings.read(from: store)
                }
                let before = count.withLock { $0 }
                for _ in 0..<10 {
                    #expect(((try? Settings.load(from: store)) != nil) == isReadable)
                }
                #expect(count.withLock { $0 } == before, "\(json)")
            }
        }
    }

    @Test("is not remembered when it may depend on more than the bytes", arguments: StoreKind.allCases)
    func otherCauses(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.set(Data(#"{"name":"x","secret":"\#(kind)"}"#.utf8), forKey: "Account")
            for _ in 0..<3 {
                EventCollector().collect {
                    for _ in 0..<5 {
                        #expect(Account.read(from: store)?.secret == Secret("default"))
                    }
                }
                Secret.$isUnlocked.withValue(true) {
                    #expect(Account.read(from: store)?.secret == Secret("\(kind)"))
                }
                // Stores other bytes in between, so that the first ones are read again.
                try store.set(Data(#"{"name":"y","secret":"\#(kind)"}"#.utf8), forKey: "Account")
            }
        }
    }

    @Test("is kept when a write leaves bytes with properties that no type knows as they are")
    func unchangedBytes() throws {
        let store = MemoryDefaults()
        try store.set(Data(#"{"level":5,"other":1}"#.utf8), forKey: "Extended")
        let value = try #require(try Extended.load(from: store))
        try value.save(to: store)
        let bytes = store.data(forKey: "Extended")
        let count = Locked(0)
        try Decodings.$count.withValue(count) {
            for _ in 0..<5 {
                #expect(Extended.read(from: store)?.level == Level(5))
            }
            try value.save(to: store)
            #expect(store.data(forKey: "Extended") == bytes)
            let before = count.withLock { $0 }
            #expect(Extended.read(from: store)?.level == Level(5))
            #expect(count.withLock { $0 } == before)
        }
    }

    @Test("is that of the recorded version, also when only the record changes", arguments: StoreKind.allCases)
    func records(kind: StoreKind) throws {
        try kind.withStore { store in
            try Scaled.V2(size: 7).save(to: store)
            let record = "Scaled.schemaVersion"
            let second = try #require(store.object(forKey: record) as? String)
            let first = "1" + second.dropFirst()
            for _ in 0..<3 {
                for (text, size) in [(second, 7), (first, 70), ("x " + first, nil), (second, 7)] as [(String, Int?)] {
                    try store.set(text, forKey: record)
                    for _ in 0..<5 {
                        #expect((try? Scaled.V2.load(from: store))?.size == size, "\(text)")
                    }
                }
                try store.set("3" + second.dropFirst(), forKey: record)
                expectError(.newerVersion) { try Scaled.V2.load(from: store) }
            }
        }
    }

    @Test("does not keep a write from quarantining what could not be used")
    func replacing() throws {
        let store = MemoryDefaults()
        let data = Data(#"{"level":5,"added":"x"}"#.utf8)
        try store.set(data, forKey: "Lacking")
        try EventCollector().collect {
            for _ in 0..<6 {
                #expect(Lacking.read(from: store)?.level == Level(5))
            }
            try Lacking.update(in: store) { $0.level = Level(6) }
        }
        #expect(try Lacking.quarantined(in: store).map(\.data) == [data])
        #expect(try Lacking.loadWithReport(from: store)?.report.isEmpty == true)
    }
}
