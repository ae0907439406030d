import Default
import Foundation
import Testing

#if !canImport(Darwin)
@Suite("Launch arguments")
struct LaunchArgumentTests {
    @Test("override the standard suite's values, are converted like strings, and are not stored")
    func override() throws {
        try withTemporaryDirectory { home in
            let keys = "volume,name,list,flag,negative"
            let write = [
                "standard-values", keys, "-volume", "0.75", "-name", "x y", "-list", "(a, b)", "-negative", "-5",
            ]
            let overridden = try TestHelper.run(write + ["--flag", "-dangling"], home: home)
            #expect(overridden.output == "0.75 x y [a, b] nil -5\n", "\(overridden.errors)")
            #expect(try TestHelper.run(["standard-values", keys], home: home).output == "nil nil nil nil nil\n")
        }
    }
}
#endif
