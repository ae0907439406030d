package import Default
package import Foundation

/// Reads binary property lists, which may come from anywhere: on Linux Foundation's reader ends the process on some
/// damaged ones.
///
/// The format is that of CFBinaryPList.c: a header, objects, a table of their offsets, and a trailer of 32 bytes that
/// says where the table is; all numbers are big-endian.
package struct BinaryPropertyListReader {
    /// What a value may nest, the dictionary of all values around it, and a last value that is not a container.
    private static let maximumDepth = 257

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let tableStart: Int
    /// How many more objects may be read: shared ones count each time, so that no small list becomes endless.
    private var budget: Int

    package static func isBinary(_ data: Data) -> Bool {
        data.starts(with: Data("bplist".utf8))
    }

    /// The value in a list; nil when it is damaged, or holds what no suite does.
    package static func value(in data: Data) -> PropertyListValue? {
        guard var reader = BinaryPropertyListReader(Array(data)),
            let top = reader.number(at: reader.bytes.count - 16, size: 8)
        else {
            return nil
        }
        return reader.readObject(top, depth: 0)
    }

    private init?(_ bytes: [UInt8]) {
        let trailer = bytes.count - 32
        guard trailer >= 8 else { return nil }
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        budget = 4 * bytes.count
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.number(in: bytes, at: trailer + 8, size: 8),
            let start = Self.number(in: bytes, at: trailer + 24, size: 8),
            start <= trailer, count <= (trailer - start) / offsetSize
        else {
            return nil
        }
        objectCount = count
        tableStart = start
    }

    private mutating func readObject(_ index: Int, depth: Int) -> PropertyListValue? {
        budget -= 1
        guard budget >= 0, depth <= Self.maximumDepth, index < objectCount,
            let offset = number(at: tableStart + index * offsetSize, size: offsetSize), offset < tableStart
        else {
            return nil
        }
        let low = Int(bytes[offset] & 0x0F)
        switch bytes[offset] >> 4 {
        case 0x0: return low == 8 ? .boolean(false) : low == 9 ? .boolean(true) : nil
        case 0x1: return readInteger(at: offset + 1, size: 1 << low)
        case 0x2: return readReal(at: offset + 1, size: 1 << low)
        case 0x3:
            return bits(at: offset + 1, size: 8).map {
                .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)))
            }
        case 0x4: return body(of: low, at: offset, unit: 1).map { .data(Data($0)) }
        case 0x5, 0x6: return readString(at: offset).map { .string($0) }
        case 0xA: return readArray(of: low, at: offset, depth: depth)
        case 0xD: return readDictionary(of: low, at: offset, depth: depth)
        default: return nil
        }
    }

    /// Up to four bytes are unsigned, eight are signed, and sixteen are for what is over `Int64.max`.
    private func readInteger(at offset: Int, size: Int) -> PropertyListValue? {
        switch size {
        case 1, 2, 4: bits(at: offset, size: size).map { .integer(Int64($0)) }
        case 8: bits(at: offset, size: 8).map { .integer(Int64(bitPattern: $0)) }
        case 16 where bits(at: offset, size: 8) == 0:
            bits(at: offset + 8, size: 8).map { Int64(exactly: $0).map { .integer($0) } ?? .unsigned($0) }
        default: nil
        }
    }

    private func readReal(at offset: Int, size: Int) -> PropertyListValue? {
        switch size {
        case 4: bits(at: offset, size: 4).map { .real(Double(Float(bitPattern: UInt32($0)))) }
        case 8: bits(at: offset, size: 8).map { .real(Double(bitPattern: $0)) }
        default: nil
        }
    }

    private func readString(at offset: Int) -> String? {
        let low = Int(bytes[offset] & 0x0F)
        if bytes[offset] >> 4 == 0x5 {
            return body(of: low, at: offset, unit: 1).flatMap { String(validating: $0, as: UTF8.self) }
        }
        return body(of: low, at: offset, unit: 2).flatMap { body in
            let units = stride(from: body.startIndex, to: body.endIndex, by: 2).map { index in
                UInt16(body[index]) << 8 | UInt16(body[index + 1])
            }
            return String(validating: units, as: UTF16.self)
        }
    }

    private mutating func readArray(of low: Int, at offset: Int, depth: Int) -> PropertyListValue? {
        guard let references = references(of: low, at: offset, perEntry: 1) else { return nil }
        var elements: [PropertyListValue] = []
        for reference in references {
            guard let element = readObject(reference, depth: depth + 1) else { return nil }
            elements.append(element)
        }
        return .array(elements)
    }

    private mutating func readDictionary(of low: Int, at offset: Int, depth: Int) -> PropertyListValue? {
        guard let references = references(of: low, at: offset, perEntry: 2) else { return nil }
        let count = references.count / 2
        var entries: [String: PropertyListValue] = [:]
        for entry in 0..<count {
            guard case .string(let key)? = readObject(references[entry], depth: depth + 1),
                let value = readObject(references[count + entry], depth: depth + 1)
            else {
                return nil
            }
            entries[key] = value
        }
        return .dictionary(entries)
    }

    private func references(of low: Int, at offset: Int, perEntry: Int) -> [Int]? {
        guard let body = body(of: low, at: offset, unit: referenceSize * perEntry) else { return nil }
        let references = stride(from: body.startIndex, to: body.endIndex, by: referenceSize).compactMap {
            number(at: $0, size: referenceSize)
        }
        return references.count == body.count / referenceSize ? references : nil
    }

    /// The bytes of an object with a count: in its first byte, or, if that is full, in an integer after it.
    private func body(of low: Int, at offset: Int, unit: Int) -> ArraySlice<UInt8>? {
        var start = offset + 1
        var count = low
        if low == 0x0F {
            guard start < tableStart, bytes[start] >> 4 == 0x1, bytes[start] & 0x0F <= 3 else { return nil }
            let size = 1 << Int(bytes[start] & 0x0F)
            guard let stated = number(at: start + 1, size: size) else { return nil }
            start += 1 + size
            count = stated
        }
        guard start <= tableStart, count <= (tableStart - start) / unit else { return nil }
        return bytes[start..<start + count * unit]
    }

    private func bits(at offset: Int, size: Int) -> UInt64? {
        guard offset <= tableStart - size else { return nil }
        return bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func number(at offset: Int, size: Int) -> Int? {
        Self.number(in: bytes, at: offset, size: size)
    }

    /// A number that can be an offset or a count; nil when it lies outside, or can be neither.
    private static func number(in bytes: [UInt8], at offset: Int, size: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        let value = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value <= UInt64(bytes.count) ? Int(value) : nil
    }
}
