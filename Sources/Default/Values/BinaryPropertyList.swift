internal import Foundation

/// Checks that the parts of a binary property list lie where it says they do.
///
/// Foundation's decoder for them computes with counts and offsets before it has compared them with the number of bytes, off
/// Apple's systems at least, and so ends the process on some damaged ones. The format is that of CFBinaryPList.c: a header,
/// objects, a table of their offsets, and a trailer of 32 bytes, all numbers big-endian.
struct BinaryPropertyList {
    private let bytes: UnsafeRawBufferPointer
    private let offsetSize: Int
    private let referenceSize: Int
    private var objectCount = 0
    private var tableStart = 0
    /// How many objects may still be visited: shared ones count each time, so that no small list becomes endless.
    private var budget: Int

    /// Whether bytes are not a binary property list, or are one whose parts lie where it says.
    static func isSafe(_ data: Data) -> Bool {
        guard data.first == UInt8(ascii: "b"), data.starts(with: Data("bplist".utf8)) else {
            return true
        }
        return data.withUnsafeBytes { bytes in
            guard var list = BinaryPropertyList(bytes), let top = list.number(at: bytes.count - 16, size: 8) else {
                return false
            }
            return list.checkObject(top, depth: 0)
        }
    }

    private init?(_ bytes: UnsafeRawBufferPointer) {
        let trailer = bytes.count - 32
        guard trailer >= 8 else {
            return nil
        }
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

    /// A number that can be an offset or a count; nil when it lies outside, or can be neither.
    private func number(at offset: Int, size: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - size else {
            return nil
        }
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

    /// Where the body of an object with a count begins and how many units it has; nil when it lies outside.
    private func checkBody(of low: Int, at offset: Int, unit: Int) -> (start: Int, count: Int)? {
        var start = offset + 1
        var count = low
        if low == 0x0F {
            guard start < tableStart, bytes[start] >> 4 == 0x1, bytes[start] & 0x0F <= 3 else {
                return nil
            }
            let size = 1 << Int(bytes[start] & 0x0F)
            guard let stated = number(at: start + 1, size: size) else {
                return nil
            }
            start += 1 + size
            count = stated
        }
        return start + count * unit <= tableStart ? (start, count) : nil
    }

    private mutating func checkReferences(of low: Int, at offset: Int, perEntry: Int, depth: Int) -> Bool {
        guard let (start, count) = checkBody(of: low, at: offset, unit: referenceSize * perEntry) else {
            return false
        }
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
