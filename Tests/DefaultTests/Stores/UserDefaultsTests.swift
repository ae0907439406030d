import Foundation
import Testing

@testable import Default

#if Foundation
@Suite("A UserDefaults as a store")
struct UserDefaultsTests {
    @Test("is described by its suite's name, through every object for the suite")
    func descriptions() throws {
        #expect(UserDefaults.standard.storeDescription == "UserDefaults.standard")
        #if !canImport(Darwin)
        try withTemporarySuite { name in
            let first = try #require(UserDefaults(suiteName: name))
            let second = try #require(UserDefaults(suiteName: name))
            #expect(first.storeDescription == "UserDefaults(suiteName: \"\(name)\")")
            #expect(first.storeDescription == second.storeDescription)
        }
        #endif
    }

    @Test("leaves Foundation's own methods as they are")
    func foundationCalls() throws {
        try withTemporarySuite { name in
            let suite = try #require(UserDefaults(suiteName: name))
            suite.set("text", forKey: "text")
            suite.set(5, forKey: "number")
            suite.set([1, 2], forKey: "array")
            #expect(suite.string(forKey: "text") == "text")
            #expect(suite.integer(forKey: "number") == 5)
            #expect(suite.object(forKey: "text") as? String == "text")
            suite.removeObject(forKey: "text")
            #expect(suite.data(forKey: "text") == nil)
            #expect(suite.synchronize())
        }
    }

    @Test("says in its errors of saving which value is not saved, and where")
    func errors() throws {
        try withTemporarySuite { name in
            let suite = try #require(UserDefaults(suiteName: name))
            let ofKey = DefaultsError.synchronizationFailed(ErrorContext("k", in: suite))
            #expect(ofKey.key == "k" && ofKey.store == suite.storeDescription)
            #expect(ofKey.description.hasPrefix(#"The value for "k" could not be saved to disk by UserDefaults("#))
            let ofAll = DefaultsError.synchronizationFailed(ErrorContext(in: suite))
            #expect(ofAll.key == nil && ofAll.store == suite.storeDescription)
            #expect(ofAll.description.hasPrefix("The values could not be saved to disk by UserDefaults("))
            for key in keysThatNoStoreTakes {
                #expect(expectError(.invalidKey) { try suite.setStoredValue(nil, forKey: key) }?.key == key)
            }
        }
    }

    // In a process of its own, since each suite of a process has what one registers.
    @Test("stores, keeps and exports its own values: also those that equal registered ones, or are hidden by arguments")
    func ownAndRegisteredValues() throws {
        try withTemporaryDirectory { home in
            let outcome = try TestHelper.run(["store-registered", "suite"], home: home)
            #expect(
                outcome.output == """
                    set: key 1, optional 1
                    saved: true
                    exported: hidden 2, key 1, optional 1
                    imported: hidden 2, key 1, optional 1, registered 5
                    moved: true
                    quarantined: 2
                    standard: hidden 2, registered 1, key none

                    """,
                "\(outcome.errors)"
            )
        }
    }

    @Test("holds no value of its own where only an argument of the program has one")
    func ownValues() throws {
        try withTemporarySuite { name in
            let suite = try #require(UserDefaults(suiteName: name))
            let key = "key \(UUID())"
            suite.setVolatileDomain([key: "argument"], forName: UserDefaults.argumentDomain)
            defer { suite.removeVolatileDomain(forName: UserDefaults.argumentDomain) }
            try suite.setStoredValue(.integer(1), forKey: "k")
            #expect(suite.ownValue(forKey: key) == nil && suite.storedValue(forKey: key) == .string("argument"))
            #expect(suite.ownValue(forKey: "k") == .integer(1) && suite.ownValue(forKey: "absent") == nil)
        }
    }

    #if !canImport(Darwin)
    @Test("reports that it can't save, and restores the previous value")
    func failingSynchronize() throws {
        try withTemporaryDirectory { home in
            let outcome = try TestHelper.run(["failing-synchronize", "suite"], home: home)
            #expect(outcome.output == "synchronizationFailed\nbright\n", "\(outcome.errors)")
        }
    }
    #endif
}
#endif
