public import Foundation

/// Encodes values into the bytes that are stored.
///
/// `JSONEncoder` and `PropertyListEncoder` conform. Your own encoder needs only this one method.
public protocol DefaultsEncoder {
    /// Encodes a value.
    ///
    /// - Parameter value: The value.
    /// - Returns: The bytes to store.
    /// - Throws: Any error when the value can't be encoded; nothing is stored then.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// Decodes values from stored bytes.
///
/// `JSONDecoder` and `PropertyListDecoder` conform. Your own decoder needs only this one method.
public protocol DefaultsDecoder {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - data: The bytes, as returned by ``DefaultsEncoder/encode(_:)``.
    /// - Returns: The value.
    /// - Throws: Any error when the bytes can't be decoded; they stay stored.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// How a settings type is encoded: as JSON, as a property list, or with your own encoder and decoder.
///
/// ```swift
/// struct Window: DefaultStorable {
///     var width = 800
///     static var defaultCoder: DefaultsCoder { .propertyList }
/// }
/// ```
///
/// A coder may be used from several threads at once. Don't change an encoder or decoder after you created a coder with it.
public struct DefaultsCoder: Sendable {
    // One reference, because a coder is copied at each read.
    private let storage: Storage

    private final class Storage: Sendable {
        let encoder: any DefaultsEncoder & Sendable
        let decoder: any DefaultsDecoder & Sendable
        let isBuiltIn: Bool

        init(
            encoder: any DefaultsEncoder & Sendable,
            decoder: any DefaultsDecoder & Sendable,
            isBuiltIn: Bool
        ) {
            self.encoder = encoder
            self.decoder = decoder
            self.isBuiltIn = isBuiltIn
        }
    }

    private init(storage: Storage) {
        self.storage = storage
    }

    /// Creates a coder from an encoder and the decoder that reads what it writes.
    ///
    /// - Parameters:
    ///   - encoder: The encoder.
    ///   - decoder: The decoder.
    public init(encoder: any DefaultsEncoder & Sendable, decoder: any DefaultsDecoder & Sendable) {
        self.init(storage: Storage(encoder: encoder, decoder: decoder, isBuiltIn: false))
    }

    /// Whether the coder always decodes the same bytes to the same value, so that decoded values can be cached.
    ///
    /// A custom coder may depend on a key that changes, and the values it decodes may be secret.
    var isBuiltIn: Bool { storage.isBuiltIn }

    /// JSON, with sorted keys so that equal values have equal bytes, and without escaped slashes.
    ///
    /// NaN and the infinities can't be encoded, because JSON lacks them; ``propertyList`` supports them.
    public static let json: DefaultsCoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return DefaultsCoder(storage: Storage(encoder: encoder, decoder: JSONDecoder(), isBuiltIn: true))
    }()

    /// Binary property lists.
    public static let propertyList: DefaultsCoder = {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return DefaultsCoder(storage: Storage(encoder: encoder, decoder: PropertyListDecoder(), isBuiltIn: true))
    }()
}

extension DefaultsCoder: DefaultsEncoder, DefaultsDecoder {
    /// Encodes a value with the coder's encoder.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        try storage.encoder.encode(value)
    }

    /// Decodes a value with the coder's decoder.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try storage.decoder.decode(type, from: data)
    }
}
