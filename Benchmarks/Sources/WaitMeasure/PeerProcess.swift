import Foundation

/// A process of this program in the role of a ``Peer``.
final class PeerProcess {
    private let process = Process()
    private let output = Pipe()

    init(_ role: Peer, _ path: String, _ figure: Double = 0) throws {
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [role.rawValue, path, "\(figure)"]
        process.standardOutput = output
        try process.run()
    }

    /// Waits for the process to end, and returns the times of its calls and how many failed.
    func times() throws -> Times {
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        var times = Times()
        for line in text.split(separator: "\n") {
            if let time = Int(line) {
                times.all.append(time)
            } else {
                times.failures += line.split(separator: " ").last.flatMap { Int($0) } ?? 0
            }
        }
        return times
    }

    func wait() { process.waitUntilExit() }

    func stop() { kill(process.processIdentifier, SIGSTOP) }

    func goOn() { kill(process.processIdentifier, SIGCONT) }

    func end() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// The times of calls, in nanoseconds.
struct Times {
    var all: [Int] = []
    var failures = 0

    static func + (one: Times, other: Times) -> Times {
        Times(all: one.all + other.all, failures: one.failures + other.failures)
    }

    /// The median, the 99th percentile and the maximum, in microseconds.
    var description: String {
        let sorted = all.sorted()
        guard let worst = sorted.last else { return "nothing" }
        func text(_ name: String, _ time: Int) -> String { "\(name) \(Double(time / 100) / 10) µs" }
        let hundredth = text("worst hundredth", sorted[sorted.count * 99 / 100])
        let parts = [text("median", sorted[sorted.count / 2]), hundredth, text("worst", worst)]
        return (parts + (failures > 0 ? ["\(failures) failed"] : [])).joined(separator: ", ")
    }
}

/// A directory that is removed with this value.
final class Folder {
    let path: String

    init() {
        let parent = ProcessInfo.processInfo.environment["BENCHMARK_DIRECTORY"] ?? NSTemporaryDirectory()
        path = parent + "/waits-" + UUID().uuidString
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var suite: String { path + "/suite.defaults" }
}
