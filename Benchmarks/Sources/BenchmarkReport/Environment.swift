import BenchmarkSupport
import Foundation

/// What the figures were measured with.
struct Environment {
    let facts: [(name: String, value: String)]

    init() {
        let process = ProcessInfo.processInfo
        let memory = String(format: "%.0f GiB", Double(process.physicalMemory) / 1_073_741_824)
        let given = process.environment
        let sqlite = (try? SQLiteStore.version()) ?? "unknown"
        facts = [
            ("machine", "\(Self.processor), \(process.activeProcessorCount) cores, \(memory)"),
            ("system", Self.system),
            ("Swift", given["BENCHMARK_SWIFT_VERSION"] ?? "unknown"),
            ("library", given["BENCHMARK_LIBRARY_VERSION"] ?? "unknown"),
            ("beside it", "\(given["BENCHMARK_PACKAGE_VERSIONS"] ?? "unknown"), SQLite \(sqlite)"),
            ("files on", given["BENCHMARK_FILE_SYSTEM"] ?? "unknown"),
            ("date", Date.now.formatted(.iso8601.year().month().day())),
        ]
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
