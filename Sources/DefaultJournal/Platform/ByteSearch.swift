#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Searches in bytes with the C library's functions, which are fast enough for gigabytes.
enum ByteSearch {
    /// The index of the first byte with a value; nil when there is none.
    static func firstIndex(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return nil }
        guard let found = memchr(start, Int32(byte), bytes.count) else { return nil }
        return UnsafeRawPointer(found) - start
    }

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
