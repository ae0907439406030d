internal import Foundation

// Parses with the `Codable` decoder, because PropertyListSerialization traps on some damaged bytes on Linux.
extension StoredTree {
    init?(propertyList data: Data) {
        if let value = BinaryPropertyList.value(of: data) {
            self.init(value)
            return
        }
        // Binary property lists may share containers. Without the check, a small one could expand without limit.
        guard BinaryPropertyList.isSafe(data),
            let value = try? PropertyListDecoder().decode(CodedPropertyList.self, from: data).value
        else {
            return nil
        }
        self.init(value)
    }

    init(_ value: PropertyListValue) {
        switch value {
        case .dictionary(let entries): self = .object(entries.mapValues { StoredTree($0) })
        case .array(let elements): self = .array(elements.map { StoredTree($0) })
        default: self = .propertyList(value)
        }
    }

    var propertyListData: Data? {
        guard let value = propertyListValue else { return nil }
        return try? PropertyListSerialization.data(fromPropertyList: value.object, format: .binary, options: 0)
    }

    var propertyListValue: PropertyListValue? {
        switch self {
        case .json:
            return nil
        case .propertyList(let value):
            return value
        case .array(let elements):
            let values = elements.compactMap(\.propertyListValue)
            return values.count == elements.count ? .array(values) : nil
        case .object(let fields):
            let entries = fields.compactMapValues(\.propertyListValue)
            return entries.count == fields.count ? .dictionary(entries) : nil
        }
    }
}

/// A property-list value that determines its type from the decoder.
private struct CodedPropertyList: Decodable {
    /// What nil is written as.
    static let null = PropertyListValue.string("$null")

    let value: PropertyListValue

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= PropertyListValue.maximumDepth else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "Too deep."))
        }
        // Errors are slow, so what is most frequent comes first.
        if let string = try? decoder.singleValueContainer().decode(String.self) {
            value = .string(string)
        } else if let container = try? decoder.container(keyedBy: PathKey.self) {
            let entries = try container.allKeys.map { key in
                // Foundation's decoder fails for nil before it asks the type.
                try (
                    key.stringValue,
                    container.decodeNil(forKey: key) ? Self.null : container.decode(Self.self, forKey: key).value
                )
            }
            value = .dictionary(Dictionary(entries, uniquingKeysWith: { first, _ in first }))
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [PropertyListValue] = []
            while !container.isAtEnd {
                elements.append(try container.decodeNil() ? Self.null : container.decode(Self.self).value)
            }
            value = .array(elements)
        } else {
            value = try PropertyListValue(scalar: decoder.singleValueContainer())
        }
    }
}

extension PropertyListValue {
    fileprivate init(scalar container: any SingleValueDecodingContainer) throws {
        if let boolean = try? container.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let integer = try? container.decode(Int64.self) {
            // Negative zero counts as an integer too.
            if integer == 0, let real = try? container.decode(Double.self), real.sign == .minus {
                self = .real(real)
            } else {
                self = .integer(integer)
            }
        } else if let unsigned = try? container.decode(UInt64.self) {
            self = .unsigned(unsigned)
        } else if let real = try? container.decode(Double.self) {
            self = .real(real)
        } else if let data = try? container.decode(Data.self) {
            self = .data(data)
        } else {
            self = .date(try container.decode(Date.self))
        }
    }
}
