import Foundation

/// A run of the helper program, which is in the test program's folder; the process ends with this object.
final class Helper: Sendable {
    let process = Process()
    private let output = Pipe()
    private let input = Pipe()

    /// The path of the program.
    static var program: String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        // The test program may be the toolchain's runner with the tests as a library; the build folder is known in
        // either case.
        let folders =
            [tests, CommandLine.arguments.first ?? ""]
            + CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
        let candidates = folders.map {
            URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/JournalTestHelper"
        }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? candidates[0]
    }

    init(_ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = arguments
        // Otherwise the thread sanitizer ends a child made with fork that starts threads.
        process.environment = ProcessInfo.processInfo.environment.merging(
            // The backtrace of a process that ends by a trap takes long.
            ["TSAN_OPTIONS": "die_after_fork=0", "SWIFT_BACKTRACE": "enable=no"]
        ) { $1 }
        process.standardOutput = output
        process.standardInput = input
        try process.run()
    }

    deinit {
        if process.isRunning { kill() }
    }

    /// Writes a line to the program, and returns the line that it answers with.
    func ask(_ line: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        return nextLine()
    }

    /// Waits for a line of the program's output, which must not have printed any more.
    func nextLine() -> String {
        var answer = Data()
        while answer.last != UInt8(ascii: "\n") {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            answer += more
        }
        return String(decoding: answer.dropLast(), as: UTF8.self)
    }

    /// Ends the program's input.
    func closeInput() throws {
        try input.fileHandleForWriting.close()
    }

    /// Waits for the end, and returns exit status and output.
    func finish() -> (status: Int32, output: String) {
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Creates a directory on the file system that the environment names, or else among the other temporary ones.
    static func crashDirectory() -> TemporaryDirectory {
        let folder = ProcessInfo.processInfo.environment["JOURNAL_CRASH_DIRECTORY"]
        return TemporaryDirectory(in: folder ?? NSTemporaryDirectory())
    }

    /// The number of rounds in the environment, or a default.
    static func rounds(_ name: String, default count: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? count
    }
}
