internal import Foundation

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
        else {
            return try decoder.singleValueContainer().decode(type)
        }
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
            guard isStored(), name == nil || !ValueSemantics.isLeaf(type) else {
                return try exactly()
            }
            return try (name.map(part) ?? self).decode(type, from: decoder())
        } catch {
            guard isSurvey, let name else {
                throw error
            }
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
    /// What the type knows of a tree.
    ///
    /// - Parameters:
    ///   - tree: The tree of the bytes.
    ///   - keys: Finds the stored keys for coding keys.
    ///   - path: The path of the tree.
    ///   - addUnknown: Called with each field that the type doesn't know.
    ///   - addPairs: Called with the path of each array whose elements are keys and values in turn.
    /// - Returns: The tree without what the type doesn't know.
    func known(
        of tree: StoredTree,
        keys: StoredKeys,
        at path: StoredTree.Path = [],
        unknown addUnknown: (UnknownFields.Field) -> Void,
        pairs addPairs: (StoredTree.Path) -> Void
    ) -> StoredTree {
        switch tree {
        case .object(var fields) where container == .keyed:
            // The stored keys of the known ones.
            let stored = Dictionary(
                names.map { (keys.storedKey(for: $0, among: fields.keys, below: path), $0) },
                uniquingKeysWith: { first, _ in first }
            )
            for (name, field) in fields {
                if let known = stored[name] {
                    fields[name] =
                        parts[known]?.known(
                            of: field,
                            keys: keys,
                            at: path + [name],
                            unknown: addUnknown,
                            pairs: addPairs
                        ) ?? field
                } else {
                    fields[name] = nil
                    if !field.isNull {
                        addUnknown(.init(path: path + [name], value: field))
                    }
                }
            }
            return .object(fields)
        case .array(let elements) where !parts.isEmpty:
            if isInPairs {
                addPairs(path)
            }
            return .array(
                elements.enumerated().map { index, element in
                    let path = path + ["[\(index)]"]
                    return parts["\(index)"]?
                        .known(of: element, keys: keys, at: path, unknown: addUnknown, pairs: addPairs) ?? element
                }
            )
        default:
            return tree
        }
    }
}

// MARK: Bytes that aren't of the type

extension KnownKeys {
    /// What a type that can't decode some bytes might use of them.
    enum Claim {
        /// Nothing.
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
        guard let (tree, format) = StoredTree.parse(data), let fields = tree.fields?.filter({ !$1.isNull }),
            !fields.isEmpty
        else {
            return .nothing
        }
        let survey = KnownKeys(isSurvey: true)
        let isComplete = survey.decode(type, from: data, coder: coder) != nil
        let keys = StoredKeys(coder: coder, format: format)
        func stored(_ names: Set<String>) -> Set<String> {
            Set(names.map { keys.storedKey(for: $0, among: fields.keys, below: []) }).intersection(fields.keys)
        }
        let unusable = stored(survey.unusable)
        if isComplete, stored(survey.names).subtracting(unusable).isEmpty {
            return .nothing
        }
        return unusable.isEmpty ? .all : .some
    }

    /// Any value of a type; nil when none can be made up.
    private static func sample(of type: any Decodable.Type) -> (any Decodable)? {
        if let cases = type as? any CaseIterable.Type, let value = cases.first as? any Decodable {
            return value
        }
        let texts = ["0", #""""#, "false", #""/""#, "{}", "[]", #""00000000-0000-0000-0000-000000000000""#]
        return texts.lazy.compactMap { text in
            KnownKeys(isSurvey: true).decode(type, from: Data(text.utf8), coder: .json)
        }.first
    }
}

extension CaseIterable {
    fileprivate static var first: Any? { allCases.first }
}
