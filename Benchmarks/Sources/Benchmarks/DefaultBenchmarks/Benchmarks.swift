import Benchmark
import BenchmarkSupport
import Foundation

// Times of everyday operations, beside those of the alternatives and of the lower bounds of the system. Each
// benchmark's name has its round, the operation, the contender, and how many operations make an iteration;
// Benchmarks/run makes a table.

let benchmarks: @Sendable () -> Void = {
    Workspace.prepareEnvironment()
    let environment = ProcessInfo.processInfo.environment
    let rounds = environment["BENCHMARK_ROUNDS"].flatMap { Int($0) } ?? 1
    let milliseconds = environment["BENCHMARK_MILLISECONDS"].flatMap { Int($0) } ?? 300
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .throughput],
        warmupIterations: 2,
        maxDuration: .milliseconds(milliseconds),
        maxIterations: 1_000_000
    )
    for round in 1...max(rounds, 1) {
        let plan = Registration(round: round)
        plan.addFloors()
        plan.addSettings()
        plan.addKeys()
        plan.addData()
        plan.addOpening()
        plan.addGrowth()
        plan.addThreads()
        #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
        plan.addProcesses()
        plan.addObservation()
        #endif
    }
}
