internal import Foundation

/// Stored bytes as a tree of keyed containers, with everything else in them as it was written.
///
/// Completing replaces fields of keyed containers and nothing smaller, so arrays and scalars stay what they are: JSON ones
/// as their very bytes, so that a number loses no digit.
enum StoredTree: Equatable {
    case object([String: StoredTree])
    case json(ArraySlice<UInt8>)
    case propertyList(PropertyListValue)

    enum Format {
        case json
        case propertyList
    }

    /// The tree that bytes hold; nil when they are neither JSON nor a property list.
    static func parse(_ data: Data) -> (tree: StoredTree, format: Format)? {
        let isPropertyList = ["bplist", "<?xml", "<!DOCTYPE", "<plist"].contains { data.starts(with: Data($0.utf8)) }
        if isPropertyList {
            return StoredTree(propertyList: data).map { ($0, .propertyList) }
        }
        return StoredTree(json: data).map { ($0, .json) }
    }

    /// The tree's bytes in a format, which is that of all its values; nil when they can't be made.
    func data(in format: Format) -> Data? {
        switch format {
        case .json: jsonData
        case .propertyList: propertyListData
        }
    }
}

extension StoredTree {
    /// Where a value stands: the keys on the way to it, outermost first.
    typealias Path = [String]

    var fields: [String: StoredTree]? {
        if case .object(let fields) = self { fields } else { nil }
    }

    /// Whether this is how the format writes nil.
    var isNull: Bool {
        switch self {
        case .object: false
        case .json(let bytes): bytes.elementsEqual("null".utf8)
        case .propertyList(let value): value == .string("$null")
        }
    }

    /// The value at a path; setting one whose keyed container doesn't exist changes nothing, and nil removes.
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
