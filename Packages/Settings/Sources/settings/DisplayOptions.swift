import ArgumentParser
import Default
import Foundation
import SettingsValues

/// Which values are not shown.
struct HidingOptions: ParsableArguments {
    @Option(
        name: .customLong("hide"),
        help: ArgumentHelp(
            "Hide the values of the keys that match, in suites and within values; for example \"*token*\". May be repeated.",
            valueName: "pattern"
        )
    )
    var hidden: [String] = []

    /// Those of the command line and of the environment.
    var patterns: KeyPatterns {
        let environment = ProcessInfo.processInfo.environment["SETTINGS_HIDE"] ?? ""
        return KeyPatterns(patterns: hidden + environment.split(separator: ":").map(String.init))
    }
}

/// How values are shown.
struct DisplayOptions: ParsableArguments {
    enum Color: String, ExpressibleByArgument, CaseIterable {
        case auto, always, never
    }

    @OptionGroup
    var hiding: HidingOptions

    @Option(help: "Show colours. By default, on a terminal, unless $NO_COLOR is set.")
    var color = Color.auto

    var patterns: KeyPatterns { hiding.patterns }

    /// Text with nothing in it yet, for standard output.
    var text: StyledText { StyledText(usesColor: usesColor, hidden: patterns) }

    private var usesColor: Bool {
        switch color {
        case .always: true
        case .never: false
        case .auto: isOutputTerminal && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
        }
    }
}
