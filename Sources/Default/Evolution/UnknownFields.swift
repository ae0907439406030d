internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The fields of stored bytes that a type doesn't know, and that its next write keeps.
///
/// A tree of the containers that the type knows, each with the fields that it doesn't know. The paths of its fields
/// have indexes in brackets.
final class UnknownFields {
    /// The fields of a keyed container that the type doesn't know, by their stored keys.
    var fields: [String: StoredTree] = [:]
    /// The known parts of an array's elements; nil for a keyed container.
    var elements: [StoredTree]?
    /// Whether the elements are keys and values in turn.
    var isInPairs = false
    /// The containers in this one that the type knows.
    private var parts: [String: UnknownFields] = [:]

    init() {}

    /// Finds the fields that a type doesn't know; nil when there are none, or the bytes can't be decoded as they are.
    convenience init?(
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
        self.init()
        _ = keys.known(of: parsed.tree, keys: StoredKeys(coder: coder, format: parsed.format), self)
        if isEmpty { return nil }
    }

    var isEmpty: Bool { fields.isEmpty && parts.values.allSatisfy(\.isEmpty) }

    /// The paths of the fields.
    var paths: [StoredTree.Path] { paths(below: []) }

    private func paths(below path: StoredTree.Path) -> [StoredTree.Path] {
        var paths = fields.keys.map { path.appending($0) }
        for (name, part) in parts {
            paths += part.paths(below: path.appending(name))
        }
        return paths
    }

    func part(_ name: String) -> UnknownFields {
        let part = parts[name] ?? UnknownFields()
        parts[name] = part
        return part
    }

    /// Removes a field, or a part of one.
    ///
    /// - Parameters:
    ///   - path: The path of a field, or of a container.
    ///   - keepingParts: Whether a known container at the path keeps its unknown fields.
    func remove(_ path: StoredTree.Path, keepingParts: Bool = false) {
        guard let name = path.first else { return }
        if path.count == 1 {
            fields[name] = nil
            parts[name] = keepingParts ? parts[name] : nil
        } else {
            let rest = path.droppingFirst()
            fields[name]?[rest] = nil
            parts[name]?.remove(rest, keepingParts: keepingParts)
        }
    }

    /// The paths of the unknown fields that a stated name means: a field of that name as it is written, else nested
    /// ones, also in elements.
    func paths(named name: String) -> [StoredTree.Path] {
        if elements != nil {
            return parts.flatMap { key, part in part.paths(named: name).map { [key] + $0 } }
        }
        if fields[name] != nil || parts[name]?.isEmpty == false { return [[name]] }
        let words = name.split(separator: ".").map(String.init)
        for count in (1..<max(words.count, 1)).reversed() {
            let first = words.prefix(count).joined(separator: ".")
            let rest = Array(words.dropFirst(count))
            if fields[first]?[rest] != nil { return [[first] + rest] }
            let inner = parts[first]?.paths(named: rest.joined(separator: ".")) ?? []
            if !inner.isEmpty { return inner.map { [first] + $0 } }
        }
        return []
    }

    /// Whether there is a field at exactly this path.
    func hasField(at path: StoredTree.Path) -> Bool {
        guard let name = path.first else { return false }
        return path.count == 1 ? fields[name] != nil : parts[name]?.hasField(at: path.droppingFirst()) ?? false
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
        func loss(_ context: ErrorContext) -> DefaultsError? { UnknownFields.loss(of: unplaced, context) }
    }

    /// The reason why a value is quarantined some of whose fields have no place in the new one; nil if there are none.
    static func loss(of paths: [StoredTree.Path], _ context: ErrorContext) -> DefaultsError? {
        let report = LoadReport(unusable: paths.map { .init(keys: $0, reason: .unplaced) })
        return paths.isEmpty ? nil : .filledIn(report, context)
    }

    /// Adds the fields to the bytes of a value.
    func added(to data: Data) -> Placement {
        var placement = Placement()
        guard let parsed = StoredTree.parse(data) else {
            placement.unplaced = paths
            return placement
        }
        var tree = parsed.tree
        add(to: &tree, at: [], from: [], &placement)
        if !placement.placed.isEmpty, let data = tree.data(in: parsed.format) {
            placement.data = data
        } else {
            // A tree of another format can't be encoded with them.
            placement.unplaced += placement.placed
            placement.placed = []
        }
        return placement
    }

    /// Adds the fields to the part of a new value that is in the same place.
    ///
    /// - Parameters:
    ///   - new: The part of the new value.
    ///   - path: The path of the part.
    ///   - oldPath: The path of this container in the old value.
    ///   - placement: Receives where the fields are now.
    private func add(
        to new: inout StoredTree,
        at path: StoredTree.Path,
        from oldPath: StoredTree.Path,
        _ placement: inout Placement
    ) {
        switch (elements, new) {
        case (nil, .object(var newFields)):
            // Emptied, so that the fields have one owner and are changed in place.
            new = .object([:])
            for (name, value) in fields {
                // A field of the new value takes precedence over one that was only kept.
                if newFields[name] == nil {
                    newFields[name] = value
                    placement.placed.append(path.appending(name))
                } else {
                    placement.replaced.append(oldPath.appending(name))
                }
            }
            for (name, part) in parts {
                if var inner = newFields.removeValue(forKey: name) {
                    part.add(to: &inner, at: path.appending(name), from: oldPath.appending(name), &placement)
                    newFields[name] = inner
                } else {
                    // The container is gone, and a container with nothing but unknown fields could not be decoded.
                    placement.unplaced += part.paths(below: oldPath.appending(name))
                }
            }
            new = .object(newFields)
        case (let elements?, .array(var newElements)):
            new = .array([])
            for (oldIndex, index) in Self.matches(elements, newElements, inPairs: isInPairs).enumerated() {
                let name = StoredTree.key(of: oldIndex)
                guard let part = parts[name] else { continue }
                if let index {
                    part.add(
                        to: &newElements[index],
                        at: path.appending(StoredTree.key(of: index)),
                        from: oldPath.appending(name),
                        &placement
                    )
                } else {
                    placement.unplaced += part.paths(below: oldPath.appending(name))
                }
            }
            new = .array(newElements)
        default:
            // The new value has another kind of value in this place.
            placement.unplaced += paths(below: oldPath)
        }
    }

    /// The indexes of the elements of an old array in a new one; nil for those that can't be found again.
    ///
    /// An element is found again if it is written as before, the first of several equal ones as the first, and the
    /// value of a pair if its key is.
    private static func matches(_ old: [StoredTree], _ new: [StoredTree], inPairs: Bool) -> [Int?] {
        let size = inPairs ? 2 : 1
        let (oldNames, newNames) = (old.map(\.identity), new.map(\.identity))
        let candidates = (0..<new.count / size).sorted { newNames[$0 * size] < newNames[$1 * size] }
        // Both are gone through in the same order, so that one pass finds all pairs.
        var indexes = [Int?](repeating: nil, count: old.count)
        var next = 0
        for element in (0..<old.count / size).sorted(by: { oldNames[$0 * size] < oldNames[$1 * size] }) {
            let name = oldNames[element * size]
            while next < candidates.count, newNames[candidates[next] * size] < name {
                next += 1
            }
            if next < candidates.count, newNames[candidates[next] * size] == name {
                // Of a pair, the value behind the key: the unknown fields are in it.
                indexes[(element + 1) * size - 1] = (candidates[next] + 1) * size - 1
                next += 1
            }
        }
        return indexes
    }
}
