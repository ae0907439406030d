#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Learns what a ``ForwardingDecoder`` is asked for; a subclass may also decide how its values are decoded.
class DecodingHooks {
    /// A part of a value.
    struct Part {
        /// The name of its key, or its index in an unkeyed container; nil for the whole value, which a single-value
        /// container decodes.
        let name: String?
        let isStored: () -> Bool
        let decode: (any Decodable.Type) throws -> any Decodable
        let decoder: () throws -> any Decoder
    }

    /// Called when a keyed or an unkeyed container was opened.
    func opened(isKeyed: Bool) {}

    /// Called when a key is asked for other than to decode a value.
    func asked(for name: String) {}

    /// Called before a part is decoded if it is stored.
    func expects(_ type: any Decodable.Type, _ name: String) {}

    /// Called when a container, nil or a super decoder could not be had.
    func failed(_ name: String) {}

    /// The hooks for the parts of a nested container, or of a super decoder.
    func inside(_ name: String) -> DecodingHooks { self }

    /// Decodes a part.
    ///
    /// - Returns: A value of the type.
    /// - Throws: Any error, which the value's initializer gets.
    func decode(_ type: any Decodable.Type, _ part: Part) throws -> any Decodable { try part.decode(type) }
}

/// A decoder that passes everything on to another one, except for what its hooks decide.
///
/// It is generic at its edge only: the hooks get types as values, so that one implementation serves all of them.
struct ForwardingDecoder: Decoder {
    let base: any Decoder
    let hooks: DecodingHooks

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ForwardingContainer(base: try base.container(keyedBy: type), hooks: hooks))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        ForwardingElements(base: try base.unkeyedContainer(), hooks: hooks)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        ForwardingValue(base: try base.singleValueContainer(), decoder: self)
    }
}

private struct ForwardingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<Key>
    let hooks: DecodingHooks

    init(base: KeyedDecodingContainer<Key>, hooks: DecodingHooks) {
        (self.base, self.hooks) = (base, hooks)
        hooks.opened(isKeyed: true)
    }

    var codingPath: [any CodingKey] { base.codingPath }

    var allKeys: [Key] {
        let keys = base.allKeys
        for key in keys { hooks.asked(for: key.stringValue) }
        return keys
    }

    func contains(_ key: Key) -> Bool {
        hooks.asked(for: key.stringValue)
        return base.contains(key)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try use(key.stringValue) { _ in try base.decodeNil(forKey: key) } }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try cast(decodeAny(type, forKey: key))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        hooks.expects(type, key.stringValue)
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try decode(type, forKey: key)
    }

    private func decodeAny(_ type: any Decodable.Type, forKey key: Key) throws -> any Decodable {
        let part = DecodingHooks.Part(
            name: key.stringValue,
            isStored: { base.contains(key) },
            decode: { try base.decode($0, forKey: key) },
            decoder: { try base.superDecoder(forKey: key) }
        )
        return try hooks.decode(type, part)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try use(key.stringValue) { name in
            let container = try base.nestedContainer(keyedBy: type, forKey: key)
            return KeyedDecodingContainer(ForwardingContainer<NestedKey>(base: container, hooks: hooks.inside(name)))
        }
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try use(key.stringValue) { name in
            ForwardingElements(base: try base.nestedUnkeyedContainer(forKey: key), hooks: hooks.inside(name))
        }
    }

    func superDecoder() throws -> any Decoder {
        try use("super") { ForwardingDecoder(base: try base.superDecoder(), hooks: hooks.inside($0)) }
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try use(key.stringValue) { name in
            ForwardingDecoder(base: try base.superDecoder(forKey: key), hooks: hooks.inside(name))
        }
    }

    /// Uses what a key has other than to decode a value of it.
    private func use<Result>(_ name: String, _ body: (String) throws -> Result) throws -> Result {
        hooks.asked(for: name)
        do {
            return try body(name)
        } catch {
            hooks.failed(name)
            throw error
        }
    }
}

private struct ForwardingElements: UnkeyedDecodingContainer {
    var base: any UnkeyedDecodingContainer
    let hooks: DecodingHooks

