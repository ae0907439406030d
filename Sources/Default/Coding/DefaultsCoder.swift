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
    private let kind: Kind

    // A coder is copied at each read, so a built-in one is no reference, and a custom one is a single reference.
    private enum Kind {
        case json
        case propertyList
        case custom(Coders)
    }

    private final class Coders: Sendable {
        let encoder: any DefaultsEncoder & Sendable
        let decoder: any DefaultsDecoder & Sendable

        init(encoder: any DefaultsEncoder & Sendable, decoder: any DefaultsDecoder & Sendable) {
            self.encoder = encoder
            self.decoder = decoder
        }
    }

    private static let jsonCoders: Coders = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Coders(encoder: encoder, decoder: JSONDecoder())
    }()

    private static let propertyListCoders: Coders = {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return Coders(encoder: encoder, decoder: PropertyListDecoder())
    }()

    private var coders: Coders {
        switch kind {
        case .json: Self.jsonCoders
        case .propertyList: Self.propertyListCoders
        case .custom(let coders): coders
        }
    }

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// Creates a coder from an encoder and the decoder that reads what it writes.
    ///
    /// - Parameters:
    ///   - encoder: The encoder.
    ///   - decoder: The decoder.
    public init(encoder: any DefaultsEncoder & Sendable, decoder: any DefaultsDecoder & Sendable) {
        self.init(.custom(Coders(encoder: encoder, decoder: decoder)))
    }

    /// Whether the coder always decodes the same bytes to the same value, so that decoded values can be cached.
    ///
    /// A custom coder may depend on a key that changes, and the values it decodes may be secret.
    var isBuiltIn: Bool {
        switch kind {
        case .json, .propertyList: true
        case .custom: false
        }
    }

    /// JSON, with sorted keys so that equal values have equal bytes, and without escaped slashes.
    ///
    /// NaN and the infinities can't be encoded, because JSON lacks them; ``propertyList`` supports them.
    public static var json: DefaultsCoder { DefaultsCoder(.json) }

    /// Binary property lists.
    public static var propertyList: DefaultsCoder { DefaultsCoder(.propertyList) }
}

extension DefaultsCoder: DefaultsEncoder, DefaultsDecoder {
    /// Encodes a value with the coder's encoder.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        try coders.encoder.encode(value)
    }

    /// Decodes a value with the coder's decoder.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try coders.decoder.decode(type, from: data)
    }
}
