import Default
import Foundation
import Testing

extension Defaults.Keys {
    fileprivate static let string = Defaults.Key<String>("string", default: "0")
    fileprivate static let optional = Defaults.Key<Int?>("optional.int", default: nil)
}

@Suite("The calls of keys with defaults on an injected suite")
struct InjectedSuiteBlock {
    @Test("read, assign, remove and list values", arguments: StoreKind.allCases)
    func injectedSuite(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            #expect(defaults[.string] == "0")
            #expect(!defaults.exists(key: .string))
            defaults[.string] = "1"
            #expect(defaults[.string] == "1")
            #expect(defaults.exists(key: .string))
            defaults[.optional] = 5
            #expect(store.object(forKey: "optional.int") as? Int == 5)
            defaults[.optional] = nil
            #expect(store.object(forKey: "optional.int") == nil)
            #expect(!defaults.exists(key: .optional))
            #expect(Defaults.Keys.string == Defaults.Keys.string)
            #expect(Defaults.Keys.string.hashValue == Defaults.Key<Int>("string").hashValue)
            #expect(Set<Defaults.Keys>([.string, .optional, Defaults.Key<Int>("string")]).count == 2)
        }
    }

    @Test("use the standard store if there is no suite")
    func standardStore() {
        #expect(Defaults().suite as? StandardDefaults === StandardDefaults.standard)
    }

    #if Foundation
    @Test("use a UserDefaults suite")
    func suites() throws {
        try withTemporarySuite { name in
            let defaults = Defaults(suite: UserDefaults(suiteName: name)!)
            defaults[.string] = "1"
            #expect(UserDefaults(suiteName: name)?.string(forKey: "string") == "1")
        }
    }
    #endif
}
