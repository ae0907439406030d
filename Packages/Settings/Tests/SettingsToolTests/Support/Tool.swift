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

    /// A state of a suite's files: their names, bytes, and times of change.
    func files(ofSuite name: String) throws -> [String: String] {
        var files: [String: String] = [:]
        let directory = url(ofSuite: name)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) + ["."] {
            let file = directory.appending(path: name)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let bytes = name == "." ? Data() : try Data(contentsOf: file)
            files[name] = "\(attributes[.modificationDate] ?? "") \(bytes.base64EncodedString())"
        }
        return files
    }

    /// Makes a suite with two values, `whole` and `damaged`, of which the second is in damaged bytes.
    func makeDamagedSuite(_ name: String) throws {
        // In other processes: a suite that this process has open would not be a closed one any more.
        try run("write", name, "damaged", "some value that is damaged")
        try run("write", name, "whole", "another value")
        let file = url(ofSuite: name).appending(path: "journal")
        var journal = try Data(contentsOf: file)
        guard let place = journal.range(of: Data("some value".utf8)) else { throw CocoaError(.fileReadCorruptFile) }
        journal[place.lowerBound] = UInt8(ascii: "S")
        try journal.write(to: file)
    }

    func url(ofSuite name: String) -> URL {
        home.appending(path: "\(name).defaults", directoryHint: .isDirectory)
    }

    /// Runs the tool to its end.
    @discardableResult
    func run(_ arguments: String..., input: URL? = nil, environment: [String: String] = [:]) throws -> Outcome {
        try run(Self.executable, arguments, input: input, environment: environment)
    }

    /// Runs the tool to its end.
    func run(arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
        try run(Self.executable, arguments, input: nil, environment: environment)
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

    /// Runs the tool to its end on a terminal of its own, and returns what is to be seen there, errors included.
    func runOnTerminal(_ arguments: String..., environment: [String: String] = [:]) throws -> String {
        String(decoding: try bytesOnTerminal(arguments, environment: environment), as: UTF8.self)
    }

    /// Runs the tool to its end on a terminal of its own, and returns the bytes that the terminal gets.
    func bytesOnTerminal(_ arguments: [String], environment: [String: String] = [:]) throws -> [UInt8] {
        var (terminal, end): (Int32, Int32) = (-1, -1)
        guard openpty(&terminal, &end, nil, nil, nil) == 0 else {
            throw POSIXError(.ENOTTY)
        }
        let line = FileHandle(fileDescriptor: end)
        defer { close(terminal) }
        let process = prepare(try Self.executable, arguments)
        process.environment?["NO_COLOR"] = nil
        process.environment?.merge(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = line
        process.standardError = line
        try process.run()
        // So that the tool's end is the last one that is open, and reading ends with it.
        try line.close()
        var shown: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(terminal, &buffer, buffer.count)
            if count <= 0 { break }
            shown += buffer.prefix(count)
        }
        process.waitUntilExit()
        return shown
    }

    /// Prepares running the tool, for tests that go on beside it.
    func process(_ arguments: String...) throws -> Process {
        prepare(try Self.executable, arguments)
    }

    private func run(
        _ executable: URL,
        _ arguments: [String],
        input: URL?,
        environment: [String: String] = [:]
    ) throws -> Outcome {
        let process = prepare(executable, arguments)
        process.environment?.merge(environment) { $1 }
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
        environment["SETTINGS_HIDE"] = nil
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
