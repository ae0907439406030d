internal import Foundation

/// What stored bytes have and a type doesn't know, which the type's next write keeps.
struct UnknownFields: Equatable {
    /// The unknown fields of this container.
    var fields: [String: StoredTree] = [:]
    /// Those of the values in it that the type knows.
    var parts: [String: UnknownFields] = [:]
    /// Those of the elements of this array.
    var elements: [Element] = []

    /// An element with unknown fields, which is found again by what the type knows of it.
    struct Element: Equatable {
        let index: Int
        /// Nil for one that can't be found again: the key of an entry.
        let place: ElementPlace?
        let fields: UnknownFields
    }

    var isEmpty: Bool { fields.isEmpty && parts.isEmpty && elements.isEmpty }

    /// The paths of the fields.
    var paths: [StoredTree.Path] {
        fields.keys.map { [$0] }
            + parts.flatMap { key, part in part.paths.map { [key] + $0 } }
            + elements.flatMap { element in element.fields.paths.map { ["[\(element.index)]"] + $0 } }
    }

    /// Removes fields.
    ///
    /// - Parameters:
    ///   - path: The path of a field, or of a container.
    ///   - keepingParts: Whether a known container at the path keeps its unknown fields.
    mutating func remove(_ path: some Collection<Substring>, keepingParts: Bool = false) {
        guard let key = path.first.map(String.init) else {
            return
        }
        let rest = path.dropFirst()
        if rest.isEmpty {
            fields[key] = nil
            parts[key] = keepingParts ? parts[key] : nil
        } else if var part = parts[key] {
            part.remove(rest, keepingParts: keepingParts)
            parts[key] = part.isEmpty ? nil : part
        } else {
            // An unknown container of which a part is to be removed.
            fields[key]?[rest.map(String.init)] = nil
        }
    }

    /// Those that are not at one of some paths; nil when there are none.
    func without(_ paths: [String]) -> UnknownFields? {
        var rest = self
        for path in paths {
            rest.remove(path.split(separator: "."))
        }
        return rest.isEmpty ? nil : rest
    }

    /// Removes the fields from the tree that they were found in.
    func removed(from tree: StoredTree) -> StoredTree {
        if var known = tree.fields {
            for key in fields.keys {
                known[key] = nil
            }
            for (key, part) in parts {
                known[key] = known[key].map(part.removed)
            }
            return .object(known)
        }
        guard var known = tree.elements else {
            return tree
        }
        for element in elements {
            known[element.index] = element.fields.removed(from: known[element.index])
        }
        return .array(known)
    }
}

/// Where an element belongs in an array that is written again.
struct ElementPlace: Hashable {
    /// What the type knows of the element or, for a value of a dictionary whose entries are coded as an array, of its key.
    let identity: StoredTree
    /// The number of such elements before it.
    let occurrence: Int
    /// Whether the element follows the one with the identity.
    let followsKey: Bool
}

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

    /// Adds the fields to the bytes of a value.
    func added(to data: Data) -> Placement {
        var placement = Placement()
        guard case (var tree, let format)? = StoredTree.parse(data) else {
            placement.homeless = paths
            return placement
        }
        add(to: &tree, at: [], &placement)
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

    private func add(
        to tree: inout StoredTree,
        at path: StoredTree.Path,
        _ placement: inout Placement
    ) {
        if !elements.isEmpty {
            return addToElements(of: &tree, at: path, &placement)
        }
        guard var present = tree.fields else {
            placement.homeless += paths.map { path + $0 }
            return
        }
        for (key, field) in fields {
            guard present[key] == nil else {
                placement.replaced.append(path + [key])
                continue
            }
            present[key] = field
            placement.placed.append(path + [key])
        }
        for (key, part) in parts {
            var container = present[key] ?? .object([:])
            if present[key] == nil {
                placement.homeless += part.paths.map { path + [key] + $0 }
            } else {
                part.add(to: &container, at: path + [key], &placement)
                present[key] = container
            }
        }
        tree = .object(present)
    }

    private func addToElements(
        of tree: inout StoredTree,
        at path: StoredTree.Path,
        _ placement: inout Placement
    ) {
        let followsKey = elements.contains { $0.place?.followsKey ?? false }
        guard var present = tree.elements else {
            placement.homeless += paths.map { path + $0 }
            return
        }
        let places = ElementPlace.all(of: present, inPairs: followsKey)
        var indexes: [ElementPlace: Int] = [:]
        for (index, place) in places.enumerated() {
            place.map { indexes[$0] = index }
        }
        for element in elements {
            guard let index = element.place.flatMap({ indexes[$0] }) else {
                placement.homeless += element.fields.paths.map { path + ["[\(element.index)]"] + $0 }
                continue
            }
            element.fields.add(to: &present[index], at: path + ["[\(index)]"], &placement)
        }
        tree = .array(present)
    }
}

extension ElementPlace {
    /// The places of the elements of an array.
    ///
    /// - Parameters:
    ///   - elements: The elements, without what the type doesn't know.
    ///   - inPairs: Whether they are keys and values in turn.
    /// - Returns: The places; nil for elements that can't be found again.
    static func all(of elements: [StoredTree], inPairs: Bool) -> [ElementPlace?] {
        var counts: [StoredTree: Int] = [:]
        func next(_ element: StoredTree, followsKey: Bool) -> ElementPlace {
            let identity = element.withoutNil
            let occurrence = counts[identity, default: 0]
            counts[identity] = occurrence + 1
            return ElementPlace(identity: identity, occurrence: occurrence, followsKey: followsKey)
        }
        guard inPairs else {
            return elements.map { next($0, followsKey: false) }
        }
        return elements.indices.map {
            $0.isMultiple(of: 2) ? nil : next(elements[$0 - 1], followsKey: true)
        }
    }
}

extension UnknownFields {
    /// Finds the fields that a type doesn't know; nil when there are none, or the bytes can't be decoded as they are.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - type: The type that they are decoded as.
    ///   - coder: Their coder.
    init?(in data: Data, unknownTo type: any Decodable.Type, coder: DefaultsCoder) {
        guard let (tree, format) = StoredTree.parse(data),
            let known = KnownKeys.recorded(type, from: data, coder: coder),
            let unknown = known.unknownFields(of: tree, keys: StoredKeys(coder: coder, format: format))
        else {
            return nil
        }
        self = unknown
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
        let known = Set(placement.placed).subtracting(kept?.paths ?? [])
        return (kept, placement.homeless + placement.replaced + known)
    }
}
