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
        isBitwiseCopy(lhs.string, of: rhs.string) || haveSameBytes(lhs, rhs)
    }

    private static func haveSameBytes(_ lhs: StoreKey, _ rhs: StoreKey) -> Bool {
        let left = lhs.string.utf8
        let right = rhs.string.utf8
        // Strings of another representation than Swift's own lend no storage; they are rare, and compared byte by byte.
        let areEqual = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in
                guard left.count == right.count, let start = left.baseAddress, let other = right.baseAddress else {
                    return left.count == right.count
                }
                return memcmp(start, other, left.count) == 0
            }
        }
        return (areEqual ?? nil) ?? left.elementsEqual(right)
    }

    package func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// Whether one value has the same bits as another, and so surely is the same.
///
/// Short strings and data hold their content themselves, copies of long ones share it. Equal ones need not have the same
/// bits.
@inline(__always)
func isBitwiseCopy<Value>(_ value: Value, of other: Value) -> Bool {
    withUnsafeBytes(of: value) { own in
        withUnsafeBytes(of: other) { memcmp(own.baseAddress!, $0.baseAddress!, own.count) == 0 }
    }
}
