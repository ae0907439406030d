import Foundation
import Testing

@testable import Default
import DefaultJournal

private enum Unversioned {
    struct V1: Codable { var volume: Int }

    struct V2: DefaultMigratable, Equatable {
        var level: Double
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Settings" }

        init(level: Double) { self.level = level }
        init(migrating previous: V1) throws {
            guard previous.volume >= 0 else { throw Refusal() }
            level = Double(previous.volume) / 100
        }
    }

    struct V3: DefaultMigratable, Equatable {
        var loudness: Loudness
        struct Loudness: Codable, Equatable { var level: Double }
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Settings" }
        static var defaultCoder: DefaultsCoder { .propertyList }
        static var defaultValue: V3? { V3(level: 0.5) }

        init(level: Double) { loudness = Loudness(level: level) }
        init(migrating previous: V2) { self.init(level: previous.level) }
    }
}

/// Three releases without versions; a property was added in the second, and another changed its meaning in the third.
private enum Skipped {
    struct Release2: DefaultStorable {
        var volume = 20
        var name = "none"
        static var defaultIdentifier: String { "Skipped" }
        static var defaultValue: Release2? { Release2() }
    }

    struct Release3: DefaultMigratable, Equatable {
        var volume: Double
        var name = "none"
        var balance = 0.0
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Skipped" }
        static var defaultValue: Release3? { Release3(volume: 0.2) }

        init(volume: Double, name: String = "none", balance: Double = 0) {
            (self.volume, self.name, self.balance) = (volume, name, balance)
        }
        init(migrating previous: Release2) {
            self.init(volume: Double(previous.volume) / 100, name: previous.name)
        }
    }
}

/// A release without a version, and one with a version whose properties can hold any value of the first.
private enum Stated {
    enum Theme: String, Codable { case plain, dark }

    struct First: DefaultStorable {
        var volume = 20
        var theme = Theme.plain
        static var defaultIdentifier: String { "Stated" }
        static var defaultValue: First? { First() }
    }

    struct Second: DefaultMigratable, Equatable {
        var volume: Double
        var theme: String
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Stated" }
        static var schemaVersion: Int { 2 }

        init(volume: Double, theme: String) { (self.volume, self.theme) = (volume, theme) }
        init(migrating previous: First) {
            self.init(volume: Double(previous.volume) / 100, theme: previous.theme.rawValue)
        }
    }
}

/// Three releases with versions, whose records were lost.
private enum Restored {
    struct First: DefaultStorable {
        var volume = 20
        var name = "none"
        static var defaultIdentifier: String { "Restored" }
        static var defaultValue: First? { First() }
        static var schemaVersion: Int { 1 }
    }

    struct Second: DefaultMigratable, Equatable {
        var volume: Double
        var name = "none"
        var balance = 0.0
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Restored" }
        static var defaultValue: Second? { Second(volume: 0.2) }
        static var schemaVersion: Int { 2 }

        init(volume: Double, name: String = "none", balance: Double = 0) {
            (self.volume, self.name, self.balance) = (volume, name, balance)
        }
        init(migrating previous: First) { self.init(volume: Double(previous.volume) / 100, name: previous.name) }
    }
}

/// Versions with gaps between them, for each of which the same bytes are valid.
private enum Numbered {
    struct V1: DefaultStorable {
        var size = 1
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Numbered" }
        static var schemaVersion: Int { 1 }
    }

    struct V3: DefaultMigratable {
        var size = 3
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Numbered" }
        static var schemaVersion: Int { 3 }
        init(migrating previous: V1) { size = previous.size * 10 }
    }

    struct V5: DefaultMigratable {
        var size = 5
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Numbered" }
        static var schemaVersion: Int { 5 }
        init(migrating previous: V3) { size = previous.size + 1 }
    }
}

private struct Refusal: Error {}

/// Versions with the same property, so that only the version identifies the stored type.
private enum Versioned {
    @TaskLocal static var coder = DefaultsCoder.json

    struct V1: DefaultStorable, Equatable {
        var size = 1
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Versioned" }
        static var defaultCoder: DefaultsCoder { coder }
        static var schemaVersion: Int { 1 }
    }

