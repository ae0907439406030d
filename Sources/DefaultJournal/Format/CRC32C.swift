internal import CDefaultSystem

/// CRC-32C, the checksum of every header and record.
///
/// The polynomial is Castagnoli's (G. Castagnoli, S. Bräuer, M. Herrmann, 1993) in the form of RFC 3720, appendix B.4:
/// reflected 0x1EDC6F41, initial value and final XOR all ones. The method is slicing-by-16, the widened form of
/// M. Kounavis and F. Berry, "Novel Table Lookup-Based Algorithms for High-Performance CRC Generation" (2008): sixteen
/// look-ups that do not wait for each other take in sixteen bytes at once. Where the processor has an instruction for it,
/// that is used instead.
package enum CRC32C {
    /// The checksum of `bytes`, continuing from `previous`, the checksum of the bytes before them.
    package static func checksum(_ bytes: UnsafeRawBufferPointer, continuing previous: UInt32 = 0) -> UInt32 {
        guard isInHardware else { return checksumByTables(bytes, continuing: previous) }
        guard let start = bytes.baseAddress else { return previous }
        return ~default_crc32c_in_hardware(~previous, start, bytes.count)
    }

    private static let isInHardware = default_crc32c_is_in_hardware()

    /// The same on every processor.
    package static func checksumByTables(
        _ bytes: UnsafeRawBufferPointer,
        continuing previous: UInt32 = 0
    ) -> UInt32 {
        guard let start = bytes.baseAddress else { return previous }
        let table = tables
        var state = ~previous
        var cursor = start
        var left = bytes.count
        while left >= 16 {
            let low = UInt64(littleEndian: cursor.loadUnaligned(as: UInt64.self)) ^ UInt64(state)
            let high = UInt64(littleEndian: cursor.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            state = foldEight(low, table + 8 * 256) ^ foldEight(high, table)
            cursor += 16
            left -= 16
        }
        if left >= 8 {
            let word = UInt64(littleEndian: cursor.loadUnaligned(as: UInt64.self)) ^ UInt64(state)
            state = foldEight(word, table)
            cursor += 8
            left -= 8
        }
        while left > 0 {
            let index = Int(UInt8(truncatingIfNeeded: state) ^ cursor.load(as: UInt8.self))
            state = (state >> 8) ^ table[index]
            cursor += 1
            left -= 1
        }
        return ~state
    }

    /// Looks up eight bytes; `table` is that of the last byte, and that of the first byte follows seven tables later.
    private static func foldEight(_ word: UInt64, _ table: UnsafePointer<UInt32>) -> UInt32 {
        let first =
            table[7 * 256 + Int(word & 0xFF)] ^ table[6 * 256 + Int((word >> 8) & 0xFF)]
            ^ table[5 * 256 + Int((word >> 16) & 0xFF)] ^ table[4 * 256 + Int((word >> 24) & 0xFF)]
        let second =
            table[3 * 256 + Int((word >> 32) & 0xFF)] ^ table[2 * 256 + Int((word >> 40) & 0xFF)]
            ^ table[256 + Int((word >> 48) & 0xFF)] ^ table[Int(word >> 56)]
        return first ^ second
    }

    /// Sixteen tables of 256 entries: table n holds the effect of a byte that is followed by n more bytes.
    ///
    /// Created once per process and never freed.
    private nonisolated(unsafe) static let tables: UnsafePointer<UInt32> = {
        let table = UnsafeMutablePointer<UInt32>.allocate(capacity: 16 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 {
                value = (value >> 1) ^ (value & 1 == 1 ? 0x82F6_3B78 : 0)
            }
            table[byte] = value
        }
        for index in 256..<(16 * 256) {
            let before = table[index - 256]
            table[index] = (before >> 8) ^ table[Int(before & 0xFF)]
        }
        return UnsafePointer(table)
    }()
}
