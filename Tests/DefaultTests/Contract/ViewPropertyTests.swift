#if Foundation
import Foundation
import Testing

/// Programs in Fixtures/Views; their first lines contain the expected error.
///
/// SwiftUI isn't available on Linux, so the programs are compiled with the source of `DefaultSwiftUI`, on the stub that
/// the type check for Apple platforms uses.
@Suite("A property of a view", .waits)
struct ViewPropertyTests {
    @Test("may be shared between tasks, so it does not compile with a store that may not be")
    func stores() throws {
        try withTemporaryDirectory { directory in
            var package = URL(filePath: #filePath)
            for _ in 0..<4 { package.deleteLastPathComponent() }
            // The name that the package manager passes to the compiler: the source uses a `package` initializer of the
            // property.
            let name = String(package.lastPathComponent.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
            let options = ["-swift-version", "6", "-parse-as-library", "-package-name", name, "-I", directory.path]
            let stub = ["-emit-module", "-o", directory.appending(path: "SwiftUI.swiftmodule").path]
            let stubDiagnostics = try Compiler.run(
                options + stub + ["-module-name", "SwiftUI", package.appending(path: ".ci/apple/SwiftUI.swift").path]
            )
            #expect(!stubDiagnostics.contains("error: "), "\(stubDiagnostics)")
            let source = package.appending(path: "Sources/DefaultSwiftUI/Stored+Binding.swift").path
            let programs = Compiler.programs(in: "Views")
            #expect(programs.count == 4)
            for program in TestExtent.sample(programs, every: 3) {
                let firstLine = try String(contentsOf: program, encoding: .utf8).prefix { $0 != "\n" }
                let expected = firstLine.dropFirst("// ".count)
                let diagnostics = try Compiler.run(options + ["-typecheck", source, program.path])
                if expected == "compiles" {
                    #expect(diagnostics == "")
                } else {
                    #expect(diagnostics.contains("error: \(expected)"), "\(program.lastPathComponent): \(diagnostics)")
                }
            }
        }
    }
}
#endif
