import Foundation

/// The built executable, and a home for the suites that it is run on.
struct Tool {
    struct Outcome {
        let status: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// The directory that stands in for `~/.config`.
    let home: URL

    /// Runs a test with a home of its own, which is removed afterwards.
    static func withHome<Result>(_ test: (Tool) throws -> Result) throws -> Result {
        let home = FileManager.default.temporaryDirectory
            .appending(path: "settings-tool-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        defer {
            // Again where the library's work in the background has added a file in between.
            for _ in 0..<100 where FileManager.default.fileExists(atPath: home.path) {
                try? FileManager.default.removeItem(at: home)
            }
        }
        return try test(Tool(home: home))
    }

    func url(ofSuite name: String) -> URL {
        home.appending(path: "\(name).defaults", directoryHint: .isDirectory)
    }

    /// Runs the tool to its end.
    @discardableResult
    func run(_ arguments: String..., input: URL? = nil) throws -> Outcome {
        try run(Self.executable, arguments, input: input)
    }

    /// Runs a line in a shell, in which the tool is `settings`.
    func shell(_ line: String, shell: String = "/bin/sh") throws -> Outcome {
        try run(URL(filePath: shell), try Self.shellArguments(line), input: nil)
    }

    /// Starts a line in a shell, and lets it run.
    func shellProcess(_ line: String) throws -> Process {
        let process = prepare(URL(filePath: "/bin/sh"), try Self.shellArguments(line))
        try process.run()
        return process
    }

    private static func shellArguments(_ line: String) throws -> [String] {
        let path = try executable.deletingLastPathComponent().path(percentEncoded: false)
        return ["-c", "PATH=\"\(path):$PATH\"; \(line)"]
    }

    /// Runs the tool to its end on a terminal of its own; what it prints has to be little enough to wait there.
    func runOnTerminal(_ arguments: String..., environment: [String: String] = [:]) throws -> String {
        var (terminal, end): (Int32, Int32) = (-1, -1)
        guard openpty(&terminal, &end, nil, nil, nil) == 0 else {
            throw POSIXError(.ENOTTY)
        }
        let (screen, line) = (FileHandle(fileDescriptor: terminal), FileHandle(fileDescriptor: end))
        defer {
            try? screen.close()
            try? line.close()
        }
        let process = prepare(try Self.executable, arguments)
        process.environment?["NO_COLOR"] = nil
        process.environment?.merge(environment) { $1 }
        process.standardOutput = line
        try process.run()
        process.waitUntilExit()
        let shown = screen.availableData
        return String(decoding: shown, as: UTF8.self)
    }

    /// Prepares running the tool, for tests that go on beside it.
    func process(_ arguments: String...) throws -> Process {
        prepare(try Self.executable, arguments)
    }

    private func run(_ executable: URL, _ arguments: [String], input: URL?) throws -> Outcome {
        let process = prepare(executable, arguments)
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = try input.map(FileHandle.init(forReadingFrom:)) ?? FileHandle.nullDevice
        try process.run()
        let written = output.fileHandleForReading.readDataToEndOfFile()
        let complaints = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            output: written,
            errors: String(decoding: complaints, as: UTF8.self)
        )
    }

    private func prepare(_ executable: URL, _ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = home
        var environment = ProcessInfo.processInfo.environment
        environment["XDG_CONFIG_HOME"] = home.path(percentEncoded: false)
        process.environment = environment
        return process
    }

    /// The build puts it beside the test bundle.
    private static var executable: URL {
        get throws {
            let places = Bundle.allBundles.map(\.bundleURL) + [URL(filePath: CommandLine.arguments[0])]
            for var directory in places {
                for _ in 0..<4 {
                    directory.deleteLastPathComponent()
                    let tool = directory.appending(path: "settings")
                    if FileManager.default.isExecutableFile(atPath: tool.path(percentEncoded: false)),
                        !tool.hasDirectoryPath
                    {
                        return tool
                    }
                }
            }
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "settings"])
        }
    }
}
