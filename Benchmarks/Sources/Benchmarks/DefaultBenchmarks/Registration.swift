import Benchmark
import BenchmarkSupport
import Foundation

/// Adds the benchmarks of one round to the harness's list.
struct Registration {
    let round: Int

    /// Does one operation.
    ///
    /// - Parameter index: How many were done before.
    /// - Returns: Something that comes of it, so that it can't be optimized away.
    typealias Step = (_ index: Int) throws -> Int

    /// Does several operations, those whose numbers are given, and may say itself when to measure.
    typealias Batch = (_ benchmark: Benchmark, _ indices: Range<Int>) throws -> Int

    /// Adds an operation.
    ///
    /// - Parameters:
    ///   - operation: What is measured.
    ///   - contender: Who does it.
    ///   - count: How many operations make an iteration: enough for the clock not to matter.
    ///   - prepare: Makes ready what is needed, in the process that measures only.
    func add(
        _ operation: MeasuredOperation,
        _ contender: Contender,
        count: Int,
        _ prepare: @escaping (_ keys: [String]) throws -> Step
    ) {
        addBatches(operation, contender, count: count) { keys in
            let step = try prepare(keys)
            return { _, indices in
                var sum = 0
                for index in indices { sum &+= try step(index) }
                return sum
            }
        }
    }

    /// Adds an operation that is done once in a while.
    ///
    /// - Parameters:
    ///   - operation: What is measured.
    ///   - contender: Who does it.
    ///   - pause: Microseconds before each, which are not measured.
    ///   - prepare: Makes ready what is needed.
    func add(
        _ operation: MeasuredOperation,
        _ contender: Contender,
        each pause: UInt32,
        _ prepare: @escaping (_ keys: [String]) throws -> (_ index: Int) throws -> Void
    ) {
        addBatches(operation, contender, count: 1) { keys in
            let step = try prepare(keys)
            return { benchmark, indices in
                usleep(pause)
                benchmark.startMeasurement()
                try step(indices.lowerBound)
                benchmark.stopMeasurement()
                return 0
            }
        }
    }

    func addBatches(
        _ operation: MeasuredOperation,
        _ contender: Contender,
        count: Int,
        _ prepare: @escaping (_ keys: [String]) throws -> Batch
    ) {
        var batch: Batch?
        var done = 0
        let name = BenchmarkName(round: round, operation: operation, contender: contender, count: count)
        Benchmark(name.text) { (benchmark: Benchmark) throws in
            guard let batch else { return }
            blackHole(try batch(benchmark, done..<done + count))
            done += count
        } setup: {
            batch = try prepare(Raw.keys(operation.keyCount))
        } teardown: {
            batch = nil
        }
    }
}
