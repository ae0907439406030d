import Foundation

/// Runs of the compiler on programs that import the modules of this build.
enum Compiler {
    /// Runs the compiler and waits until it exits.
    ///
    /// - Parameters:
    ///   - arguments: The arguments for `swiftc`, in addition to the search path for modules.
    ///   - directory: The working directory, for relative paths in arguments and diagnostics.
    /// - Returns: The diagnostics.
    /// - Throws: Errors of Foundation.
    static func run(_ arguments: [String], in directory: URL? = nil) throws -> String {
        let build = try TestHelper.executable.deletingLastPathComponent()
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments =
            [
                "swiftc", "-I", build.appending(path: "Modules").path,
                "-Xcc", "-fmodule-map-file=\(build.appending(path: "CDefaultSystem.build/module.modulemap").path)",
            ] + conditions + arguments
        compiler.currentDirectoryURL = directory
        let diagnostics = Pipe()
        compiler.standardError = diagnostics
        try compiler.run()
        let output = diagnostics.fileHandleForReading.readDataToEndOfFile()
        compiler.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }

    /// The condition of programs with `UserDefaults` as a store, the same as the library's.
    #if Foundation
    private static let conditions = ["-D", "Foundation"]
    #else
    private static let conditions: [String] = []
    #endif

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