    struct V2: DefaultMigratable, Equatable {
        var size = 2
        var name = "two"
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Versioned" }
        static var defaultCoder: DefaultsCoder { coder }
        static var defaultValue: V2? { V2() }
        static var schemaVersion: Int { 2 }

        init(size: Int = 2, name: String = "two") { (self.size, self.name) = (size, name) }
        init(migrating previous: V1) { size = previous.size * 10 }
    }

    struct V3: DefaultMigratable, Equatable {
        var size = 3
        var name: String? = "three"
        static var defaults: CurrentStore { CurrentStore() }
        static var defaultIdentifier: String { "Versioned" }
        static var defaultCoder: DefaultsCoder { coder }
        static var defaultValue: V3? { V3() }
        static var schemaVersion: Int { 3 }

        init(size: Int = 3, name: String? = "three") { (self.size, self.name) = (size, name) }
        init(migrating previous: V2) throws {
            guard previous.size < 1_000 else { throw Refusal() }
            self.init(size: previous.size + 1, name: previous.name)
        }
    }
}

@Suite("A migration")
struct MigrationTests {
    @Test("without versions is tried when the bytes don't belong to the current type", arguments: StoreKind.allCases)
    func unversioned(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let old = Data(#"{"volume":70}"#.utf8)
            try store.set(old, forKey: "Settings")
            let (value, report) = try #require(try Unversioned.V3.loadWithReport())
            #expect(value == Unversioned.V3(level: 0.7))
            #expect(report.migratedFrom == "V1" && report.isEmpty)
            #expect(store.data(forKey: "Settings") == old)
            #expect(try Unversioned.V2.loadWithReport()?.report.migratedFrom == "V1")

            try store.set(Data(#"{"level":0.2}"#.utf8), forKey: "Settings")
            #expect(try Unversioned.V3.loadWithReport()?.report.migratedFrom == "V2")
            #expect(Unversioned.V3.read() == Unversioned.V3(level: 0.2))
            #expect(try Unversioned.V2.loadWithReport()?.report.migratedFrom == nil)

            try Unversioned.V3.update { $0.loudness.level += 0.5 }
            #expect(try Unversioned.V3.loadWithReport()?.report == LoadReport())
            #expect(try Unversioned.V3.quarantined().isEmpty)
            #expect(store.dictionaryRepresentation().keys.filter { $0.hasPrefix("Settings") } == ["Settings"])
        }
    }

    @Test(
        "starts from the predecessor, even if a release was skipped and its properties are missing",
        arguments: StoreKind.allCases
    )
    func skippedRelease(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            // A value of release 1, which had no name.
            try store.set(Data(#"{"volume":50}"#.utf8), forKey: "Skipped")
            let (value, report) = try #require(try Skipped.Release3.loadWithReport())
            #expect(value == Skipped.Release3(volume: 0.5))
            #expect(report.migratedFrom == "Release2")
            #expect(report.filledIn == ["name"] && report.unusable.isEmpty)
            // A value of an early build of release 3, which had no balance. The current type can use more of it.
            try store.set(Data(#"{"volume":0.75,"name":"x"}"#.utf8), forKey: "Skipped")
            let (early, earlyReport) = try #require(try Skipped.Release3.loadWithReport())
            #expect(early == Skipped.Release3(volume: 0.75, name: "x"))
            #expect(earlyReport.migratedFrom == nil && earlyReport.filledIn == ["balance"])
            // No type fits exactly. Among types that lose the same number of values, the predecessor is used.
            try store.set(Data(#"{"volume":"loud","name":"x"}"#.utf8), forKey: "Skipped")
            #expect(try Skipped.Release3.loadWithReport()?.report.migratedFrom == "Release2")
        }
    }

    @Test(
        "never takes bytes without a recorded version for those of a type with one, if another type can use part of them",
        arguments: StoreKind.allCases
    )
    func unrecordedLoss(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            // The second type decodes this exactly, with a volume of 50.
            try store.set(Data(#"{"theme":"gone","volume":50}"#.utf8), forKey: "Stated")
            let (value, report) = try #require(try Stated.Second.loadWithReport())
            #expect(value == Stated.Second(volume: 0.5, theme: "plain"))
            #expect(report.migratedFrom == "First" && report.unusablePaths == ["theme"])
            // The first type can use nothing of this.
            try store.set(Data(#"{"theme":"gone","volume":0.5}"#.utf8), forKey: "Stated")
            let (own, ownReport) = try #require(try Stated.Second.loadWithReport())
            #expect(own == Stated.Second(volume: 0.5, theme: "gone"))
            #expect(ownReport.migratedFrom == nil && ownReport.isEmpty)
        }
    }

    @Test("fills in a predecessor with a version before the current type", arguments: StoreKind.allCases)
    func restored(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            try store.set(Data(#"{"volume":50}"#.utf8), forKey: "Restored")
            let (value, report) = try #require(try Restored.Second.loadWithReport())
            #expect(value == Restored.Second(volume: 0.5))
            #expect(report.migratedFrom == "First" && report.filledIn == ["name"])
            try store.set(Data(#"{"volume":0.25}"#.utf8), forKey: "Restored")
            #expect(try Restored.Second.load() == Restored.Second(volume: 0.25))
        }
    }

    @Test("starts from a predecessor that is no settings type, filled in from its own default")
    func providedDefault() throws {
        struct Old: DefaultProviding {
            var volume: Int
            var name: String
            static var defaultValue: Old? { Old(volume: 20, name: "none") }
        }
        struct New: DefaultMigratable, Equatable {
            var volume: Double
            var name = "none"
            var balance = 0.0
            static let defaults = MemoryDefaults()
            static var defaultValue: New? { New(volume: 0.2) }
            init(volume: Double) { self.volume = volume }
            init(migrating previous: Old) {
                volume = Double(previous.volume) / 100
                name = previous.name
            }
        }
        try New.defaults.set(Data(#"{"volume":50}"#.utf8), forKey: "New")
        let (value, report) = try #require(try New.loadWithReport())
        #expect(value == New(volume: 0.5))
        #expect(report.migratedFrom == "Old" && report.filledIn == ["name"])
        // A value of an early build of the new type, which is filled in, because that type can use more than the
        // predecessor.
        try New.defaults.set(Data(#"{"volume":0.75,"name":"x"}"#.utf8), forKey: "New")
        let (early, earlyReport) = try #require(try New.loadWithReport())
        #expect(early.volume == 0.75 && early.name == "x")
        #expect(earlyReport.migratedFrom == nil && earlyReport.filledIn == ["balance"])
    }

    @Test("is not tried from an older type if a newer one, filled in, uses all that is stored")
    func olderRefusal() throws {
        struct First: DefaultStorable {
            var name = "first"
            var size = 1
            static var defaultValue: First? { First() }
        }
        struct Second: DefaultMigratable {
            var name = "second"
            var volume = 2
            static var defaultValue: Second? { Second() }
            init() {}
            init(migrating previous: First) throws { throw Refusal() }
        }
        struct Third: DefaultMigratable {
            var name = "third"
            var level = 3
            static let defaults = MemoryDefaults()
            static var defaultValue: Third? { Third() }
            init() {}
            init(migrating previous: Second) { (name, level) = (previous.name, previous.volume) }
        }
        try Third.defaults.set(Data(#"{"name":"x"}"#.utf8), forKey: "Third")
        let (value, report) = try #require(try Third.loadWithReport())
        #expect(value.name == "x" && value.level == 2)
        #expect(report.migratedFrom == "Second" && report.filledIn == ["volume"])
    }

    @Test(
        "starts from the type with the recorded version or, without such a type, the next higher one",
        arguments: StoreKind.allCases
    )
    func versionsWithGaps(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let bytes = Data(#"{"size":4}"#.utf8)
            let cases: [(version: Int?, size: Int)] = [(1, 41), (2, 5), (3, 5), (4, 4), (5, 4), (nil, 4)]
            for (version, size) in cases {
                let record = version.map { SchemaRecord(version: .init($0), data: bytes, replacing: nil).text }
                try store.setStoredValue(record.map { .string($0) }, forKey: "Numbered.schemaVersion")
                try store.set(bytes, forKey: "Numbered")
                #expect(try Numbered.V5.load()?.size == size, "\(version ?? 0)")
                // From now on the value has its own version.
                #expect(try Numbered.V5.migrate() == (version != 5), "\(version ?? 0)")
                #expect(try Numbered.V5.load()?.size == size, "\(version ?? 0)")
                #expect((store.object(forKey: "Numbered.schemaVersion") as? String)?.hasPrefix("5 ") == true)
            }
        }
    }

    @Test("does not start from a predecessor that states the same version or a higher one")
    func sameVersion() throws {
        struct Same: DefaultStorable {
            var size = 1
            static var schemaVersion: Int { 2 }
        }
        struct Higher: DefaultStorable {
            var size = 1
            static var schemaVersion: Int { 3 }
        }
        struct AfterSame: DefaultMigratable {
            var size = 1
            static let defaults = MemoryDefaults()
            static var schemaVersion: Int { 2 }
            init(size: Int) { self.size = size }
            init(migrating previous: Same) { size = previous.size * 10 }
        }
        struct AfterHigher: DefaultMigratable {
            var size = 1
            static let defaults = MemoryDefaults()
            static var schemaVersion: Int { 2 }
            init(size: Int) { self.size = size }
            init(migrating previous: Higher) { size = previous.size * 10 }
        }
        try AfterSame(size: 4).save()
        #expect(try AfterSame.load()?.size == 4)
        #expect(try !AfterSame.migrate())
        try AfterHigher(size: 4).save()
        #expect(try AfterHigher.load()?.size == 4)
        #expect(try !AfterHigher.migrate())
    }

    @Test("is not needed for a type's own value, even if it states that only a newer version can read it")
    func readableSinceLater() throws {
        struct Eager: DefaultStorable {
            var size = 1
            static let defaults = MemoryDefaults()
            static var schemaVersion: Int { 2 }
            static var readableSince: Int { 3 }
        }
        try Eager(size: 7).save()
        #expect(try Eager.load()?.size == 7)
        #expect(try !Eager.migrate())
    }

    @Test("finds one record of bytes that were written twice", arguments: StoreKind.allCases)
    func writtenTwice(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            for _ in 0..<3 {
                try Versioned.V1(size: 4).save()
                let text = try #require(store.object(forKey: "Versioned.schemaVersion") as? String)
                #expect(SchemaRecord(text: text)?.entries.count == 1)
            }
        }
    }

    @Test("is written once, however often it is called", arguments: StoreKind.allCases)
    func idempotent(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            #expect(try !Unversioned.V3.migrate())
            try store.set(Data(#"{"volume":70}"#.utf8), forKey: "Settings")
            #expect(try Unversioned.V3.migrate())
            let after = store.data(forKey: "Settings")
            #expect(try !Unversioned.V3.migrate())
            #expect(store.data(forKey: "Settings") == after)
            #expect(try Unversioned.V3.load() == Unversioned.V3(level: 0.7))

            try Versioned.V1(size: 4).save()
            #expect(try Versioned.V3.migrate())
            #expect(try !Versioned.V3.migrate())
            #expect(try Versioned.V3.load() == Versioned.V3(size: 41, name: "two"))
            try store.set("text", forKey: "Versioned")
            expectError(.typeMismatch) { try Versioned.V3.migrate() }
        }
    }

    @Test("that fails changes nothing, is reported, and is tried again", arguments: StoreKind.allCases)
    func failing(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let old = Data(#"{"volume":-1}"#.utf8)
            try store.set(old, forKey: "Settings")
            let collector = EventCollector()
            try collector.collect {
                for _ in 0..<3 {
                    #expect(Unversioned.V3.read() == Unversioned.V3(level: 0.5))
                    let error = expectError(.migrationFailed) { try Unversioned.V3.load() }
                    #expect(error?.underlyingError is Refusal)
                    #expect(error?.description.contains("V1") == true)
                    expectError(.migrationFailed) { try Unversioned.V3.migrate() }
                    expectError(.migrationFailed) { try Unversioned.V3.update { $0.loudness.level = 1 } }
                }
                #expect(store.data(forKey: "Settings") == old)
                try Unversioned.V3(level: 1).save()
            }
            #expect(collector.codes == [.migrationFailed, .migrationFailed])
            #expect(collector.events.map(\.kind) == [.readFailed, .quarantined])
            #expect(try Unversioned.V3.quarantined().map(\.data) == [old])
        }
    }

    @Test("depends on the stored version, and not on which type can decode the bytes", arguments: StoreKind.allCases)
    func versioned(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            // Each of the types can decode these bytes.
            try Versioned.V1(size: 4).save()
            #expect(store.data(forKey: "Versioned") == Data(#"{"size":4}"#.utf8))
            #expect(try Versioned.V1.load() == Versioned.V1(size: 4))
            #expect(try Versioned.V2.load() == Versioned.V2(size: 40, name: "two"))
            #expect(try Versioned.V3.load() == Versioned.V3(size: 41, name: "two"))
            #expect(try Versioned.V3.loadWithReport()?.report.migratedFrom == "V1")

            try Versioned.V2(size: 5, name: "x").save()
            #expect(try Versioned.V2.load() == Versioned.V2(size: 5, name: "x"))
            #expect(try Versioned.V3.load() == Versioned.V3(size: 6, name: "x"))
            #expect((store.object(forKey: "Versioned.schemaVersion") as? String)?.hasPrefix("2 ") == true)
            try Versioned.V3.update { $0.size *= 2 }
            #expect(try Versioned.V3.load() == Versioned.V3(size: 12, name: "x"))
            #expect(try Versioned.V3.quarantined().isEmpty)
            try Versioned.V3.remove()
            #expect(store.dictionaryRepresentation().keys.filter { $0.hasPrefix("Versioned") }.isEmpty)
        }
    }

    @Test("fills in only the predecessor that the version identifies", arguments: StoreKind.allCases)
    func filledInPredecessor(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let bytes = Data(#"{"size":"large","name":"kept"}"#.utf8)
            try store.set(
                SchemaRecord(version: .init(2), data: bytes, replacing: nil).text,
                forKey: "Versioned.schemaVersion"
            )
            try store.set(bytes, forKey: "Versioned")
            let (value, report) = try #require(try Versioned.V3.loadWithReport())
            #expect(value == Versioned.V3(size: 3, name: "kept"))
            #expect(report.migratedFrom == "V2" && report.unusablePaths == ["size"])
            try Versioned.V3.update { _ in }
            #expect(try Versioned.V3.quarantined().map(\.data) == [bytes])
        }
    }

    @Test(
        "does not change a newer version's value, until a write or an update replaces it",
        arguments: StoreKind.allCases,
        [false, true]
    )
    func newer(kind: StoreKind, updates: Bool) throws {
        for coder in [DefaultsCoder.json, .propertyList] {
            try Versioned.$coder.withValue(coder) { try checkNewer(kind: kind, updates: updates) }
        }
    }

    private func checkNewer(kind: StoreKind, updates: Bool) throws {
        try kind.withCurrentStore { store in
            try Versioned.V3(size: 7, name: "n").save()
            let newer = store.data(forKey: "Versioned")
            let collector = EventCollector()
            try collector.collect {
                #expect(Versioned.V2.read() == Versioned.V2())
                #expect(Versioned.V2.read() == Versioned.V2())
                let error = expectError(.newerVersion) { try Versioned.V2.load() }
                #expect(error?.description.contains("version 3") == true)
                expectError(.newerVersion) { try Versioned.V2.migrate() }
                // Without a default value, an update has no value to start from.
                expectError(.newerVersion) { try Versioned.V1.update { $0.size = 0 } }
                #expect(store.data(forKey: "Versioned") == newer)
                if updates {
                    try Versioned.V2.update { $0.size = 8 }
                } else {
                    Versioned.V2(size: 8).write()
                }
            }
            // The identifier that two types share is reported too, unless another test has caused that report before.
            let events = collector.events.filter { $0.kind != .identifierConflict }
            #expect(events.map(\.error.code) == [.newerVersion, .newerVersion])
            #expect(events.map(\.kind) == [.readFailed, .quarantined])
            #expect(try Versioned.V2.quarantined().map(\.data) == [newer])
            // The newer app is used again.
            #expect(try Versioned.V3.load() == Versioned.V3(size: 9, name: "two"))
        }
    }

    @Test("treats bytes from a program without versions as those of a type without one")
    func unrecorded() throws {
        struct Older: DefaultStorable, Equatable {
            var size = 1
            static var defaults: CurrentStore { CurrentStore() }
            static var defaultIdentifier: String { "Recorded" }
        }
        struct Newer: DefaultMigratable, Equatable {
            var size = 1
            static var defaults: CurrentStore { CurrentStore() }
            static var defaultIdentifier: String { "Recorded" }
            static var schemaVersion: Int { 2 }
            init(size: Int) { self.size = size }
            init(migrating previous: Older) { size = previous.size * 10 }
        }
        for kind in StoreKind.allCases {
            try kind.withCurrentStore { store in
                try Older(size: 1).save()
                #expect(try Newer.load()?.size == 10)
                try Newer.migrate()
                #expect(try Newer.load()?.size == 10)
                // The older app reads the value, and overwrites it.
                try Older.update { $0.size += 1 }
                #expect(try Newer.load()?.size == 110)
                try Newer.update { $0.size = 7 }
                #expect(try Newer.load()?.size == 7)
                try store.set(Data(#"{"size":7} "#.utf8), forKey: "Recorded")
                #expect(try Newer.load()?.size == 70)
            }
        }
    }

    @Test("leaves bytes to the type whose values they have, where another one knows only what is null in them")
    func unclaimed() throws {
        struct Older: DefaultStorable {
            var name: String
            var note: String?
            static var defaultIdentifier: String { "Unclaimed" }
        }
        struct Newer: DefaultMigratable, Equatable {
            var title: String
            static var defaultIdentifier: String { "Unclaimed" }
            static var schemaVersion: Int { 2 }
            init(title: String) { self.title = title }
            init(migrating previous: Older) { title = previous.name }
        }
        let store = MemoryDefaults()
        try store.set(Data(#"{"note":null,"title":"x"}"#.utf8), forKey: "Unclaimed")
        #expect(try Newer.load(from: store) == Newer(title: "x"))
        try store.set(Data(#"{"note":null,"name":"y"}"#.utf8), forKey: "Unclaimed")
        #expect(try Newer.load(from: store) == Newer(title: "y"))
    }

    @Test("identifies the version if the process ended between two writes")
    func interrupted() throws {
        try StoreKind.memory.withCurrentStore { store in
            try Versioned.V1(size: 4).save()
            let old = store.data(forKey: "Versioned")
            try Versioned.V3.migrate()
            let new = store.data(forKey: "Versioned")
            // The record is written first, and covers both values.
            for bytes in [old, new] {
                try store.set(bytes, forKey: "Versioned")
                #expect(try Versioned.V3.load() == Versioned.V3(size: 41, name: "two"))
            }
        }
    }

    @Test("keeps another value under the version's key", arguments: StoreKind.allCases)
    func occupied(kind: StoreKind) throws {
        try kind.withCurrentStore { store in
            let digest = "0123456789abcdef"
            for object in [
                "1.2.3", 3, "2 xyz", "2 \(digest) 1", "2/x \(digest)", "/ \(digest)", "", "2 1a", "3/2/1 \(digest)",
                "2 \(digest) 1 \(digest) 1 \(digest)",
            ] as [Any] {
                try store.set(object, forKey: "Versioned.schemaVersion")
                try store.set(Data(#"{"size":4}"#.utf8), forKey: "Versioned")
                expectError(.typeMismatch) { try Versioned.V3.load() }
                expectError(.typeMismatch) { try Versioned.V3().save() }
                #expect(store.data(forKey: "Versioned") == Data(#"{"size":4}"#.utf8))
                #expect(store.object(forKey: "Versioned.schemaVersion") as? NSObject == object as? NSObject)
            }
            // Types without versions ignore this value.
            try store.set("1.2.3", forKey: "Settings.schemaVersion")
            try store.set(Data(#"{"volume":70}"#.utf8), forKey: "Settings")
            #expect(try Unversioned.V3.load() == Unversioned.V3(level: 0.7))
            try Unversioned.V3(level: 1).save()
            #expect(store.object(forKey: "Settings.schemaVersion") as? String == "1.2.3")
        }
    }

    @Test("on eight threads at once has the same result as on one")
    func threads() throws {
        struct Old: Codable { var count: Int }
        struct New: DefaultMigratable {
            var total: Int
            static let defaults = MemoryDefaults()
            static var schemaVersion: Int { 2 }
            init(migrating previous: Old) { total = previous.count + 1 }
        }
        try New.defaults.set(Data(#"{"count":1}"#.utf8), forKey: "New")
        try onEightThreads {
            for _ in 0..<50 {
                try New.migrate()
                try New.update { $0.total += 10 }
            }
        }
        #expect(try New.load()?.total == 2 + 8 * 50 * 10)
        #expect(try New.quarantined().isEmpty)
    }

    @Test("is not applied to a current value that is written during the read")
    func readingWhileWriting() throws {
        struct Old: Codable { var size: Int }
        struct New: DefaultMigratable {
            var size = 0
            static let defaults = MemoryDefaults()
            static var schemaVersion: Int { 2 }
            init(size: Int) { self.size = size }
            init(migrating previous: Old) { size = previous.size + 1_000_000 }
        }
        try New(size: 0).save()
        let turn = Locked(0)
        try onEightThreads {
            let writes = turn.withLock {
                $0 += 1; return $0 <= 2
            }
            for size in 0..<2_000 {
                if writes {
                    try New(size: size).save()
                } else {
                    #expect(try New.load()?.size ?? .max < 1_000_000)
                }
            }
        }
        #expect(try New.quarantined().isEmpty)
    }

    @Test("is not applied to bytes that were replaced before their version was read")
    func replacedWhileReading() throws {
        struct Old: Codable { var size: Int }
        struct New: DefaultMigratable {
            var size = 0
            static let defaults = MemoryDefaults()
            static var schemaVersion: Int { 2 }
            init(size: Int) { self.size = size }
            init(migrating previous: Old) { size = previous.size + 1_000_000 }
        }
        let base = MemoryDefaults()
        try New(size: 1).save(to: base)
        let isFirst = Locked(true)
        let store = ReadNotifyingStore(base) { key in
            let writes = isFirst.withLock { isFirst in
                defer { isFirst = isFirst && key != "New.schemaVersion" }
                return isFirst && key == "New.schemaVersion"
            }
            // After two writes, the record no longer covers the first bytes.
            for size in [2, 3] where writes {
                try? New(size: size).save(to: base)
            }
        }
        #expect(try New.load(from: store)?.size == 3)
        #expect(isFirst.withLock { !$0 })
    }

    @Test("treats a negative version as none")
    func negativeVersion() throws {
        struct Old: Codable { var one: Int }
        struct New: DefaultMigratable {
            var two: Int
            static var schemaVersion: Int { .min }
            init(migrating previous: Old) { two = previous.one + 1 }
        }
        let store = MemoryDefaults()
        try store.set(Data(#"{"one":1}"#.utf8), forKey: "New")
        #expect(try New.load(from: store)?.two == 2)
        try New.load(from: store)?.save(to: store)
        #expect(store.storedValue(forKey: "New.schemaVersion") == nil)
        #expect(try New.load(from: store)?.two == 2)
    }

    @Test("of a cyclic chain ends")
    func cycle() throws {
        struct First: DefaultMigratable {
            var one: Int
            static let defaults = MemoryDefaults()
            init(migrating previous: Second) { one = 1 }
        }
        struct Second: DefaultMigratable {
            var two: Int
            static let defaults = MemoryDefaults()
            init(migrating previous: First) { two = 2 }
        }
        try First.defaults.set(Data(#"{"two":2}"#.utf8), forKey: "First")
        #expect(try First.load()?.one == 1)
        try First.defaults.set(Data("{}".utf8), forKey: "First")
        expectError(.undecodable) { try First.load() }
    }
}

/// A store that runs a body before each read.
private final class ReadNotifyingStore: DefaultsStore {
    private let base: MemoryDefaults
    private let willRead: (_ key: String) -> Void

    init(_ base: MemoryDefaults, willRead: @escaping (_ key: String) -> Void) {
        self.base = base
        self.willRead = willRead
    }

    var storeDescription: String { "ReadNotifyingStore(\(base.storeDescription))" }
    func storedKeys() -> [String] { base.storedKeys() }
    func flush() {}

    func storedValue(forKey key: String) -> PropertyListValue? {
        willRead(key)
        return base.storedValue(forKey: key)
    }

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try base.setStoredValue(value, forKey: key)
    }
}
