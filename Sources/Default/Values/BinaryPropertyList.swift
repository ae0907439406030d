internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Checks that all offsets and counts in a binary property list are in bounds.
///
/// Foundation's decoder uses counts and offsets before it checks them against the number of bytes, at least on systems other
/// than Apple's, and so traps on some damaged property lists. The format is that of CFBinaryPList.c: a header, objects, a
/// table of their offsets, and a trailer of 32 bytes, all numbers big-endian.
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

    /// Returns true for a binary property list whose offsets and counts are in bounds, and for bytes that are not a binary
    /// property list.
    static func isSafe(_ data: Data) -> Bool {
        guard data.first == UInt8(ascii: "b"), data.starts(with: Data(utf8Of: "bplist")) else {
            return true
        }
        return data.withUnsafeBytes { bytes in
            guard var list = BinaryPropertyList(bytes), let top = list.number(at: bytes.count - 16, size: 8) else {
                return false
            }
            return list.checkObject(top, depth: 0)
        }
    }

    /// The value of a binary property list; nil for other bytes, and for values that Foundation's decoder has to judge.
    ///
    /// Foundation's decoder has to be asked for one type after the other, and throws an error for each that doesn't fit.
    static func value(of data: Data) -> PropertyListValue? {
        guard data.starts(with: Data(utf8Of: "bplist00")), isSafe(data) else {
            return nil
        }
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
        else {
            return nil
        }
        objectCount = count
        tableStart = start
    }

    /// Reads an offset or a count; nil when it is out of bounds or larger than the number of bytes.
    private func number(at offset: Int, size: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        let value = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value <= UInt64(bytes.count) ? Int(value) : nil
    }

    private mutating func checkObject(_ index: Int, depth: Int) -> Bool {
        budget -= 1
        guard budget >= 0, depth <= PropertyListValue.maximumDepth, index < objectCount,
            let offset = number(at: tableStart + index * offsetSize, size: offsetSize), offset < tableStart
        else {
            return false
        }
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
            else {
                return false
            }
        }
        return true
    }
}

// Objects that were checked.
extension BinaryPropertyList {
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
        bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func integer(at offset: Int, size: Int) -> PropertyListValue? {
        // Only eight bytes have a sign. Sixteen are written for what is larger than they can hold.
        let bits = bits(at: offset + max(size - 8, 0), size: min(size, 8))
        guard size > 8 else { return .integer(Int64(bitPattern: bits)) }
        return bytes[offset..<offset + 8].allSatisfy { $0 == 0 } && bits > Int64.max ? .unsigned(bits) : nil
    }

    private func data(at offset: Int, count: Int) -> PropertyListValue {
        .data(Data(bytes[offset..<offset + count]))
    }

    private func text(at offset: Int, count: Int) -> PropertyListValue? {
        let text = bytes[offset..<offset + count]
        return text.allSatisfy { $0 < 0x80 } ? .string(String(decoding: text, as: UTF8.self)) : nil
    }

    private func wideText(at offset: Int, count: Int) -> PropertyListValue? {
        let units = (0..<count).map { UInt16(truncatingIfNeeded: bits(at: offset + $0 * 2, size: 2)) }
        let text = String(decoding: units, as: UTF16.self)
        // Half a surrogate pair is replaced.
        return text.utf16.elementsEqual(units) ? .string(text) : nil
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
            else {
                return nil
            }
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
    var isPropertyList: Bool {
        ["bplist", "<"].contains { starts(with: Data(utf8Of: $0)) }
    }

    /// Whether the bytes contain those of a text.
    func contains(_ text: String) -> Bool {
        withUnsafeBytes { ByteSearch.contains(text, in: $0) }
    }
}
