#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Stored bytes as a tree of containers; everything else in them is kept as it was written, so that a number keeps all
/// its digits.
enum StoredTree {
    case object([String: StoredTree])
    case array([StoredTree])
    case json(ArraySlice<UInt8>)
    case propertyList(PropertyListValue)

    enum Format { case json, propertyList }

    /// Bytes as a tree, and their format.
    struct Parsed {
        let tree: StoredTree
        let format: Format
    }

    /// Parses bytes; nil when they are neither JSON nor a property list.
    static func parse(_ data: Data) -> Parsed? {
        if data.isPropertyList {
            return PropertyListValue.decoded(from: data).map { Parsed(tree: StoredTree($0), format: .propertyList) }
        }
        return StoredTree(json: data).map { Parsed(tree: $0, format: .json) }
    }

    /// Encodes the tree in a format, which has to be that of all its values; nil when that fails.
    func data(in format: Format) -> Data? { format == .json ? jsonData : propertyListValue?.propertyListData }

    /// The keys that lead to a value, outermost first.
    typealias Path = [String]

    /// The key of an element, in paths.
    static func key(of index: Int) -> String { "[\(index)]" }

    /// The index of an element whose key in paths is this; nil for other keys.
    private static func index(of key: String) -> Int? {
        guard key.hasPrefix("["), key.hasSuffix("]") else { return nil }
        return Int(key.dropFirst().dropLast())
    }

    var fields: [String: StoredTree]? {
        if case .object(let fields) = self { fields } else { nil }
    }

    /// Whether this has all fields of another tree, in the same places.
    func hasFields(of other: StoredTree) -> Bool {
        switch (other, self) {
        case (.object(let fields), .object(let own)):
            fields.allSatisfy { name, field in field.isNull || own[name]?.hasFields(of: field) == true }
        case (.array(let elements), .array(let own)):
            elements.count == own.count && zip(elements, own).allSatisfy { $1.hasFields(of: $0) }
        case (.object, _), (.array, _): false
        default: true
        }
    }

    /// A text that is the same for values that are written alike, apart from nil.
    var identity: String {
        switch self {
        case .object(let fields):
            var texts: [String] = []
            for (name, field) in fields where !field.mayBeNull {
                texts.append("\(Data(name.utf8).base64EncodedString()):\(field.identity)")
            }
            return "{\(texts.sorted().joined(separator: ","))}"
        case .array(let elements): return "[\(elements.map(\.identity).joined(separator: ","))]"
        case .json(let bytes): return Data(bytes).base64EncodedString()
        case .propertyList(let value): return value.binaryForm.base64EncodedString()
        }
    }

    /// Whether this is nil and nothing else.
    var isNull: Bool {
        // No other value in JSON has four bytes and begins like this.
        if case .json(let bytes) = self { bytes.count == 4 && bytes.first == UInt8(ascii: "n") } else { false }
    }

    /// Whether this is the format's representation of nil, which in a property list is also that of a string.
    var mayBeNull: Bool {
        if case .propertyList(.string("$null")) = self { true } else { isNull }
    }

    /// The value at a path, which may lead through elements.
    ///
    /// Setting nil removes it. Setting a value whose container doesn't exist has no effect.
    subscript(path: Path) -> StoredTree? {
        get { value(at: path[...]) }
        set { self = changed(at: path[...], to: newValue) ?? self }
    }

    private func value(at path: ArraySlice<String>) -> StoredTree? {
        guard let key = path.first else { return self }
        switch self {
        case .object(let fields): return fields[key]?.value(at: path.dropFirst())
        case .array(let elements):
            guard let index = Self.index(of: key), elements.indices.contains(index) else { return nil }
            return elements[index].value(at: path.dropFirst())
        default: return nil
        }
    }

    /// The tree with another value at a path; nil if that removes all of it.
    private func changed(at path: ArraySlice<String>, to value: StoredTree?) -> StoredTree? {
        guard let key = path.first else { return value }
        switch self {
        case .object(var fields):
            fields[key] = path.count == 1 ? value : fields[key]?.changed(at: path.dropFirst(), to: value)
            return .object(fields)
        case .array(var elements):
            guard let index = Self.index(of: key), elements.indices.contains(index) else { return self }
            let element = elements[index].changed(at: path.dropFirst(), to: value)
            elements.replaceSubrange(index...index, with: element.map { [$0] } ?? [])
            return .array(elements)
        default:
            return self
        }
    }
}

extension StoredTree.Path {
    /// The path of what a key leads to from here.
    func appending(_ key: String) -> StoredTree.Path { self + [key] }

    /// The path from what the first key leads to.
    func droppingFirst() -> StoredTree.Path { Array(dropFirst()) }
}

// MARK: Property lists

extension StoredTree {
    init(_ value: PropertyListValue) {
        switch value {
        case .dictionary(let entries): self = .object(entries.mapValues { StoredTree($0) })
        case .array(let elements): self = .array(elements.map { StoredTree($0) })
        default: self = .propertyList(value)
        }
    }

    private var propertyListValue: PropertyListValue? {
        switch self {
        case .json: return nil
        case .propertyList(let value): return value
        case .array(let elements):
            let values = elements.compactMap(\.propertyListValue)
            return values.count == elements.count ? .array(values) : nil
        case .object(let fields):
            var entries: [String: PropertyListValue] = [:]
            for (name, field) in fields {
                entries[name] = field.propertyListValue
            }
            return entries.count == fields.count ? .dictionary(entries) : nil
        }
    }
}
