import Foundation
import Testing

@testable import Default

/// Two releases of one type; the older one can't use the newer one's values.
private enum Recorded {
    struct V2: DefaultStorable, Equatable {
        var size = 1
        static var defaultIdentifier: String { "Recorded" }
        static var schemaVersion: Int { 2 }
    }
    struct V3: DefaultStorable, Equatable {
        var size = 1
        static var defaultIdentifier: String { "Recorded" }
        static var schemaVersion: Int { 3 }
    }
}

private struct Bare: DefaultStorable, Equatable {
    var size: Int
}

@Suite("What is stored beside a value", .ownCache)
struct CompanionValueTests {
    @Test("is a record of its version, and of that of the bytes that it replaced")
    func records() {
        // The digests are the published ones of FNV-1a.
        let first = SchemaRecord(version: .init(1), data: Data(), replacing: nil)
        #expect(first.text == "1 cbf29ce484222325")
        let second = SchemaRecord(version: .init(3, readableSince: 2), data: Data("a".utf8), replacing: first)
        #expect(second.text == "3/2 af63dc4c8601ec8c 1 cbf29ce484222325")
        let third = SchemaRecord(version: .init(4), data: Data("foobar".utf8), replacing: second)
        #expect(third.text == "4 85944171f73967e8 3/2 af63dc4c8601ec8c")
        #expect(third.version(of: Data("foobar".utf8)) == SchemaVersion(4))
        #expect(third.version(of: Data("a".utf8)) == SchemaVersion(3, readableSince: 2))
        #expect(third.version(of: Data()) == nil)
        #expect(SchemaRecord(text: third.text)?.entries == third.entries)
        // The same bytes again, as a value of another version.
        let fourth = SchemaRecord(version: .init(5), data: Data("foobar".utf8), replacing: third)
        #expect(fourth.text == "5 85944171f73967e8 4 85944171f73967e8")
        #expect(fourth.version(of: Data("foobar".utf8)) == SchemaVersion(5))
    }

    @Test("is a version with, if that is another one, the oldest that can use the bytes")
    func versions() {
        #expect(SchemaVersion(3).text == "3")
        #expect(SchemaVersion(3, readableSince: 2).text == "3/2")
        #expect(SchemaVersion(3, readableSince: 3).text == "3")
        #expect(SchemaVersion(3, readableSince: 4) == SchemaVersion(3))
        #expect(SchemaVersion(3).readableSince == 3)
        for (text, number, readableSince) in [("2", 2, 2), ("3/2", 3, 2), ("3/3", 3, 3), ("3/5", 3, 3)] {
            let version = SchemaVersion(text: text)
            #expect(version?.number == number && version?.readableSince == readableSince, "\(text)")
        }
        for text in ["", "/", "3/", "/3", "3//2", "3/2/1", "x", "3/x", "x/3", " 3", "3 ", "9223372036854775808"] {
            #expect(SchemaVersion(text: text) == nil, "\(text)")
        }
    }

    @Test("has the value's key with an ending, and the digest of a key that is too long for that")
    func keys() {
        #expect(CompanionKey.quarantine(of: "k") == "k.quarantine")
        #expect(CompanionKey.version(of: "k") == "k.schemaVersion")
        #expect(CompanionKey.moved(of: "k") == "k.moved")
        let names: [(ending: String, name: (String) -> String)] = [
            (".quarantine", CompanionKey.quarantine), (".schemaVersion", CompanionKey.version),
            (".moved", CompanionKey.moved),
        ]
        for (ending, name) in names {
            let longest = String(repeating: "k", count: 65_535 - ending.count)
            #expect(name(longest) == longest + ending)
            for key in [longest + "k", String(repeating: "k", count: 65_535)] {
                let digest = ContentDigest(Data(key.utf8)).text
                let beginning = String(repeating: "k", count: 65_535 - 17 - ending.count)
                #expect(name(key) == "\(beginning)~\(digest)\(ending)")
            }
            // Cutting the key within a character would not leave text.
            let key = String(repeating: "é", count: 32_767)
            let digest = ContentDigest(Data(key.utf8)).text
            let beginning = String(repeating: "é", count: (65_535 - 17 - ending.count) / 2)
            #expect(name(key) == "\(beginning)~\(digest)\(ending)")
        }
    }

