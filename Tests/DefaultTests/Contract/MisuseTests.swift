import Foundation
import Testing

/// Programs in Fixtures/Misuse, whose first lines say what the compiler has to complain of.
@Suite("What must not compile")
struct MisuseTests {
    private static let programs = Compiler.programs(in: "Misuse")

    @Test("does not, and the program that differs in being right does", arguments: programs)
    func misuse(program: URL) throws {
        let firstLine = try String(contentsOf: program, encoding: .utf8).prefix { $0 != "\n" }
        let expected = firstLine.dropFirst("// ".count)
        let complaint = try Compiler.run(["-typecheck", "-swift-version", "6", program.path])
        if expected == "compiles" {
            #expect(complaint == "")
        } else {
            #expect(complaint.contains("error: "), "\(program.lastPathComponent)")
            #expect(complaint.contains(expected), "\(program.lastPathComponent): \(complaint)")
        }
    }

    @Test("is there to be looked at")
    func completeness() {
        #expect(Self.programs.count >= 8)
    }
}
