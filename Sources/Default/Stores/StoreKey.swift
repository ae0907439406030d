internal import Foundation

/// A key as stores tell keys apart: by its bytes.
///
/// Swift's `String` takes canonically equivalent strings for equal ("é" as one scalar or as two), so a dictionary
/// keyed by `String` would let two keys share one value.
package struct StoreKey: Hashable, Sendable {
    /// The longest key there is, in bytes of UTF-8.
    package static let maximumByteCount = 65_535

    package let string: String

    /// Checks a key that a caller gave.
    ///
    /// - Throws: ``DefaultsError/Code/invalidKey`` for an empty key, one that holds NUL, or one over 65,535 bytes.
    package init(_ string: String) throws(DefaultsError) {
        let utf8 = string.utf8
        if utf8.isEmpty {
            throw .invalidKey(string, because: "it is empty")
        }
        if utf8.count > Self.maximumByteCount {
            throw .invalidKey(string, because: "it has \(utf8.count) bytes, more than \(Self.maximumByteCount)")
        }
        var contiguous = string
        let hasNUL = contiguous.withUTF8 { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        }
        if hasNUL {
            throw .invalidKey(string, because: "it holds a NUL character")
        }
        self.string = string
    }

    /// Takes a key that needs no check: one that only looks something up, or that was stored before.
    package init(unchecked string: String) {
        self.string = string
    }

    package static func == (lhs: StoreKey, rhs: StoreKey) -> Bool {
        var left = lhs.string
        var right = rhs.string
        let count = left.utf8.count
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard left.count == right.count, let left = left.baseAddress, let right = right.baseAddress else {
                    return left.count == right.count
                }
                return memcmp(left, right, count) == 0
            }
        }
    }

    package func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
