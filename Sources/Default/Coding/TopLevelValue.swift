internal import Foundation

/// A dictionary around a value that an encoder does not take by itself.
///
/// Property lists hold a dictionary or an array at the top, so `PropertyListEncoder` refuses a lone number, string,
/// Boolean, date or nil. The key is one that no settings type has, so what is read can't be taken for something else.
private struct TopLevelValue<Value> {
    let value: Value

    enum CodingKeys: String, CodingKey {
        case value = "org.default.value"
    }
}

extension TopLevelValue: Encodable where Value: Encodable {}
extension TopLevelValue: Decodable where Value: Decodable {}

extension DefaultsEncoder {
    /// Encodes a value, one in a dictionary where the encoder takes no lone value of its type.
    func encodeTopLevel<Value: Encodable>(_ value: Value) throws -> Data {
        do {
            return try encode(value)
        } catch let error as EncodingError {
            guard let data = try? encode(TopLevelValue(value: value)) else {
                throw error
            }
            return data
        }
    }
}

extension DefaultsDecoder {
    /// Decodes what ``DefaultsEncoder/encodeTopLevel(_:)`` gave.
    func decodeTopLevel<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        guard BinaryPropertyList.isSafe(data) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "Damaged property list."))
        }
        do {
            return try decode(type, from: data)
        } catch let error as DecodingError {
            guard let wrapper = try? decode(TopLevelValue<Value>.self, from: data) else {
                throw error
            }
            return wrapper.value
        }
    }
}
