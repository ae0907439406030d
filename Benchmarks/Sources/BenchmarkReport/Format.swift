import Foundation

/// Figures as text for people.
enum Format {
    static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1_000: "\(significant(nanoseconds)) ns"
        case ..<1_000_000: "\(significant(nanoseconds / 1_000)) µs"
        default: "\(significant(nanoseconds / 1_000_000)) ms"
        }
    }

    /// The time that a text made by ``time(_:)`` stands for; nil for any other text.
    static func nanoseconds(_ text: String) -> Double? {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let value = Double(parts[0]) else { return nil }
        switch parts[1] {
        case "ns": return value
        case "µs": return value * 1_000
        case "ms": return value * 1_000_000
        default: return nil
        }
    }

    static func trimmed(_ text: Substring) -> String {
        text.trimmingCharacters(in: .whitespaces)
    }

    /// Small ratios as fractions: 1/60 says more than 0.0167.
    static func ratio(_ value: Double) -> String {
        value < 0.2 ? "1/\(significant(1 / value))" : "\(String(format: value < 10 ? "%.2f" : "%.1f", value)) ×"
    }

    static func spread(_ spread: Spread, _ text: (Double) -> String) -> String {
        spread.values.count == 1 ? "" : "\(text(spread.least)) to \(text(spread.most))"
    }

    private static func significant(_ value: Double) -> String {
        switch value {
        case ..<10: String(format: "%.2f", value)
        case ..<100: String(format: "%.1f", value)
        default: String(format: "%.0f", value)
        }
    }
}
