package import Default
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

    /// What happens to hidden values within a value.
    package enum Treatment {
        /// A string takes their place.
        case replaced
        /// They are left out.
        case omitted
    }

    /// The value without what is hidden in it; nil if that is nothing.
    package func redacted(_ value: PropertyListValue, _ treatment: Treatment) -> PropertyListValue? {
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
    package func redacted(_ json: JSONText, _ treatment: Treatment) -> JSONText? {
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
    package func redacted(_ string: String, _ treatment: Treatment) -> String? {
        guard !patterns.isEmpty, let first = string.first(where: { !$0.isWhitespace }), "{[".contains(first),
            let json = JSONText(parsing: string.utf8)
        else {
            return nil
        }
        return redacted(json, treatment)?.compact
    }
}
