import Benchmark
import BenchmarkSupport
import Foundation

/// Adds the benchmarks of one round to the harness's list.
struct Registration {
    let round: Int

    /// Does one operation.
    ///
    /// - Parameter index: How many were done before.
    /// - Returns: Something that depends on the result, so that it can't be optimized away.
    typealias Step = (_ index: Int) throws -> Int

    /// Does several operations, one for each index, and may itself control when to measure.
    typealias Batch = (_ benchmark: Benchmark, _ indices: Range<Int>) throws -> Int

    /// Adds an operation.
    ///
    /// - Parameters:
    ///   - operation: The measured operation.
    ///   - contender: The store or library that does it.
    ///   - count: How many operations make an iteration: enough for the clock not to matter.
    ///   - prepare: Prepares the store, only in the process that measures.
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

    /// Adds an operation that is done occasionally.
    ///
    /// - Parameters:
    ///   - operation: The measured operation.
    ///   - contender: The store or library that does it.
    ///   - pause: Microseconds before each operation, which are not measured.
    ///   - prepare: Prepares the store.
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
