internal import Foundation

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
        else {
            return nil
        }
        let rules = Rule.all(of: names)
        var isChanged = false
        // A parent that moves may bring other old names with it, so this ends when nothing changes. No value moves twice
        // from the same name, but a mistake in the names must not make it endless.
        for _ in 0...rules.count {
            guard rules.count(where: { tree.move(by: $0) }) > 0 else {
                break
            }
            isChanged = true
        }
        unused = rules.filter { rule in tree[rule.old].map { !$0.isNull && !rule.isWrapped($0) } ?? false }.map(\.old)
        guard isChanged || !unused.isEmpty else {
            return nil
        }
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
        else {
            return unused
        }
        return unused.filter { used[$0] == nil }
    }

    /// Whether bytes may contain a key; this search avoids parsing bytes in which nothing has to be renamed.
    private static func mayContain(_ path: String, in data: Data) -> Bool {
        let key = path.utf8.lastIndex(of: UInt8(ascii: ".")).map { path[$0...].dropFirst() } ?? path[...]
        // Both formats have several forms for other characters.
        guard key.utf8.allSatisfy({ $0 < 0x80 }) else {
            return true
        }
        // JSON and XML may contain any character in escaped form.
        return data.contains("\\") || data.contains("&") || data.contains(key)
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

    /// The rules for some names, in the order in which they apply.
    static func all(of names: [String: String]) -> [Rule] {
        let paths = names.map { ($0.key.keys, $0.value.keys) }.filter { !$0.0.isEmpty && !$0.1.isEmpty && $0.0 != $0.1 }
        let stated = Dictionary(paths, uniquingKeysWith: { first, _ in first })
        var rules: [StoredTree.Path: Rule] = [:]
        for (old, direct) in stated.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            for alias in [old] + aliases(of: old, by: stated) where rules[alias] == nil {
                let start = stated[alias] ?? direct
                // Names that lead back to themselves are ignored.
                if let (new, distance) = destination(of: start, by: stated), new != alias {
                    rules[alias] = Rule(old: alias, new: new, distance: distance)
                }
            }
        }
        return rules.values.sorted {
            ($0.old.count, $0.distance, $0.old.joined(separator: ".")) < (
                $1.old.count, $1.distance, $1.old.joined(separator: ".")
            )
        }
    }

    /// The paths of a nested property after its parents have moved.
    private static func aliases(
        of path: StoredTree.Path,
        by stated: [StoredTree.Path: StoredTree.Path]
    ) -> [StoredTree.Path] {
        var aliases: [StoredTree.Path] = []
        var current = path
        while aliases.count < stated.count, let moved = step(from: current, by: stated, isParentOnly: true) {
            aliases.append(moved)
            current = moved
        }
        return aliases
    }

    private static func destination(
        of path: StoredTree.Path,
        by stated: [StoredTree.Path: StoredTree.Path]
    ) -> (path: StoredTree.Path, distance: Int)? {
        var current = path
        var visited: Set<StoredTree.Path> = [path]
        while let moved = step(from: current, by: stated, isParentOnly: false) {
            guard visited.count <= stated.count, visited.insert(moved).inserted else {
                return nil
            }
            current = moved
        }
        return (current, visited.count - 1)
    }

    /// Renames the longest part of a path that has an old name.
    private static func step(
        from path: StoredTree.Path,
        by stated: [StoredTree.Path: StoredTree.Path],
        isParentOnly: Bool
    ) -> StoredTree.Path? {
        for count in (1..<max(path.count + (isParentOnly ? 0 : 1), 1)).reversed() {
            let old = Array(path.prefix(count))
            // A property that moved into a container of its own name is there already.
            if let new = stated[old], !new.starts(with: old) || count == path.count {
                return new + path.dropFirst(count)
            }
        }
        return nil
    }
}

extension String {
    fileprivate var keys: StoredTree.Path { split(separator: ".").map(String.init) }
}

extension StoredTree {
    /// Moves a value from its old name to its new one.
    ///
    /// - Returns: Whether anything was changed; not when there is no value, or another has the new name or blocks its path.
    fileprivate mutating func move(by rule: Rule) -> Bool {
        guard let value = self[rule.old], !value.isNull, !rule.isWrapped(value),
            self[rule.new]?.mayBeNull ?? true
        else {
            return false
        }
        var renamed = self
        renamed[rule.old] = nil
        renamed.makeContainers(for: rule.new)
        renamed[rule.new] = value
        guard renamed[rule.new] == value else {
            return false
        }
        self = renamed
        return true
    }

    /// Creates the missing keyed containers along a path.
    private mutating func makeContainers(for path: Path) {
        for count in 1..<max(path.count, 1) where self[path.prefix(count)]?.mayBeNull ?? true {
            self[path.prefix(count)] = .object([:])
        }
    }
}

extension Data {
    /// Whether the bytes contain those of a text.
    fileprivate func contains(_ text: Substring) -> Bool {
        var contiguous = text
        return contiguous.withUTF8 { text in
            withUnsafeBytes { bytes in
                guard let first = text.first, let textStart = text.baseAddress else {
                    return false
                }
                var rest = bytes[...]
                while rest.count >= text.count, let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    let found = memchr(start, Int32(first), rest.count - text.count + 1)
                {
                    if memcmp(found, textStart, text.count) == 0 {
                        return true
                    }
                    rest = rest.dropFirst(UnsafeRawPointer(found) - start + 1)
                }
                return false
            }
        }
    }
}
