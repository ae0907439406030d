#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Changes to a tree of stored values, by path; a change of a value takes precedence over changes of its parts.
final class TreeEdits {
    /// What takes a value's place, nil when it is removed; and why, as a clause without stored values.
    typealias Change = (replacement: Replacement?, reason: String)

    /// A value, and the key under which it is stored.
    typealias Replacement = (name: String, tree: StoredTree)

    /// What was changed.
    struct Outcome {
        /// Why a value can't be used, by its path; nil for one that was missing and has been filled in.
        var reasons: [StoredTree.Path: String?] = [:]

        /// The paths of the values that can't be used, and why.
        var unusable: [LoadReport.UnusableValue] {
            reasons.compactMap { path, reason in reason.map { .init(path: LoadReport.path(path), reason: $0) } }
        }

        /// The paths of the values that were missing.
        var filledIn: [String] {
            reasons.compactMap { path, reason in reason == nil ? LoadReport.path(path) : nil }
        }

        /// Whether a value, or a container of it, was changed.
        func contains(_ path: StoredTree.Path) -> Bool {
            path.indices.contains { reasons[Array(path[...$0])] != nil }
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
                outcome.reasons[path] = .some(outcome.reasons[path] ?? nil)
            } else {
                outcome.reasons[path] = change.reason
            }
            return change.replacement?.tree
        }
        switch tree {
        case .object(var fields)?:
            for (key, part) in parts {
                let added = part.change?.replacement?.name
                // To look for a key that the coder converts, the decoder has to be called.
                let name = added == key ? key : keys.storedKey(for: key, among: fields, below: path) ?? added ?? key
                fields[name] = part.apply(to: fields[name], keys: keys, at: path.appending(name), outcome: &outcome)
            }
            return .object(fields)
        case .array(let elements)?:
            var changed: [StoredTree] = []
            for (index, element) in elements.enumerated() {
                let part = parts["\(index)"]
                let edited = part.map {
                    $0.apply(to: element, keys: keys, at: path.appending(StoredTree.key(of: index)), outcome: &outcome)
                }
                changed += (edited ?? element).map { [$0] } ?? []
            }
            return .array(changed)
        default:
            return tree
        }
    }
}

/// Finds the stored keys for the coding keys that a decoder reports.
///
/// They differ when the coder converts keys ("themeName" is stored as "theme_name"). The conversion can be any function, so
/// the decoder is used to convert each stored key.
final class StoredKeys {
    let coder: DefaultsCoder
    let format: StoredTree.Format
    /// The coding keys that were found so far, by the paths of the stored keys.
    private var found: [StoredTree.Path: String?] = [:]

    init(coder: DefaultsCoder, format: StoredTree.Format) {
        self.coder = coder
        self.format = format
    }

    /// The stored key for a coding key.
    ///
    /// - Parameters:
    ///   - name: The coding key.
    ///   - fields: The fields of its container.
    ///   - path: The path of its container.
    /// - Returns: The stored key; nil when there is none.
    func storedKey(for name: String, among fields: [String: StoredTree], below path: StoredTree.Path) -> String? {
        if fields.keys.contains(name) {
            return name
        }
        guard format == .json, !coder.isBuiltIn else { return nil }
        return Array(fields.keys).inOrder().first { decodedKey(for: $0, below: path) == name }
    }

    /// The coding key that the decoder converts a stored key to.
    private func decodedKey(for key: String, below path: StoredTree.Path) -> String? {
        if let known = found[path.appending(key)] {
            return known
        }
        let probe = path.appending(key).reversed().reduce(StoredTree.json([UInt8(ascii: "0")])) { .object([$1: $0]) }
        let name = probe.data(in: format).flatMap { try? coder.decode(InnermostKey.self, from: $0).name }
        found[path.appending(key)] = .some(name)
        return name
    }
}

/// The innermost key of objects that have one entry each.
private struct InnermostKey: Decodable {
    let name: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PathKey.self)
        guard let key = container.allKeys.first else { throw UnexpectedValue() }
        name = (try? container.decode(InnermostKey.self, forKey: key).name) ?? key.stringValue
    }
}
