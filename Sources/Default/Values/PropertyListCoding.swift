internal import DefaultJournal
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
    /// What nil is written as.
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

/// Checks that all offsets and counts in a binary property list are in bounds.
///
/// Foundation's decoder uses counts and offsets before it checks them against the number of bytes, at least on systems
/// other than Apple's, and so traps on some damaged property lists. The format is that of CFBinaryPList.c: a header,
/// objects, a table of their offsets, and a trailer of 32 bytes, all numbers big-endian.
struct BinaryPropertyList {
    private let bytes: UnsafeRawBufferPointer
    private let offsetSize: Int
    private let referenceSize: Int
    private var objectCount = 0
    private var tableStart = 0
    /// The number of objects that may still be visited.
    ///
    /// A shared object counts each time, so that a small list can't take exponential time.
    private var budget: Int

    /// Returns true for a binary property list whose offsets and counts are in bounds, and for bytes that are not a
    /// binary property list.
    @inline(never)
    static func isSafe(_ data: Data) -> Bool {
        guard data.starts(with: "bplist") else { return true }
        return data.withUnsafeBytes { bytes in
            guard var list = BinaryPropertyList(bytes), let top = list.number(at: bytes.count - 16, size: 8) else {
                return false
            }
            return list.checkObject(top, depth: 0)
        }
    }

    /// The value of a binary property list; nil for other bytes, and for values that Foundation's decoder has to judge.
    ///
    /// Foundation's decoder has to be asked for one type after the other, and throws an error for each that doesn't
    /// fit.
    @inline(never)
    static func value(of data: Data) -> PropertyListValue? {
        guard data.starts(with: "bplist00"), isSafe(data) else { return nil }
        return data.withUnsafeBytes { bytes in
            guard let list = BinaryPropertyList(bytes), let top = list.number(at: bytes.count - 16, size: 8) else {
                return nil
            }
            return list.value(at: top)
        }
    }

    private init?(_ bytes: UnsafeRawBufferPointer) {
        let trailer = bytes.count - 32
        guard trailer >= 8 else { return nil }
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        budget = bytes.count
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = number(at: trailer + 8, size: 8), let start = number(at: trailer + 24, size: 8),
            count <= bytes.count, start <= trailer, start + count * offsetSize <= trailer
        else { return nil }
        objectCount = count
        tableStart = start
    }

    /// Reads an offset or a count; nil when it is out of bounds or larger than the number of bytes.
    private func number(at offset: Int, size: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        let value = bits(at: offset, size: size)
        return value <= UInt64(bytes.count) ? Int(value) : nil
    }

