import ArgumentParser
import Default
import Foundation

/// Patterns for the keys of values that are not to be shown: shell patterns, in which case makes no difference.
struct KeyPatterns {
    static let placeholder = "<hidden>"

    var patterns: [String] = []

    func matches(_ key: String) -> Bool {
        patterns.contains { fnmatch($0.lowercased(), key.lowercased(), 0) == 0 }
    }

    /// What happens to hidden values within a value.
    enum Treatment {
        /// A string takes their place.
        case replaced
        /// They are left out.
        case omitted
    }

    /// The value without what is hidden in it; nil if that is nothing.
    func redacted(_ value: PropertyListValue, _ treatment: Treatment) -> PropertyListValue? {
        guard !patterns.isEmpty else { return nil }
        switch value {
        case .array(let elements):
            let redactions = elements.map { redacted($0, treatment) }
            guard redactions.contains(where: { $0 != nil }) else { return nil }
            return .array(zip(elements, redactions).map { $1 ?? $0 })
        case .dictionary(let entries):
            var result = entries
            var isChanged = false
            for (key, value) in entries {
                if matches(key) {
                    result[key] = treatment == .replaced ? .string(Self.placeholder) : nil
                    isChanged = true
                } else if let redaction = redacted(value, treatment) {
                    result[key] = redaction
                    isChanged = true
                }
            }
            return isChanged ? .dictionary(result) : nil
        case .data(let data):
            if let json = JSONText(parsing: data) {
                return redacted(json, treatment).map { .data(Data($0.compact.utf8)) }
            }
            guard BinaryPropertyListReader.isBinary(data), let value = PropertyListValue(serialized: data) else {
                return nil
            }
            return redacted(value, treatment).map { .data(BinaryPropertyListWriter.data($0)) }
        case .string(let string):
            return redacted(string, treatment).map { .string($0) }
        default:
            return nil
        }
    }

    /// JSON without what is hidden in it; nil if that is nothing.
    func redacted(_ json: JSONText, _ treatment: Treatment) -> JSONText? {
        guard !patterns.isEmpty else { return nil }
        switch json {
        case .array(let elements):
            let redactions = elements.map { redacted($0, treatment) }
            guard redactions.contains(where: { $0 != nil }) else { return nil }
            return .array(zip(elements, redactions).map { $1 ?? $0 })
        case .object(let members):
            var isChanged = false
            let result = members.compactMap { member -> JSONText.Member? in
                if matches(member.name) {
                    isChanged = true
                    let placeholder = JSONText.Member(name: member.name, value: .string(Self.placeholder))
                    return treatment == .replaced ? placeholder : nil
                }
                guard let redaction = redacted(member.value, treatment) else { return member }
                isChanged = true
                return JSONText.Member(name: member.name, value: redaction)
            }
            return isChanged ? .object(result) : nil
        case .string(let string):
            return redacted(string, treatment).map { .string($0) }
        default:
            return nil
        }
    }

    /// The same for a string, which may hold JSON as well.
    func redacted(_ string: String, _ treatment: Treatment) -> String? {
        guard !patterns.isEmpty, let first = string.first(where: { !$0.isWhitespace }), "{[".contains(first),
            let json = JSONText(parsing: string.utf8)
        else {
            return nil
        }
        return redacted(json, treatment)?.compact
    }
}

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
