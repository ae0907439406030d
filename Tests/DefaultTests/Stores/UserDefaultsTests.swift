import Default
import Foundation
import Testing

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
