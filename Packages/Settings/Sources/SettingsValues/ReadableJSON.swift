package import Default
import Foundation

extension JSONText {
    /// A value for other programs: as an export has it, but stored JSON as it is.
    package init(readable value: PropertyListValue) {
        switch value {
        case .data(let data):
            self = JSONText(parsing: data) ?? JSONText(exact: value)
        case .array(let elements):
            self = .array(elements.map(JSONText.init(readable:)))
        case .dictionary(let entries):
            self = .object(
                entries.sorted { $0.key < $1.key }.map { Member(name: $0.key, value: JSONText(readable: $0.value)) }
            )
        default:
            self = JSONText(exact: value)
        }
    }
}

extension KeyPatterns {
    /// A value for other programs, without what is hidden.
    package func readableJSON(_ value: PropertyListValue, forKey key: String) -> JSONText {
        matches(key) ? .string(Self.placeholder) : JSONText(readable: redacted(value) ?? value)
    }
}

extension SuiteContents {
    /// All values for other programs, without what is hidden.
    package func readableJSON(_ hidden: KeyPatterns) -> JSONText {
        .object(entries.map { JSONText.Member(name: $0.key, value: hidden.readableJSON($0.value, forKey: $0.key)) })
    }
}
