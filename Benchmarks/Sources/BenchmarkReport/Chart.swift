import BenchmarkSupport
import Foundation

/// Bars of the times of some operations, on a logarithmic scale: from nanoseconds to milliseconds.
struct Chart {
    let results: Results
    let environment: Environment

    private static let groups: [(title: String, operation: MeasuredOperation)] = [
        ("Read a settings type", .settingsRead),
        ("Write a settings type, safe from a kill", .settingsWrite),
        ("Read a typed key", .keyGet),
        ("Add 1 to a typed key, safe from a kill", .keyIncrement),
        ("Set 112 bytes, safe from a kill", .dataSet),
    ]
    private static let bars: [(contender: Contender, title: String, color: String)] = [
        (.library, "Default", "#0a7d4f"),
        (.sqlite, "SQLite (GRDB)", "#8a94a6"),
        (.userDefaults, "UserDefaults", "#b0b8c6"),
        (.synchronized, "UserDefaults + synchronize", "#b0b8c6"),
        (.propertyList, "property list, whole file", "#c9ced8"),
    ]

    private static let width = 860.0
    private static let left = 210.0
    private static let right = 90.0
    private static let barHeight = 16.0
    private static let gap = 4.0

    private struct Row {
        var label: String
        var color: String
        var time: Double
    }

    private func rows(_ operation: MeasuredOperation) -> [Row] {
        Self.bars.compactMap { bar in
            // What is not on the disk is no write: there, Foundation's is the synchronized one.
            if bar.contender == .userDefaults, results.time(Cell(operation, .synchronized)) != nil { return nil }
            return results.time(Cell(operation, bar.contender)).map {
                Row(label: bar.title, color: bar.color, time: $0.median)
            }
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

        var y = 64.0
        var bars: [String] = []
        for group in groups {
            bars.append(text(group.title, x: 20, y: y + 12, attributes: "font-weight=\"600\""))
            y += 22
            for row in group.rows {
                let end = x(row.time)
                let baseline = y + Self.barHeight - 4
                bars.append(
                    text(row.label, x: Self.left - 8, y: baseline, attributes: "text-anchor=\"end\" fill=\"#57606a\"")
                )
                bars.append(
                    """
                    <rect x="\(number(Self.left))" y="\(number(y))" width="\(number(max(2, end - Self.left)))" \
                    height="\(number(Self.barHeight))" rx="2" fill="\(row.color)"/>
                    """
                )
                bars.append(text(Format.time(row.time), x: end + 6, y: baseline))
                y += Self.barHeight + Self.gap
            }
            y += 12
        }
        let bottom = y
        let ticks = stride(from: least, through: most, by: 1).map { exponent -> String in
            let time = pow(10, exponent)
            return """
                <line x1="\(number(x(time)))" y1="56" x2="\(number(x(time)))" y2="\(number(bottom))" stroke="#d8dee4"/>
                \(text(tick(time), x: x(time), y: bottom + 16, attributes: "text-anchor=\"middle\" fill=\"#57606a\""))
                """
        }
        let facts = environment.facts.filter { ["machine", "Swift", "date"].contains($0.name) }.map(\.value)
        let height = bottom + 52
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(Self.width)) \(number(height))" \
            width="\(number(Self.width))" height="\(number(height))" \
            font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13" fill="#1f2328">
            <rect width="100%" height="100%" fill="#ffffff"/>
            \(text("Time of one operation", x: 20, y: 28, attributes: "font-size=\"17\" font-weight=\"600\""))
            \(text("100 keys; logarithmic scale: each line is ten times the one before; shorter is faster", x: 20, y: 46, attributes: "fill=\"#57606a\""))
            \(ticks.joined(separator: "\n"))
            \(bars.joined(separator: "\n"))
            \(text(facts.joined(separator: " · "), x: 20, y: bottom + 40, attributes: "font-size=\"11\" fill=\"#57606a\""))
            </svg>

            """
    }

    private func tick(_ time: Double) -> String {
        switch time {
        case ..<1_000: "\(Int(time.rounded())) ns"
        case ..<1_000_000: "\(Int((time / 1_000).rounded())) µs"
        default: "\(Int((time / 1_000_000).rounded())) ms"
        }
    }

    private func number(_ value: Double) -> String {
        String(format: "%.1f", value)
    }

    private func text(_ text: String, x: Double, y: Double, attributes: String = "") -> String {
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        return "<text x=\"\(number(x))\" y=\"\(number(y))\" \(attributes)>\(escaped)</text>"
    }
}
