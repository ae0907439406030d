#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A dictionary that wraps a value which an encoder rejects at the top level.
///
/// The top level of a property list is a dictionary or an array, so `PropertyListEncoder` rejects a single number, string,
/// Boolean, date or nil. No settings type has a property with this key, so the wrapper can't be mistaken for anything else.
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
            return try typed(value)
        }
    }

    /// A value that was wrapped, or that has the string "$null"; nil when it can't be decoded so either.
    private func otherwiseDecoded(_ type: any Decodable.Type, from data: Data) -> (any Decodable)? {
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

/// The string "$null" in property lists.
///
/// Foundation's encoder writes it for nil, but doesn't mark strings that have that text. Its decoder takes each of them for
/// nil, and fails where a string is needed, so that what was written can't be read.
enum NullText {
    private static let text = "$null"
    private static let scalars = [Bool.self, String.self, Date.self, Data.self].map { ObjectIdentifier($0) }

    /// Whether bytes are a property list that may contain the string.
    static func mayBe(in data: Data) -> Bool {
        data.isPropertyList && data.contains(text)
    }

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
