#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The keys that a type asks for when it is decoded from some bytes.
///
/// What is stored under other keys of its keyed containers is unknown to it: a newer version of the type, or another program,
/// has added it. A key whose value is nil is known too, since it was asked for.
final class KnownKeys: DecodingHooks {
    private var container: Container?
    /// Whether the elements are keys and values in turn.
    private var isInPairs = false
    private var names: Set<String> = []
    /// By name, or by index.
    private var parts: [String: KnownKeys] = [:]
    /// Whether values that can't be used are made up, so that the initializer asks for all keys.
    private let isSurvey: Bool
    /// The names of values that can't be used.
    private var unusable: Set<String> = []

    private init(isSurvey: Bool = false) {
        self.isSurvey = isSurvey
    }

    /// Decodes a value, and records what it asks for.
    ///
    /// - Returns: The keys; nil when the bytes can't be decoded.
    static func recorded(_ type: any Decodable.Type, from data: Data, coder: DefaultsCoder) -> KnownKeys? {
        let keys = KnownKeys()
        return keys.decode(type, from: data, coder: coder) == nil ? nil : keys
    }

    private func decode(_ type: any Decodable.Type, from data: Data, coder: DefaultsCoder) -> (any Decodable)? {
        var value: (any Decodable)?
        coder.withDecoder(for: data) { value = try? self.decode(type, from: $0) }
        return value
    }

    private func decode(_ type: any Decodable.Type, from decoder: any Decoder) throws -> any Decodable {
        let collection = type as? any RepairableCollection.Type
        guard !ValueSemantics.isLeaf(type), collection?.partTypes.allSatisfy({ ValueSemantics.isLeaf($0) }) != true
        else { return try decoder.singleValueContainer().decode(type) }
        isInPairs = collection?.isCodedInPairs ?? false
        return try type.init(from: ForwardingDecoder(base: decoder, hooks: self))
    }

    // MARK: Recording

    override func opened(_ container: Container) {
        self.container = container
    }

    /// All keys that can be made to the type's keys are known to it.
    override func names(among stored: [String]) -> [String]? {
        names.formUnion(stored)
        return nil
    }

    override func contains(_ name: String, isStored: () -> Bool) -> Bool {
        names.insert(name)
        return isStored()
    }

    override func substitute(
        for name: String,
        because error: (any Error)?,
        isStored: () -> Bool
    ) throws -> (any Decoder)? {
        names.insert(name)
        return nil
    }

    override func inside(_ name: String) -> DecodingHooks { part(name) }

    override func decode(
        _ type: any Decodable.Type,
        named name: String?,
        isStored: () -> Bool,
        exactly: () throws -> any Decodable,
        decoder: () throws -> any Decoder
    ) throws -> any Decodable {
        do {
            if let name {
                names.insert(name)
            }
            guard isStored(), name == nil || !ValueSemantics.isLeaf(type) else { return try exactly() }
            return try (name.map(part) ?? self).decode(type, from: decoder())
        } catch {
            guard isSurvey, let name else { throw error }
            unusable.insert(name)
            return try Self.sample(of: type) ?? { throw error }()
        }
    }

    private func part(_ name: String) -> KnownKeys {
        let part = parts[name] ?? KnownKeys(isSurvey: isSurvey)
        parts[name] = part
        return part
    }
}

extension KnownKeys {
    /// The part of a tree that the type knows; the other fields are added to the unknown ones.
    func known(
        of tree: StoredTree,
        keys: StoredKeys,
        at path: StoredTree.Path = [],
        _ unknown: inout UnknownFields
    ) -> StoredTree {
        switch tree {
        case .object(var fields) where container == .keyed:
            var known: [String: StoredTree] = [:]
            for name in names {
                guard let key = keys.storedKey(for: name, among: fields, below: path),
                    let field = fields.removeValue(forKey: key)
                else { continue }
                known[key] = parts[name]?.known(of: field, keys: keys, at: path + [key], &unknown) ?? field
            }
            for (name, field) in fields where !field.isNull {
                unknown.fields.append((path + [name], field))
            }
            return .object(known)
        case .array(var elements) where !parts.isEmpty:
            if isInPairs {
                unknown.pairs.insert(LoadReport.path(path))
            }
            for index in elements.indices {
                guard let part = parts["\(index)"] else { continue }
                elements[index] = part.known(of: elements[index], keys: keys, at: path + ["[\(index)]"], &unknown)
            }
            return .array(elements)
        default:
            return tree
        }
    }
}

// MARK: Bytes that aren't of the type

extension KnownKeys {
    /// What a type that can't decode some bytes might use of them.
    enum Claim {
        case nothing
        /// Some values, but not all that it knows.
        case some
        /// All values that it knows; others are missing.
        case all
    }

    /// Finds out what a type might use of bytes that it can't decode.
    ///
    /// What it lacks is made up, so that its initializer asks for the rest. Where that isn't possible, it counts as using
    /// something.
    static func claim(of type: any Decodable.Type, on data: Data, coder: DefaultsCoder) -> Claim {
        guard let (tree, format) = StoredTree.parse(data), var fields = tree.fields else { return .nothing }
        for (name, field) in fields where field.isNull {
            fields[name] = nil
        }
        guard !fields.isEmpty else { return .nothing }
        let survey = KnownKeys(isSurvey: true)
        let isComplete = survey.decode(type, from: data, coder: coder) != nil
        let keys = StoredKeys(coder: coder, format: format)
        let stored = survey.names.filter { keys.storedKey(for: $0, among: fields, below: []) != nil }
        if isComplete, stored.allSatisfy({ survey.unusable.contains($0) }) {
            return .nothing
        }
        return stored.contains { survey.unusable.contains($0) } ? .some : .all
    }

    /// Any value of a type; nil when none can be made up.
    private static func sample(of type: any Decodable.Type) -> (any Decodable)? {
        func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? { type.allCases.first }
        if let cases = type as? any CaseIterable.Type, let value = first(of: cases) as? any Decodable {
            return value
        }
        for text in ["0", #""""#, "false", #""/""#, "{}", "[]", #""00000000-0000-0000-0000-000000000000""#] {
            if let value = KnownKeys(isSurvey: true).decode(type, from: Data(utf8Of: text), coder: .json) {
                return value
            }
        }
        return nil
    }
}
