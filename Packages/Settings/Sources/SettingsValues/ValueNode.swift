package import Default
package import Foundation

/// A value of a suite, or a part of one: an entry of a dictionary, an element of an array, a member of stored JSON.
package enum ValueNode {
    case value(PropertyListValue)
    /// A part of JSON, which is stored within data.
    case json(JSONText)

    /// What a path leads to.
    package struct Match {
        package let node: ValueNode
        /// The key, and the names after it.
        package let names: [String]
    }

    /// Finds `KEY` or `KEY.NAME.NAME…` in a suite.
    ///
    /// Keys and names may have dots themselves: the longest key that there is counts, and then the longest names.
    /// Elements of arrays have their index as their name, from 0.
    package static func find(_ path: String, in store: FileDefaults) -> Match? {
        find(path.components(separatedBy: ".")) { store.storedValue(forKey: $0).map { .value($0) } }
    }

    private static func find(_ components: [String], child: (String) -> ValueNode?) -> Match? {
        for count in (1...components.count).reversed() {
            let name = components.prefix(count).joined(separator: ".")
            guard let node = child(name) else { continue }
            if count == components.count { return Match(node: node, names: [name]) }
            if let match = find(Array(components.dropFirst(count)), child: node.child) {
                return Match(node: match.node, names: [name] + match.names)
            }
        }
        return nil
    }

    private func child(_ name: String) -> ValueNode? {
        switch self {
        case .value(.dictionary(let entries)):
            return entries[name].map { .value($0) }
        case .value(.array(let elements)):
            return Int(name).flatMap { elements.indices.contains($0) ? .value(elements[$0]) : nil }
        case .value(.data(let data)):
            switch DataContents(data) {
            case .json(let json): return ValueNode.json(json).child(name)
            case .propertyList(let value): return ValueNode.value(value).child(name)
            case .unreadable, .bytes: return nil
            }
        case .json(.object(let members)):
            return members.first { $0.name == name }.map { .json($0.value) }
        case .json(.array(let elements)):
            return Int(name).flatMap { elements.indices.contains($0) ? .json(elements[$0]) : nil }
        case .value, .json:
            return nil
        }
    }
}

extension ValueNode {
    /// The type, in the words of the Mac's tool.
    package var typeName: String {
        switch self {
        case .value(.string), .json(.string): "string"
        case .value(.boolean), .json(.boolean): "boolean"
        case .value(.integer), .value(.unsigned): "integer"
        case .value(.real): "float"
        case .value(.date): "date"
        case .value(.data(let data)): JSONText(parsing: data) == nil ? "data" : "data, which is JSON"
        case .value(.array), .json(.array): "array"
        case .value(.dictionary), .json(.object): "dictionary"
        case .json(.number(let number)): Int64(number) == nil ? "float" : "integer"
        case .json(.null): "null"
        }
    }

    /// As JSON for other programs.
    package var readableJSON: JSONText {
        switch self {
        case .value(let value): JSONText(readable: value)
        case .json(let json): json
        }
    }

    /// The text, if it is a string.
    package var string: String? {
        switch self {
        case .value(.string(let string)), .json(.string(let string)): string
        default: nil
        }
    }

    /// The bytes as they are stored; nil for what has none of its own.
    package var bytes: Data? {
        switch self {
        case .value(.data(let data)): data
        case .json(let json): Data((string ?? json.compact).utf8)
        case .value: string.map { Data($0.utf8) }
        }
    }

    /// What is not hidden of it.
    package func visiblePart(_ hidden: KeyPatterns) -> VisiblePart<ValueNode> {
        switch self {
        case .value(let value): hidden.visiblePart(of: value, .replaced).map { .value($0) }
        case .json(let json): hidden.visiblePart(of: json, .replaced).map { .json($0) }
        }
    }

    /// The same without what is hidden in it, or a string in its place; nil if nothing is hidden.
    package func redacted(_ hidden: KeyPatterns) -> ValueNode? {
        visiblePart(hidden).replacement(for: .json(.string(KeyPatterns.placeholder)))
    }
}

extension StyledText {
    /// Appends a value of a suite, or a part of one.
    package mutating func append(_ node: ValueNode) {
        switch node {
        case .value(let value): append(value)
        case .json(let json): append(json)
        }
    }
}
