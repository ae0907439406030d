import Default
import Foundation
import Testing

#if Foundation
private struct SharedSettings: DefaultStorable {
    var themeName: String
    static var defaults: CurrentStore { CurrentStore() }
}
#endif

@Suite("The next process", .waits)
struct NextProcessTests {
    @Test("reads the standard store of its program")
    func standardStore() throws {
        let write = try TestHelper.run(["write-standard", "dark"])
        #expect(write.status == 0, "\(write.errors)")
        #expect(try TestHelper.run(["read-standard"]).output == "dark\n")
    }

    #if Foundation
    @Test("reads this one's values, and this one reads its values")
    func reads() throws {
        try withTemporarySuite { name in
            let suite = try #require(UserDefaults(suiteName: name))
            CurrentStore.with(suite) { SharedSettings(themeName: "dark").write() }
            let read = try TestHelper.run(["read", name])
            #expect(read.output == "dark\n", "\(read.errors)")

            let write = try TestHelper.run(["write", name, "bright"])
            #expect(write.status == 0, "\(write.errors)")
            #expect(try TestHelper.run(["read", name]).output == "bright\n")
        }
    }

    @Test("distinguishes keys that are only canonically equivalent")
    func equivalentKeys() throws {
        try withTemporarySuite { name in
            let suite = try #require(UserDefaults(suiteName: name))
            for key in ["\u{E9}", "e\u{301}"] {
                try suite.df.save(key.unicodeScalars.count, forKey: key)
            }
            let outcome = try TestHelper.run(["fetch", name, "\u{E9}", "e\u{301}"])
            #expect(outcome.output == "1\n2\n", "\(outcome.errors)")
        }
    }
    #endif
}