    init(base: any UnkeyedDecodingContainer, hooks: DecodingHooks) {
        (self.base, self.hooks) = (base, hooks)
        hooks.opened(isKeyed: false)
    }

    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try cast(decodeAny(type)) }

    private mutating func decodeAny(_ type: any Decodable.Type) throws -> any Decodable {
        // An element that can't be decoded must not be passed over.
        let start = base
        var next = base
        let element = DecodingHooks.Part(
            name: "\(start.currentIndex)",
            isStored: { !start.isAtEnd },
            decode: {
                next = start
                return try next.decode($0)
            },
            decoder: {
                next = start
                return try next.superDecoder()
            }
        )
        let value = try hooks.decode(type, element)
        // The hooks may have decoded it before.
        if next.currentIndex == start.currentIndex { _ = try next.superDecoder() }
        base = next
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let inner = hooks.inside("\(currentIndex)")
        return KeyedDecodingContainer(ForwardingContainer(base: try base.nestedContainer(keyedBy: type), hooks: inner))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let inner = hooks.inside("\(currentIndex)")
        return ForwardingElements(base: try base.nestedUnkeyedContainer(), hooks: inner)
    }

    mutating func superDecoder() throws -> any Decoder {
        let inner = hooks.inside("\(currentIndex)")
        return ForwardingDecoder(base: try base.superDecoder(), hooks: inner)
    }
}

private struct ForwardingValue: SingleValueDecodingContainer {
    let base: any SingleValueDecodingContainer
    let hooks: DecodingHooks
    let whole: DecodingHooks.Part

    init(base: any SingleValueDecodingContainer, decoder: ForwardingDecoder) {
        (self.base, hooks) = (base, decoder.hooks)
        whole = DecodingHooks.Part(
            name: nil,
            isStored: { true },
            decode: { try base.decode($0) },
            decoder: { decoder.base }
        )
    }

    var codingPath: [any CodingKey] { base.codingPath }

    func decodeNil() -> Bool { base.decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try cast(hooks.decode(type, whole)) }
}

// The standard library's requirements for the integers of 128 bits have default implementations that throw, and which
// take precedence over a generic `decode`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension ForwardingContainer {
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try cast(decodeAny(type, forKey: key)) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try cast(decodeAny(type, forKey: key)) }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension ForwardingElements {
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try cast(decodeAny(type)) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try cast(decodeAny(type)) }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension ForwardingValue {
    func decode(_ type: Int128.Type) throws -> Int128 { try cast(hooks.decode(type, whole)) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try cast(hooks.decode(type, whole)) }
}

/// Casts a value that code without a type parameter decoded as this type.
///
/// - Throws: ``UnexpectedValue`` when it is of another type.
func cast<Value: Decodable>(_ value: any Decodable) throws -> Value {
    guard let value = value as? Value else { throw UnexpectedValue() }
    return value
}

/// Unwraps a value that has to be there.
///
/// - Throws: ``UnexpectedValue`` for nil.
func require<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw UnexpectedValue() }
    return value
}

/// The string "$null" in property lists.
///
/// Foundation's encoder writes it for nil, but doesn't mark strings that have that text. Its decoder takes each of them
/// for nil, and fails where a string is needed, so that what was written can't be read.
enum NullText {
    private static let text = "$null"
    private static let scalars = [Bool.self, String.self, Date.self, Data.self].map { ObjectIdentifier($0) }

    /// Whether bytes are a property list that may contain the string.
    static func mayBe(in data: Data) -> Bool { data.isPropertyList && data.contains(text) }

    /// A decoder of the same bytes that takes nil for the string where nothing but a string can be meant.
    static func decoder(of decoder: any Decoder) -> any Decoder {
        ForwardingDecoder(base: decoder, hooks: Hooks())
    }

    private final class Hooks: DecodingHooks {
        override func decode(_ type: any Decodable.Type, _ part: Part) throws -> any Decodable {
            do {
                return try part.decode(type)
            } catch {
                guard part.isStored() else { throw error }
                let decoder = try part.decoder()
                if type == String.self, try decoder.singleValueContainer().decodeNil() {
                    return text
                }
                // These are decoded by the coder itself.
                let isScalar = type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type
                guard !isScalar, !scalars.contains(ObjectIdentifier(type)) else { throw error }
                return try type.init(from: NullText.decoder(of: decoder))
            }
        }
    }
}
