#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PropertyListValue {
    /// The value of a property list in any form; nil for other bytes, and for damaged ones.
    ///
    /// What ``BinaryPropertyList`` leaves to Foundation is read with its `Codable` decoder, because
    /// PropertyListSerialization traps on some damaged bytes on Linux.
    static func decoded(from data: Data) -> PropertyListValue? {
        if let value = BinaryPropertyList.value(of: data) { return value }
        // Binary property lists may share containers. Without the check, a small one could expand without limit.
        guard BinaryPropertyList.isSafe(data) else { return nil }
        return try? PropertyListDecoder().decode(CodedPropertyList.self, from: data).value
    }

    /// The value as a binary property list; nil unless it is an array or a dictionary.
    var propertyListData: Data? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try? encoder.encode(CodedPropertyList(value: self))
    }

    /// Whether bytes are one value in JSON.
    static func isJSON(_ data: Data) -> Bool {
        let decoder = JSONDecoder()
        do {
            // Nil is the value of "null", so `try?` would not do.
            _ = try decoder.decode(CodedPropertyList?.self, from: data)
            return true
        } catch {
            return false
        }
    }
}

/// A property-list value that determines its type from the decoder.
struct CodedPropertyList {
    /// The value that is written for nil.
    static let null = PropertyListValue.string("$null")

    let value: PropertyListValue
}

extension CodedPropertyList: Codable {
    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= PropertyListValue.maximumDepth else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "Too deep."))
        }
        // Errors are slow, so what is most frequent comes first.
        if let string = try? decoder.singleValueContainer().decode(String.self) {
            value = .string(string)
        } else if let container = try? decoder.container(keyedBy: PathKey.self) {
            var entries: [String: PropertyListValue] = [:]
            for key in container.allKeys where entries[key.stringValue] == nil {
                // Foundation's decoder fails for nil before it asks the type.
                let isNil = try container.decodeNil(forKey: key)
                entries[key.stringValue] = try isNil ? Self.null : container.decode(Self.self, forKey: key).value
            }
            value = .dictionary(entries)
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

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .string(let string): try container.encode(string)
        case .boolean(let boolean): try container.encode(boolean)
        case .integer(let integer): try container.encode(integer)
        case .unsigned(let unsigned): try container.encode(unsigned)
        case .real(let real): try container.encode(real)
        case .data(let data): try container.encode(data)
        case .date(let date): try container.encode(date)
        case .array(let elements): try container.encode(elements.map(Self.init(value:)))
        case .dictionary(let entries): try container.encode(entries.mapValues(Self.init(value:)))
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

/// A coding key with any name or index.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
