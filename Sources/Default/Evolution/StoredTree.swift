internal import Foundation

/// Stored bytes as a tree of keyed containers; everything else in them is kept as it was written.
///
/// Filling in replaces whole fields of keyed containers, so arrays and scalars need not be parsed. Those in JSON are kept as
/// bytes, so that a number keeps all its digits.
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
        let isPropertyList = ["bplist", "<?xml", "<!DOCTYPE", "<plist"].contains { data.starts(with: Data($0.utf8)) }
        if isPropertyList {
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

    /// Whether this is the format's representation of nil.
    var isNull: Bool {
        switch self {
        case .object: false
        case .json(let bytes): bytes.elementsEqual("null".utf8)
        case .propertyList(let value): value == .string("$null")
        }
    }

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
