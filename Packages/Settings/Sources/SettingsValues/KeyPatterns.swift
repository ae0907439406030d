import Foundation

/// Patterns for the keys of values that are not to be shown: shell patterns, in which case makes no difference.
package struct KeyPatterns {
    package static let placeholder = "<hidden>"

    package var patterns: [String]

    package init(patterns: [String] = []) {
        self.patterns = patterns
    }

    package func matches(_ key: String) -> Bool {
        let key = Self.comparable(key)
        // What was quarantined is hidden with the value that it was.
        let names = [key, key.hasSuffix(".quarantine") ? String(key.dropLast(".quarantine".count)) : key]
        return patterns.contains { pattern in names.contains { fnmatch(Self.comparable(pattern), $0, 0) == 0 } }
    }

    /// Without the differences of case and of encoding; NUL would end the text for the system's function.
    private static func comparable(_ text: String) -> String {
        text.lowercased().precomposedStringWithCanonicalMapping.replacing("\0", with: "\u{FFFD}")
    }
}
