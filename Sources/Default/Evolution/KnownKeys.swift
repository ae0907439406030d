internal import Foundation

/// The keys that a type asks for when it is decoded from some bytes.
///
/// What is stored under other keys of its keyed containers is unknown to it: a newer version of the type, or another program,
/// has added it. A key whose value is nil is known too, since it was asked for.
final class KnownKeys {
    private var names: Set<String> = []
    private var parts: [String: KnownKeys] = [:]
    /// Whether the type decodes a keyed container here.
    private var isKeyed = false
    /// Whether it asks which keys there are, so that it knows all of them.
    private var isOpen = false

    /// Decodes a value, and records what it asks for.
    ///
    /// - Returns: The keys; nil when the bytes can't be decoded.
    static func recorded<Value: Decodable>(_ type: Value.Type, from data: Data, coder: DefaultsCoder) -> KnownKeys? {
        let keys = KnownKeys()
        var isDecoded = false
        coder.withDecoder(for: data) { decoder in
            isDecoded = (try? keys.decode(type, from: decoder)) != nil
        }
        return isDecoded ? keys : nil
    }

    /// The fields of a tree that the type does not know.
    ///
    /// - Parameters:
    ///   - tree: The tree of the bytes.
    ///   - keys: Finds the stored keys for coding keys.
    ///   - path: The path of the tree.
    /// - Returns: The fields in their containers; nil when there are none.
    func unknownFields(of tree: StoredTree, keys: StoredKeys, at path: StoredTree.Path = []) -> UnknownFields? {
        guard isKeyed, !isOpen, let fields = tree.fields else {
            return nil
        }
        // The stored keys of the known ones.
        let stored = Dictionary(
            names.map { (keys.storedKey(for: $0, among: fields.keys, below: path), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var unknown = UnknownFields()
        for (name, field) in fields {
            if let known = stored[name] {
                unknown.parts[name] = parts[known]?.unknownFields(of: field, keys: keys, at: path + [name])
            } else if !field.isNull {
                unknown.fields[name] = field
            }
        }
        return unknown.isEmpty ? nil : unknown
    }

    fileprivate func decode<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        // Coders treat these in their own way.
        guard !ValueSemantics.isLeaf(type), !(type is any ProbedCollection.Type) else {
            return try decoder.singleValueContainer().decode(type)
        }
        return try Value(from: RecordingDecoder(base: decoder, keys: self))
    }

    fileprivate func noteContainer() {
        isKeyed = true
    }

    fileprivate func noteAllKeys() {
        isOpen = true
    }

    fileprivate func note(_ key: String) {
        names.insert(key)
    }

    fileprivate func part(_ key: String) -> KnownKeys {
        note(key)
        let part = parts[key] ?? KnownKeys()
        parts[key] = part
        return part
    }
}

/// Passes everything on, and records the keys.
private struct RecordingDecoder: Decoder {
    let base: any Decoder
    let keys: KnownKeys

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let container = try base.container(keyedBy: type)
        keys.noteContainer()
        return KeyedDecodingContainer(RecordingContainer(base: container, keys: keys))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try base.unkeyedContainer()
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
        try decoder.keys.decode(type, from: decoder.base)
    }
}

private struct RecordingContainer<Key: CodingKey>: KeyedDecodingWrapper {
    let base: KeyedDecodingContainer<Key>
    let keys: KnownKeys

    var codingPath: [any CodingKey] { base.codingPath }

    var allKeys: [Key] {
        keys.noteAllKeys()
        return base.allKeys
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
        let part = keys.part(key.stringValue)
        guard base.contains(key) else {
            return try base.decode(type, forKey: key)
        }
        return try part.decode(type, from: base.superDecoder(forKey: key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let part = keys.part(key.stringValue)
        let container = try base.nestedContainer(keyedBy: type, forKey: key)
        part.noteContainer()
        return KeyedDecodingContainer(RecordingContainer<NestedKey>(base: container, keys: part))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        keys.note(key.stringValue)
        return try base.nestedUnkeyedContainer(forKey: key)
    }

    func superDecoder() throws -> any Decoder {
        RecordingDecoder(base: try base.superDecoder(), keys: keys.part("super"))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        RecordingDecoder(base: try base.superDecoder(forKey: key), keys: keys.part(key.stringValue))
    }
}
