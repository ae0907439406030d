import ArgumentParser
import Foundation

/// Patterns for the keys of values that are not to be shown: shell patterns, in which case makes no difference.
struct KeyPatterns {
    static let placeholder = "<hidden>"

    var patterns: [String] = []

    func matches(_ key: String) -> Bool {
        patterns.contains { fnmatch($0.lowercased(), key.lowercased(), 0) == 0 }
    }
}

/// How values are shown.
struct DisplayOptions: ParsableArguments {
    enum Color: String, ExpressibleByArgument, CaseIterable {
        case auto, always, never
    }

    @Option(
        name: .customLong("hide"),
        help: ArgumentHelp(
            "Hide the values of the keys that match, in suites and within values; for example \"*token*\". May be repeated.",
            valueName: "pattern"
        )
    )
    var hidden: [String] = []

    @Option(help: "Show colours. By default, on a terminal, unless $NO_COLOR is set.")
    var color = Color.auto

    var patterns: KeyPatterns { KeyPatterns(patterns: hidden) }

    /// Text with nothing in it yet, for standard output.
    var text: StyledText { StyledText(usesColor: usesColor, hidden: patterns) }

    private var usesColor: Bool {
        switch color {
        case .always: true
        case .never: false
        case .auto:
            isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
        }
    }
}
