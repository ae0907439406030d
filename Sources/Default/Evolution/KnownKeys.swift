internal import Foundation

/// The keys that a type asks for when it is decoded from some bytes.
///
/// What is stored under other keys of its keyed containers is unknown to it: a newer version of the type, or another program,
/// has added it. A key whose value is nil is known too, since it was asked for.
final class KnownKeys {
    private enum Form {
        /// Has names. A dictionary knows all of its own.
        case keyed
        case elements
        /// A dictionary with other keys is coded as an array of keys and values in turn.
        case pairs
    }

    private var form: Form?
    private var names: Set<String> = []
    /// By name, or by index.
    private var parts: [String: KnownKeys] = [:]
    /// Whether values that are missing or of another type are made up, so that the initializer asks for all keys.
    private let isSurvey: Bool
    /// The names of values that can't be used.
    private var unusable: Set<String> = []

    private init(isSurvey: Bool = false) {
        self.isSurvey = isSurvey
    }

    /// Decodes a value, and records what it asks for.
    ///
    /// - Returns: The keys; nil when the bytes can't be decoded.
    static func recorded(_ type: any Decodable.Type, from data: Data, coder: DefaultsCoder)
        -> KnownKeys?
    {
        let keys = KnownKeys()
        return keys.isDecodable(type, from: data, coder: coder) ? keys : nil
    }

    private func isDecodable(_ type: any Decodable.Type, from data: Data, coder: DefaultsCoder)
        -> Bool
    {
        var isDecoded = false
        coder.withDecoder(for: data) { decoder in
            isDecoded = (try? self.decode(type, from: decoder)) != nil
        }
        return isDecoded
    }

    /// The fields of a tree that the type does not know.
    ///
    /// - Parameters:
    ///   - tree: The tree of the bytes.
    ///   - keys: Finds the stored keys for coding keys.
    ///   - path: The path of the tree.
    /// - Returns: The fields in their containers; nil when there are none.
    func unknownFields(of tree: StoredTree, keys: StoredKeys, at path: StoredTree.Path = [])
        -> UnknownFields?
    {
        var unknown = UnknownFields()
        switch form {
        case .keyed:
            let fields = tree.fields ?? [:]
            // The stored keys of the known ones.
            let stored = Dictionary(
                names.map { (keys.storedKey(for: $0, among: fields.keys, below: path), $0) },
                uniquingKeysWith: { first, _ in first }
            )
            for (name, field) in fields {
                if let known = stored[name] {
                    unknown.parts[name] = parts[known]?.unknownFields(
                        of: field,
                        keys: keys,
                        at: path + [name]
                    )
                } else if !field.isNull {
                    unknown.fields[name] = field
                }
            }
        case .elements, .pairs:
            unknown.elements = unknownElements(of: tree.elements ?? [], keys: keys, at: path)
        case nil:
            break
        }
        return unknown.isEmpty ? nil : unknown
    }

    private func unknownElements(
        of elements: [StoredTree],
        keys: StoredKeys,
        at path: StoredTree.Path
    ) -> [UnknownFields.Element] {
        let unknown = elements.enumerated().map { index, element in
            parts["\(index)"]?.unknownFields(of: element, keys: keys, at: path + ["[\(index)]"])
        }
        guard unknown.contains(where: { $0 != nil }) else {
            return []
        }
        let known = zip(elements, unknown).map { $1?.removed(from: $0) ?? $0 }
        let places = ElementPlace.all(of: known, inPairs: form == .pairs)
        return unknown.indices.compactMap { index in
            unknown[index].map { .init(index: index, place: places[index], fields: $0) }
        }
    }

    // MARK: Decoding

    fileprivate func decode(_ type: any Decodable.Type, from decoder: any Decoder) throws
        -> any Decodable
    {
        if let collection = type as? any ProbedCollection.Type {
            // Coders treat these in their own way.
            let value = try decoder.singleValueContainer().decode(type)
            if collection.partTypes.contains(where: { !ValueSemantics.isLeaf($0) }) {
                try? recordParts(of: collection, from: decoder)
            }
            return value
        }
        guard !ValueSemantics.isLeaf(type) else {
            return try decoder.singleValueContainer().decode(type)
        }
        return try type.init(from: RecordingDecoder(base: decoder, keys: self))
    }

    private func recordParts(of collection: any ProbedCollection.Type, from decoder: any Decoder)
        throws
    {
        let types = collection.partTypes
        guard !collection.isKeyedByNames else {
            let container = try decoder.container(keyedBy: PathKey.self)
            form = .keyed
            for key in container.allKeys {
                let part = part(key.stringValue)
                if let type = types.last, try !container.decodeNil(forKey: key) {
                    _ = try part.decode(type, from: container.superDecoder(forKey: key))
                }
            }
            return
        }
        var container = try decoder.unkeyedContainer()
        form = types.count == 1 ? .elements : .pairs
        while !container.isAtEnd {
            let index = container.currentIndex
            _ = try part("\(index)").decode(types[index % types.count], from: container.superDecoder())
        }
    }

    fileprivate func noteKeyed() {
        form = .keyed
    }

    fileprivate func noteElements() {
        form = .elements
    }

    fileprivate func note(_ key: String) {
        names.insert(key)
    }

