import Foundation
import Testing

/// Programs in Fixtures/Isolation, compiled with the settings for concurrency that apps have.
@Suite("Keys, settings types and containers")
struct DeclarationTests {
    @Test(
        "are declared without further annotations",
        arguments: [
            ("Declarations", ["-swift-version", "6"]),
            ("Declarations", ["-swift-version", "5", "-strict-concurrency=complete"]),
            ("Declarations", ["-swift-version", "6", "-default-isolation", "MainActor"]),
            ("MainActorDefaults", ["-swift-version", "6", "-default-isolation", "MainActor"]),
            ("Tasks", ["-swift-version", "6"]),
        ]
    )
    func declarations(program: String, settings: [String]) throws {
        let programs = Compiler.programs(in: "Isolation")
        let file = try #require(programs.first { $0.lastPathComponent == "\(program).swift" })
        #expect(try Compiler.run(["-typecheck", "-parse-as-library", file.path] + settings) == "")
    }

    @Test("have no program that is never compiled")
    func completeness() {
        #expect(Compiler.programs(in: "Isolation").count == 3)
    }
}
