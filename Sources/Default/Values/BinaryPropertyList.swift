#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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

    /// Whether Foundation's decoders may be given some bytes: a binary property list whose offsets and counts are in
    /// bounds, one in XML that doesn't nest too deeply, or anything else.
    static func isSafe(_ data: Data) -> Bool {
        guard data.starts(with: "bplist") else { return !XMLPropertyList.nestsTooDeeply(data) }
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

    /// Where the units of an object are: bytes, characters or references.
    private struct Body {
        let start: Int
        let count: Int
    }

    /// The body of an object; nil when it is out of bounds.
    private func checkBody(of low: Int, at offset: Int, unit: Int) -> Body? {
        var start = offset + 1
        var count = low
        if low == 0x0F {
            guard start < tableStart, bytes[start] >> 4 == 0x1, bytes[start] & 0x0F <= 3 else { return nil }
            let size = 1 << Int(bytes[start] & 0x0F)
            guard let stated = number(at: start + 1, size: size) else { return nil }
            start += 1 + size
            count = stated
        }
        return start + count * unit <= tableStart ? Body(start: start, count: count) : nil
    }

    private mutating func checkReferences(of low: Int, at offset: Int, perEntry: Int, depth: Int) -> Bool {
        guard let body = checkBody(of: low, at: offset, unit: referenceSize * perEntry) else { return false }
        for entry in 0..<body.count * perEntry {
            guard let index = number(at: body.start + entry * referenceSize, size: referenceSize),
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
        guard let body = checkBody(of: low, at: offset, unit: referenceSize) else { return nil }
        var elements: [PropertyListValue] = []
        for entry in 0..<body.count {
            guard let element = reference(entry, at: body.start) else { return nil }
            elements.append(element)
        }
        return .array(elements)
    }

    private func dictionary(of low: Int, at offset: Int) -> PropertyListValue? {
        guard let body = checkBody(of: low, at: offset, unit: referenceSize * 2) else { return nil }
        var entries: [String: PropertyListValue] = [:]
        for entry in 0..<body.count {
            guard case .string(let key)? = reference(entry, at: body.start), entries[key] == nil,
                let value = reference(body.count + entry, at: body.start)
            else { return nil }
            entries[key] = value
        }
        return .dictionary(entries)
    }

    private func reference(_ entry: Int, at start: Int) -> PropertyListValue? {
        number(at: start + entry * referenceSize, size: referenceSize).flatMap { value(at: $0) }
    }
}