    @Test("is read as other releases have quarantined it, and restored with its version")
    func quarantined() throws {
        let store = MemoryDefaults()
        let bytes = Data(#"{"size":7}"#.utf8)
        let dates = [700_000_000, 600_000_000].map { Date(timeIntervalSinceReferenceDate: $0) }
        let text = PropertyListValue.dictionary([
            "date": .date(dates[0]), "type": .string("Older"), "value": .string("text"),
        ])
        let data = PropertyListValue.dictionary([
            "date": .date(dates[1]), "type": .string("V3"), "value": .data(bytes), "version": .string("3/2"),
        ])
        try store.setStoredValue(.array([text, data]), forKey: "Recorded.quarantine")
        let kept = try Recorded.V2.quarantined(in: store)
        #expect(kept.map(\.date) == dates)
        #expect(kept.map(\.typeName) == ["Older", "V3"])
        #expect(kept.map(\.value) == [.string("text"), .data(bytes)])
        #expect(kept.map(\.data) == [nil, bytes])
        #expect(kept.first?.value.object as? String == "text")
        // The newer entry is not Data, and settings are only read from Data.
        #expect(try Recorded.V2.restoreQuarantined(in: store) == kept.last)
        #expect(store.storedValue(forKey: "Recorded") == .data(bytes))
        #expect(store.storedValue(forKey: "Recorded.quarantine") == .array([text]))
        let record = try #require(store.string(forKey: "Recorded.schemaVersion"))
        #expect(record == "3/2 \(ContentDigest(bytes).text)")
        #expect(try Recorded.V2.load(from: store) == Recorded.V2(size: 7))
        expectError(.typeMismatch) { try Recorded.V2.restoreQuarantined(in: store) }
        #expect(store.storedValue(forKey: "Recorded") == .data(bytes))
    }

    @Test("is quarantined in the same form, with the version if there is one", arguments: StoreKind.allCases)
    func quarantineForm(kind: StoreKind) throws {
        func fields(_ key: String, in store: any DefaultsStore) -> [String: PropertyListValue]? {
            guard case .array(let entries) = store.storedValue(forKey: key), entries.count == 1,
                case .dictionary(let fields) = entries[0]
            else { return nil }
            return fields
        }
        try kind.withStore { store in
            try Recorded.V3(size: 7).save(to: store)
            let newer = try #require(store.data(forKey: "Recorded"))
            try store.set("text", forKey: "Bare")
            let collector = EventCollector()
            try collector.collect {
                try Recorded.V2().save(to: store)
                try Bare(size: 1).save(to: store)
            }
            let versioned = try #require(fields("Recorded.quarantine", in: store))
            #expect(versioned.keys.sorted() == ["date", "type", "value", "version"])
            #expect(versioned["type"] == .string("V2") && versioned["value"] == .data(newer))
            #expect(versioned["version"] == .string("3"))
            let bare = try #require(fields("Bare.quarantine", in: store))
            #expect(bare.keys.sorted() == ["date", "type", "value"])
            #expect(bare["type"] == .string("Bare") && bare["value"] == .string("text"))

            // The identifier that two types share is reported too.
            let errors = collector.events.filter { $0.kind == .quarantined }.map(\.error)
            #expect(errors.map(\.code) == [.newerVersion, .typeMismatch])
            #expect(errors.map(\.key) == ["Recorded", "Bare"])
            #expect(errors.first?.type == Recorded.V2.self && errors.last?.type == Bare.self)
            #expect(errors.allSatisfy { $0.store == store.storeDescription })
            let causes = errors.map { $0.underlyingError as? DefaultsError }
            #expect(causes.map { $0?.code } == [.newerVersion, .typeMismatch])
        }
    }

    @Test("is reported under its own key if it is something else", arguments: StoreKind.allCases)
    func occupied(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.set(Data(#"{"size":7}"#.utf8), forKey: "Recorded")
            try store.set("mine", forKey: "Recorded.schemaVersion")
            let errors = [
                expectError(.typeMismatch) { try Recorded.V2.load(from: store) },
                expectError(.typeMismatch) { try Recorded.V2().save(to: store) },
            ]
            for error in errors {
                #expect(error?.key == "Recorded.schemaVersion")
                #expect(error?.type == Recorded.V2.self && error?.store == store.storeDescription)
                #expect(error?.description.contains("is reserved for the schema version of V2") == true)
            }
            try store.set(Data("{".utf8), forKey: "Bare")
            try store.set("mine", forKey: "Bare.quarantine")
            let others = [
                expectError(.typeMismatch) { try Bare.quarantined(in: store) },
                expectError(.typeMismatch) { try Bare.restoreQuarantined(in: store) },
                expectError(.typeMismatch) { try Bare.removeQuarantined(in: store) },
            ]
            for error in others {
                #expect(error?.key == "Bare.quarantine")
                #expect(error?.type == Bare.self && error?.store == store.storeDescription)
                #expect(error?.description.contains("is reserved for quarantined values of Bare") == true)
            }
            // The error of a write is about the value's key.
            let failure = expectError(.quarantineFailed) { try Bare(size: 1).save(to: store) }
            #expect(failure?.key == "Bare" && failure?.type == Bare.self && failure?.store == store.storeDescription)
            #expect((failure?.underlyingError as? DefaultsError)?.key == "Bare.quarantine")
        }
    }

    @Test("says that a newer release stored the value, which the error states with both versions")
    func newerVersion() throws {
        let store = MemoryDefaults()
        try Recorded.V3(size: 7).save(to: store)
        let error = expectError(.newerVersion) { try Recorded.V2.load(from: store) }
        #expect(error?.key == "Recorded" && error?.type == Recorded.V2.self)
        #expect(error?.store == store.storeDescription && error?.underlyingError == nil)
        let description = try #require(error?.description)
        #expect(description.contains("has version 3 and was written by a newer version"))
        #expect(description.contains("V2 has version 2."))
    }
}
