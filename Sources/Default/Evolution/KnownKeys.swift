#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The keys that a type asks for when it is decoded from some bytes.
///
/// What is stored under other keys of its keyed containers is unknown to it: a newer version of the type, or another
/// program, has added it. A key whose value is nil is known too, since it was asked for.
final class KnownKeys: DecodingHooks {
    private var isKeyed = false
    /// Whether the elements are keys and values in turn.
    private var isInPairs = false
    private var names: Set<String> = []
    /// By name, or by index.
    private var parts: [String: KnownKeys] = [:]
    /// Whether values that can't be used are made up, so that the initializer asks for all keys.
    private let isSurvey: Bool
    /// The names of values that can't be used.
    private var unusable: Set<String> = []

    private init(isSurvey: Bool = false) { self.isSurvey = isSurvey }

    /// Decodes a value, and records what it asks for.
    ///
    /// - Returns: The keys; nil when the bytes can't be decoded.
    static func recorded(_ type: any Decodable.Type, from data: Data, coder: DefaultsCoder) -> KnownKeys? {
        let keys = KnownKeys()
        return keys.decode(type, from: data, coder: coder) == nil ? nil : keys
    }

    private func decode(_ type: any Decodable.Type, from data: Data, coder: DefaultsCoder) -> (any Decodable)? {
        try? coder.withDecoder(for: data) { try decode(type, from: $0) }
    }

    private func decode(_ type: any Decodable.Type, from decoder: any Decoder) throws -> any Decodable {
        let collection = type as? any StoredCollection.Type
        guard !ValueSemantics.isLeaf(type), collection?.partTypes.allSatisfy({ ValueSemantics.isLeaf($0) }) != true
        else { return try decoder.singleValueContainer().decode(type) }
        isInPairs = collection?.isCodedInPairs ?? false
        return try type.init(from: ForwardingDecoder(base: decoder, hooks: self))
    }

    // MARK: Recording

    override func opened(isKeyed: Bool) { self.isKeyed = isKeyed }

    /// All keys that can be made to the type's keys are known to it.
    override func names(among stored: [String]) -> [String]? {
        for name in stored {
            names.insert(name)
        }
        return nil
    }

    override func contains(_ part: Part) -> Bool {
        if let name = part.name {
            names.insert(name)
        }
        return part.isStored()
    }

    override func substitute(for part: Part, because error: (any Error)?) throws -> (any Decoder)? {
        _ = contains(part)
        return nil
    }

    override func inside(_ name: String) -> DecodingHooks { part(name) }

    override func decode(_ type: any Decodable.Type, _ part: Part) throws -> any Decodable {
        do {
            guard contains(part), part.name == nil || !ValueSemantics.isLeaf(type) else { return try part.decode(type) }
            return try (part.name.map(self.part) ?? self).decode(type, from: part.decoder())
        } catch {
            guard isSurvey, let name = part.name else { throw error }
            unusable.insert(name)
            return try Self.sample(of: type) ?? { throw error }()
        }
    }

    private func part(_ name: String) -> KnownKeys {
        let part = parts[name] ?? KnownKeys(isSurvey: isSurvey)
        parts[name] = part
        return part
    }

    /// The part of a tree that the type knows; the other fields are added to the unknown ones.
    func known(
        of tree: StoredTree,
        keys: StoredKeys,
        at path: StoredTree.Path = [],
        _ unknown: UnknownFields
    ) -> StoredTree {
        switch tree {
        case .object(let fields) where isKeyed:
            var codingKeys: [String: String] = [:]
            for name in names {
                if let key = keys.storedKey(for: name, among: fields, below: path) {
                    codingKeys[key] = name
                }
            }
            var known: [String: StoredTree] = [:]
            for (key, field) in fields {
                if let name = codingKeys[key] {
                    let inner = parts[name]?.known(of: field, keys: keys, at: path.appending(key), unknown.part(key))
                    known[key] = inner ?? field
                } else if !field.isNull {
                    unknown.fields[key] = field
                }
            }
            return .object(known)
        case .array(var elements) where !parts.isEmpty:
            for index in elements.indices {
                guard let part = parts["\(index)"] else { continue }
                let name = StoredTree.key(of: index)
                let (element, inner) = (elements[index], path.appending(name))
                elements[index] = part.known(of: element, keys: keys, at: inner, unknown.part(name))
            }
            (unknown.elements, unknown.isInPairs) = (elements, isInPairs)
            return .array(elements)
        default:
            return tree
        }
    }

    // MARK: Names that aren't read

    /// The paths of fields that a type has encoded for properties that its decoder looks for under other names.
    static func misnamed(by type: any Decodable.Type, in data: Data, coder: DefaultsCoder) -> [StoredTree.Path] {
        guard let parsed = StoredTree.parse(data), let known = recorded(type, from: data, coder: coder) else {
            return []
        }
        return known.misnamed(in: parsed.tree, StoredKeys(coder: coder, format: parsed.format), at: [], below: [])
    }

    private func misnamed(
        in tree: StoredTree,
        _ keys: StoredKeys,
        at path: StoredTree.Path,
        below names: [String]
    ) -> [StoredTree.Path] {
        guard isKeyed, let fields = tree.fields else { return [] }
        var paths: [StoredTree.Path] = []
        for name in self.names.sorted() {
            let encoded = keys.encodedKey(for: name, below: names)
            if let stored = keys.storedKey(for: name, among: fields, below: path) {
                guard let part = parts[name], let field = fields[stored] else { continue }
                paths += part.misnamed(in: field, keys, at: path.appending(stored), below: names.appending(name))
            } else if fields[encoded] != nil {
                paths.append(path.appending(encoded))
            }
        }
        return paths
    }

    // MARK: Bytes that aren't of the type

    /// How much a type that can't decode some bytes might use of them.
    enum UsableShare {
        case nothing
        /// Some values, but not all that it knows.
        case some
        /// All values that it knows; others are missing.
        case all
    }

    /// Finds out what a type might use of bytes that it can't decode.
    ///
    /// What it lacks is made up, so that its initializer asks for the rest. Where that isn't possible, it counts as
    /// using something.
    static func usableShare(of data: Data, as type: any Decodable.Type, coder: DefaultsCoder) -> UsableShare {
        guard let parsed = StoredTree.parse(data), let fields = parsed.tree.fields,
            fields.values.contains(where: { !$0.isNull })
        else { return .nothing }
        let survey = KnownKeys(isSurvey: true)
        let isComplete = survey.decode(type, from: data, coder: coder) != nil
        let keys = StoredKeys(coder: coder, format: parsed.format)
        var (usesSome, usesAll) = (false, true)
        for name in survey.names {
            guard let key = keys.storedKey(for: name, among: fields, below: []), fields[key]?.isNull == false
            else { continue }
            let isUsable = !survey.unusable.contains(name)
            (usesSome, usesAll) = (usesSome || isUsable, usesAll && isUsable)
        }
        if isComplete, !usesSome { return .nothing }
        return usesAll ? .all : .some
    }

    /// Any value of a type; nil when none can be made up.
    private static func sample(of type: any Decodable.Type) -> (any Decodable)? {
        func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? { type.allCases.first }
        if let cases = type as? any CaseIterable.Type, let value = first(of: cases) as? any Decodable {
            return value
        }
        for text in ["0", #""""#, "false", #""/""#, "{}", "[]", #""00000000-0000-0000-0000-000000000000""#] {
            if let value = KnownKeys(isSurvey: true).decode(type, from: Data(text.utf8), coder: .json) {
                return value
            }
        }
        return nil
    }
}
