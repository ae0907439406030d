/// Changes to a tree of stored values, by path; a change of a value takes precedence over changes of its parts.
final class TreeEdits {
    /// What takes a value's place, nil when it is removed; and why, as a clause without stored values.
    typealias Change = (replacement: Replacement?, reason: String)

    /// A value, and the key under which it is stored.
    typealias Replacement = (name: String, tree: StoredTree)

    /// What was changed.
    struct Outcome {
        var filledIn: Set<StoredTree.Path> = []
        var unusable: [StoredTree.Path: String] = [:]

        /// Whether a value, or a container of it, was changed.
        func contains(_ path: StoredTree.Path) -> Bool {
            path.indices.contains { filledIn.contains(Array(path[...$0])) || unusable[Array(path[...$0])] != nil }
        }
    }

    private var change: Change?
    /// By coding key, or by index.
    private var parts: [String: TreeEdits] = [:]

    var isEmpty: Bool { change == nil && parts.isEmpty }

    /// Adds a change, unless there is one at this path.
    func insert(_ change: Change, at path: ArraySlice<String>) {
        guard let key = path.first else {
            self.change = self.change ?? change
            return
        }
        let part = parts[key] ?? TreeEdits()
        parts[key] = part
        part.insert(change, at: path.dropFirst())
    }

    /// Adds changes, except where there are some.
    func insert(_ others: TreeEdits) {
        change = change ?? others.change
        for (key, part) in others.parts {
            parts[key]?.insert(part)
            parts[key] = parts[key] ?? part
        }
    }

    /// Changes a tree.
    ///
    /// - Parameters:
    ///   - tree: The tree; nil for a value that is missing.
    ///   - keys: Finds the stored keys for coding keys.
    ///   - path: The path of the tree.
    ///   - outcome: Receives what was changed.
    /// - Returns: The tree with the changes; nil when it was removed.
    func apply(
        to tree: StoredTree?,
        keys: StoredKeys,
        at path: StoredTree.Path = [],
        outcome: inout Outcome
    ) -> StoredTree? {
        if let change {
            // A stored null carries no information that could be lost.
            if tree?.mayBeNull ?? true {
                outcome.filledIn.insert(path)
            } else {
                outcome.unusable[path] = change.reason
            }
            return change.replacement?.tree
        }
        switch tree {
        case .object(var fields)?:
            for (key, part) in parts {
                let added = part.change?.replacement?.name
                // To look for a key that the coder converts, the decoder has to be called.
                let name = added == key ? key : keys.storedKey(for: key, among: fields, below: path) ?? added ?? key
                fields[name] = part.apply(to: fields[name], keys: keys, at: path + [name], outcome: &outcome)
            }
            return .object(fields)
        case .array(let elements)?:
            var changed: [StoredTree] = []
            for (index, element) in elements.enumerated() {
                let part = parts["\(index)"]
                let edited = part.map {
                    $0.apply(to: element, keys: keys, at: path + ["[\(index)]"], outcome: &outcome)
                }
                changed += (edited ?? element).map { [$0] } ?? []
            }
            return .array(changed)
        default:
            return tree
        }
    }
}
