#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The fields of stored bytes that a type doesn't know, and that its next write keeps.
struct UnknownFields {
    /// By their paths, with indexes in brackets.
    var fields: [StoredTree.Path: StoredTree] = [:]
    /// The paths of those whose names the encoder writes for properties that the decoder looks for under other names;
    /// not in elements.
    var misnamed: [StoredTree.Path] = []
    /// The arrays that the type knows, by their paths.
    var arrays: [StoredTree.Path: KnownArray] = [:]
    /// The paths of the dictionaries that the type knows.
    var dictionaries: Set<StoredTree.Path> = []

    /// The known parts of an array's elements.
    struct KnownArray {
        let elements: [StoredTree]
        /// Whether the elements are keys and values in turn.
        let isInPairs: Bool

        /// The indexes of the elements in a new array; nil for those that can't be found again.
        ///
        /// An element is found again if it is written as before, the first of several equal ones as the first, and the
        /// value of a pair if its key is.
        func indexes(in new: [StoredTree]) -> [Int?] {
            let size = isInPairs ? 2 : 1
            var found: [String: [Int]] = [:]
            for index in stride(from: 0, through: new.count - size, by: size).reversed() {
                found[new[index].identity, default: []].append(index)
            }
            var indexes = [Int?](repeating: nil, count: elements.count)
            for index in stride(from: 0, through: elements.count - size, by: size) {
                // Of a pair, the value behind the key: the unknown fields are in it.
                indexes[index + size - 1] = found[elements[index].identity]?.popLast().map { $0 + size - 1 }
            }
            return indexes
        }
    }

    /// Finds the fields that a type doesn't know; nil when there are none, or the bytes can't be decoded as they are.
    init?(
        in data: Data,
        parsed: StoredTree.Parsed? = nil,
        unknownTo type: any Decodable.Type,
        decodedAs value: (any Encodable)? = nil,
        coder: DefaultsCoder
    ) {
        guard let parsed = parsed ?? StoredTree.parse(data) else { return nil }
        // Usually the type encodes all fields that are stored, which takes less time to find out.
        if let value, let encoded = try? coder.encodeTopLevel(value),
            StoredTree.parse(encoded)?.tree.hasFields(of: parsed.tree) == true
        {
            return nil
        }
        guard let keys = KnownKeys.recorded(type, from: data, coder: coder) else { return nil }
        _ = keys.known(of: parsed.tree, keys: StoredKeys(coder: coder, format: parsed.format), &self)
        if fields.isEmpty { return nil }
    }

    /// Removes a field, or a part of one.
    ///
    /// - Parameters:
    ///   - path: The path of a field, or of a container.
    ///   - keepingParts: Whether a known container at the path keeps its unknown fields.
    mutating func remove(_ path: StoredTree.Path, keepingParts: Bool = false) {
        for field in fields.keys {
            if field == path || !keepingParts && field.starts(with: path) {
                fields[field] = nil
            } else if path.starts(with: field) {
                fields[field]?[Array(path.dropFirst(field.count))] = nil
            }
        }
    }

    /// The paths of the unknown fields that a stated name means: a field of that name as it is written, else nested
    /// ones, also in elements.
    ///
    /// Below a dictionary, it is the name of a field of all entries if any has such a field, otherwise an entry's key.
    func paths(named name: String) -> Set<StoredTree.Path> {
        let inAllEntries = paths(named: name, leavingOutKeysOf: dictionaries)
        return inAllEntries.isEmpty ? paths(named: name, leavingOutKeysOf: []) : inAllEntries
    }

    /// The paths of the unknown fields that a name means which doesn't have the keys of some dictionaries.
    private func paths(named name: String, leavingOutKeysOf dictionaries: Set<StoredTree.Path>) -> Set<StoredTree.Path>
    {
        var paths: Set<StoredTree.Path> = []
        for (path, value) in fields {
            // The names of its containers and its own.
            var stated = ""
            for (depth, key) in path.enumerated() {
                let container = Array(path.prefix(depth))
                if arrays[container] != nil || dictionaries.contains(container) { continue }
                stated += stated.isEmpty ? key : "." + key
                if stated == name { paths.insert(Array(path.prefix(depth + 1))) }
            }
            // A part of it.
            guard name.hasPrefix(stated + ".") else { continue }
            let rest = name.dropFirst(stated.count + 1).split(separator: ".").map(String.init)
            if !rest.isEmpty, value[rest] != nil { paths.insert(path + rest) }
        }
        return paths.contains([name]) ? [[name]] : paths
    }

    // MARK: Adding

    /// The outcome of adding fields to a new value.
    struct Placement {
        /// The bytes with the fields; nil when none was added.
        var data: Data?
        /// The paths of the added fields, in the new value.
        var placed: [StoredTree.Path] = []
        /// The paths of those that have no place there: their container is gone, or their element was changed.
        var unplaced: [StoredTree.Path] = []
        /// The paths of those that the new value has its own value for.
        var replaced: [StoredTree.Path] = []

        /// The reason why the old value is quarantined; nil when all of its fields have a place.
        func loss(_ context: ErrorContext) -> DefaultsError? {
            let report = LoadReport(unusable: unplaced.map { .init(keys: $0, reason: .unplaced) })
            return unplaced.isEmpty ? nil : .filledIn(report, context)
        }
    }

    /// Adds the fields to the bytes of a value.
    func added(to data: Data) -> Placement {
        guard let parsed = StoredTree.parse(data) else { return Placement(unplaced: Array(fields.keys)) }
        var placement = Placement()
        var tree = parsed.tree
        var indexes: [StoredTree.Path: [Int?]] = [:]
        for (path, value) in fields {
            guard let place = place(of: path, in: parsed.tree, &indexes) else {
                placement.unplaced.append(path)
                continue
            }
            // A field of the new value takes precedence over one that was only kept.
            if tree[place] == nil {
                tree[place] = value
                placement.placed.append(place)
            } else {
                placement.replaced.append(path)
            }
        }
        if !placement.placed.isEmpty, let data = tree.data(in: parsed.format) {
            placement.data = data
        } else {
            // A tree of another format can't be encoded with them.
            placement.unplaced += placement.placed
            placement.placed = []
        }
        return placement
    }

    /// The place of a field in a new value; nil if its container is gone, of another kind, or in a changed element.
    private func place(
        of path: StoredTree.Path,
        in new: StoredTree,
        _ indexes: inout [StoredTree.Path: [Int?]]
    ) -> StoredTree.Path? {
        var place: StoredTree.Path = []
        for (depth, key) in path.enumerated() {
            let container = Array(path.prefix(depth))
            guard let array = arrays[container] else {
                place.append(key)
                continue
            }
            guard case .array(let elements)? = new[place], let old = StoredTree.index(of: key) else { return nil }
            // Remembered, so that one pass finds all elements of an array.
            let found = indexes[container] ?? array.indexes(in: elements)
            indexes[container] = found
            guard let index = found[old] else { return nil }
            place.append(StoredTree.key(of: index))
        }
        return new[place.dropLast()]?.fields == nil ? nil : place
    }
}
