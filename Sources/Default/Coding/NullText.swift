#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The string "$null" in property lists.
///
/// Foundation's encoder writes it for nil, but doesn't mark strings that have that text. Its decoder takes each of them for
/// nil, and fails where a string is needed, so that what was written can't be read.
enum NullText {
    private static let text = "$null"
    private static let scalars = Set([Bool.self, String.self, Date.self, Data.self].map { ObjectIdentifier($0) })

    /// Whether bytes are a property list that may contain the string.
    static func mayBe(in data: Data) -> Bool {
        data.isPropertyList && data.contains(text)
    }

    /// A value in which nil was taken for the string where nothing but a string can be meant.
    struct Reading<Value: Decodable>: Decodable {
        let value: Value

        init(from decoder: any Decoder) throws {
            value = try Value(from: NullText.decoder(of: decoder))
        }
    }

    /// A decoder of the same bytes that takes nil for the string where nothing but a string can be meant.
    static func decoder(of decoder: any Decoder) -> any Decoder {
        ForwardingDecoder(base: decoder, hooks: Hooks())
    }

    private final class Hooks: DecodingHooks {
        override func decode(
            _ type: any Decodable.Type,
            named name: String?,
            isStored: () -> Bool,
            exactly: () throws -> any Decodable,
            decoder: () throws -> any Decoder
        ) throws -> any Decodable {
            do {
                return try exactly()
            } catch {
                guard isStored() else {
                    throw error
                }
                let decoder = try decoder()
                if type == String.self, try decoder.singleValueContainer().decodeNil() {
                    return text
                }
                // These are decoded by the coder itself.
                let isScalar = type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type
                guard !isScalar, !scalars.contains(ObjectIdentifier(type)) else {
                    throw error
                }
                return try type.init(from: NullText.decoder(of: decoder))
            }
        }
    }
}
