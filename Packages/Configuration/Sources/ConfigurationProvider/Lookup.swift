import Configuration
import Default
import Foundation

/// What is stored has another type than the one that is asked for.
struct UnexpectedValueType: Error, CustomStringConvertible {
    let key: String
    let type: ConfigType

    var description: String { "What is stored under \(key.debugDescription) can't be read as \(type.rawValue)." }
}

/// Finds a value and converts it to a type of configuration values.
func lookUp(
    _ key: AbsoluteConfigKey,
    type: ConfigType,
    secrets: SecretsSpecifier<String, PropertyListValue>,
    stored: (String) -> PropertyListValue?
) throws -> LookupResult {
    let name = key.components.joined(separator: ".")
    guard let value = find(key.components, stored: stored) else {
        return LookupResult(encodedKey: name, value: nil)
    }
    guard let content = ConfigContent(value, type: type) else {
        throw UnexpectedValueType(key: name, type: type)
    }
    let isSecret = secrets.isSecret(key: name, value: value)
    return LookupResult(encodedKey: name, value: ConfigValue(content, isSecret: isSecret))
}

/// The value under the longest stored key that the components begin with, and the rest of them within it.
private func find(_ components: [String], stored: (String) -> PropertyListValue?) -> PropertyListValue? {
    for count in stride(from: components.count, to: 0, by: -1) {
        if let value = stored(components.prefix(count).joined(separator: ".")),
            let found = value.descend(components.dropFirst(count))
        {
            return found
        }
    }
    return nil
}

extension PropertyListValue {
    fileprivate func descend(_ path: ArraySlice<String>) -> PropertyListValue? {
        guard let first = path.first else {
            return self
        }
        return entries?[first]?.descend(path.dropFirst())
    }

    private var entries: [String: PropertyListValue]? {
        switch self {
        case .dictionary(let entries): entries
        case .data(let data):
            (try? JSONDecoder().decode([String: Property].self, from: data))?.compactMapValues(\.value)
        default: nil
        }
    }
}

/// A property of a settings type that is stored as JSON.
private struct Property: Decodable {
    /// Nil for JSON's null.
    let value: PropertyListValue?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value =
            if container.decodeNil() {
                nil
            } else if let boolean = try? container.decode(Bool.self) {
                .boolean(boolean)
            } else if let integer = try? container.decode(Int64.self) {
                .integer(integer)
            } else if let real = try? container.decode(Double.self) {
                .real(real)
            } else if let string = try? container.decode(String.self) {
                .string(string)
            } else if let elements = try? container.decode([Property].self) {
                .array(elements.compactMap(\.value))
            } else {
                .dictionary(try container.decode([String: Property].self).compactMapValues(\.value))
            }
    }
}

extension ConfigContent {
    /// A stored value as a type of configuration values; nil when it is of another type.
    fileprivate init?(_ value: PropertyListValue, type: ConfigType) {
        let content: ConfigContent? =
            switch type {
            case .string: value.string.map { .string($0) }
            case .int: value.int.map { .int($0) }
            case .double: value.double.map { .double($0) }
            case .bool: value.bool.map { .bool($0) }
            case .bytes: value.bytes.map { .bytes($0) }
            case .stringArray: value.elements(\.string).map { .stringArray($0) }
            case .intArray: value.elements(\.int).map { .intArray($0) }
            case .doubleArray: value.elements(\.double).map { .doubleArray($0) }
            case .boolArray: value.elements(\.bool).map { .boolArray($0) }
            case .byteChunkArray: value.elements(\.bytes).map { .byteChunkArray($0) }
            }
        guard let content else {
            return nil
        }
        self = content
    }
}

extension PropertyListValue {
    fileprivate var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    fileprivate var bool: Bool? {
        if case .boolean(let boolean) = self { boolean } else { nil }
    }

    fileprivate var bytes: [UInt8]? {
        if case .data(let data) = self { Array(data) } else { nil }
    }

    fileprivate var int: Int? {
        switch self {
        case .integer(let integer): Int(exactly: integer)
        case .real(let real): Int(exactly: real)
        default: nil
        }
    }

    fileprivate var double: Double? {
        switch self {
        case .integer(let integer): Double(exactly: integer)
        case .real(let real): real
        default: nil
        }
    }

    /// The elements of an array, when all of them are of one type.
    fileprivate func elements<Element>(_ element: (PropertyListValue) -> Element?) -> [Element]? {
        guard case .array(let values) = self else {
            return nil
        }
        let elements = values.compactMap(element)
        return elements.count == values.count ? elements : nil
    }
}
