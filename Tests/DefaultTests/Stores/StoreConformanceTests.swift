import Default
import DefaultConformance
import Foundation
import Testing

/// A store with the five members that every store must have, which passes them on: the rest are default
/// implementations.
struct PlainStore: DefaultsStore {
    let base: any DefaultsStore

    func storedValue(forKey key: String) -> PropertyListValue? { base.storedValue(forKey: key) }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try withExclusiveAccess { try base.setStoredValue(value, forKey: key) }
    }
    func storedKeys() -> [String] { base.storedKeys() }
    func flush() throws { try base.flush() }
    var storeDescription: String { "plain \(base.storeDescription)" }
}

private func prefixed(_ store: some DefaultsStore) -> any DefaultsStore {
    PrefixedStore(base: store, prefix: "app.")
}

extension StoreKind {
    /// The declaration of stores of this kind for the kit.
    var conformance: StoreConformance {
        StoreConformance(capabilities: capabilities, patience: 600) { body in try withStore(body) }
    }

    /// Whether stores of this kind are known to break a promise: Foundation's XML has no fractions of seconds.
    func isExempt(from check: StoreConformance.Check) -> Bool {
        #if canImport(Darwin)
        return false
        #else
        return self == .userDefaults
            && check.name == "A real keeps the sign of zero, and a date its fraction of a second."
        #endif
    }

    private var capabilities: StoreConformance.Capabilities {
        self == .userDefaults ? [.threads, .severalStores, .ownChanges] : .all
    }
}

@Suite("Every store")
struct StoreConformanceTests {
    @Test("keeps the promise", arguments: StoreConformance.checks, StoreKind.allCases)
    func promises(check: StoreConformance.Check, kind: StoreKind) {
        withKnownIssue {
            #expect(kind.conformance.findings(of: check) == [])
        } when: {
            kind.isExempt(from: check)
        }
    }

    @Test(
        "keeps the promise through the default implementations",
        arguments: StoreConformance.checks,
        StoreKind.allCases
    )
    func defaultImplementations(check: StoreConformance.Check, kind: StoreKind) {
        let conformance = StoreConformance(capabilities: [.threads, .severalStores], patience: 600) { body in
            try kind.withStore { store in try body(PlainStore(base: store)) }
        }
        withKnownIssue {
            #expect(conformance.findings(of: check) == [])
        } when: {
            kind.isExempt(from: check)
        }
    }

    @Test("with sources keeps the promise", arguments: StoreConformance.checks, LayeredStoreKind.allCases)
    func sources(check: StoreConformance.Check, kind: LayeredStoreKind) {
        let capabilities: StoreConformance.Capabilities =
            kind == .own ? [.threads, .severalStores] : [.threads, .severalStores, .rollback, .ownChanges]
        let conformance = StoreConformance(capabilities: capabilities, patience: 600) { body in
            // One that says nothing changes nothing.
            try kind.withStore(fallbacks: [ChangingSource([:])]) { try body($0) }
        }
        .withSources { sources, body in
            try kind.withStore(
                mandatory: sources.mandatory,
                overrides: sources.overrides,
                fallbacks: sources.fallbacks
            ) { try body($0) }
        }
        #expect(conformance.findings(of: check) == [])
    }

    @Test("that is the example of the documentation keeps the promise", arguments: StoreConformance.checks)
    func documentedStore(check: StoreConformance.Check) {
        let conformance = StoreConformance(capabilities: [.threads, .severalStores], patience: 600) { body in
            try withTemporaryDirectory { directory in
                try body(Archive(file: directory.appending(path: "archive")))
            }
        }
        #expect(conformance.findings(of: check) == [])
    }

    @Test(
        "by a third party keeps all promises, except those about keys that a prefix can't keep",
        arguments: [StoreKind.memory, .file]
    )
    func prefixedStore(kind: StoreKind) throws {
        let conformance = StoreConformance(capabilities: .all, patience: 600) { body in
            try kind.withStore { store in try body(prefixed(store)) }
        }
        // With the prefix an empty key is no longer empty, and the longest keys are too long.
        let broken = [
            "A key may have up to 65,535 bytes.",
            "A key that is empty, holds NUL or has over 65,535 bytes is refused, and has no value.",
        ]
        let findings = conformance.findings()
        #expect(Set(findings.map(\.promise)) == Set(broken), "\(findings)")
    }

    @Test("names itself and the key in its errors", arguments: StoreKind.allCases)
    func errors(kind: StoreKind) throws {
        try kind.withStore { store in
            let tooDeep = (0..<257).reduce(PropertyListValue.integer(1)) { inner, _ in .array([inner]) }
            let error = expectError(.unsupportedValue) { try store.setStoredValue(tooDeep, forKey: "k") }
            #expect(error?.store == store.storeDescription)
            #expect(error?.key == "k")
        }
    }

    @Test("takes back a failed transaction, except for UserDefaults, which has none", arguments: StoreKind.allCases)
    func rollback(kind: StoreKind) throws {
        struct Stop: Error {}
        try kind.withStore { store in
            try store.setStoredValue(.integer(1), forKey: "k")
            #expect(throws: Stop.self) {
                try store.transaction {
                    try store.setStoredValue(.integer(2), forKey: "k")
                    throw Stop()
                }
            }
            #expect(store.storedValue(forKey: "k") == .integer(kind == .userDefaults ? 2 : 1))
        }
    }
}