    fileprivate func part(_ key: String) -> KnownKeys {
        note(key)
        let part = parts[key] ?? KnownKeys(isSurvey: isSurvey)
        parts[key] = part
        return part
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
        guard let (tree, format) = StoredTree.parse(data),
            let fields = tree.fields?.filter({ !$1.isNull }),
            !fields.isEmpty
        else {
            return .nothing
        }
        let survey = KnownKeys(isSurvey: true)
        let isComplete = survey.isDecodable(type, from: data, coder: coder)
        let keys = StoredKeys(coder: coder, format: format)
        func stored(_ names: Set<String>) -> Set<String> {
            Set(names.map { keys.storedKey(for: $0, among: fields.keys, below: []) }).intersection(
                fields.keys
            )
        }
        let unusable = stored(survey.unusable)
        if isComplete, stored(survey.names).subtracting(unusable).isEmpty {
            return .nothing
        }
        return unusable.isEmpty ? .all : .some
    }

    /// A value in the place of one that can't be decoded.
    ///
    /// - Throws: The error of the one, if this isn't a survey, or no value can be made up.
    fileprivate func madeUp(_ type: any Decodable.Type, for key: String, because error: any Error)
        throws
        -> any Decodable
    {
        guard isSurvey else {
            throw error
        }
        unusable.insert(key)
        if let cases = type as? any CaseIterable.Type, let value = cases.first as? any Decodable {
            return value
        }
        for text in Self.samples {
            var value: (any Decodable)?
            DefaultsCoder.json.withDecoder(for: Data(text.utf8)) { decoder in
                value = try? KnownKeys(isSurvey: true).decode(type, from: decoder)
            }
            if let value {
                return value
            }
        }
        throw error
    }

    private static let samples = [
        "0", #""""#, "false", #""/""#, "{}", "[]", #""00000000-0000-0000-0000-000000000000""#,
    ]
}

extension CaseIterable {
    fileprivate static var first: Any? { allCases.first }
}

// MARK: Recording

/// Passes everything on, and records the keys.
private struct RecordingDecoder: Decoder {
    let base: any Decoder
    let keys: KnownKeys

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let container = try base.container(keyedBy: type)
        keys.noteKeyed()
        return KeyedDecodingContainer(RecordingContainer(base: container, keys: keys))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try base.unkeyedContainer()
        keys.noteElements()
        return RecordingElements(base: container, keys: keys)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        RecordingValue(base: try base.singleValueContainer(), decoder: self)
    }
}

private struct RecordingValue: SingleValueDecodingWrapper {
    let base: any SingleValueDecodingContainer
    let decoder: RecordingDecoder

    var codingPath: [any CodingKey] { base.codingPath }

    func decodeNil() -> Bool { base.decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try typed(decoder.keys.decode(type, from: decoder.base))
    }
}

private struct RecordingContainer<Key: CodingKey>: KeyedDecodingWrapper {
    let base: KeyedDecodingContainer<Key>
    let keys: KnownKeys

    var codingPath: [any CodingKey] { base.codingPath }

    /// All keys that can be made to the type's keys are known to it; a dictionary's are all.
    var allKeys: [Key] {
        let all = base.allKeys
        for key in all {
            keys.note(key.stringValue)
        }
        return all
    }

    func contains(_ key: Key) -> Bool {
        keys.note(key.stringValue)
        return base.contains(key)
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        keys.note(key.stringValue)
        return try base.decodeNil(forKey: key)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try typed(decodePart(type, forKey: key))
    }

    private func decodePart(_ type: any Decodable.Type, forKey key: Key) throws -> any Decodable {
        let part = keys.part(key.stringValue)
        do {
            guard base.contains(key) else {
                return try base.decode(type, forKey: key)
            }
            return try part.decode(type, from: base.superDecoder(forKey: key))
        } catch {
            return try keys.madeUp(type, for: key.stringValue, because: error)
        }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let part = keys.part(key.stringValue)
        let container = try base.nestedContainer(keyedBy: type, forKey: key)
        part.noteKeyed()
        return KeyedDecodingContainer(RecordingContainer<NestedKey>(base: container, keys: part))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        let part = keys.part(key.stringValue)
        let container = try base.nestedUnkeyedContainer(forKey: key)
        part.noteElements()
        return RecordingElements(base: container, keys: part)
    }

    func superDecoder() throws -> any Decoder {
        RecordingDecoder(base: try base.superDecoder(), keys: keys.part("super"))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        RecordingDecoder(base: try base.superDecoder(forKey: key), keys: keys.part(key.stringValue))
    }
}

private struct RecordingElements: UnkeyedDecodingWrapper {
    var base: any UnkeyedDecodingContainer
    let keys: KnownKeys

    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    private var part: KnownKeys { keys.part("\(base.currentIndex)") }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard !ValueSemantics.isLeaf(type) else {
            return try base.decode(type)
        }
        // An element that can't be decoded must not be passed over.
        let part = part
        var next = base
        let value: Value = try typed(part.decode(type, from: next.superDecoder()))
        base = next
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let part = part
        let container = try base.nestedContainer(keyedBy: type)
        part.noteKeyed()
        return KeyedDecodingContainer(RecordingContainer(base: container, keys: part))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let part = part
        let container = try base.nestedUnkeyedContainer()
        part.noteElements()
        return RecordingElements(base: container, keys: part)
    }

    mutating func superDecoder() throws -> any Decoder {
        let part = part
        return RecordingDecoder(base: try base.superDecoder(), keys: part)
    }
}
