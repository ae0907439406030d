public import Foundation

/// Turns values into the bytes that are stored.
///
/// `JSONEncoder` and `PropertyListEncoder` are such encoders as they are; so is any type with this one method.
public protocol DefaultsEncoder {
    /// Encodes a value.
    ///
    /// - Parameter value: The value.
    /// - Returns: The bytes to store.
    /// - Throws: Whatever tells that the value can't be encoded; nothing is stored then.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// Turns stored bytes back into values.
///
/// `JSONDecoder` and `PropertyListDecoder` are such decoders as they are; so is any type with this one method.
public protocol DefaultsDecoder {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - data: The bytes, as ``DefaultsEncoder/encode(_:)`` gave them.
    /// - Returns: The value.
    /// - Throws: Whatever tells that the bytes can't be decoded; they stay stored.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// How a settings type is stored: as JSON, as a property list, or in a way of your own.
///
/// ```swift
/// struct Window: DefaultStorable {
///     var width = 800
///     static var defaultCoder: DefaultsCoder { .propertyList }
/// }
/// ```
///
/// A coder may be used from several threads at once. Change nothing in an encoder or decoder after you made a coder of it.
public struct DefaultsCoder: Sendable {
    private let encoder: any DefaultsEncoder & Sendable
    private let decoder: any DefaultsDecoder & Sendable

    /// Creates a coder from an encoder and the decoder that reads what it writes.
    ///
    /// - Parameters:
    ///   - encoder: The encoder.
    ///   - decoder: The decoder.
    public init(encoder: any DefaultsEncoder & Sendable, decoder: any DefaultsDecoder & Sendable) {
        self.encoder = encoder
        self.decoder = decoder
    }

    /// JSON, with keys sorted so that equal values give equal bytes, and slashes as they are.
    ///
    /// Numbers that JSON lacks (NaN and the infinities) can't be encoded; ``propertyList`` holds them.
    public static let json: DefaultsCoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return DefaultsCoder(encoder: encoder, decoder: JSONDecoder())
    }()

    /// Binary property lists.
    public static let propertyList: DefaultsCoder = {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return DefaultsCoder(encoder: encoder, decoder: PropertyListDecoder())
    }()
}

extension DefaultsCoder: DefaultsEncoder, DefaultsDecoder {
    /// Encodes a value with the coder's encoder.
    ///
    /// - Parameter value: The value.
    /// - Returns: The bytes to store.
    /// - Throws: What the encoder throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        try encoder.encode(value)
    }

    /// Decodes a value with the coder's decoder.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - data: The bytes.
    /// - Returns: The value.
    /// - Throws: What the decoder throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decoder.decode(type, from: data)
    }
}
