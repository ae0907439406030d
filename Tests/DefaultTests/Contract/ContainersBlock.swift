import Default
import DefaultJournal
import Foundation
import Testing

/// A custom storage with the two required methods.
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

extension PersistentStorage {
    fileprivate var foobar: KeyValueContainer<Int> { makeContainer() }
    fileprivate var volume: KeyValueContainer<Double> { makeContainer(default: 0.5) }
}

@Suite("The calls of containers")
struct ContainersBlock {
    @Test("hold single values under the properties' names", arguments: StoreKind.allCases)
    func containers(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let persistent = PersistentStorage(suiteName: nil, keyPrefix: "v1.")!
            #expect(persistent.foobar.value == nil)
            #expect(!persistent.foobar.exists)
            persistent.foobar.value = 123
            #expect(persistent.foobar.value == 123)
            #expect(persistent.foobar.exists)
            #expect(store.object(forKey: "v1.foobar") as? Int == 123)
            #expect(persistent.volume.value == 0.5)
            #expect(!persistent.volume.exists)
            persistent.volume.value = 0.8
            #expect(persistent.volume.value == 0.8)
            persistent.volume.value = nil
            #expect(persistent.volume.value == 0.5)
            #expect(store.object(forKey: "v1.volume") == nil)
            persistent.foobar.value? += 1
            try persistent.foobar.update { $0 = ($0 ?? 0) + 1 }
            #expect(persistent.foobar.value == 125)
            persistent.foobar.remove()
            #expect(persistent.foobar.value == nil)

            let storage: any KeyValueStorage = store
            let c = KeyValueContainer<String>(storage: storage, key: "name", defaultValue: "none")
            #expect(c.value == "none")
            c.value = "some"
            #expect(store.object(forKey: "name") as? String == "some")
        }
    }

    @Test("work over a custom storage")
    func vault() throws {
        struct Stop: Error {}
        let storage = Vault()
        let container: KeyValueContainer<[Int]> = storage.makeContainer(default: [1], key: "numbers")
        container.value?.append(2)
        #expect(storage.value(forKey: "numbers") == [1, 2])
        try container.update { $0?.append(3) }
        #expect(container.value == [1, 2, 3])
        #expect(throws: Stop.self) {
            try container.update { (value: inout [Int]?) throws in
                value = nil
                throw Stop()
            }
        }
        #expect(container.value == [1, 2, 3])
        container.remove()
        #expect(!container.exists)
    }

    @Test("have what they were made with, and no value where none can be read", arguments: StoreKind.allCases)
    func properties(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let storage = try #require(PersistentStorage(keyPrefix: "v1."))
            #expect(storage.volume.key == "volume" && storage.volume.defaultValue == 0.5)
            #expect(storage.foobar.defaultValue == nil)
            #expect((storage.foobar.storage as? PersistentStorage)?.keyPrefix == "v1.")
            let made: KeyValueContainer<Int> = store.makeContainer(default: 3, key: "made")
            #expect(made.key == "made" && made.defaultValue == 3)
            #expect((made.storage as? any DefaultsStore)?.storeDescription == store.storeDescription)

            try store.set("many", forKey: "v1.foobar")
            let collector = EventCollector()
            collector.collect { #expect(!storage.foobar.exists && storage.foobar.value == nil) }
            #expect(collector.codes == [.typeMismatch] && collector.events.first?.kind == .readFailed)
            #expect(collector.events.first?.error.key == "v1.foobar")
            #expect(collector.events.first?.error.store == store.storeDescription)
            #expect(store.object(forKey: "v1.foobar") as? String == "many")
            expectEvents([.quarantined]) { storage.foobar.remove() }
            #expect(store.storedValue(forKey: "v1.foobar") == nil)
            #expect(store.storedValue(forKey: "v1.foobar.quarantine") != nil)
        }
    }

    @Test("are what single values of a storage are, with its errors reported", arguments: StoreKind.allCases)
    func singleValues(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            let part = try #require(PersistentStorage(keyPrefix: "p."))
            for (storage, prefix) in [(store as any KeyValueStorage, ""), (part, "p.")] {
                let key = prefix + "k"
                storage.setValue([1.5], forKey: "k")
                #expect(storage.value(forKey: "k") == [1.5])
                #expect(storage.value(forKey: "absent") as Int? == nil)
                let collector = EventCollector()
                collector.collect {
                    storage.setValue([[1: Double.nan]], forKey: "k")
                    storage.setValue(1, forKey: "a\0b")
                    #expect(storage.value(forKey: "k") as Int? == nil)
                    #expect(storage.value(forKey: "a\0b") as Int? == nil)
                }
                let kinds: [DefaultsDiagnostics.Event.Kind] = [.writeFailed, .writeFailed, .readFailed, .readFailed]
                #expect(collector.events.map(\.kind) == kinds)
                #expect(collector.codes == [.encodingFailed, .invalidKey, .typeMismatch, .invalidKey])
                #expect(collector.events.map(\.error.key) == [key, prefix + "a\0b", key, prefix + "a\0b"])
                #expect(store.storedValue(forKey: key) == .array([.real(1.5)]))
                storage.setValue(nil as [Double]?, forKey: "k")
                #expect(store.storedValue(forKey: key) == nil)
                storage.setValue(nil as Int?, forKey: "k")
                let count = try storage.withExclusiveAccess { () -> Int in
                    storage.setValue(2, forKey: "k")
                    return (storage.value(forKey: "k") ?? 0) + 1
                }
                #expect(count == 3 && store.storedValue(forKey: key) == .integer(2))
            }
        }
    }

    #if Foundation
    @Test("exchange property-list values with the methods of UserDefaults, in both directions")
    func userDefaults() throws {
        try withTemporarySuite { name in
            let suite = UserDefaults(suiteName: name)!
            let storage: any KeyValueStorage = suite
            suite.set(5, forKey: "n")
            #expect(storage.value(forKey: "n") as Int? == 5)
            storage.setValue(6, forKey: "n")
            #expect(suite.integer(forKey: "n") == 6)
        }
    }
    #endif

    @Test("exchange property-list values with the store's own methods, in both directions")
    func interchange() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            try suite.set(5, forKey: "n")
            #expect(suite.value(forKey: "n") as Int? == 5)
            suite.setValue(6, forKey: "n")
            #expect(suite.integer(forKey: "n") == 6)
        }
    }

    @Test("see no key of another prefix", arguments: StoreKind.allCases)
    func prefixes(kind: StoreKind) throws {
        let parts = ["", "a", "a.", ".", "..", "a.a", "a.a.", "a%", "a%.", "%2E", "%2E.", "é.", "e\u{301}."]
        try kind.withStandardStore { _ in
            let storages = parts.compactMap { PersistentStorage(keyPrefix: $0) }
            #expect(storages.count == parts.count)
            for (number, storage) in storages.enumerated() where !storage.keyPrefix.isEmpty {
                for key in parts where !key.isEmpty {
                    storage.setValue("\(number) \(key)", forKey: key)
                }
            }
            for (number, storage) in storages.enumerated() where !storage.keyPrefix.isEmpty {
                for key in parts where !key.isEmpty {
                    #expect(storage.value(forKey: key) == "\(number) \(key)")
                }
            }
        }
    }

    @Test("create no storage for an invalid suite name, and report the reason")
    func badName() {
        let collector = EventCollector()
        collector.collect {
            #expect(PersistentStorage(suiteName: "../outside") == nil)
            #expect(PersistentStorage(suiteName: "") == nil)
        }
        #expect(collector.codes == [.invalidSuiteName, .invalidSuiteName])
        #expect(collector.events.map(\.kind) == [.openFailed, .openFailed])
    }
}