    private mutating func checkObject(_ index: Int, depth: Int) -> Bool {
        budget -= 1
        guard budget >= 0, depth <= PropertyListValue.maximumDepth, index < objectCount,
            let offset = number(at: tableStart + index * offsetSize, size: offsetSize), offset < tableStart
        else { return false }
        let marker = bytes[offset]
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0: return true
        case 0x1: return low <= 4 && offset + 1 + (1 << low) <= tableStart
        case 0x2: return (low == 2 || low == 3) && offset + 1 + (1 << low) <= tableStart
        case 0x3: return low == 3 && offset + 9 <= tableStart
        case 0x8: return offset + 2 + low <= tableStart
        case 0x4, 0x5, 0x7: return checkBody(of: low, at: offset, unit: 1) != nil
        case 0x6: return checkBody(of: low, at: offset, unit: 2) != nil
        case 0xA, 0xC: return checkReferences(of: low, at: offset, perEntry: 1, depth: depth)
        case 0xD: return checkReferences(of: low, at: offset, perEntry: 2, depth: depth)
        default: return false
        }
    }

    /// The start of an object's body and its number of units; nil when the body is out of bounds.
    private func checkBody(of low: Int, at offset: Int, unit: Int) -> (start: Int, count: Int)? {
        var start = offset + 1
        var count = low
        if low == 0x0F {
            guard start < tableStart, bytes[start] >> 4 == 0x1, bytes[start] & 0x0F <= 3 else { return nil }
            let size = 1 << Int(bytes[start] & 0x0F)
            guard let stated = number(at: start + 1, size: size) else { return nil }
            start += 1 + size
            count = stated
        }
        return start + count * unit <= tableStart ? (start, count) : nil
    }

    private mutating func checkReferences(of low: Int, at offset: Int, perEntry: Int, depth: Int) -> Bool {
        guard let (start, count) = checkBody(of: low, at: offset, unit: referenceSize * perEntry) else { return false }
        for entry in 0..<count * perEntry {
            guard let index = number(at: start + entry * referenceSize, size: referenceSize),
                checkObject(index, depth: depth + 1)
            else { return false }
        }
        return true
    }

    // Objects that were checked.

    private func value(at index: Int) -> PropertyListValue? {
        guard let offset = number(at: tableStart + index * offsetSize, size: offsetSize) else { return nil }
        let marker = bytes[offset]
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0: return marker == 0x08 ? .boolean(false) : marker == 0x09 ? PropertyListValue.boolean(true) : nil
        case 0x1: return integer(at: offset + 1, size: 1 << low)
        case 0x2 where low == 2:
            return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits(at: offset + 1, size: 4)))))
        case 0x2: return .real(Double(bitPattern: bits(at: offset + 1, size: 8)))
        case 0x3: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits(at: offset + 1, size: 8))))
        case 0x4: return checkBody(of: low, at: offset, unit: 1).map { data(at: $0.start, count: $0.count) }
        case 0x5: return checkBody(of: low, at: offset, unit: 1).flatMap { text(at: $0.start, count: $0.count) }
        case 0x6: return checkBody(of: low, at: offset, unit: 2).flatMap { wideText(at: $0.start, count: $0.count) }
        case 0xA: return array(of: low, at: offset)
        case 0xD: return dictionary(of: low, at: offset)
        default: return nil
        }
    }

    private func bits(at offset: Int, size: Int) -> UInt64 {
        var bits: UInt64 = 0
        for byte in slice(at: offset, count: size) {
            bits = bits << 8 | UInt64(byte)
        }
        return bits
    }

    private func slice(at offset: Int, count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    private func integer(at offset: Int, size: Int) -> PropertyListValue? {
        // Only eight bytes have a sign. Sixteen are written for what is larger than they can hold.
        let number = bits(at: offset + max(size - 8, 0), size: min(size, 8))
        guard size > 8 else { return .integer(Int64(bitPattern: number)) }
        return bits(at: offset, size: 8) == 0 && number > Int64.max ? .unsigned(number) : nil
    }

    private func data(at offset: Int, count: Int) -> PropertyListValue {
        .data(Data(slice(at: offset, count: count)))
    }

    private func text(at offset: Int, count: Int) -> PropertyListValue? {
        let text = slice(at: offset, count: count)
        for byte in text where byte >= 0x80 {
            return nil
        }
        return .string(String(decoding: text, as: UTF8.self))
    }

    private func wideText(at offset: Int, count: Int) -> PropertyListValue? {
        var units: [UInt16] = []
        for index in 0..<count {
            units.append(UInt16(truncatingIfNeeded: bits(at: offset + index * 2, size: 2)))
        }
        let text = String(decoding: units, as: UTF16.self)
        // Half a surrogate pair is replaced.
        for (index, unit) in text.utf16.enumerated() where unit != units[index] {
            return nil
        }
        return .string(text)
    }

    private func array(of low: Int, at offset: Int) -> PropertyListValue? {
        guard let (start, count) = checkBody(of: low, at: offset, unit: referenceSize) else { return nil }
        var elements: [PropertyListValue] = []
        for entry in 0..<count {
            guard let element = reference(entry, at: start) else { return nil }
            elements.append(element)
        }
        return .array(elements)
    }

    private func dictionary(of low: Int, at offset: Int) -> PropertyListValue? {
        guard let (start, count) = checkBody(of: low, at: offset, unit: referenceSize * 2) else { return nil }
        var entries: [String: PropertyListValue] = [:]
        for entry in 0..<count {
            guard case .string(let key)? = reference(entry, at: start), entries[key] == nil,
                let value = reference(count + entry, at: start)
            else { return nil }
            entries[key] = value
        }
        return .dictionary(entries)
    }

    private func reference(_ entry: Int, at start: Int) -> PropertyListValue? {
        number(at: start + entry * referenceSize, size: referenceSize).flatMap { value(at: $0) }
    }
}

extension Data {
    /// Whether this begins like a property list, which no JSON does.
    var isPropertyList: Bool { starts(with: "bplist") || starts(with: "<") }

    /// Whether the bytes begin with those of a text.
    @inline(never)
    func starts(with text: String) -> Bool {
        withUnsafeBytes { bytes in
            for (index, byte) in text.utf8.enumerated() where index >= bytes.count || bytes[index] != byte {
                return false
            }
            return true
        }
    }

    /// Whether the bytes contain those of a text.
    @inline(never)
    func contains(_ text: String) -> Bool { withUnsafeBytes { ByteSearch.contains(text, in: $0) } }
}
