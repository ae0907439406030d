internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Stored bytes with the new names of renamed properties, those of the type and of all types in it.
///
/// A value moves to the last name of its chain in one step: with `["z": "y", "y": "x"]`, both "z" and "y" become "x".
/// If several old names of a property are stored, the one nearest to the new name is used. Parents move before their
/// parts, and the names of nested properties are known under their parents' old and new names. So the outcome does not
/// depend on the order in which the names are listed.
struct Renaming {
    /// The bytes with the new names; nil when no property has an old name.
    private(set) var data: Data?

    /// The paths of values that keep an old name, because another value has the new one, or blocks its path.
    private var unused: [StoredTree.Path] = []
    private var isChanged = false
    private let coder: DefaultsCoder
    private let keys: StoredKeys

    /// Fails when nothing in the bytes has an old name.
    ///
    /// - Parameters:
    ///   - type: The type that the bytes are of.
    ///   - data: The bytes.
    ///   - coder: Their coder.
    ///   - initial: A value that has the parts of the type, if the type has no default value of its own.
    init?(
        _ type: any Decodable.Type,
        in data: Data,
        coder: DefaultsCoder,
        default initial: @autoclosure () -> (any Encodable)? = nil
    ) {
        // The type without its optional is asked only if this fails: a cast is slow if the type lacks the protocol.
        let provider = type as? any DefaultProviding.Type ?? nonOptional(type) as? any DefaultProviding.Type
        let mayApply =
            provider.map { Self.mayApply(to: data, of: $0) } == true
            || Self.mayHaveParts(data)
                && KnownKeys.providers(in: type, default: initial()).contains { Self.mayApply(to: data, of: $0) }
        guard mayApply, let parsed = StoredTree.parse(data) else { return nil }
        self.coder = coder
        keys = StoredKeys(coder: coder, format: parsed.format)
        var tree = parsed.tree
        let shape = KnownKeys.shape(of: nonOptional(type), coder: coder, default: initial())
        rename(in: &tree, of: type, shape: shape, stated: [:], at: [])
        guard isChanged || !unused.isEmpty else { return nil }
        self.data = isChanged ? tree.data(in: parsed.format) : nil
    }

    /// The paths of values that have an old name and are not used.
    ///
    /// - Parameter value: The value that was decoded. An old name may be the name of one of its properties again.
    /// - Returns: The paths, in the order in which the names apply.
    func unusedPaths(decodedAs value: (any Encodable)?) -> [StoredTree.Path] {
        guard !unused.isEmpty, let value, let data = try? coder.encodeTopLevel(value),
            let used = StoredTree.parse(data)?.tree
        else { return unused }
        return unused.filter { used[$0] == nil }
    }

    /// The new names that a type states, by the old ones; each is a stored name, or a path with dots.
    static func names(of type: any Decodable.Type) -> [String: String] {
        (type as? any DefaultProviding.Type)?.renamedProperties ?? [:]
    }

    /// Whether bytes may have objects in them, whose types may state names.
    ///
    /// Finding these types takes longer than all the rest of a process's first read, so it is avoided where there is no
    /// object. That misses a type whose properties are coded among those of another one.
    private static func mayHaveParts(_ data: Data) -> Bool {
        data.isPropertyList
            || data.withUnsafeBytes { bytes in
                ByteSearch.contains(UInt8(ascii: "{"), in: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
            }
    }

    /// Whether bytes may contain an old name; this search avoids parsing bytes in which nothing has to be renamed.
    private static func mayApply(to data: Data, of type: any DefaultProviding.Type) -> Bool {
        type.renamedProperties.keys.contains { name in
            let key = name.split(separator: ".").last.map(String.init) ?? ""
            // Both formats may write characters beyond ASCII in several ways, and any character may be escaped, in JSON
            // with "\" and in XML with "&".
            return key.utf8.contains { $0 >= 0x80 } || ["\\", "&", key].contains { data.contains($0) }
        }
    }
}

// Renames properties in a tree, from its root down, by the names that the known types in it state.
extension Renaming {
    /// Renames in a value and in all that is in it.
    ///
    /// - Parameters:
    ///   - tree: The value.
    ///   - type: Its type; nil if it isn't known.
    ///   - shape: What is known of a container without a type, or of a type without a default value.
    ///   - outer: The names that containers of the value state for it.
    ///   - path: Its path.
    private mutating func rename(
        in tree: inout StoredTree,
        of type: (any Decodable.Type)?,
        shape: KnownKeys? = nil,
        stated outer: [String: String],
        at path: StoredTree.Path
    ) {
        let type = type.map { nonOptional($0) }
        if let collection = type as? any StoredCollection.Type {
            return renameInElements(of: collection, in: &tree, stated: outer, at: path)
        }
        guard tree.fields != nil else { return }
        let shape = type.flatMap { KnownKeys.shape(of: $0, coder: coder) } ?? shape
        // A type knows its own properties best, so its names take precedence over those of its containers.
        let stated = (type.map(Renaming.names) ?? [:]).merging(outer) { own, _ in own }
        var rules: Names = [:]
        var inElements: [String: [String: String]] = [:]
        for (old, new) in stated {
            // Names that lead into elements apply to each element, when that is visited.
            if let property = collection(from: old, to: new, shape) {
                let start = property.count + 1
                inElements[property, default: [:]][String(old.dropFirst(start))] = String(new.dropFirst(start))
                continue
            }
            let oldPath = tree.path(named: old, shape)
            let newPath = tree.path(named: new, shape, replacing: oldPath)
            // An empty name, or one that stays the same, renames nothing.
            rules[oldPath] = oldPath.isEmpty || newPath.isEmpty || oldPath == newPath ? nil : newPath
        }
        if let type, let shape, shape.isKeyed {
            dropRenamesToNothing(&rules, of: type, shape)
        }
        apply(rules, to: &tree, at: path)
        guard let shape, case .object(var fields) = tree else { return }
        // Emptied, so that the fields have one owner and are changed in place.
        tree = .object([:])
        for name in shape.parts.keys.sorted() {
            guard let part = shape.parts[name], let key = keys.storedKey(for: name, among: fields, below: path),
                var field = fields.removeValue(forKey: key)
            else { continue }
            rename(in: &field, of: part.type, shape: part, stated: inElements[name] ?? [:], at: path.appending(key))
            fields[key] = field
        }
        tree = .object(fields)
    }

