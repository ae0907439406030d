import BenchmarkSupport
import Foundation

/// A dot for each time of some operations, on a logarithmic axis from nanoseconds to milliseconds.
///
/// Dots and not bars: a logarithmic axis has no zero, so the length of a bar on it would depend on where the axis
/// begins.
struct Chart {
    let results: Results
    let environment: Environment

    /// Reads of unchanged values, reads of changed values, writes, and the operations in which others are faster.
    private static let groups: [(title: String, operation: MeasuredOperation)] = [
        ("Read a settings type, unchanged since the last read", .settingsRead),
        ("Read a settings type after a change (both together)", .settingsReadAfterChange),
        ("Read a typed key, unchanged since the last read", .keyGet),
        ("Write a settings type", .settingsWrite),
        ("Add 1 to a typed key", .keyIncrement),
        ("Set 112 bytes", .dataSet),
        ("Set 112 bytes while another process does the same", .dataSetProcesses2),
        ("Open a suite of 10 keys and read one", .open10),
        ("Open a suite of 10,000 keys and read one", .open10000),
    ]
    private static let contenders: [(contender: Contender, title: String)] = [
        (.library, "Default"),
        (.lmdb, "LMDB"),
        (.sqlite, "SQLite (GRDB)"),
        (.userDefaults, "UserDefaults"),
        (.synchronized, "… + synchronize"),
        (.propertyList, "property list"),
    ]

    // No wider than a telephone's screen, so that the text keeps its size there.
    private static let width = 420.0
    private static let left = 122.0
    private static let right = 74.0
    private static let rowHeight = 19.0
    private static let top = 152.0

    private struct Row {
        var label: String
        var time: Double
        var isLibrary: Bool
        var isFastest: Bool
    }

    private func rows(_ operation: MeasuredOperation) -> [Row] {
        let times = Self.contenders.compactMap { entry in
            results.time(Cell(operation, entry.contender)).map { (entry: entry, time: $0.median) }
        }
        let fastest = times.map(\.time).min()
        return times.map { entry, time in
            Row(label: entry.title, time: time, isLibrary: entry.contender == .library, isFastest: time == fastest)
        }
    }

    var svg: String {
        let groups = Self.groups.map { (title: $0.title, rows: rows($0.operation)) }.filter { !$0.rows.isEmpty }
        let times = groups.flatMap { $0.rows.map(\.time) }
        let least = floor(log10(times.min() ?? 1))
        let most = ceil(log10(times.max() ?? 10))
        func x(_ time: Double) -> Double {
            Self.left + (log10(time) - least) / max(most - least, 1) * (Self.width - Self.left - Self.right)
        }

        var y = Self.top + 10
        var marks: [String] = []
        for group in groups {
            marks.append(text(group.title, x: 10, y: y + 12, classes: "group"))
            y += 20
            for row in group.rows {
                let middle = y + Self.rowHeight / 2
                marks.append(
                    """
                    \(text(row.label, x: Self.left - 12, y: middle + 4.5, classes: row.isLibrary ? "end" : "end quiet"))
                    <line class="guide" x1="\(number(Self.left))" y1="\(number(middle))" x2="\(number(x(row.time)))" \
                    y2="\(number(middle))"/>
                    <circle class="\(row.isLibrary ? "own" : "other")" cx="\(number(x(row.time)))" cy="\(number(middle))" \
                    r="5.5"/>
                    \(text(Format.time(row.time), x: x(row.time) + 11, y: middle + 4.5, classes: row.isFastest ? "best" : ""))
                    """
                )
                y += Self.rowHeight
            }
            y += 14
        }
        let bottom = y
        let ticks = stride(from: least, through: most, by: 1).map { exponent -> String in
            let time = pow(10, exponent)
            // The axis has room for every second label only.
            let label = Int(exponent - least) % 2 == 0 ? tick(time) : ""
            return """
                <line class="tick" x1="\(number(x(time)))" y1="\(number(Self.top))" x2="\(number(x(time)))" \
                y2="\(number(bottom))"/>
                \(text(label, x: x(time), y: Self.top - 8, classes: "middle quiet"))
                \(text(label, x: x(time), y: bottom + 18, classes: "middle quiet"))
                """
        }
        let facts = environment.facts.filter { ["machine", "Swift", "date"].contains($0.name) }
            .map { $0.name == "Swift" ? "Swift \($0.value)" : $0.value }
        let height = bottom + 56
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(Self.width)) \(number(height))" \
            width="\(number(Self.width))" height="\(number(height))" role="img" \
            font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13">
            <title>Time of one operation</title>
            \(Self.style)
            <rect class="ground" width="100%" height="100%"/>
            \(text("Time of one operation", x: 10, y: 26, classes: "title"))
            \(lines([
                "Beside 100 other keys unless stated. Each line is ten times the",
                "one before; further left is faster, and the fastest is bold.",
                "UserDefaults is \(Environment.foundation), and saves",
                "nothing without synchronize. The others survive a kill.",
            ], y: 48))
            \(ticks.joined(separator: "\n"))
            \(marks.joined(separator: "\n"))
            \(text(facts.joined(separator: " · "), x: 10, y: bottom + 44, classes: "quiet"))
            </svg>

            """
    }

    /// The colors for a light page and for a dark one.
    private static let style = """
        <style>
        text { fill: #1f2328; stroke: #ffffff; stroke-width: 3px; paint-order: stroke }
        .title { font-size: 17px; font-weight: 600 }
        .group, .best { font-weight: 600 }
        .middle { text-anchor: middle }
        .end { text-anchor: end }
        .quiet { fill: #57606a }
        .ground { fill: #ffffff }
        .tick { stroke: #d8dee4 }
        .guide { stroke: #afb8c1; stroke-dasharray: 1 4 }
        .own { fill: #0a7d4f }
        .other { fill: #ffffff; stroke: #57606a; stroke-width: 2 }
        @media (prefers-color-scheme: dark) {
            text { fill: #e6edf3; stroke: #0d1117 }
            .quiet { fill: #9198a1 }
            .ground { fill: #0d1117 }
            .tick { stroke: #2d333b }
            .guide { stroke: #59636e }
            .own { fill: #3fb97f }
            .other { fill: #0d1117; stroke: #9198a1 }
        }
        </style>
        """

    private func tick(_ time: Double) -> String {
        switch time {
        case ..<1_000: "\(Int(time.rounded())) ns"
        case ..<1_000_000: "\(Int((time / 1_000).rounded())) µs"
        case ..<1_000_000_000: "\(Int((time / 1_000_000).rounded())) ms"
        default: "\(Int((time / 1_000_000_000).rounded())) s"
        }
    }

    private func lines(_ lines: [String], y: Double) -> String {
        lines.enumerated().map { text($1, x: 10, y: y + 18 * Double($0), classes: "quiet") }.joined(separator: "\n")
    }

    private func number(_ value: Double) -> String {
        String(format: "%.1f", value)
    }

    private func text(_ text: String, x: Double, y: Double, classes: String) -> String {
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        let attribute = classes.isEmpty ? "" : " class=\"\(classes)\""
        return "<text\(attribute) x=\"\(number(x))\" y=\"\(number(y))\">\(escaped)</text>"
    }
}
