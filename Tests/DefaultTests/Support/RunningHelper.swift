import Foundation

/// A helper process that runs concurrently with the test.
final class RunningHelper {
    private let process: Process
    private let output: Pipe?
    private var unread = ""

    init(_ process: Process, output: Pipe?) {
        self.process = process
        self.output = output
    }

    /// If a test ends with an error, nothing else ends the process.
    deinit {
        if process.isRunning { kill() }
    }

    var isRunning: Bool { process.isRunning }
    var status: Int32 { process.terminationStatus }

    func waitUntilExit() {
        process.waitUntilExit()
    }

    /// Kills the process with SIGKILL.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Reads the numbers that the process prints, one per line, until there are enough.
    func readNumbers(atLeast count: Int) -> [Int] {
        var numbers: [Int] = []
        while numbers.count < count, let data = output?.fileHandleForReading.availableData, !data.isEmpty {
            unread += String(decoding: data, as: UTF8.self)
            var lines = unread.split(separator: "\n", omittingEmptySubsequences: false)
            unread = String(lines.removeLast())
            numbers += lines.compactMap { Int($0) }
        }
        return numbers
    }
}
