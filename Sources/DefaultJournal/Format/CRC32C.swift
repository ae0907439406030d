internal import CDefaultSystem

/// CRC-32C, the checksum of every header and record.
///
/// The polynomial is Castagnoli's (G. Castagnoli, S. Bräuer, M. Herrmann, 1993) in the form of RFC 3720, appendix B.4:
/// reflected 0x1EDC6F41, initial value and final XOR all ones.
enum CRC32C {
    /// The checksum of `bytes`, continuing from `previous`, the checksum of the bytes before them.
    @inline(__always)  // See Journal.acquire.
    static func checksum(_ bytes: UnsafeRawBufferPointer, continuing previous: UInt32 = 0) -> UInt32 {
        guard isInHardware else { return checksumByTable(bytes, continuing: previous) }
        guard let start = bytes.baseAddress else { return previous }
        return ~default_crc32c_in_hardware(~previous, start, bytes.count)
    }

    private static let isInHardware = default_crc32c_is_in_hardware()

    /// The same for processors without an instruction for it, a byte at a time.
    static func checksumByTable(_ bytes: UnsafeRawBufferPointer, continuing previous: UInt32 = 0) -> UInt32 {
        var state = ~previous
        for byte in bytes { state = (state >> 8) ^ table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] }
        return ~state
    }

    private static let table = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in (value >> 1) ^ (value & 1 == 1 ? 0x82F6_3B78 : 0) }
    }
}
