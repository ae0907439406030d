#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Searches in bytes with the C library's functions, which are fast enough for gigabytes.
enum ByteSearch {
    /// Whether all bytes are 0.
    static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, let first = bytes.first else { return true }
        // Each byte equals the one before it.
        return first == 0 && memcmp(start, start + 1, bytes.count - 1) == 0
    }

    /// Whether two buffers have the same content.
    static func isSame(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        guard let first = one.baseAddress, let second = other.baseAddress else { return true }
        return memcmp(first, second, one.count) == 0
    }
}
