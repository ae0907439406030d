import Foundation

/// The compiler, run on programs that import the modules of this build.
enum Compiler {
    /// Runs the compiler to its end.
    ///
    /// - Parameters:
    ///   - arguments: What `swiftc` is called with, in addition to where the modules are.
    ///   - directory: Where it runs; relative paths in arguments and diagnostics are relative to it.
    /// - Returns: The diagnostics.
    /// - Throws: Errors of Foundation's.
    static func run(_ arguments: [String], in directory: URL? = nil) throws -> String {
        let build = try TestHelper.executable.deletingLastPathComponent()
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments =
            [
                "swiftc", "-I", build.appending(path: "Modules").path,
                "-Xcc", "-fmodule-map-file=\(build.appending(path: "CDefaultProcessor.build/module.modulemap").path)",
            ] + arguments
        compiler.currentDirectoryURL = directory
        let diagnostics = Pipe()
        compiler.standardError = diagnostics
        try compiler.run()
        let output = diagnostics.fileHandleForReading.readDataToEndOfFile()
        compiler.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }

    /// The programs in a folder of Fixtures.
    static func programs(in folder: String) -> [URL] {
        let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures")
        let files = try? FileManager.default.contentsOfDirectory(
            at: fixtures.appending(path: folder),
            includingPropertiesForKeys: nil
        )
        return (files ?? []).filter { $0.pathExtension == "swift" }
    }
}
