import Default
import Foundation
import Testing

/// Passes everything on to another store, under keys with a prefix: the example of `DefaultsStore`'s documentation.
struct PrefixedStore<Base: DefaultsStore>: DefaultsStore {
    let base: Base
    let prefix: String

    func object(forKey key: String) -> Any? { base.object(forKey: prefix + key) }
    func data(forKey key: String) -> Data? { base.data(forKey: prefix + key) }
    func set(_ value: Any?, forKey key: String) throws { try base.set(value, forKey: prefix + key) }
    func removeObject(forKey key: String) throws { try base.removeObject(forKey: prefix + key) }
    func synchronize() throws -> Bool { try base.synchronize() }

    func dictionaryRepresentation() -> [String: Any] {
        var own: [String: Any] = [:]
        for (key, value) in base.dictionaryRepresentation() where key.hasPrefix(prefix) {
            own[String(key.dropFirst(prefix.count))] = value
        }
        return own
    }

    var storeDescription: String { "\(base.storeDescription), prefix \(prefix)" }

    func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try base.withExclusiveAccess(body)
    }
}

/// A store that fails, as one on a server may.
private struct FailingStore: DefaultsStore {
    struct Outage: Error {}

    func object(forKey key: String) -> Any? { nil }
    func data(forKey key: String) -> Data? { nil }
    func set(_ value: Any?, forKey key: String) throws { throw Outage() }
    func removeObject(forKey key: String) throws { throw Outage() }
    func dictionaryRepresentation() -> [String: Any] { [:] }
    func synchronize() throws -> Bool { throw Outage() }
}

@Suite("A store by a third party")
struct ThirdPartyStoreTests {
    @Test("has df like any other")
    func accessor() throws {
        let base = MemoryDefaults()
        let store = PrefixedStore(base: base, prefix: "app.")
        try store.df.save([1, 2], forKey: "numbers")
        #expect(try store.df.load(forKey: "numbers", type: [Int].self) == [1, 2])
        #expect(base.data(forKey: "app.numbers") == Data("[1,2]".utf8))
        #expect(store.dictionaryRepresentation().keys.sorted() == ["numbers"])
    }

    @Test("has its errors wrapped")
    func errors() {
        let error = expectError(.storeFailed) { try FailingStore().df.save(1, forKey: "k") }
        #expect(error?.key == "k")
        #expect(error?.store == "FailingStore")
        #expect(error?.underlyingError is FailingStore.Outage)
    }
}
