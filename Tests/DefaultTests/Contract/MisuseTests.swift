import Foundation
import Testing

/// Programs in Fixtures/Misuse, whose first lines say what the compiler has to complain of.
@Suite("What must not compile")
struct MisuseTests {
    private static let programs: [URL] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/Misuse")
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == "swift" }
    }()

    @Test("does not, and the program that differs in being right does", arguments: programs)
    func misuse(program: URL) throws {
        let firstLine = try String(contentsOf: program, encoding: .utf8).prefix { $0 != "\n" }
        let expected = firstLine.dropFirst("// ".count)
        let complaint = try complaint(about: program)
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

    /// What the compiler says of a program that imports the modules of this build.
    private func complaint(about program: URL) throws -> String {
        let build = try TestHelper.executable.deletingLastPathComponent()
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-I", build.appending(path: "Modules").path,
            "-Xcc", "-fmodule-map-file=\(build.appending(path: "CDefaultProcessor.build/module.modulemap").path)",
            program.path,
        ]
        let output = Pipe()
        compiler.standardError = output
        try compiler.run()
        let complaint = output.fileHandleForReading.readDataToEndOfFile()
        compiler.waitUntilExit()
        return String(decoding: complaint, as: UTF8.self)
    }
}
