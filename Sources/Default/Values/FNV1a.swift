/// The hash FNV-1a of Fowler, Noll and Vo, with 64 bits.
///
/// It is the same in every process and version, so it can be stored. It is not made for contents that were chosen to
/// have equal hashes.
enum FNV1a {
    private static let offsetBasis: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let prime: UInt64 = 0x0000_0100_0000_01B3

    /// The hash of some bytes, as it is published.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = offsetBasis
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* prime
        }
        return hash
    }

    /// A hash for tables in memory: eight bytes at a time, with the upper bits folded in at the end.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - seed: The hash of what comes before them.
    /// - Returns: The hash, of which the lower bits are as good as the upper ones.
    static func hashByWords(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var hash = seed
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* prime
            offset += 8
        }
        while offset < bytes.count {
            hash = (hash ^ UInt64(bytes[offset])) &* prime
            offset += 1
        }
        hash ^= hash >> 32
        return hash ^ hash >> 12
    }
}
