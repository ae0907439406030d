internal import Foundation

/// What stored bytes have and a type doesn't know, which the type's next write keeps.
struct UnknownFields {
    struct Field {
        let path: StoredTree.Path
        var value: StoredTree
    }

    /// The stored values that the type knows.
    private let known: StoredTree
    private(set) var fields: [Field]
    /// The paths of arrays whose elements are keys and values in turn.
    private let pairs: Set<String>

    /// Finds the fields that a type doesn't know; nil when there are none, or the bytes can't be decoded as they are.
    init?(in data: Data, unknownTo type: any Decodable.Type, coder: DefaultsCoder) {
        guard let (tree, format) = StoredTree.parse(data),
            let keys = KnownKeys.recorded(type, from: data, coder: coder)
        else {
            return nil
        }
        let storedKeys = StoredKeys(coder: coder, format: format)
        var (fields, pairs) = ([Field](), Set<String>())
        known = keys.known(of: tree, keys: storedKeys) {
            fields.append($0)
        } pairs: {
            pairs.insert(LoadReport.path($0))
        }
        guard !fields.isEmpty else {
            return nil
        }
        (self.fields, self.pairs) = (fields, pairs)
    }

    var paths: [StoredTree.Path] { fields.map(\.path) }

    /// Removes a field, or a part of one.
    ///
    /// - Parameters:
    ///   - path: The path of a field, or of a container.
    ///   - keepingParts: Whether a known container at the path keeps its unknown fields.
    mutating func remove(_ path: StoredTree.Path, keepingParts: Bool = false) {
        fields = fields.compactMap { field in
            var field = field
            if field.path.starts(with: path) {
                return keepingParts && field.path.count > path.count ? field : nil
            }
            if path.starts(with: field.path) {
                field.value[path.dropFirst(field.path.count)] = nil
            }
            return field
        }
    }

    /// Whether there is a field at a path, or a part of one.
    func contains(_ path: StoredTree.Path) -> Bool {
        fields.contains { field in
            field.path.starts(with: path)
                || path.starts(with: field.path) && field.value[path.dropFirst(field.path.count)] != nil
        }
    }
}

// MARK: Adding

extension UnknownFields {
    /// What became of fields that were to be added.
    struct Placement {
        /// The bytes with the fields; nil when none was added.
        var data: Data?
        /// The paths of the added fields, in the new value.
        var placed: [StoredTree.Path] = []
        /// The paths of those that have no place there: their container is gone, or their element was changed.
        var homeless: [StoredTree.Path] = []
        /// The paths of those instead of which the new value has something of its own.
        var replaced: [StoredTree.Path] = []
    }

    private enum Place {
        case placed(StoredTree.Path)
        case homeless
        case replaced
    }

    /// Adds the fields to the bytes of a value.
    func added(to data: Data) -> Placement {
        var placement = Placement()
        guard case (var tree, let format)? = StoredTree.parse(data) else {
            placement.homeless = paths
            return placement
        }
        var matches: [String: [Int?]] = [:]
        for field in fields {
            switch add(field, at: [], of: known, to: &tree, at: [], &matches) {
            case .placed(let path): placement.placed.append(path)
            case .homeless: placement.homeless.append(field.path)
            case .replaced: placement.replaced.append(field.path)
            }
        }
        if !placement.placed.isEmpty {
            placement.data = tree.data(in: format)
        }
        // A tree of another format can't be encoded with them.
        if placement.data == nil {
            placement.homeless += placement.placed
            placement.placed = []
        }
        return placement
    }

    /// Adds a field to the tree of a new value.
    ///
    /// - Parameters:
    ///   - field: The field.
    ///   - oldPath: The path of the old tree.
    ///   - old: A part of ``known`` with the field's container.
    ///   - new: The part of the new value in the same place.
    ///   - path: The path of the new tree.
    ///   - matches: The indexes of elements in the new value by those in the old one, for each array that was visited.
    /// - Returns: Where the field is now.
    private func add(
        _ field: Field,
        at oldPath: StoredTree.Path,
        of old: StoredTree,
        to new: inout StoredTree,
        at path: StoredTree.Path,
        _ matches: inout [String: [Int?]]
    ) -> Place {
        let name = field.path[oldPath.count]
        let inner = oldPath + [name]
        switch (old, new) {
        case (.object(let oldFields), .object(var fields)):
            // So that nothing is copied.
            new = .object([:])
            defer { new = .object(fields) }
            if inner.count == field.path.count {
                guard fields[name] == nil else {
                    return .replaced
                }
                fields[name] = field.value
                return .placed(path + [name])
            }
            guard let old = oldFields[name], var part = fields[name] else {
                return .homeless
            }
            fields[name] = .object([:])
            defer { fields[name] = part }
            return add(field, at: inner, of: old, to: &part, at: path + [name], &matches)
        case (.array(let oldElements), .array(var elements)):
            new = .array([])
            defer { new = .array(elements) }
            let array = LoadReport.path(oldPath)
            let indexes = matches[array] ?? Self.matches(oldElements, elements, inPairs: pairs.contains(array))
            matches[array] = indexes
            guard let oldIndex = Int(name.dropFirst().dropLast()), let index = indexes[oldIndex] else {
                return .homeless
            }
            let new = path + ["[\(index)]"]
            return add(field, at: inner, of: oldElements[oldIndex], to: &elements[index], at: new, &matches)
        default:
            return .homeless
        }
    }

    /// The indexes of the elements of an old array in a new one; nil for those that can't be found again.
    ///
    /// An element is found again if it is written as before, the first of several equal ones as the first, and the value of a
    /// pair if its key is.
    private static func matches(_ old: [StoredTree], _ new: [StoredTree], inPairs: Bool) -> [Int?] {
        var indexes: [Data: [Int]] = [:]
        for (index, element) in new.enumerated().reversed() where !inPairs || index.isMultiple(of: 2) {
            indexes[element.identity, default: []].append(inPairs ? index + 1 : index)
        }
        return old.indices.map { index in
            let isKey = inPairs && index.isMultiple(of: 2)
            return isKey ? nil : indexes[old[inPairs ? index - 1 : index].identity]?.popLast()
        }
    }

    /// The fields of a predecessor's bytes that a type doesn't know either, and that can be added to its bytes.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - data: The bytes of a value of it.
    ///   - coder: Their coder.
    /// - Returns: The fields, nil when there are none; and the paths of those that can't be kept.
    func unknown(
        to type: any Decodable.Type,
        writing data: Data,
        coder: DefaultsCoder
    ) -> (kept: UnknownFields?, lost: [StoredTree.Path]) {
        let placement = added(to: data)
        let kept = placement.data.flatMap { UnknownFields(in: $0, unknownTo: type, coder: coder) }
        let paths = kept?.paths ?? []
        return (kept, placement.homeless + placement.replaced + placement.placed.filter { !paths.contains($0) })
    }
}
