import Foundation
import Synchronization

/// A process of `FleetTestHelper`.
final class HelperProcess: Sendable {
    private let process: Mutex<Process>
    private let collected = Mutex(Data())

    init(
        _ action: String,
        replica: URL,
        suiteName: String = "suite",
        count: Int,
        cluster: TestCluster,
        environment: [String: String] = [:]
    ) throws {
        let process = Process()
        process.executableURL = try Self.executable("FleetTestHelper")
        process.arguments = [action, replica.path, suiteName, "\(count)"] + cluster.endpoints.map(\.absoluteString)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        self.process = Mutex(process)
        output.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            guard let self, !data.isEmpty else {
                handle.readabilityHandler = nil
                return
            }
            collected.withLock { $0 += data }
        }
        try self.process.withLock { try $0.run() }
    }

    deinit {
        kill()
    }

    /// A program of the package, which the build puts beside the test bundle.
    static func executable(_ name: String) throws -> URL {
        let start = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        for var directory in Bundle.allBundles.map(\.bundleURL) + [start] {
            for _ in 0..<4 {
                directory.deleteLastPathComponent()
                let program = directory.appendingPathComponent(name)
                if FileManager.default.isExecutableFile(atPath: program.path) {
                    return program
                }
            }
        }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
    }

    /// What it has printed.
    var output: String { String(decoding: collected.withLock { $0 }, as: UTF8.self) }

    var isRunning: Bool { process.withLock { $0.isRunning } }

    func kill() {
        process.withLock { process in
            if process.isRunning {
                Foundation.kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
        }
    }
}
