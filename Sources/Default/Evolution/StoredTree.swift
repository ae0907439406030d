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
    func data(in format: Format) -> Data? { format == .json ? jsonData : (try? propertyListValue())?.propertyListData }

    /// The keys that lead to a value, outermost first.
    typealias Path = [String]

    /// The key of an element, in paths.
    static func key(of index: Int) -> String { "[\(index)]" }

    /// The index of an element whose key in paths is this; nil for other keys.
    static func index(of key: String) -> Int? {
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
        set { set(newValue, at: path[...]) }
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

    private mutating func set(_ value: StoredTree?, at path: ArraySlice<String>) {
        guard let key = path.first else {
            self = value ?? self
            return
        }
        let rest = path.dropFirst()
        switch self {
        case .object(var fields):
            // Emptied, so that the fields have one owner and are changed in place.
            self = .object([:])
            if rest.isEmpty { fields[key] = value } else { fields[key]?.set(value, at: rest) }
            self = .object(fields)
        case .array(var elements):
            guard let index = Self.index(of: key), elements.indices.contains(index) else { return }
            self = .array([])
            if rest.isEmpty, value == nil { elements.remove(at: index) } else { elements[index].set(value, at: rest) }
            self = .array(elements)
        default:
            break
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

    private func propertyListValue() throws -> PropertyListValue {
        switch self {
        case .json: throw UnexpectedValue()
        case .propertyList(let value): value
        case .array(let elements): try .array(elements.map { try $0.propertyListValue() })
        case .object(let fields): try .dictionary(fields.mapValues { try $0.propertyListValue() })
        }
    }
}
