internal import Foundation

/// The string "$null" in property lists.
///
/// Foundation's encoder writes it for nil, but doesn't mark strings that have that text. Its decoder takes each of them for
/// nil, and fails where a string is needed, so that what was written can't be read.
enum NullText {
    private static let text = "$null"
    private static let scalars = Set([Bool.self, String.self, Date.self, Data.self].map { ObjectIdentifier($0) })

    /// Whether bytes are a property list that may contain the string.
    static func mayBe(in data: Data) -> Bool {
        data.isPropertyList && data.range(of: Data(text.utf8)) != nil
    }

    /// A value in which nil was taken for the string where nothing but a string can be meant.
    struct Reading<Value: Decodable>: Decodable {
        let value: Value

        init(from decoder: any Decoder) throws {
            value = try Value(from: NullTextDecoder(base: decoder))
        }
    }

    /// A decoder of the same bytes that takes nil for the string where nothing but a string can be meant.
    static func decoder(of decoder: any Decoder) -> any Decoder {
        NullTextDecoder(base: decoder)
    }

    /// Decodes a value once more that can't be decoded otherwise.
    fileprivate static func decode<Value: Decodable>(
        _ type: Value.Type,
        from decoder: any Decoder,
        because error: any Error
    ) throws -> Value {
        if let text = text as? Value, try decoder.singleValueContainer().decodeNil() {
            return text
        }
        // These are decoded by the coder itself.
        let isScalar = type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type
        guard !isScalar, !scalars.contains(ObjectIdentifier(type)) else {
            throw error
        }
        return try Value(from: NullTextDecoder(base: decoder))
    }
}

private struct NullTextDecoder: Decoder {
    let base: any Decoder

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(NullTextContainer(base: try base.container(keyedBy: type)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        NullTextElements(base: try base.unkeyedContainer())
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        NullTextValue(base: try base.singleValueContainer(), decoder: base)
    }
}

private struct NullTextValue: SingleValueDecodingWrapper {
    let base: any SingleValueDecodingContainer
    let decoder: any Decoder

    var codingPath: [any CodingKey] { base.codingPath }

    func decodeNil() -> Bool { base.decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try base.decode(type)
        } catch {
            return try NullText.decode(type, from: decoder, because: error)
        }
    }
}

private struct NullTextContainer<Key: CodingKey>: KeyedDecodingWrapper {
    let base: KeyedDecodingContainer<Key>

    var codingPath: [any CodingKey] { base.codingPath }
    var allKeys: [Key] { base.allKeys }

    func contains(_ key: Key) -> Bool { base.contains(key) }

    func decodeNil(forKey key: Key) throws -> Bool { try base.decodeNil(forKey: key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        do {
            return try base.decode(type, forKey: key)
        } catch {
            guard base.contains(key) else {
                throw error
            }
            return try NullText.decode(type, from: base.superDecoder(forKey: key), because: error)
        }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        KeyedDecodingContainer(NullTextContainer<NestedKey>(base: try base.nestedContainer(keyedBy: type, forKey: key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        NullTextElements(base: try base.nestedUnkeyedContainer(forKey: key))
    }

    func superDecoder() throws -> any Decoder { NullTextDecoder(base: try base.superDecoder()) }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        NullTextDecoder(base: try base.superDecoder(forKey: key))
    }
}

private struct NullTextElements: UnkeyedDecodingWrapper {
    var base: any UnkeyedDecodingContainer

    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try base.decode(type)
        } catch {
            // After an error, the container is still at the same element.
            return try NullText.decode(type, from: base.superDecoder(), because: error)
        }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        KeyedDecodingContainer(NullTextContainer(base: try base.nestedContainer(keyedBy: type)))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        NullTextElements(base: try base.nestedUnkeyedContainer())
    }

    mutating func superDecoder() throws -> any Decoder { NullTextDecoder(base: try base.superDecoder()) }
}
