/// The counts of one operation, averaged over several.
struct Counts: Codable {
    var allocations: Double
    var systemCalls: Double
    var bytesWritten: Double

    static let parts: [(name: String, value: any KeyPath<Counts, Double> & Sendable)] = [
        ("allocations", \.allocations), ("system calls", \.systemCalls), ("bytes written", \.bytesWritten),
    ]
}

/// Measured counts beside the allowed ones.
struct Comparison {
    let measured: [String: Counts]
    let thresholds: [String: Counts]

    /// The accepted difference of a count: occasionally an operation wakes up a thread or enlarges a table.
    private static let tolerance = 0.3

    /// Prints all counts, and the violations last.
    ///
    /// - Returns: Whether no count exceeds its limit.
    func report() -> Bool {
        var failures: [String] = []
        var notes: [String] = []
        print(Self.row("operation", Counts.parts.map(\.name)))
        for (name, counts) in measured.sorted(by: { $0.key < $1.key }) {
            guard let allowed = thresholds[name] else {
                failures.append("\(name) has no thresholds; --update sets them.")
                continue
            }
            let cells = Counts.parts.map { part in
                let value = counts[keyPath: part.value]
                let threshold = allowed[keyPath: part.value]
                if value > threshold + Self.tolerance {
                    failures.append("\(name): \(Self.text(value)) \(part.name), allowed are \(Self.text(threshold)).")
                } else if value < threshold - Self.tolerance {
                    notes.append(
                        "\(name): \(Self.text(value)) \(part.name); \(Self.text(threshold)) are allowed: --update?"
                    )
                }
                return "\(Self.text(value)) ≤ \(Self.text(threshold))"
            }
            print(Self.row(name, cells))
        }
        failures += thresholds.keys.filter { measured[$0] == nil }.sorted().map { "\($0) is not measured any more." }
        for line in notes + failures { print(line) }
        return failures.isEmpty
    }

    private static func row(_ name: String, _ cells: [String]) -> String {
        ([name.padding(to: 52)] + cells.map { $0.padding(to: 18) }).joined()
    }

    private static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}

extension String {
    fileprivate func padding(to length: Int) -> String {
        self + String(repeating: " ", count: max(1, length - count))
    }
}
