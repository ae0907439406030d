public import CDefaultSystem

/// Searches in bytes with the C library's functions, which are fast enough for gigabytes.
public enum ByteSearch: Sendable {
    static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, let first = bytes.first else { return true }
        // Each byte equals the one before it.
        return first == 0 && default_is_same(start, start + 1, bytes.count - 1)
    }

    /// Whether two buffers of the same size have the same content.
    @inlinable public static func isSame(_ one: UnsafeRawPointer, _ other: UnsafeRawPointer, count: Int) -> Bool {
        default_is_same(one, other, count)
    }

    static func isSame(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        guard let first = one.baseAddress, let second = other.baseAddress else { return true }
        return default_is_same(first, second, one.count)
    }

    package static func contains(_ byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.baseAddress.map { default_find($0, byte, bytes.count) != nil } ?? false
    }

    /// Whether bytes contain those of a text; this takes a fifth of the time of Foundation's `range(of:)`.
    package static func contains(_ text: String, in bytes: UnsafeRawBufferPointer) -> Bool {
        let text = Array(text.utf8)
        guard let first = text.first, var start = bytes.baseAddress else { return false }
        let end = start + bytes.count
        while start + text.count <= end, let found = default_find(start, first, end - start - text.count + 1) {
            if default_is_same(found, text, text.count) { return true }
            start = found + 1
        }
        return false
    }
}

/// The positions of some elements in an order of the elements; equal ones stay in the order that they have.
package func positions(_ count: Int, by isBefore: (Int, Int) -> Bool) -> [Int] {
    Array(0..<count).sorted(by: isBefore)
}
