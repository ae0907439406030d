import Benchmark
import BenchmarkSupport
import Default
import Foundation

/// The second process of a benchmark, which ends with this object.
private final class Peer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts the process, and waits until it is ready.
    init(_ what: String, path: String) throws {
        process.executableURL = URL(filePath: Workspace.program).deletingLastPathComponent().appending(
            path: "BenchmarkPeer"
        )
        process.arguments = [what, path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard output.fileHandleForReading.availableData == Data("ready\n".utf8) else {
            throw CocoaError(.executableLoad)
        }
    }

    /// Has the process do its work once.
    func ask() throws {
        try input.fileHandleForWriting.write(contentsOf: [1])
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

extension Registration {
    /// Sets while another process sets values of the same store as often as it can.
    func addProcesses() {
        add(.dataSetProcesses2, .library, count: 1_000) { keys in
            let suite = try Workspace.suite(keys)
            let peer = try Peer("default", path: Workspace.path("suite"))
            return { index in
                try suite.set(Raw.value(index), forKey: keys[0])
                return withExtendedLifetime(peer) { 0 }
            }
        }
        add(.dataSetProcesses2, .sqlite, count: 50) { keys in
            let store = try Workspace.sqlite(keys)
            let peer = try Peer("sqlite", path: Workspace.path("settings.sqlite"))
            return { index in
                try store.set(Raw.value(index), keys[0])
                return withExtendedLifetime(peer) { 0 }
            }
        }
        add(.dataSetProcesses2, .lmdb, count: 500) { keys in
            let store = try Workspace.lmdb(keys)
            let peer = try Peer("lmdb", path: Workspace.path("settings.lmdb"))
            return { index in
                try store.set(Raw.value(index), keys[0])
                return withExtendedLifetime(peer) { 0 }
            }
        }
        add(.dataSetProcesses2, .floor, count: 1_000) { keys in
            let file = try LockedFile(path: Workspace.path("floor"))
            let peer = try Peer("locked-file", path: Workspace.path("floor"))
            return { _ in
                file.append()
                return withExtendedLifetime(peer) { 0 }
            }
        }
    }

    /// Nanoseconds from just before a write in another process to the value's arrival in this process's loop over the
    /// changes.
    func addObservation() {
        let name = BenchmarkName(round: round, operation: .observation, contender: .library, count: 1)
        let latency = BenchmarkMetric.custom(BenchmarkName.latencyMetric, useScalingFactor: false)
        let configuration = Benchmark.Configuration(
            metrics: [.wallClock, .throughput, latency],
            warmupIterations: 0,
            maxIterations: 1
        )
        Benchmark(name.text, configuration: configuration) { (benchmark: Benchmark) async throws in
            let suite = try Workspace.suite(Raw.keys(MeasuredOperation.observation.keyCount))
            let peer = try Peer("stamps", path: Workspace.path("suite"))
            let updates = Defaults(suite: suite).updates(DefaultsKey<Int>("stamp"))
            var remaining = 300
            for await stamp in updates {
                if stamp > 0 {
                    benchmark.measurement(latency, Moment.now - stamp)
                    remaining -= 1
                }
                if remaining == 0 { break }
                try peer.ask()
            }
        }
    }
}
