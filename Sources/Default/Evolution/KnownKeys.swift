#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The keys that a type asks for when it is decoded from some bytes, and the types of its parts.
///
/// What is stored under other keys of its keyed containers is unknown to it: a newer version of the type, or another
/// program, has added it. A key whose value is nil is known too, since it was asked for.
final class KnownKeys: DecodingHooks {
    /// What the keys are wanted for.
    enum Purpose {
        /// To find fields that the type doesn't know, in collections too.
        case fields
        /// To find the types of its properties.
        case shape
        /// To find out how much of the bytes it might use. Values that it can't use are made up, so that the
        /// initializer goes on and asks for all keys.
        case survey
    }

    /// The type; nil for a container that is decoded without one.
    let type: (any Decodable.Type)?
    private let purpose: Purpose
    private(set) var isKeyed = false
    /// Whether the elements are keys and values in turn.
    private var isInPairs = false
    private(set) var names: Set<String> = []
    /// By name, or by index; also of optional properties that aren't stored.
    private(set) var parts: [String: KnownKeys] = [:]
    /// The names of values that can't be used.
    private var unusable: Set<String> = []

    private init(_ type: (any Decodable.Type)?, for purpose: Purpose) { (self.type, self.purpose) = (type, purpose) }

    /// Decodes a value, and records what it asks for.
    ///
    /// - Returns: The keys; nil when the bytes can't be decoded.
    static func recorded(
        _ type: any Decodable.Type,
        from data: Data,
        coder: DefaultsCoder,
        for purpose: Purpose = .fields
    ) -> KnownKeys? {
        let keys = KnownKeys(type, for: purpose)
        return keys.decode(type, from: data, coder: coder) == nil ? nil : keys
    }

    private func decode(_ type: any Decodable.Type, from data: Data, coder: DefaultsCoder) -> (any Decodable)? {
        try? coder.withDecoder(for: data) { try decode(type, from: $0) }
    }

    private func decode(_ type: any Decodable.Type, from decoder: any Decoder) throws -> any Decodable {
        let collection = type as? any StoredCollection.Type
        let isWhole = purpose == .shape || collection?.partTypes.allSatisfy { ValueSemantics.isLeaf($0) } == true
        if ValueSemantics.isLeaf(type) || collection != nil && isWhole {
            return try decoder.singleValueContainer().decode(type)
        }
        isInPairs = collection?.isCodedInPairs ?? false
        return try type.init(from: ForwardingDecoder(base: decoder, hooks: self))
    }

    // MARK: Recording

    override func opened(isKeyed: Bool) { self.isKeyed = isKeyed }

    override func asked(for name: String) { names.insert(name) }

    override func expects(_ type: any Decodable.Type, _ name: String) {
        names.insert(name)
        if !ValueSemantics.isLeaf(nonOptional(type)) { _ = part(name, type) }
    }

    override func inside(_ name: String) -> DecodingHooks { part(name, nil) }

    override func decode(_ type: any Decodable.Type, _ part: Part) throws -> any Decodable {
        guard let name = part.name else { return try decode(type, from: part.decoder()) }
        do {
            expects(type, name)
            guard part.isStored(), let keys = parts[name] else { return try part.decode(type) }
            return try keys.decode(type, from: part.decoder())
        } catch {
            guard purpose == .survey else { throw error }
            unusable.insert(name)
            return try Self.sample(of: type) ?? { throw error }()
        }
    }

    private func part(_ name: String, _ type: (any Decodable.Type)?) -> KnownKeys {
        let part = parts[name] ?? KnownKeys(type, for: purpose)
        parts[name] = part
        return part
    }

    /// The part of a tree that the type knows; the other fields are added to the unknown ones.
    ///
    /// - Parameters:
    ///   - tree: The tree.
    ///   - keys: The stored keys of coding keys.
    ///   - path: Its path.
    ///   - outer: The coding keys that lead to it; nil in elements.
    ///   - unknown: Receives the fields that the type doesn't know.
    /// - Returns: The part.
    func known(
        of tree: StoredTree,
        keys: StoredKeys,
        at path: StoredTree.Path = [],
        below outer: [String]? = [],
        _ unknown: inout UnknownFields
    ) -> StoredTree {
        switch tree {
        case .object(let fields) where isKeyed:
            if type.map(nonOptional) is any StoredCollection.Type { unknown.dictionaries.insert(path) }
            var codingKeys: [String: String] = [:]
            for name in names {
                if let key = keys.storedKey(for: name, among: fields, below: path) {
                    codingKeys[key] = name
                }
            }
            var known: [String: StoredTree] = [:]
            for (key, field) in fields {
                let inner = path.appending(key)
                if let name = codingKeys[key] {
                    let names = outer.map { $0 + [name] }
                    known[key] = parts[name]?.known(of: field, keys: keys, at: inner, below: names, &unknown) ?? field
                } else if !field.isNull {
                    unknown.fields[inner] = field
                    if let outer, names.contains(where: { keys.encodedKey(for: $0, below: outer) == key }) {
                        unknown.misnamed.append(inner)
                    }
                }
            }
            return .object(known)
        case .array(var elements) where !parts.isEmpty:
            for index in elements.indices {
                guard let part = parts["\(index)"] else { continue }
                let (element, inner) = (elements[index], path.appending(StoredTree.key(of: index)))
                elements[index] = part.known(of: element, keys: keys, at: inner, below: nil, &unknown)
            }
            unknown.arrays[path] = .init(elements: elements, isInPairs: isInPairs)
            return .array(elements)
        default:
            return tree
        }
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
        let survey = KnownKeys(type, for: .survey)
        let isComplete = survey.decode(type, from: data, coder: coder) != nil
        let keys = StoredKeys(coder: coder, format: parsed.format)
        let stored = survey.names.filter { name in
            keys.storedKey(for: name, among: fields, below: []).map { fields[$0]?.isNull == false } ?? false
        }
        let usable = stored.subtracting(survey.unusable)
        if isComplete, usable.isEmpty { return .nothing }
        return usable == stored ? .all : .some
    }

    /// Any value of a type; nil when none can be made up.
    private static func sample(of type: any Decodable.Type) -> (any Decodable)? {
        func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? { type.allCases.first }
        if let cases = type as? any CaseIterable.Type, let value = first(of: cases) as? any Decodable {
            return value
        }
        for text in ["0", #""""#, "false", #""/""#, "{}", "[]", #""00000000-0000-0000-0000-000000000000""#] {
            if let value = KnownKeys(type, for: .survey).decode(type, from: Data(text.utf8), coder: .json) {
                return value
            }
        }
        return nil
    }
}
