import Default
import DefaultJournal
import DefaultConformance
import Foundation
import Observation
import Testing

/// A minimal third-party store: the five members that have no default implementation.
private final class Shelf: DefaultsStore, Sendable {
    let storeDescription = "Shelf \(UUID().uuidString)"
    private let values = Locked<[StoreKey: PropertyListValue]>([:])

    func storedValue(forKey key: String) -> PropertyListValue? {
        values.withLock { $0[StoreKey(unchecked: key)] }
    }

    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        let storeKey = try StoreKey(key)
        try value?.checkDepth(forKey: key, in: self)
        try withExclusiveAccess {
            values.withLock { $0[storeKey] = value }
        }
    }

    func storedKeys() -> [String] {
        values.withLock { $0.keys.map(\.string) }
    }

    func flush() {}
}

private struct Theme: DefaultStorable, Equatable {
    var name = "bright"
    static let defaults = Shelf()
    static var defaultValue: Theme? { Theme() }
}

@Suite("A store of one's own")
struct OwnStoreBlock {
    @Test("serves settings types, typed and string keys, containers and df")
    func frontEnds() async throws {
        let store = Shelf()
        var updates = Theme.updates(in: store).makeAsyncIterator()
        #expect(await updates.next(isolation: nil) == Theme())
        Theme(name: "dark").write(to: store)
        #expect(await updates.next(isolation: nil) == Theme(name: "dark"))
        #expect(try Theme.load(from: store) == Theme(name: "dark"))

        let defaults = Defaults(suite: store)
        let count = DefaultsKey<Int>("count")
        defaults[count] += 2
        defaults["count"] += 3
        #expect(store.storedValue(forKey: "count") == .integer(5))
        let container: KeyValueContainer<Int> = store.makeContainer(key: "count")
        let notices = Locked(0)
        withObservationTracking {
            _ = container.value
        } onChange: {
            notices.withLock { $0 += 1 }
        }
        try defaults.update(count) { $0 += 1 }
        #expect(container.value == 6)
        #expect(notices.withLock { $0 } == 1)
        store.df.store([1.5], forKey: "list")
        #expect(store.df.fetch(forKey: "list", type: [Double].self) == [1.5])
        defaults.removeAll()
        #expect(store.storedKeys() == [])
        withDefaults(store) { Defaults["k"] = "v" }
        #expect(store.storedValue(forKey: "k") == .string("v"))
    }

    @Test("may be what a settings type chooses")
    func chosen() {
        Theme(name: "own").write()
        #expect(Theme.read() == Theme(name: "own"))
        #expect(Theme.defaults.storedKeys() == ["Theme"])
    }

    @Test("has its own errors wrapped, with the key that it was about")
    func ownErrors() {
        let store = Refusing()
        let key = DefaultsKey<Int>("k")
        func expectRefusal(_ key: String? = "k", _ body: () throws -> Void) {
            let error = #expect(throws: DefaultsError.self) { try body() }
            #expect(error?.key == key)
            #expect(error?.underlyingError is Refusing.Refusal)
            #expect(error?.store == "Refusing")
        }
        let defaults = Defaults(suite: store)
        expectRefusal { try store.df.save(1, forKey: "k") }
        expectRefusal { _ = try store.df.load(forKey: "k", type: Int.self) }
        expectRefusal { try defaults.save(1, for: key) }
        expectRefusal { _ = try defaults.load(key) }
        expectRefusal("Theme") { try Theme().save(to: store) }
        expectRefusal("Theme") { _ = try Theme.load(from: store) }
        expectRefusal("Theme") { try Theme.remove(from: store) }
        let collector = EventCollector()
        collector.collect {
            #expect(defaults[key] == 0)
            defaults[key] = 1
            defaults[key] += 1
            defaults["k"] = 1
            defaults.remove("k")
            store.setValue(1, forKey: "k")
            #expect(store.value(forKey: "k") as Int? == nil)
        }
        #expect(collector.events.map(\.error.key) == Array(repeating: "k", count: 7))
    }

    @Test("keeps what every store promises", arguments: StoreConformance.checks)
    func promises(check: StoreConformance.Check) {
        let conformance = StoreConformance(capabilities: [.threads, .severalStores], makeStore: { Shelf() })
        #expect(conformance.findings(of: check) == [])
    }
}
