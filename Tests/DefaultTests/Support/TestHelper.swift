import Foundation

/// The helper executable of this package, for tests that need another process.
enum TestHelper {
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs the helper, or another program, with a home directory, and waits until it exits.
    ///
    /// Variables of the environment that are nil are removed from it.
    static func run(
        _ arguments: [String],
        home: URL = TestHome.directory,
        program: URL? = nil,
        environment: [String: String?] = [:]
    ) throws -> Outcome {
        let process = try prepare(arguments, home: home)
        if let program { process.executableURL = program }
        for (name, value) in environment { process.environment?[name] = value }
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let written = output.fileHandleForReading.readDataToEndOfFile()
        let errorOutput = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            output: String(decoding: written, as: UTF8.self),
            errors: String(decoding: errorOutput, as: UTF8.self)
        )
    }

    /// Starts the helper without waiting for it.
    static func start(_ arguments: [String], pipesOutput: Bool = false) throws -> RunningHelper {
        let process = try prepare(arguments, home: TestHome.directory)
        let output = pipesOutput ? Pipe() : nil
        if let output {
            process.standardOutput = output
        }
        try process.run()
        return RunningHelper(process, output: output)
    }

    private static func prepare(_ arguments: [String], home: URL) throws -> Process {
        let process = Process()
        process.executableURL = try executable
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = home.path
        environment["CFFIXED_USER_HOME"] = home.path
        environment["XDG_CONFIG_HOME"] = nil
        // Some actions end with a fatal error, whose backtrace may hang.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = environment
        return process
    }

    /// The helper's executable, which the build puts beside the test bundle.
    static var executable: URL {
        get throws {
            var directory = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
            for candidate in Bundle.allBundles.map(\.bundleURL) + [directory] {
                directory = candidate
                for _ in 0..<4 {
                    directory.deleteLastPathComponent()
                    let helper = directory.appending(path: "DefaultTestHelper")
                    if FileManager.default.isExecutableFile(atPath: helper.path) {
                        return helper
                    }
                }
            }
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "DefaultTestHelper"])
        }
    }
}
