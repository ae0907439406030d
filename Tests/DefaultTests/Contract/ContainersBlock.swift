import Default
import DefaultJournal
import Foundation
import Testing

/// A custom storage with the two required methods.
private struct Vault: KeyValueStorage {
    private let contents = Guarded<[String: Data]>([:])

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
        let codes = EventCollector.codes {
            #expect(PersistentStorage(suiteName: "../outside") == nil)
            #expect(PersistentStorage(suiteName: "") == nil)
        }
        #expect(codes == [.invalidSuiteName, .invalidSuiteName])
    }
}
