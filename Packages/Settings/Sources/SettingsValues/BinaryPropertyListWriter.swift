package import Default
package import Foundation

/// Writes binary property lists that are the same bytes for the same value: entries are sorted by their keys, while
/// Foundation takes the order of a dictionary, which differs from one process to the next.
///
/// ``BinaryPropertyListReader`` describes the format.
package struct BinaryPropertyListWriter {
    private enum Object {
        case leaf(Data)
        case container(marker: UInt8, count: Int, references: [Int])
    }

    private var objects: [Object] = []

    package static func data(_ value: PropertyListValue) -> Data {
        guard case .dictionary(let entries) = value else {
            var writer = BinaryPropertyListWriter()
            _ = writer.add(value)
            return writer.list
        }
        return data(entries.map { ($0.key, $0.value) })
    }

    package static func data(_ entries: [(key: String, value: PropertyListValue)]) -> Data {
        var writer = BinaryPropertyListWriter()
        _ = writer.add(entries)
        return writer.list
    }

    private mutating func add(_ value: PropertyListValue) -> Int {
        switch value {
        case .boolean(let boolean): return add(leaf: Data([boolean ? 0x09 : 0x08]))
        case .integer(let integer): return add(leaf: Self.integer(integer))
        case .unsigned(let unsigned) where unsigned > UInt64(Int64.max):
            return add(leaf: Data([0x14]) + Self.bytes(0, 8) + Self.bytes(unsigned, 8))
        case .unsigned(let unsigned): return add(leaf: Self.integer(Int64(unsigned)))
        case .real(let real): return add(leaf: Data([0x23]) + Self.bytes(real.bitPattern, 8))
        case .date(let date):
            return add(leaf: Data([0x33]) + Self.bytes(date.timeIntervalSinceReferenceDate.bitPattern, 8))
        case .data(let data): return add(leaf: Self.head(0x40, data.count) + data)
        case .string(let string): return add(string)
        case .array(let elements):
            let index = objects.count
            objects.append(.container(marker: 0xA0, count: elements.count, references: []))
            let references = elements.map { add($0) }
            objects[index] = .container(marker: 0xA0, count: elements.count, references: references)
            return index
        case .dictionary(let entries): return add(entries.map { ($0.key, $0.value) })
        }
    }

    private mutating func add(_ entries: [(key: String, value: PropertyListValue)]) -> Int {
        let entries = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let index = objects.count
        objects.append(.container(marker: 0xD0, count: entries.count, references: []))
        let keys = entries.map { add($0.key) }
        let values = entries.map { add($0.value) }
        objects[index] = .container(marker: 0xD0, count: entries.count, references: keys + values)
        return index
    }

    private mutating func add(_ string: String) -> Int {
        if string.utf8.allSatisfy({ $0 < 0x80 }) {
            return add(leaf: Self.head(0x50, string.utf8.count) + Data(string.utf8))
        }
        var units = Data()
        for unit in string.utf16 { units += Self.bytes(UInt64(unit), 2) }
        return add(leaf: Self.head(0x60, string.utf16.count) + units)
    }

    private mutating func add(leaf: Data) -> Int {
        objects.append(.leaf(leaf))
        return objects.count - 1
    }

    private var list: Data {
        let referenceSize = Self.size(for: objects.count)
        var list = Data("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(list.count)
            switch object {
            case .leaf(let data): list += data
            case .container(let marker, let count, let references):
                list += Self.head(marker, count)
                for reference in references { list += Self.bytes(UInt64(reference), referenceSize) }
            }
        }
        let tableStart = list.count
        let offsetSize = Self.size(for: tableStart)
        for offset in offsets { list += Self.bytes(UInt64(offset), offsetSize) }
        list += Data(count: 6) + Data([UInt8(offsetSize), UInt8(referenceSize)])
        list += Self.bytes(UInt64(objects.count), 8) + Self.bytes(0, 8) + Self.bytes(UInt64(tableStart), 8)
        return list
    }

    private static func head(_ marker: UInt8, _ count: Int) -> Data {
        count < 15 ? Data([marker | UInt8(count)]) : Data([marker | 0x0F]) + integer(Int64(count))
    }

    /// Up to four bytes are unsigned, eight are signed.
    private static func integer(_ integer: Int64) -> Data {
        switch integer {
        case 0...0xFF: Data([0x10]) + bytes(UInt64(integer), 1)
        case 0x100...0xFFFF: Data([0x11]) + bytes(UInt64(integer), 2)
        case 0x1_0000...0xFFFF_FFFF: Data([0x12]) + bytes(UInt64(integer), 4)
        default: Data([0x13]) + bytes(UInt64(bitPattern: integer), 8)
        }
    }

    private static func size(for number: Int) -> Int {
        number <= 0xFF ? 1 : number <= 0xFFFF ? 2 : number <= 0xFFFF_FFFF ? 4 : 8
    }

    private static func bytes(_ number: UInt64, _ size: Int) -> Data {
        Data((0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) })
    }
}
