import BenchmarkSupport
import Foundation

/// The machine and the versions that the figures were measured with.
struct Environment {
    let facts: [(name: String, value: String)]

    /// The implementation of `UserDefaults` on this system.
    static var foundation: String {
        #if canImport(Darwin)
        "Foundation's on macOS"
        #else
        "Foundation's on Linux"
        #endif
    }

    static let names = ["machine", "system", "Swift", "library", "beside it", "files on", "date"]

    init(facts: [(name: String, value: String)]) {
        self.facts = facts
    }

    init() {
        let process = ProcessInfo.processInfo
        let memory = String(format: "%.0f GiB", Double(process.physicalMemory) / 1_073_741_824)
        let given = process.environment
        let sqlite = (try? SQLiteStore.version()) ?? "unknown"
        let values = [
            "\(Self.processor), \(process.activeProcessorCount) cores, \(memory)",
            Self.system,
            given["BENCHMARK_SWIFT_VERSION"] ?? "unknown",
            given["BENCHMARK_LIBRARY_VERSION"] ?? "unknown",
            "\(given["BENCHMARK_PACKAGE_VERSIONS"] ?? "unknown"), SQLite \(sqlite), \(LMDBStore.version)",
            given["BENCHMARK_FILE_SYSTEM"] ?? "unknown",
            Date.now.formatted(.iso8601.year().month().day()),
        ]
        facts = zip(Self.names, values).map { ($0, $1) }
    }

    private static var processor: String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown processor"
    }

    private static var system: String {
        let text = (try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
        let name = line?.split(separator: "=").last?.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        let kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
        return
            "\(name ?? ProcessInfo.processInfo.operatingSystemVersionString), kernel \(kernel.trimmingCharacters(in: .newlines))"
    }
}
