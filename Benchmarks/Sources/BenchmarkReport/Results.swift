import BenchmarkSupport
import Foundation

/// The part of the harness's export (in the format of JMH) that the report needs.
private struct ExportedBenchmark: Decodable {
    struct Metric: Decodable {
        var scorePercentiles: [String: Double]
        var scoreUnit: String
    }

    var benchmark: String
    var secondaryMetrics: [String: Metric]
}

/// One measured thing.
struct Cell: Hashable, CustomStringConvertible {
    var operation: MeasuredOperation
    var contender: Contender

    init(_ operation: MeasuredOperation, _ contender: Contender) {
        self.operation = operation
        self.contender = contender
    }

    init(floor operation: MeasuredOperation) {
        self.init(operation, .floor)
    }

    var description: String { "\(operation.rawValue)/\(contender.rawValue)" }
}

/// Several figures of the same thing.
struct Spread {
    let values: [Double]

    init(_ values: [Double]) {
        self.values = values.sorted()
    }

    var median: Double {
        let middle = values.count / 2
        return values.count.isMultiple(of: 2) ? (values[middle - 1] + values[middle]) / 2 : values[middle]
    }
    var least: Double { values[0] }
    var most: Double { values[values.count - 1] }
}

/// What was measured, in nanoseconds per operation.
struct Results {
    /// The medians of each round.
    private(set) var rounds: [Int: [Cell: Double]] = [:]
    /// The least times of all rounds, from which targets are judged: what else the machine does only adds to a time.
    private var leastTimes: [Cell: Double] = [:]

    init(exports: [Data]) throws {
        for data in exports {
            for exported in try JSONDecoder().decode([ExportedBenchmark].self, from: data) {
                // "package.benchmark.<target>.<name>"
                guard let start = exported.benchmark.range(of: "round"),
                    let name = BenchmarkName(exported.benchmark[start.lowerBound...])
                else { continue }
                let cell = Cell(name.operation, name.contender)
                rounds[name.round, default: [:]][cell] = Self.time(exported, name, percentile: "50.0")
                if let least = Self.time(exported, name, percentile: "0.0") {
                    leastTimes[cell] = min(leastTimes[cell] ?? least, least)
                }
            }
        }
    }

    /// Times that were measured before, as one round.
    init(times: [Cell: Double]) {
        rounds = [1: times]
    }

    private static func time(
        _ exported: ExportedBenchmark,
        _ name: BenchmarkName,
        percentile: String
    ) -> Double? {
        if name.operation == .observation {
            // The harness exports a custom metric as a plain count.
            return exported.secondaryMetrics[BenchmarkName.latencyMetric]?.scorePercentiles[percentile]
        }
        // Microseconds with three decimals, whatever the benchmark's own unit.
        guard let metric = exported.secondaryMetrics.first(where: { $0.key.hasPrefix("Time (wall clock)") })?.value
        else {
            return nil
        }
        return metric.scorePercentiles[percentile].map { $0 * 1_000 / Double(name.count) }
    }

    /// The spread of a time over the rounds.
    func time(_ cell: Cell) -> Spread? {
        spread { $0[cell] }
    }

    /// The ratio of two times, each taken within a round: a machine whose speed drifts changes both.
    func ratio(_ cell: Cell, to other: Cell) -> Spread? {
        spread { round in
            guard let time = round[cell], let base = round[other], base > 0 else { return nil }
            return time / base
        }
    }

    /// The least time of all rounds.
    func leastTime(_ cell: Cell) -> Double? { leastTimes[cell] }

    /// The ratio of two least times.
    func leastRatio(_ cell: Cell, to other: Cell) -> Double? {
        guard let time = leastTimes[cell], let base = leastTimes[other], base > 0 else { return nil }
        return time / base
    }

    private func spread(_ figure: ([Cell: Double]) -> Double?) -> Spread? {
        let values = rounds.values.compactMap(figure)
        return values.isEmpty ? nil : Spread(values)
    }
}
