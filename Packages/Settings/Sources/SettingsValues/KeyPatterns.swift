import Foundation

/// Patterns for the keys of values that are not to be shown: shell patterns, in which case makes no difference.
package struct KeyPatterns {
    package static let placeholder = "<hidden>"

    package var patterns: [String]

    package init(patterns: [String] = []) {
        self.patterns = patterns
    }

    package func matches(_ key: String) -> Bool {
        let key = key.lowercased()
        // What was quarantined is hidden with the value that it was.
        let names = [key, key.hasSuffix(".quarantine") ? String(key.dropLast(".quarantine".count)) : key]
        return patterns.contains { pattern in names.contains { fnmatch(pattern.lowercased(), $0, 0) == 0 } }
    }
}
