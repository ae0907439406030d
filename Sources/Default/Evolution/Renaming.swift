#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Stored bytes with the new names of renamed properties.
///
/// A value moves to the last name of its chain at once: with `["z": "y", "y": "x"]`, both "z" and "y" become "x". If several
/// old names of a property are stored, the one nearest to the new name is used. Parents move before what is in them, and the
/// names of nested properties are known under their parents' old and new names. So the outcome does not depend on the order
/// in which the names are listed.
struct Renaming {
    /// The bytes with the new names; nil when no property has an old name.
    let data: Data?

    /// The paths of values that have an old name, because another value has the new one.
    private let unused: [StoredTree.Path]

    /// Fails when nothing in the bytes has an old name.
    ///
    /// - Parameters:
    ///   - names: The new names by the old ones, with dots between the keys of nested properties.
    ///   - data: The bytes.
    init?(_ names: [String: String], in data: Data) {
        guard names.keys.contains(where: { Self.mayContain($0, in: data) }),
            case (var tree, let format)? = StoredTree.parse(data)
        else { return nil }
        let rules = Rule.all(of: names)
        var isChanged = false
        // A parent that moves may bring other old names with it, so this ends when nothing changes. No value moves twice
        // from the same name, but a mistake in the names must not make it endless.
        for _ in 0...rules.count {
            guard rules.count(where: { tree.move(by: $0) }) > 0 else { break }
            isChanged = true
        }
        unused = rules.filter { rule in tree[rule.old].map { !$0.isNull && !rule.isWrapped($0) } ?? false }.map(\.old)
        guard isChanged || !unused.isEmpty else { return nil }
        self.data = isChanged ? tree.data(in: format) : nil
    }

    /// The paths of values that have an old name and are not used.
    ///
    /// - Parameters:
    ///   - value: The value that was decoded. An old name may be the name of one of its properties again.
    ///   - coder: The coder of the bytes.
    /// - Returns: The paths, in the order in which the names apply.
    func unusedPaths(besides value: (any Encodable)?, coder: DefaultsCoder) -> [StoredTree.Path] {
        guard !unused.isEmpty, let value, let data = try? coder.encodeTopLevel(value),
            let (used, _) = StoredTree.parse(data)
        else { return unused }
        return unused.filter { used[$0] == nil }
    }

    /// Whether bytes may contain a key; this search avoids parsing bytes in which nothing has to be renamed.
    private static func mayContain(_ name: String, in data: Data) -> Bool {
        let key = StoredTree.path(name).last ?? ""
        // Both formats have several forms for other characters, and JSON and XML may contain any in escaped form.
        return key.utf8.contains { $0 >= 0x80 } || ["\\", "&", key].contains { data.contains($0) }
    }
}

/// Where the value with an old name belongs.
private struct Rule {
    let old: StoredTree.Path
    let new: StoredTree.Path
    /// The number of names in between.
    let distance: Int

    /// Whether a value under the old name is the container that the property was moved into.
    ///
    /// With `["theme": "theme.name"]`, "theme" is the old name of a string, and the new name of an object.
    func isWrapped(_ value: StoredTree) -> Bool {
        value.fields != nil && new.starts(with: old)
    }

    private func precedes(_ other: Rule) -> Bool {
        (old.count, distance, old.joined(separator: "."))
            < (other.old.count, other.distance, other.old.joined(separator: "."))
    }

    /// The rules for some names, in the order in which they apply.
    static func all(of stated: [String: String]) -> [Rule] {
        var names: [String: String] = [:]
        for (old, new) in stated {
            // There may be dots too many.
            let (old, new) = (StoredTree.path(old).joined(separator: "."), StoredTree.path(new).joined(separator: "."))
            names[old] = old.isEmpty || new.isEmpty || old == new ? nil : new
        }
        var rules: [Rule] = []
        for old in Array(names.keys).inOrder() {
            // A nested property is known under its parents' old and new names.
            var alias = old
            for _ in 0...names.count {
                let path = StoredTree.path(alias)
                // Names that lead back to themselves are ignored.
                if !rules.contains(where: { $0.old == path }), let start = names[alias] ?? names[old],
                    let (new, distance) = destination(of: start, by: names), new != alias
                {
                    let rule = Rule(old: path, new: StoredTree.path(new), distance: distance)
                    rules.insert(rule, at: rules.firstIndex { rule.precedes($0) } ?? rules.endIndex)
                }
                guard let moved = step(from: alias, by: names, isParentOnly: true) else { break }
                alias = moved
            }
        }
        return rules
    }

    private static func destination(of name: String, by names: [String: String]) -> (name: String, distance: Int)? {
        var (current, distance) = (name, 0)
        while let moved = step(from: current, by: names, isParentOnly: false) {
            guard distance <= names.count, moved != name else { return nil }
            (current, distance) = (moved, distance + 1)
        }
        return (current, distance)
    }

    /// Renames the longest part of a path that has an old name.
    private static func step(from name: String, by names: [String: String], isParentOnly: Bool) -> String? {
        let path = StoredTree.path(name)
        for count in (1...path.count).reversed().dropFirst(isParentOnly ? 1 : 0) {
            let old = path.prefix(count)
            // A property that moved into a container of its own name is there already.
            if let new = names[old.joined(separator: ".")],
                count == path.count || !StoredTree.path(new).starts(with: old)
            {
                return ([new] + path.dropFirst(count)).joined(separator: ".")
            }
        }
        return nil
    }
}

extension StoredTree {
    /// Moves a value from its old name to its new one.
    ///
    /// - Returns: Whether anything was changed; not when there is no value, or another has the new name or blocks its path.
    fileprivate mutating func move(by rule: Rule) -> Bool {
        guard let value = self[rule.old], !value.isNull, !rule.isWrapped(value), self[rule.new]?.mayBeNull ?? true
        else { return false }
        var renamed = self
        renamed[rule.old] = nil
        for count in 1..<rule.new.count {
            let parent = Array(rule.new.prefix(count))
            if renamed[parent]?.mayBeNull ?? true {
                renamed[parent] = .object([:])
            }
        }
        renamed[rule.new] = value
        // A parent that isn't a container blocks it.
        guard renamed[rule.new] != nil else { return false }
        self = renamed
        return true
    }
}
