internal import DefaultJournal
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
/// A coder may be used from several threads at once. Don't change an encoder or decoder after you created a coder with
/// it.
public struct DefaultsCoder: Sendable {
    // A coder is copied at each read, which counts no reference for a built-in one, and one for another.
    private enum Format: Sendable {
        case json, propertyList
        indirect case custom(any DefaultsEncoder & Sendable, any DefaultsDecoder & Sendable)
    }

    private let format: Format

    private init(_ format: Format) { self.format = format }

    /// Creates a coder from an encoder and the decoder that reads what it writes.
    ///
    /// - Parameters:
    ///   - encoder: The encoder.
    ///   - decoder: The decoder.
    public init(encoder: any DefaultsEncoder & Sendable, decoder: any DefaultsDecoder & Sendable) {
        self.init(.custom(encoder, decoder))
    }

    /// Whether the coder always decodes the same bytes to the same value, so that decoded values can be cached.
    ///
    /// A custom coder may depend on a key that changes, and the values it decodes may be secret.
    var isBuiltIn: Bool {
        switch format {
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

    // Foundation's coders have locks.

    private static let jsonEncoder = PerProcess {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    private static let jsonDecoder = PerProcess { JSONDecoder() }

    private static let propertyListEncoder = PerProcess {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return encoder
    }

    private static let propertyListDecoder = PerProcess { PropertyListDecoder() }
}

extension DefaultsCoder: DefaultsEncoder, DefaultsDecoder {
    /// Encodes a value with the coder's encoder.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        switch format {
        case .json: try Self.jsonEncoder.current.encode(value)
        case .propertyList: try Self.propertyListEncoder.current.encode(value)
        case .custom(let encoder, _): try encoder.encode(value)
        }
    }

    /// Decodes a value with the coder's decoder.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        switch format {
        case .json: try Self.jsonDecoder.current.decode(type, from: data)
        case .propertyList: try Self.propertyListDecoder.current.decode(type, from: data)
        case .custom(_, let decoder): try decoder.decode(type, from: data)
        }
    }
}

extension DefaultsCoder {
    /// Calls a body with the decoder of some bytes, while the coder decodes them.
    ///
    /// - Throws: The error of the body; ``UnexpectedValue`` when the coder can't parse the bytes.
    func withDecoder(for data: Data, _ body: (any Decoder) throws -> any Decodable) throws -> any Decodable {
        guard BinaryPropertyList.isSafe(data) else { throw UnexpectedValue() }
        let isNullText = NullText.mayBe(in: data)
        return try DecoderUser.use(self, for: data) { try body(isNullText ? NullText.decoder(of: $0) : $0) }
    }
}

/// Runs a body with the decoder of some bytes, which a coder gives only to a type that it decodes.
final class DecoderUser: @unchecked Sendable {
    // Used on one thread, within one call.
    @TaskLocal private static var current: DecoderUser?

    private var body: ((any Decoder) throws -> any Decodable)?
    private var result: Result<any Decodable, any Error> = .failure(UnexpectedValue())

    /// Calls a body with the decoder of some bytes, while a coder decodes them.
    ///
    /// - Throws: The error of the body; ``UnexpectedValue`` when the coder can't parse the bytes.
    static func use(
        _ coder: any DefaultsDecoder,
        for data: Data,
        _ body: (any Decoder) throws -> any Decodable
    ) throws -> any Decodable {
        try withoutActuallyEscaping(body) { body in
            let user = DecoderUser()
            user.body = body
            // A task that starts meanwhile keeps the user for longer, but must not keep the body.
            defer { user.body = nil }
            $current.withValue(user) { _ = try? coder.decode(Target.self, from: data) }
            return try user.result.get()
        }
    }

    private struct Target: Decodable {
        init(from decoder: any Decoder) {
            guard let user = DecoderUser.current, let body = user.body else { return }
            user.result = Result { try body(decoder) }
        }
    }
}

extension JSONEncoder: DefaultsEncoder {}
extension JSONDecoder: DefaultsDecoder {}
extension PropertyListEncoder: DefaultsEncoder {}
extension PropertyListDecoder: DefaultsDecoder {}

/// A dictionary that wraps a value which an encoder rejects at the top level.
///
/// The top level of a property list is a dictionary or an array, so `PropertyListEncoder` rejects a single number,
/// string, Boolean, date or nil. No settings type has a property with this key, so the wrapper can't be mistaken for
/// anything else.
private struct TopLevelValue: Encodable {
    static let key = PathKey(stringValue: "org.default.value")

    let value: any Encodable

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PathKey.self)
        try container.encode(value, forKey: Self.key)
    }
}

extension DefaultsEncoder {
    /// Encodes a value, and wraps it in a dictionary if the encoder rejects it at the top level.
    func encodeTopLevel<Value: Encodable>(_ value: Value) throws -> Data {
        do {
            return try encode(value)
        } catch let error as EncodingError {
            guard let data = try? encode(TopLevelValue(value: value)) else { throw error }
            return data
        }
    }
}

extension DefaultsDecoder {
    /// Decodes the result of ``DefaultsEncoder/encodeTopLevel(_:)``.
    func decodeTopLevel<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        guard BinaryPropertyList.isSafe(data) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The property list is damaged."))
        }
        do {
            return try decode(type, from: data)
        } catch let error as DecodingError {
            guard let value = otherwiseDecoded(type, from: data) else { throw error }
            return try cast(value)
        }
    }

    /// A value that was wrapped, or that has the string "$null"; nil when it can't be decoded so either.
    private func otherwiseDecoded(_ type: any Decodable.Type, from data: Data) -> (any Decodable)? {
        // The built-in coders write the wrapper's key as it is; another coder may compress what it writes.
        let isWrapped = (self as? DefaultsCoder)?.isBuiltIn != true || data.contains(TopLevelValue.key.stringValue)
        guard isWrapped || NullText.mayBe(in: data) else { return nil }
        func unwrap(_ decoder: any Decoder) throws -> any Decodable {
            try decoder.container(keyedBy: PathKey.self).decode(type, forKey: TopLevelValue.key)
        }
        return try? DecoderUser.use(self, for: data) { decoder in
            do {
                return try unwrap(decoder)
            } catch {
                guard NullText.mayBe(in: data) else { throw error }
                let decoder = NullText.decoder(of: decoder)
                return try (try? type.init(from: decoder)) ?? unwrap(decoder)
            }
        }
    }

    /// The same for a type that is known at run time only.
    func decodeTopLevel(anyOf type: any Decodable.Type, from data: Data) throws -> any Decodable {
        func decode<Value: Decodable>(_ type: Value.Type) throws -> any Decodable {
            try decodeTopLevel(type, from: data)
        }
        return try decode(type)
    }
}