    private mutating func renameInElements(
        of collection: any StoredCollection.Type,
        in tree: inout StoredTree,
        stated outer: [String: String],
        at path: StoredTree.Path
    ) {
        let types = collection.partTypes
        switch tree {
        case .array(var elements) where !collection.isKeyed:
            tree = .array([])
            for index in elements.indices {
                let path = path.appending(StoredTree.key(of: index))
                // In pairs, keys and values have different types; names that containers state apply to the values.
                let isValue = index % types.count == types.count - 1
                let type = types[index % types.count]
                rename(in: &elements[index], of: type, stated: isValue ? outer : [:], at: path)
            }
            tree = .array(elements)
        case .object(var fields) where collection.isKeyed:
            tree = .object([:])
            for (name, field) in fields {
                var field = field
                rename(in: &field, of: types.last, stated: outer, at: path.appending(name))
                fields[name] = field
            }
            tree = .object(fields)
        default:
            break
        }
    }

    /// The property through which both names lead into the elements of a collection; nil if they don't.
    private func collection(from old: String, to new: String, _ shape: KnownKeys?) -> String? {
        guard let shape, !shape.names.contains(old), let dot = old.firstIndex(of: ".") else { return nil }
        let name = String(old[..<dot])
        guard new.hasPrefix(name + "."), let part = shape.parts[name] else { return nil }
        let oldRest = String(old[old.index(after: dot)...])
        let newRest = String(new.dropFirst(name.count + 1))
        guard let collection = part.type.map({ nonOptional($0) }) as? any StoredCollection.Type else {
            // The collection may be in a container of the property.
            return self.collection(from: oldRest, to: newRest, part.typedShape(coder)) == nil ? nil : name
        }
        guard collection.isKeyed, let type = collection.partTypes.last else { return name }
        // In a dictionary, the new name is taken for an entry's unless the values have a property of that name.
        let property = newRest.split(separator: ".").first.map(String.init) ?? newRest
        let hasProperty = KnownKeys.shape(of: nonOptional(type), coder: coder)?.names.contains(property) == true
        return hasProperty ? name : nil
    }

    /// Drops the renames that end at a name that no property has, such as those that are stated the wrong way round.
    ///
    /// They would take the value away from the property.
    private func dropRenamesToNothing(_ rules: inout Names, of type: any Decodable.Type, _ shape: KnownKeys) {
        let all = rules
        for (old, new) in all {
            var (last, steps) = (new, 0)
            while let next = all[last], steps < all.count {
                (last, steps) = (next, steps + 1)
            }
            // One that leads back to itself is ignored anyway.
            guard all[last] == nil, !isProperty(last, of: shape), isProperty(old, of: shape) else { continue }
            rules[old] = nil
            DefaultsDiagnostics.reportRenaming(from: old, to: last, of: type)
        }
    }

    private func isProperty(_ path: StoredTree.Path, of shape: KnownKeys) -> Bool {
        guard let key = path.first else { return true }
        let name = shape.names.first { $0 == key || keys.encodedKey(for: $0, below: []) == key }
        guard let name else { return false }
        guard path.count > 1, let part = shape.parts[name] else { return path.count == 1 }
        // What is in a collection, or in a type without a default, isn't known.
        let inner = part.typedShape(coder)
        return inner.isKeyed ? isProperty(path.droppingFirst(), of: inner) : true
    }

