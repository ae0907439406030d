internal import Foundation

// Containers that wrap a coder's own.
//
// The standard library's requirements for the integers of 128 bits have default implementations that throw, and which take
// precedence over a generic `decode`.

/// A keyed container that wraps another one.
protocol KeyedDecodingWrapper: KeyedDecodingContainerProtocol {}

/// An unkeyed container that wraps another one.
protocol UnkeyedDecodingWrapper: UnkeyedDecodingContainer {}

/// A container for a single value that wraps another one.
protocol SingleValueDecodingWrapper: SingleValueDecodingContainer {}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension KeyedDecodingWrapper {
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decodeValue(type, forKey: key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decodeValue(type, forKey: key) }

    private func decodeValue<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decode(type, forKey: key)
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UnkeyedDecodingWrapper {
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try decodeValue(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try decodeValue(type) }

    private mutating func decodeValue<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decode(type)
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SingleValueDecodingWrapper {
    func decode(_ type: Int128.Type) throws -> Int128 { try decodeValue(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try decodeValue(type) }

    private func decodeValue<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decode(type)
    }
}

/// A value that was decoded as this type by code that isn't generic.
func typed<Value: Decodable>(_ value: any Decodable) throws -> Value {
    guard let value = value as? Value else {
        throw CocoaError(.coderInvalidValue)
    }
    return value
}
