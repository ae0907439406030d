package import Foundation

// How a value stands in a journal. The article "File format" describes it for readers in other languages; what is
// written here is what files in the world contain, so a change needs a new format version.
extension PropertyListValue {
    /// The first byte of a value, which tells its type.
    enum Tag: UInt8 {
        case data = 1
        case string = 2
        case booleanFalse = 3
        case booleanTrue = 4
        case integer = 5
        case unsigned = 6
        case real = 7
        case date = 8
        case array = 9
        case dictionary = 10
    }

    /// The value's bytes.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        // Enough for every number and date.
        bytes.reserveCapacity(16)
        encode(to: &bytes)
        return bytes
    }

    private func encode(to bytes: inout [UInt8]) {
        switch self {
        case .data(let data):
            bytes.append(Tag.data.rawValue)
            bytes.append(contentsOf: data)
        case .string(let string):
            bytes.append(Tag.string.rawValue)
            bytes.append(contentsOf: string.utf8)
        case .boolean(let boolean):
            bytes.append((boolean ? Tag.booleanTrue : Tag.booleanFalse).rawValue)
        case .integer(let integer):
            bytes.append(Tag.integer.rawValue)
            bytes.append(littleEndian: UInt64(bitPattern: integer))
        case .unsigned(let unsigned):
            bytes.append(Tag.unsigned.rawValue)
            bytes.append(littleEndian: unsigned)
        case .real(let real):
            bytes.append(Tag.real.rawValue)
            bytes.append(littleEndian: real.bitPattern)
        case .date(let date):
            bytes.append(Tag.date.rawValue)
            bytes.append(littleEndian: date.timeIntervalSinceReferenceDate.bitPattern)
        case .array(let elements):
            bytes.append(Tag.array.rawValue)
            for element in elements {
                bytes.append(prefixedByCount: element.encoded)
            }
        case .dictionary(let entries):
            bytes.append(Tag.dictionary.rawValue)
            // Sorted, so that equal values have equal bytes.
            for (key, value) in entries.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                bytes.append(prefixedByCount: Array(key.utf8))
                bytes.append(prefixedByCount: value.encoded)
            }
        }
    }

    /// A number's bytes, which take less to put together than what may nest; nil for anything else.
    var encodedNumber: Data? {
        let (tag, bits): (Tag, UInt64)
        switch self {
        case .integer(let integer): (tag, bits) = (.integer, UInt64(bitPattern: integer))
        case .unsigned(let unsigned): (tag, bits) = (.unsigned, unsigned)
        case .real(let real): (tag, bits) = (.real, real.bitPattern)
        default: return nil
        }
        return withUnsafeTemporaryAllocation(byteCount: 9, alignment: 1) { bytes in
            bytes[0] = tag.rawValue
            bytes.storeBytes(of: bits.littleEndian, toByteOffset: 1, as: UInt64.self)
            return Data(bytes)
        }
    }

    /// Reads a value's bytes; nil when they are not those of a value.
    package init?(encoded bytes: Data) {
        self.init(encoded: bytes, depth: 0)
    }

    /// Reads a number's bytes, which takes less than what may nest; nil when they are something else.
    init?(number bytes: Data) {
        guard bytes.count == 9 else {
            return nil
        }
        let (tag, bits) = bytes.withUnsafeBytes { bytes in
            (bytes[0], UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
        }
        switch tag {
        case Tag.integer.rawValue: self = .integer(Int64(bitPattern: bits))
        case Tag.unsigned.rawValue: self = .unsigned(bits)
        case Tag.real.rawValue: self = .real(Double(bitPattern: bits))
        default: return nil
        }
    }

    private init?(encoded bytes: Data, depth: Int) {
        guard depth <= Self.maximumDepth, let tag = bytes.first.flatMap(Tag.init(rawValue:)) else {
            return nil
        }
        var rest = bytes.dropFirst()
        switch tag {
        case .data:
            self = .data(Data(rest))
        case .string:
            guard let string = String(validating: rest, as: UTF8.self) else { return nil }
            self = .string(string)
        case .booleanFalse, .booleanTrue:
            guard rest.isEmpty else { return nil }
            self = .boolean(tag == .booleanTrue)
        case .integer:
            guard let bits = rest.bits else { return nil }
            self = .integer(Int64(bitPattern: bits))
        case .unsigned:
            guard let bits = rest.bits else { return nil }
            self = .unsigned(bits)
        case .real:
            guard let bits = rest.bits else { return nil }
            self = .real(Double(bitPattern: bits))
        case .date:
            guard let bits = rest.bits else { return nil }
            self = .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
        case .array:
            var elements: [PropertyListValue] = []
            while !rest.isEmpty {
                guard let bytes = rest.takeCounted(), let element = Self(encoded: bytes, depth: depth + 1) else {
                    return nil
                }
                elements.append(element)
            }
            self = .array(elements)
        case .dictionary:
            var entries: [String: PropertyListValue] = [:]
            while !rest.isEmpty {
                guard let keyBytes = rest.takeCounted(), let key = String(validating: keyBytes, as: UTF8.self),
                    let bytes = rest.takeCounted(), let value = Self(encoded: bytes, depth: depth + 1)
                else {
                    return nil
                }
                entries[key] = value
            }
            self = .dictionary(entries)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func append(prefixedByCount bytes: [UInt8]) {
        append(littleEndian: UInt32(truncatingIfNeeded: bytes.count))
        append(contentsOf: bytes)
    }
}

extension Data {
    /// The eight bytes that this is, as a little-endian number.
    fileprivate var bits: UInt64? {
        count == 8 ? withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) } : nil
    }

    /// Takes bytes that their count, in four bytes, stands before.
    fileprivate mutating func takeCounted() -> Data? {
        guard count >= 4 else {
            return nil
        }
        let length = Int(prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        guard count - 4 >= length else {
            return nil
        }
        defer { self = dropFirst(4 + length) }
        return dropFirst(4).prefix(length)
    }
}
