internal import DefaultJournal

/// A key as stores distinguish keys: by its bytes.
///
/// Swift's `String` treats canonically equivalent strings as equal ("é" as one scalar or as two), so in a dictionary
/// keyed by `String` two keys of a store would share one value. Stores that keep values in a dictionary use this type
/// as its key; ``init(_:)`` also checks that the key is valid.
public struct StoreKey: Hashable, Sendable {
    /// The maximum length of a key, in bytes of UTF-8.
    package static let maximumByteCount = 65_535

    /// The key.
    public let string: String

    /// Creates a key without a check, for a lookup or for a key that was stored before.
    ///
    /// - Parameter string: The key.
    public init(unchecked string: String) { self.string = string }

    /// Why the key is invalid, as a clause; nil for a valid key.
    package var fault: String? {
        let utf8 = string.utf8
        if utf8.isEmpty { return "it is empty" }
        if utf8.count > Self.maximumByteCount {
            return "it has \(utf8.count) bytes, more than \(Self.maximumByteCount)"
        }
        return withUTF8 { ByteSearch.contains(0, in: UnsafeRawBufferPointer($0)) } ? "it contains a NUL character" : nil
    }

    /// Whether two keys are the same bytes.
    public static func == (lhs: StoreKey, rhs: StoreKey) -> Bool {
        haveSameRepresentation(lhs.string, rhs.string)
            || lhs.string.utf8.count == rhs.string.utf8.count
                && lhs.withUTF8 { left in
                    rhs.withUTF8 { UnsafeRawBufferPointer(left).isSame(as: UnsafeRawBufferPointer($0)) }
                }
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Calls a body with the key's bytes.
    package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = string.utf8.withContiguousStorageIfAvailable(body) { return result }
        // A string from Objective-C.
        var copy = string
        return copy.withUTF8(body)
    }
}
