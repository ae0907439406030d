import Foundation
import Testing

/// Programs in Fixtures/Guest that use `UserDefaults`, each compiled with and without `import Default`.
@Suite("A program that imports the library", .waits)
struct GuestTests {
    private static let programs = Compiler.programs(in: "Guest")
    private static let versions = TestExtent.pick(brief: ["6"], full: ["5", "6"])

    /// The two programs with most of the statements and mistakes, or in full runs all of them.
    private static var tested: [URL] {
        TestExtent.isFull
            ? programs : programs.filter { ["Errors.swift", "Statements.swift"].contains($0.lastPathComponent) }
    }

    @Test("has the same meaning and diagnostics as before", arguments: tested, versions)
    func meaning(program: URL, version: String) throws {
        let alone = try GuestProgram(program, importing: nil, version: version)
        let importing = try GuestProgram(program, importing: "Default", version: version)
        let differences = try alone.differences(from: importing)
        #expect(
            differences.isEmpty,
            "\(differences.count) differences in \(program.lastPathComponent):\n\(differences.joined(separator: "\n"))"
        )
    }

    @Test("is tested with more than 160 statements on UserDefaults, some with warnings or errors", .onlyInFullRuns)
    func completeness() throws {
        let names = Set(Self.programs.map { $0.deletingPathExtension().lastPathComponent })
        #expect(names == ["Errors", "Extensions", "Isolation", "Protocols", "Statements", "Subclasses"])
        var onUserDefaults: Set<String> = []
        for program in Self.programs {
            let statements = try GuestProgram(program, importing: nil, version: "6").statements.values
            let diagnostics = statements.flatMap(\.diagnostics)
            let hasErrors = diagnostics.contains { $0.contains(": error: ") }
            switch program.lastPathComponent {
            case "Errors.swift", "Isolation.swift":
                #expect(hasErrors)
            case "Statements.swift":
                #expect(diagnostics.count > 25)
                fallthrough
            default:
                #expect(!hasErrors, "\(program.lastPathComponent)")
                for statement in statements where statement.tree.contains(where: { $0.contains("12UserDefaultsC") }) {
                    onUserDefaults.insert(statement.text)
                }
            }
        }
        #expect(onUserDefaults.count > 160)
    }

    @Test("is reported when a module changes its declarations or diagnostics", arguments: versions)
    func control(version: String) throws {
        let directory = TestHome.directory.appending(path: "intruder-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let programs = Compiler.programs(in: "Guest/Intruder")
        let intruder = try #require(programs.first { $0.lastPathComponent == "Intruder.swift" })
        let diagnostics = try Compiler.run(
            [
                "-emit-module", "-parse-as-library", "-module-name", "Intruder", "-o", "Intruder.swiftmodule",
                intruder.path,
            ],
            in: directory
        )
        #expect(diagnostics == "")

        let program = try #require(programs.first { $0.lastPathComponent == "Control.swift" })
        let alone = try GuestProgram(program, importing: nil, version: version)
        let importing = try GuestProgram(program, importing: "Intruder", version: version, search: directory)
        let differences = try alone.differences(from: importing)
        #expect(
            differences.map { $0.prefix { $0 != "\n" } } == [
                "16: defaults.set(data, forKey: \"another declaration, without a word\")",
                "18: try? defaults.set([\"a\"], forKey: \"a warning less\")",
                "19: let setter: (Data, String) -> Void = defaults.set",
                "protocol witness for Listing.storedKeys() in conformance UserDefaults",
            ]
        )
    }
}
