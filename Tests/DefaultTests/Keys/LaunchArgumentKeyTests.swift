import Foundation
import Testing

@testable import Default

@Suite("A typed key that a launch argument overrides")
struct LaunchArgumentKeyTests {
    private static let flag = Defaults.Key<Bool>("flag")
    private static let number = Defaults.Key<Int>("n")
    private static let fraction = Defaults.Key<Double>("x")
    private static let list = Defaults.Key<[Int]>("list")

    private struct Settings: DefaultStorable, Equatable {
        var level = 3
    }

    /// Runs a test on a suite with launch arguments, and on the same suite without.
    private func withSuite(
        _ arguments: [String],
        _ test: (_ overridden: FileDefaults, _ plain: FileDefaults) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            func suite(_ arguments: [String]) -> FileDefaults {
                FileDefaults(
                    suite: FileSuite(location: .directory(directory.appending(path: "s"))),
                    durability: .background,
                    sources: DefaultsSources(arguments: LaunchArguments(["tool"] + arguments))
                )
            }
            try test(suite(arguments), suite([]))
        }
    }

    @Test("reads it as a Boolean, an integer or a fraction")
    func reads() throws {
        try withSuite(["-flag", "YES", "-n", "5", "-x", "2.5", "-list", "(1, 2)"]) { suite, plain in
            let defaults = Defaults(suite: suite)
            let collector = EventCollector()
            collector.collect {
                #expect(defaults[Self.flag])
                #expect(defaults[Self.number] == 5)
                #expect(defaults[Self.fraction] == 2.5)
                #expect(defaults[Self.list] == [1, 2])
                let container: KeyValueContainer<Int> = suite.makeContainer(key: "n")
                #expect(container.value == 5)
            }
            #expect(collector.events.isEmpty)
            #expect(plain.storedKeys() == [])
        }
    }

    @Test("reads a string that `defaults write` stored, and writes its own form")
    func storedStrings() throws {
        try withSuite([]) { suite, _ in
            try suite.set("41", forKey: "n")
            try suite.set("no", forKey: "flag")
            let defaults = Defaults(suite: suite)
            defaults[Self.number] += 1
            defaults[Self.flag].toggle()
            #expect(suite.storedValue(forKey: "n") == .integer(42))
            #expect(suite.storedValue(forKey: "flag") == .boolean(true))
            #expect(try defaults.quarantined(Self.number).isEmpty)
        }
    }

    @Test("is written without quarantining the argument, which is not stored")
    func argumentsAreNotQuarantined() throws {
        try withSuite(["-n", "many", "-Settings", "loud"]) { suite, plain in
            let defaults = Defaults(suite: suite)
            defaults[Self.number] = 7
            defaults[Self.number] += 1
            try defaults.update(Self.fraction) { $0 += 0.5 }
            try Settings().save(to: suite)
            #expect(plain.storedValue(forKey: "n") == .integer(1))
            #expect(Set(plain.storedKeys()) == ["n", "x", "Settings"])
        }
    }

    @Test("is written after the unreadable value that the argument hides was quarantined")
    func hiddenValues() throws {
        try withSuite(["-n", "5"]) { suite, plain in
            let defaults = Defaults(suite: suite)
            try plain.set("many", forKey: "n")
            defaults[Self.number] += 1
            #expect(plain.storedValue(forKey: "n") == .integer(6))
            #expect(try defaults.quarantined(Self.number).map(\.value) == [.string("many")])

            try plain.set("more", forKey: "n")
            try defaults.update(Self.number) { $0 = 9 }
            #expect(plain.storedValue(forKey: "n") == .integer(9))
            #expect(try defaults.quarantined(Self.number).map(\.value) == [.string("more"), .string("many")])
        }
    }

    @Test("gets a quarantined value back, and the stored one is quarantined and not the argument")
    func restoredValues() throws {
        try withSuite(["-n", "9", "-Settings", "loud"]) { suite, plain in
            let defaults = Defaults(suite: suite)
            try Quarantine(key: "n", type: Int.self, store: plain).add(.integer(5))
            try plain.set(7, forKey: "n")
            #expect(try defaults.restoreQuarantined(Self.number)?.value == .integer(5))
            #expect(plain.integer(forKey: "n") == 5)
            #expect(try defaults.quarantined(Self.number).map(\.value) == [.integer(7)])

            let (old, new) = (Data(#"{"level":1}"#.utf8), Data(#"{"level":2}"#.utf8))
            try Quarantine(key: "Settings", type: Settings.self, store: plain).add(.data(old))
            try plain.set(new, forKey: "Settings")
            #expect(try Settings.restoreQuarantined(in: suite)?.data == old)
            #expect(plain.data(forKey: "Settings") == old)
            #expect(try Settings.quarantined(in: suite).map(\.data) == [new])
        }
    }

    #if Foundation
    @Test("is not quarantined by a write to Foundation's defaults either, nor restored over")
    func argumentsOfFoundation() throws {
        try withTemporarySuite { name in
            let suite = try #require(UserDefaults(suiteName: name))
            suite.setVolatileDomain(["n": "many", "Settings": "loud"], forName: UserDefaults.argumentDomain)
            defer { suite.removeVolatileDomain(forName: UserDefaults.argumentDomain) }
            #expect(suite.storedValue(forKey: "n") == .string("many"))
            let defaults = Defaults(suite: suite)
            defaults[Self.number] = 7
            try Settings().save(to: suite)
            #expect(try defaults.quarantined(Self.number).isEmpty)
            #expect(try Settings.quarantined(in: suite).isEmpty)
            suite.removeVolatileDomain(forName: UserDefaults.argumentDomain)
            #expect(suite.storedValue(forKey: "n") == .integer(7))
            #expect(try Settings.load(from: suite) == Settings())
        }
    }
    #endif

    @Test("with a registered default that can't be read is written without it", arguments: StoreKind.allCases)
    func registeredDefaults(kind: StoreKind) throws {
        try kind.withStore { store in
            guard let store = store as? any UserDefaultsVocabulary else { return }
            try store.register(defaults: ["n": "many"])
            Defaults(suite: store)[Self.number] = 7
            #expect(store.storedKeys() == ["n"])
            #expect(store.storedValue(forKey: "n") == .integer(7))
        }
    }

    @Test(
        "with a registered default that can't be read is changed in every way without it, and without a quarantine",
        arguments: [StoreKind.memory, .file]
    )
    func changesOverRegisteredDefaults(kind: StoreKind) throws {
        let registered: [String: PropertyListValue] = [
            "n": .string("many"), "Settings": .string("loud"), "list": .data(Data("[1, 2]".utf8)),
        ]
        let changes: [(key: String, change: (any DefaultsStore) throws -> Void)] = [
            ("n", { Defaults(suite: $0)[Self.number] += 1 }),
            ("n", { Defaults(suite: $0)["n"] += 1 }),
            ("n", { try Defaults(suite: $0).save(1, for: Self.number) }),
            ("n", { KeyValueContainer<Int>(storage: $0, key: "n").value = 1 }),
            ("n", { $0.setValue(1, forKey: "n") }),
            ("Settings", { try Settings().save(to: $0) }),
            ("list", { Defaults(suite: $0)[Self.list] = [3] }),
        ]
        for (number, (key, change)) in changes.enumerated() {
            try kind.withStore { store in
                let vocabulary = try #require(store as? any UserDefaultsVocabulary)
                try vocabulary.register(defaults: registered)
                let collector = EventCollector()
                try collector.collect { try change(store) }
                #expect(collector.events.allSatisfy { $0.kind == .readFailed }, "change \(number)")
                #expect(store.storedKeys() == [key], "change \(number)")
                #expect(store.storedValue(forKey: key) != registered[key], "change \(number)")
                // After the removal of the stored value the registered default shows again.
                try store.setStoredValue(nil, forKey: key)
                #expect(store.storedValue(forKey: key) == registered[key], "change \(number)")
                #expect(store.storedKeys().isEmpty, "change \(number)")
            }
        }
    }

    @Test(
        "with a registered default is neither converted, nor exchanged with a quarantined value",
        arguments: [StoreKind.memory, .file]
    )
    func registeredDefaultsAreNotStored(kind: StoreKind) throws {
        try kind.withStore { store in
            let vocabulary = try #require(store as? any UserDefaultsVocabulary)
            let defaults = Defaults(suite: store)
            try Quarantine(key: "n", type: Int.self, store: store).add(.integer(5))
            // The form of another library for a list.
            try vocabulary.register(defaults: ["n": 8, "list": Data("[1, 2]".utf8)])
            #expect(defaults[Self.list] == [1, 2])
            #expect(try defaults.convertForms(of: Self.list, Self.number) == [])
            #expect(store.storedKeys() == ["n.quarantine"])
            #expect(try defaults.restoreQuarantined(Self.number)?.value == .integer(5))
            #expect(store.storedKeys() == ["n"])
            #expect(defaults[Self.number] == 5)
        }
    }
}
