import CoreMetrics
import Foundation
import Synchronization

/// Collects what the library counts, and gives it in Prometheus' text format.
///
/// Written here, and not taken from swift-prometheus: of the format a page is needed, and one more package would make
/// the agent's first build longer.
///
/// https://prometheus.io/docs/instrumenting/exposition_formats/
final class PrometheusMetrics: MetricsFactory {
    struct Series: Hashable, Sendable {
        let name: String
        let labels: [String: String]
    }

    private enum Kind: String {
        case counter, gauge, summary
    }

    private struct Family {
        var kind: Kind
        var series: [Series: Double] = [:]
    }

    private let families = Mutex<[String: Family]>([:])

    private func update(_ kind: Kind, _ series: Series, family: String? = nil, _ body: (inout Double) -> Void) {
        families.withLock { families in
            body(&families[family ?? series.name, default: Family(kind: kind)].series[series, default: 0])
        }
    }

    /// Sets a gauge; one that has a value may be left as it is.
    func setGauge(_ name: String, labels: [String: String], _ value: Double, ifUnset: Bool = false) {
        let series = Series(name: name, labels: labels)
        families.withLock { families in
            let isSet = families[name]?.series[series] != nil
            if !isSet || !ifUnset {
                families[name, default: Family(kind: .gauge)].series[series] = value
            }
        }
    }

    /// All of it, in the order of the names.
    var text: String {
        families.withLock { families in
            families.sorted { $0.key < $1.key }.map { name, family in
                let lines = family.series.map { "\(Self.name(of: $0.key)) \(Self.text(of: $0.value))\n" }.sorted()
                return "# TYPE \(name) \(family.kind.rawValue)\n" + lines.joined()
            }
            .joined()
        }
    }

    private static func name(of series: Series) -> String {
        guard !series.labels.isEmpty else { return series.name }
        let labels = series.labels.sorted { $0.key < $1.key }.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }
        return "\(series.name){\(labels.joined(separator: ","))}"
    }

    private static func text(of value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    // MARK: MetricsFactory

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let handler = Handler(self, .counter, label + "_total", dimensions)
        handler.increment(by: 0)
        return handler
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Handler(self, .gauge, label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Handler(self, .summary, label + "_seconds", dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    private final class Handler: CounterHandler, RecorderHandler, TimerHandler {
        private let metrics: PrometheusMetrics
        private let kind: Kind
        private let series: Series

        init(_ metrics: PrometheusMetrics, _ kind: Kind, _ name: String, _ dimensions: [(String, String)]) {
            self.metrics = metrics
            self.kind = kind
            series = Series(name: name, labels: Dictionary(dimensions) { $1 })
        }

        func increment(by amount: Int64) {
            metrics.update(kind, series) { $0 += Double(amount) }
        }

        func reset() {
            metrics.update(kind, series) { $0 = 0 }
        }

        func record(_ value: Int64) {
            record(Double(value))
        }

        func record(_ value: Double) {
            metrics.update(kind, series) { $0 = value }
        }

        func recordNanoseconds(_ duration: Int64) {
            let (sum, count) = (series.name + "_sum", series.name + "_count")
            metrics.update(.summary, Series(name: sum, labels: series.labels), family: series.name) {
                $0 += Double(duration) / 1e9
            }
            metrics.update(.summary, Series(name: count, labels: series.labels), family: series.name) { $0 += 1 }
        }
    }
}
