import Foundation

/// Runs the helper program, which is in the test program's folder.
struct Helper {
    let process = Process()
    private let output = Pipe()

    init(_ arguments: [String]) throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // The test program may be the toolchain's runner with the tests as a library; the build folder is known anyway.
        let folders =
            [tests, CommandLine.arguments.first ?? ""]
            + CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
        let candidates = folders.map {
            URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/JournalTestHelper"
        }
        let program = candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? candidates[0]
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
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

    /// How many rounds the environment asks for.
    static func rounds(_ name: String, default count: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? count
    }
}
