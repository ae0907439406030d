#if os(Linux)
import Default
import Foundation

/// Memory measurements, each in its own process: memory that other code freed before would hide the growth.
enum MemoryMeasurement {
    /// The objects that are measured.
    enum Subject: String {
        /// A dictionary with the keys and values of a suite.
        case dictionary
        case openSuite = "just opened"
        case writtenSuite = "after 200,000 writes"
    }

    private static let argument = "--memory"

    /// Measures, in another process, the bytes that a subject takes.
    static func run(_ subject: Subject, at suite: URL) throws -> Int {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [argument, subject.rawValue, suite.path(percentEncoded: false)]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return Int(text) ?? 0
    }

    /// Measures, prints the figure and ends, in the process that ``run(_:at:)`` started.
    static func measureIfAsked() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, arguments[1] == argument, let subject = Subject(rawValue: arguments[2]) else {
            return
        }
        let suite = URL(filePath: arguments[3])
        let names = (0..<10_000).map { "setting.\($0)" }
        let value = Data(repeating: 0x61, count: 112)
        // Memory that the first use of any suite loads or allocates once isn't the suite's.
        let small = try FileDefaults(url: suite.deletingLastPathComponent().appending(path: "memory-small"))
        for number in 0..<100 { try small.set(number, forKey: "k") }
        try small.synchronize()
        let before = try residentBytes()
        let held: Any
        switch subject {
        case .dictionary:
            held = Dictionary(
                uniqueKeysWithValues: names.map {
                    (String(decoding: Array($0.utf8), as: UTF8.self), Data(Array(value)))
                }
            )
        case .openSuite:
            held = try FileDefaults(url: suite)
        case .writtenSuite:
            let suite = try FileDefaults(url: suite)
            for number in 0..<200_000 { try suite.set(Data(Array(value)), forKey: names[number % names.count]) }
            held = suite
        }
        print(try residentBytes() - before, terminator: "")
        withExtendedLifetime((held, small)) {}
        exit(0)
    }

    /// The process's memory that isn't backed by files.
    private static func residentBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        return (kilobytes ?? 0) * 1_024
    }
}
#endif
