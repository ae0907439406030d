import Foundation
import Testing

/// Programs in Fixtures/Misuse; their first lines contain the expected error or warning.
@Suite("A program with a mistake", .waits)
struct MisuseTests {
    private static let programs = Compiler.programs(in: "Misuse").sorted { $0.path < $1.path }

    @Test("does not compile, and the correct program does", arguments: TestExtent.sample(programs, every: 5))
    func misuse(program: URL) throws {
        let firstLine = try String(contentsOf: program, encoding: .utf8).prefix { $0 != "\n" }
        let expected = firstLine.dropFirst("// ".count)
        let diagnostics = try Compiler.run(["-typecheck", "-swift-version", "6", "-warnings-as-errors", program.path])
        if expected == "compiles" {
            #expect(diagnostics == "")
        } else {
            #expect(diagnostics.contains("error: "), "\(program.lastPathComponent)")
            #expect(diagnostics.contains(expected), "\(program.lastPathComponent): \(diagnostics)")
        }
    }

    @Test("exists as a fixture")
    func completeness() {
        #expect(Self.programs.count >= 8)
    }
}
