#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Stored bytes as a tree of containers; everything else in them is kept as it was written, so that a number keeps all its
/// digits.
enum StoredTree: Equatable {
    case object([String: StoredTree])
    case array([StoredTree])
    case json(ArraySlice<UInt8>)
    case propertyList(PropertyListValue)

    enum Format { case json, propertyList }

    /// Parses bytes; nil when they are neither JSON nor a property list.
    static func parse(_ data: Data) -> (tree: StoredTree, format: Format)? {
        if data.isPropertyList {
            return PropertyListValue.decoded(from: data).map { (StoredTree($0), .propertyList) }
        }
        return StoredTree(json: data).map { ($0, .json) }
    }

    /// Encodes the tree in a format, which has to be that of all its values; nil when that fails.
    func data(in format: Format) -> Data? { format == .json ? jsonData : propertyListData }
}

extension StoredTree {
    // Made by the compiler, this would be eight times as large.
    static func == (one: StoredTree, other: StoredTree) -> Bool {
        switch (one, other) {
        case (.object(let one), .object(let other)):
            one.count == other.count && one.allSatisfy { key, field in other[key].map { $0 == field } ?? false }
        case (.array(let one), .array(let other)): one.count == other.count && zip(one, other).allSatisfy { $0 == $1 }
        case (.json(let one), .json(let other)): one == other
        case (.propertyList(let one), .propertyList(let other)): one == other
        default: false
        }
    }

    /// The keys that lead to a value, outermost first.
    typealias Path = [String]

    /// The path of a property whose name has dots between the keys of nested ones.
    static func path(_ name: String) -> Path { name.split(separator: ".").map(String.init) }

    var fields: [String: StoredTree]? {
        if case .object(let fields) = self { fields } else { nil }
    }

    /// Bytes that are the same for values that are written alike, apart from nil.
    var identity: String {
        let tree = withoutNil
        return (tree.jsonData ?? tree.propertyListValue?.binaryForm ?? Data()).base64EncodedString()
    }

    private var withoutNil: StoredTree {
        switch self {
        case .object(var fields):
            for (name, field) in fields {
                fields[name] = field.mayBeNull ? nil : field.withoutNil
            }
            return .object(fields)
        case .array(let elements):
            return .array(elements.map(\.withoutNil))
        case .json, .propertyList:
            return self
        }
    }

    /// Whether this is nil and nothing else.
    var isNull: Bool {
        if case .json(let bytes) = self { bytes.elementsEqual("null".utf8) } else { false }
    }

    /// Whether this is the format's representation of nil, which in a property list is also that of a string.
    var mayBeNull: Bool {
        if case .propertyList(.string("$null")) = self { true } else { isNull }
    }

    /// The value at a path.
    ///
    /// Setting nil removes it. Setting a value whose keyed container doesn't exist has no effect.
    subscript(path: Path) -> StoredTree? {
        get {
            guard let key = path.first else { return self }
            return fields?[key]?[Array(path.dropFirst())]
        }
        set {
            guard let key = path.first else {
                self = newValue ?? self
                return
            }
            guard case .object(var fields) = self else { return }
            if path.count == 1 {
                fields[key] = newValue
            } else {
                fields[key]?[Array(path.dropFirst())] = newValue
            }
            self = .object(fields)
        }
    }
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

    var propertyListData: Data? {
        propertyListValue?.propertyListData
    }

    private var propertyListValue: PropertyListValue? {
        switch self {
        case .json:
            return nil
        case .propertyList(let value):
            return value
        case .array(let elements):
            let values = elements.compactMap(\.propertyListValue)
            return values.count == elements.count ? .array(values) : nil
        case .object(let fields):
            let entries = fields.compactMapValues(\.propertyListValue)
            return entries.count == fields.count ? .dictionary(entries) : nil
        }
    }
}
