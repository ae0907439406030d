#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What stored bytes have and a type doesn't know, which the type's next write keeps.
struct UnknownFields {
    typealias Field = (path: StoredTree.Path, value: StoredTree)

    var fields: [Field] = []
    /// The paths of arrays whose elements are keys and values in turn.
    var pairs: Set<String> = []
    /// The stored values that the type knows.
    private var known: StoredTree

    /// Finds the fields that a type doesn't know; nil when there are none, or the bytes can't be decoded as they are.
    init?(
        in data: Data,
        parsed: (tree: StoredTree, format: StoredTree.Format)? = nil,
        unknownTo type: any Decodable.Type,
        coder: DefaultsCoder
    ) {
        guard let (tree, format) = parsed ?? StoredTree.parse(data),
            let keys = KnownKeys.recorded(type, from: data, coder: coder)
        else { return nil }
        known = tree
        known = keys.known(of: tree, keys: StoredKeys(coder: coder, format: format), &self)
        guard !fields.isEmpty else { return nil }
    }

    var paths: [StoredTree.Path] { fields.map(\.path) }

    /// Removes a field, or a part of one.
    ///
    /// - Parameters:
    ///   - path: The path of a field, or of a container.
    ///   - keepingParts: Whether a known container at the path keeps its unknown fields.
    mutating func remove(_ path: StoredTree.Path, keepingParts: Bool = false) {
        fields.removeAll { $0.path.starts(with: path) && !(keepingParts && $0.path.count > path.count) }
        for index in fields.indices where path.starts(with: fields[index].path) {
            fields[index].value[Array(path.dropFirst(fields[index].path.count))] = nil
        }
    }

    /// Whether there is a field at a path, or a part of one.
    func contains(_ path: StoredTree.Path) -> Bool {
        fields.contains { field in
            field.path.starts(with: path)
                || path.starts(with: field.path) && field.value[Array(path.dropFirst(field.path.count))] != nil
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
        /// The indexes of elements in the new value by those in the old one, for each array that was visited.
        fileprivate var matches: [String: [Int?]] = [:]
    }

    /// Adds the fields to the bytes of a value.
    func added(to data: Data) -> Placement {
        var placement = Placement()
        guard case (var tree, let format)? = StoredTree.parse(data) else {
            placement.homeless = paths
            return placement
        }
        for field in fields {
            add(field, at: [], of: known, to: &tree, at: [], &placement)
        }
        placement.data = placement.placed.isEmpty ? nil : tree.data(in: format)
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
    ///   - placement: Receives where the field is now.
    private func add(
        _ field: Field,
        at oldPath: StoredTree.Path,
        of old: StoredTree,
        to new: inout StoredTree,
        at path: StoredTree.Path,
        _ placement: inout Placement
    ) {
        let name = field.path[oldPath.count]
        let inner = oldPath + [name]
        switch (old, new) {
        case (.object(let oldFields), .object(var fields)):
            // So that nothing is copied.
            new = .object([:])
            defer { new = .object(fields) }
            if inner.count == field.path.count {
                if fields[name] == nil {
                    fields[name] = field.value
                    placement.placed.append(path + [name])
                } else {
                    placement.replaced.append(field.path)
                }
            } else if let old = oldFields[name], var part = fields.removeValue(forKey: name) {
                add(field, at: inner, of: old, to: &part, at: path + [name], &placement)
                fields[name] = part
            } else {
                placement.homeless.append(field.path)
            }
        case (.array(let oldElements), .array(var elements)):
            new = .array([])
            defer { new = .array(elements) }
            let array = LoadReport.path(oldPath)
            let indexes =
                placement.matches[array] ?? Self.matches(oldElements, elements, inPairs: pairs.contains(array))
            placement.matches[array] = indexes
            let oldIndex = Int64(digits: String(name.dropFirst().dropLast())).flatMap { Int(exactly: $0) }
            if let oldIndex, let index = indexes[oldIndex] {
                let path = path + ["[\(index)]"]
                add(field, at: inner, of: oldElements[oldIndex], to: &elements[index], at: path, &placement)
            } else {
                placement.homeless.append(field.path)
            }
        default:
            placement.homeless.append(field.path)
        }
    }

    /// The indexes of the elements of an old array in a new one; nil for those that can't be found again.
    ///
    /// An element is found again if it is written as before, the first of several equal ones as the first, and the value of a
    /// pair if its key is.
    private static func matches(_ old: [StoredTree], _ new: [StoredTree], inPairs: Bool) -> [Int?] {
        var indexes: [String: [Int?]] = [:]
        for index in new.indices.reversed() where !inPairs || index.isMultiple(of: 2) {
            indexes[new[index].identity, default: []].append(inPairs ? index + 1 : index)
        }
        return old.indices.map { index in
            let isKey = inPairs && index.isMultiple(of: 2)
            return isKey ? nil : indexes[old[inPairs ? index - 1 : index].identity]?.popLast() ?? nil
        }
    }
}