    private mutating func apply(_ names: Names, to tree: inout StoredTree, at path: StoredTree.Path) {
        guard !names.isEmpty else { return }
        let rules = Rule.all(of: names)
        // A parent that moves may bring other old names with it, so this ends when nothing changes. No value moves
        // twice from the same name, but a mistake in the names must not make it endless.
        for _ in 0...rules.count {
            guard rules.count(where: { tree.move(by: $0) }) > 0 else { break }
            isChanged = true
        }
        // What still has an old name was kept from moving by a value with the new one.
        for rule in rules {
            if let value = tree[rule.old], !value.isNull, !rule.isWrapped(value) {
                unused.append(path + rule.old)
            }
        }
    }
}

extension KnownKeys {
    /// The shape of the type, or this one if it has no default value.
    fileprivate func typedShape(_ coder: DefaultsCoder) -> KnownKeys {
        type.flatMap { KnownKeys.shape(of: nonOptional($0), coder: coder) } ?? self
    }
}

extension StoredTree {
    /// The path that a stated name means: a field of that name as it is written, else one in nested containers.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - shape: What the type asks for; nil if that isn't known.
    ///   - old: For a new name, the path of the old one. If that is a single name with dots in it, so is the new one.
    /// - Returns: The path; empty for an empty name.
    func path(named name: String, _ shape: KnownKeys? = nil, replacing old: Path? = nil) -> Path {
        let words = name.split(separator: ".").map(String.init)
        if words.count < 2 { return words }
        if fields?[name] != nil || shape?.names.contains(name) == true { return [name] }
        // The longest beginning that is the name of a container.
        for count in (1..<words.count).reversed() {
            let first = words.prefix(count).joined(separator: ".")
            let rest = words.dropFirst(count).joined(separator: ".")
            let part = shape?.parts[first]
            if let inner = fields?[first], inner.fields != nil || part != nil {
                return [first] + inner.path(named: rest, part)
            }
            if let part { return [first] + StoredTree.object([:]).path(named: rest, part) }
        }
        if let old, old.count == 1, old[0].contains(".") { return [name] }
        return words
    }
}

/// New names by the old ones, as paths.
private typealias Names = [StoredTree.Path: StoredTree.Path]

/// Where the value with an old name belongs.
private struct Rule {
    let old: StoredTree.Path
    private(set) var new: StoredTree.Path
    /// The number of steps in the chain of names after the first one.
    private var distance: Int

    /// Whether a value under the old name is the container that the property was moved into.
    ///
    /// With `["theme": "theme.name"]`, "theme" is the old name of a string, and the new name of an object.
    func isWrapped(_ value: StoredTree) -> Bool { value.fields != nil && new.starts(with: old) }

    private func precedes(_ other: Rule) -> Bool {
        let (own, others) = ((old.count, distance), (other.old.count, other.distance))
        return own == others ? old.lexicographicallyPrecedes(other.old) : own < others
    }

    /// The rules for some names, in the order in which they apply.
    static func all(of names: Names) -> [Rule] {
        var rules: [Rule] = []
        for old in names.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            // A nested property is known under its parents' old and new names.
            var alias = old
            for _ in 0...names.count {
                if !rules.contains(where: { $0.old == alias }), let start = names[alias] ?? names[old],
                    let rule = Rule(from: alias, to: start, by: names)
                {
                    rules.insert(rule, at: rules.firstIndex { rule.precedes($0) } ?? rules.endIndex)
                }
                guard let moved = step(from: alias, by: names, isParentOnly: true) else { break }
                alias = moved
            }
        }
        return rules
    }

    /// Follows the names from the new name of a path; nil if they lead back to either.
    private init?(from old: StoredTree.Path, to start: StoredTree.Path, by names: Names) {
        (self.old, new, distance) = (old, start, 0)
        while let moved = Self.step(from: new, by: names, isParentOnly: false) {
            guard distance <= names.count, moved != start else { return nil }
            (new, distance) = (moved, distance + 1)
        }
        if new == old { return nil }
    }

    /// Renames the longest part of a path that has an old name.
    private static func step(from path: StoredTree.Path, by names: Names, isParentOnly: Bool) -> StoredTree.Path? {
        for count in (1...path.count).reversed().dropFirst(isParentOnly ? 1 : 0) {
            let old = Array(path.prefix(count))
            // A property that moved into a container with the same name is there already.
            if let new = names[old], count == path.count || !new.starts(with: old) {
                return new + path.dropFirst(count)
            }
        }
        return nil
    }
}

extension StoredTree {
    /// Moves a value from its old name to its new one.
    ///
    /// - Returns: Whether anything was changed; not when there is no value, or another has the new name or blocks its
    ///   path.
    fileprivate mutating func move(by rule: Rule) -> Bool {
        guard let value = self[rule.old], !value.isNull, !rule.isWrapped(value), self[rule.new]?.mayBeNull ?? true
        else { return false }
        // A copy, since the value must stay where it is if its new path turns out to be blocked.
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
