import Default
import DefaultTesting
import Foundation
import Testing

/// Has no more than what every store must have, and passes it on: the rest runs on the default implementations.
struct PlainStore: DefaultsStore {
    let base: any DefaultsStore

    func object(forKey key: String) -> Any? { base.object(forKey: key) }
    func data(forKey key: String) -> Data? { base.data(forKey: key) }
    func set(_ value: Any?, forKey key: String) throws { try base.set(value, forKey: key) }
    func removeObject(forKey key: String) throws { try base.removeObject(forKey: key) }
    func dictionaryRepresentation() -> [String: Any] { base.dictionaryRepresentation() }
    func synchronize() throws -> Bool { try base.synchronize() }

    var storeDescription: String { "plain \(base.storeDescription)" }
}

private func prefixed(_ store: some DefaultsStore) -> any DefaultsStore {
    PrefixedStore(base: store, prefix: "app.")
}

extension StoreKind {
    /// What the kit is told about stores of this kind.
    var conformance: StoreConformance {
        StoreConformance(capabilities: capabilities, patience: .seconds(600)) { body in try withStore(body) }
    }

    private var capabilities: StoreConformance.Capabilities {
        self == .userDefaults ? [.threads, .severalStores] : [.threads, .severalStores, .rollback]
    }
}

@Suite("Every store")
struct StoreConformanceTests {
    @Test("keeps the promise", arguments: StoreConformance.checks, StoreKind.allCases)
    func promises(check: StoreConformance.Check, kind: StoreKind) {
        #expect(kind.conformance.findings(of: check) == [])
    }

    @Test(
        "keeps the promise through the default implementations",
        arguments: StoreConformance.checks,
        StoreKind.allCases
    )
    func defaultImplementations(check: StoreConformance.Check, kind: StoreKind) {
        let capabilities: StoreConformance.Capabilities = kind == .userDefaults ? [] : [.threads]
        let conformance = StoreConformance(capabilities: capabilities, patience: .seconds(600)) { body in
            try kind.withStore { store in try body(PlainStore(base: store)) }
        }
        #expect(conformance.findings(of: check) == [])
    }

    @Test(
        "by a third party keeps all promises, but those about keys that a prefix can't keep",
        arguments: [StoreKind.memory, .file]
    )
    func prefixedStore(kind: StoreKind) throws {
        let conformance = StoreConformance(capabilities: [.severalStores]) { body in
            try kind.withStore { store in try body(prefixed(store)) }
        }
        // With the prefix an empty key is no longer empty, and the longest ones are too long.
        let broken = [
            "A key may have up to 65,535 bytes.",
            "A key that is empty, holds NUL or has over 65,535 bytes is refused, and has no value.",
        ]
        #expect(Set(conformance.findings().map(\.promise)) == Set(broken))
    }

    @Test("gives arrays and dictionaries of any elements as [Any] and [String: Any]", arguments: StoreKind.allCases)
    func collections(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.set([1, 2], forKey: "array")
            try store.set(["a": ["b": 1]], forKey: "dictionary")
            let array = try #require(store.object(forKey: "array"))
            let dictionary = try #require(store.object(forKey: "dictionary") as? [String: Any])
            #expect(type(of: array) == [Any].self)
            let inner = try #require(dictionary["a"])
            #expect(type(of: inner) == [String: Any].self)
        }
    }

    @Test("names itself and the key in its errors", arguments: StoreKind.allCases)
    func errors(kind: StoreKind) throws {
        try kind.withStore { store in
            let error = expectError(.unsupportedValue) { try store.set(NSNull(), forKey: "k") }
            #expect(error?.store == store.storeDescription)
            #expect(error?.key == "k")
        }
    }

    @Test("takes back a failed transaction, but for UserDefaults, which has none", arguments: StoreKind.allCases)
    func rollback(kind: StoreKind) throws {
        struct Stop: Error {}
        try kind.withStore { store in
            try store.set(1, forKey: "k")
            #expect(throws: Stop.self) {
                try store.transaction {
                    try store.set(2, forKey: "k")
                    throw Stop()
                }
            }
            #expect(store.object(forKey: "k") as? Int == (kind == .userDefaults ? 2 : 1))
        }
    }
}
