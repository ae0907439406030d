internal import Foundation

/// Stored bytes as a tree of keyed containers; everything else in them is kept as it was written.
///
/// Arrays are parsed only when one of their elements has to be changed. They and scalars in JSON are kept as bytes, so that a
/// number keeps all its digits.
enum StoredTree: Equatable {
    case object([String: StoredTree])
    case json(ArraySlice<UInt8>)
    case propertyList(PropertyListValue)

    enum Format {
        case json
        case propertyList
    }

    /// Parses bytes; nil when they are neither JSON nor a property list.
    static func parse(_ data: Data) -> (tree: StoredTree, format: Format)? {
        if data.isPropertyList {
            return StoredTree(propertyList: data).map { ($0, .propertyList) }
        }
        return StoredTree(json: data).map { ($0, .json) }
    }

    /// Encodes the tree in a format, which has to be that of all its values; nil when that fails.
    func data(in format: Format) -> Data? {
        switch format {
        case .json: jsonData
        case .propertyList: propertyListData
        }
    }
}

extension StoredTree {
    /// The keys that lead to a value, outermost first.
    typealias Path = [String]

    var fields: [String: StoredTree]? {
        if case .object(let fields) = self { fields } else { nil }
    }

    /// The elements of an array; nil for other values.
    var elements: [StoredTree]? {
        switch self {
        case .object: nil
        case .json(let bytes): StoredTree.elements(ofJSON: bytes)
        case .propertyList(.array(let elements)): elements.map { StoredTree($0) }
        case .propertyList: nil
        }
    }

    /// The same array with other elements.
    func replacingElements(with elements: [StoredTree]) -> StoredTree? {
        switch self {
        case .object: nil
        case .json: StoredTree.json(arrayOf: elements)
        case .propertyList: StoredTree(propertyListArrayOf: elements)
        }
    }

    /// Whether this is a keyed container or an array.
    var isContainer: Bool {
        switch self {
        case .object: true
        case .json(let bytes): bytes.first == UInt8(ascii: "[")
        case .propertyList(let value): if case .array = value { true } else { false }
        }
    }

    /// Bytes that are the same for values that are written alike, apart from the order of fields and from nil; nil for a mixture
    /// of formats.
    var identity: Data? {
        let normalized = normalized
        return normalized.jsonData ?? normalized.propertyListValue?.binaryForm
    }

    private var normalized: StoredTree {
        if let fields {
            return .object(fields.filter { !$1.mayBeNull }.mapValues(\.normalized))
        }
        return elements.flatMap { replacingElements(with: $0.map(\.normalized)) } ?? self
    }

    /// Whether this is nil and nothing else.
    var isNull: Bool {
        if case .json(let bytes) = self { bytes.elementsEqual("null".utf8) } else { false }
    }

    /// Whether this is the format's representation of nil, which in a property list is also that of a string.
    var mayBeNull: Bool { isNull || self == .propertyList(.string("$null")) }

    /// The value at a path.
    ///
    /// Setting nil removes it. Setting a value whose keyed container doesn't exist has no effect.
    subscript(path: some Collection<String>) -> StoredTree? {
        get {
            guard let key = path.first else {
                return self
            }
            return fields?[key]?[path.dropFirst()]
        }
        set {
            guard let key = path.first else {
                self = newValue ?? self
                return
            }
            guard case .object(var fields) = self else {
                return
            }
            if path.count == 1 {
                fields[key] = newValue
            } else {
                fields[key]?[path.dropFirst()] = newValue
            }
            self = .object(fields)
        }
    }

    /// The outermost paths of fields that another tree doesn't have, where both have keyed containers.
    func paths(missingIn other: StoredTree) -> [Path] {
        guard let fields, let others = other.fields else {
            return []
        }
        return fields.keys.sorted().flatMap { key in
            guard let field = fields[key], let other = others[key] else {
                return [[key]]
            }
            return field.paths(missingIn: other).map { [key] + $0 }
        }
    }
}
