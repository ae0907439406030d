import Default
import Foundation
import Testing

extension DefaultsKeys {
    fileprivate static let count = DefaultsKey<Int>("count")
    fileprivate static let names = DefaultsKey<[String]>("names")
}

/// A store that a test shares between threads, as `UserDefaults` allows, although it is not declared Sendable.
struct UnsafeStore: @unchecked Sendable {
    let store: any DefaultsStore

    init(_ store: any DefaultsStore) {
        self.store = store
    }
}

@Suite("Changes in place", .waits)
struct IncrementTests {
    @Test("lose nothing on eight threads", arguments: StoreKind.allCases)
    func threads(kind: StoreKind) throws {
        let rounds = kind == .userDefaults ? kind.rounds : 1_000
        try kind.withStore { store in
            let shared = UnsafeStore(store)
            try onEightThreads {
                let defaults = Defaults(suite: shared.store)
                for _ in 0..<rounds {
                    defaults[.count] += 1
                }
            }
            try onEightThreads {
                let defaults = Defaults(suite: shared.store)
                for _ in 0..<rounds / 10 {
                    defaults["string key"] += 1
                    defaults[.names].append("name")
                    shared.store.makeContainer(default: 0, key: "container").value? += 1
                }
            }
            let defaults = Defaults(suite: store)
            #expect(defaults[.count] == 8 * rounds)
            #expect(defaults["string key"].int == 8 * rounds / 10)
            #expect(defaults[.names].count == 8 * rounds / 10)
            #expect(store.value(forKey: "container") == 8 * rounds / 10)
        }
    }

    @Test("lose nothing in eight processes")
    func processes() throws {
        try withTemporaryDirectory { directory in
            let suite = directory.appending(path: "suite.defaults")
            let helpers = try (0..<8).map { _ in try TestHelper.start(["increment", suite.path, "500"]) }
            for helper in helpers {
                helper.waitUntilExit()
                #expect(helper.status == 0)
            }
            let defaults = Defaults(suite: try FileDefaults(url: suite))
            #expect(defaults[.count] == 4_000)
            #expect(defaults["string key"].int == 4_000)
        }
    }

    @Test("may use the store, and the same key, on the right-hand side", arguments: StoreKind.allCases)
    func rightHandSide(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults[.count] = 2
            defaults[.count] += defaults[.count]
            defaults["sum"] += defaults[.count]
            defaults["sum"] += defaults["sum"].intValue
            defaults[.names].append("\(defaults[.names].count) \(defaults[.count])")
            #expect(defaults[.count] == 4)
            #expect(defaults["sum"].int == 8)
            #expect(defaults[.names] == ["0 4"])
        }
    }
}
