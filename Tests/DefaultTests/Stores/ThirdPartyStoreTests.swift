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

    func beginExclusiveAccess() throws { try base.beginExclusiveAccess() }
    func endExclusiveAccess() { base.endExclusiveAccess() }
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

/// A store that wants every change to be made under its exclusive access.
private final class WatchfulStore: DefaultsStore {
    private var values: [String: Data] = [:]
    private var depth = 0
    private(set) var changes: [String] = []

    func object(forKey key: String) -> Any? { values[key] }
    func data(forKey key: String) -> Data? { values[key] }
    func set(_ value: Any?, forKey key: String) throws { change(key, to: value as? Data) }
    func removeObject(forKey key: String) throws { change(key, to: nil) }
    func dictionaryRepresentation() -> [String: Any] { values }
    func synchronize() throws -> Bool { true }

    func beginExclusiveAccess() { depth += 1 }
    func endExclusiveAccess() { depth -= 1 }

    private func change(_ key: String, to value: Data?) {
        changes.append("\(value == nil ? "remove" : "set") \(key) \(depth > 0 ? "alone" : "unguarded")")
        values[key] = value
    }
}

private struct Watched: DefaultStorable {
    var count = 0
    nonisolated(unsafe) static let defaults = WatchfulStore()
    static var defaultValue: Watched? { Watched() }
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

    @Test("is changed under its exclusive access only")
    func exclusiveAccess() throws {
        try Watched(count: 1).save()
        try Watched.update { $0.count += 1 }
        try Watched.defaults.df.save(3, forKey: "k")
        try Watched.remove()
        let expected = ["set Watched", "set Watched", "set k", "remove Watched", "remove Watched.Type"]
        #expect(Watched.defaults.changes == expected.map { $0 + " alone" })
    }

    @Test("has its errors wrapped")
    func errors() {
        let error = expectError(.storeFailed) { try FailingStore().df.save(1, forKey: "k") }
        #expect(error?.key == "k")
        #expect(error?.store == "FailingStore")
        #expect(error?.underlyingError is FailingStore.Outage)
    }
}
