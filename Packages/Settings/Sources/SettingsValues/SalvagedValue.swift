package import Default
package import Foundation

/// A value in a damaged journal.
package struct SalvagedValue {
    package let key: String
    package let value: PropertyListValue
    /// Whether its record's checksum is right.
    package let isIntact: Bool

    package func hasKey(_ key: String) -> Bool { self.key.utf8.elementsEqual(key.utf8) }

    /// The values in a backup: those of intact records as the library reads them, and then what can be made out of
    /// damaged ones.
    package static func all(in copy: URL) throws -> [SalvagedValue] {
        try TemporaryDirectory.with { directory in
            // The library reads a suite. That it reports the damage is nothing new here.
            let handler = DefaultsDiagnostics.handler
            DefaultsDiagnostics.handler = { _ in }
            defer { DefaultsDiagnostics.handler = handler }
            let suite = directory.appending(path: "copy.defaults", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: suite, withIntermediateDirectories: false)
            let journal = suite.appending(path: "journal")
            try FileManager.default.copyItem(at: copy, to: journal)
            let intact = try SuiteContents(of: FileDefaults(readingFrom: suite)).entries
                .map { SalvagedValue(key: $0.key, value: $0.value, isIntact: true) }
            let bytes = try Array(Data(contentsOf: journal))
            let damaged = try FileDefaults.inspect(at: suite).damage.flatMap { values(in: bytes, $0) }
            return damaged + intact
        }
    }

    /// The values in a part of a journal whose checksums are wrong, as the article "File format" describes records; of
    /// several for a key, the last.
    private static func values(in bytes: [UInt8], _ range: Range<UInt64>) -> [SalvagedValue] {
        var found: [SalvagedValue] = []
        var position = Int(range.lowerBound)
        let end = min(Int(range.upperBound), bytes.count)
        while position + 16 <= end {
            guard bytes[position..<position + 2].elementsEqual([0xF5, 0x52]) else {
                position += 1
                continue
            }
            let length = number(in: bytes, at: position + 4, size: 4)
            position += 16
            found += operations(in: bytes[position..<max(position, min(position + length, end))])
        }
        return found.enumerated().filter { index, value in
            !found[(index + 1)...].contains { $0.hasKey(value.key) }
        }.map(\.element)
    }

    /// The values that a record sets, up to the first operation that makes no sense.
    private static func operations(in payload: ArraySlice<UInt8>) -> [SalvagedValue] {
        var found: [SalvagedValue] = []
        var rest = payload
        while let kind = rest.popFirst() {
            guard kind == 1, rest.count >= 6 else { return found }
            let keyLength = number(in: rest, at: rest.startIndex, size: 2)
            let valueLength = number(in: rest, at: rest.startIndex + 2, size: 4)
            rest = rest.dropFirst(6)
            guard keyLength > 0, keyLength + valueLength <= rest.count else { return found }
            let key = String(validating: rest.prefix(keyLength), as: UTF8.self)
            let value = PropertyListValue(binaryForm: Data(rest.dropFirst(keyLength).prefix(valueLength)))
            rest = rest.dropFirst(keyLength + valueLength)
            if let key, let value, !key.hasPrefix("\0") {
                found.append(SalvagedValue(key: key, value: value, isIntact: false))
            }
        }
        return found
    }

    private static func number<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes, at index: Int, size: Int) -> Int
    where Bytes.Index == Int {
        bytes[index..<index + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
