internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Data {
    /// Whether the bytes are the same; those of a copy, which are at the same address, are not compared.
    func isSame(as other: Data) -> Bool {
        withUnsafeBytes { bytes in other.withUnsafeBytes { bytes.isSame(as: $0) } }
    }

    /// Whether this begins like a property list, which no JSON does.
    var isPropertyList: Bool { starts(with: "bplist") || starts(with: "<") }

    /// Whether the bytes begin with those of a text.
    func starts(with text: String) -> Bool { withUnsafeBytes { $0.starts(with: text.utf8) } }

    /// Whether the bytes contain those of a text.
    func contains(_ text: String) -> Bool { withUnsafeBytes { ByteSearch.contains(text, in: $0) } }
}

extension String {
    /// Creates a string from UTF-8; nil when the bytes are something else.
    ///
    /// The standard library's initializer that does this needs macOS 15.
    init?(strictUTF8 bytes: UnsafeRawBufferPointer) {
        // Each byte that isn't UTF-8 is replaced by others.
        self.init(decoding: bytes, as: UTF8.self)
        guard withUTF8({ UnsafeRawBufferPointer($0).isSame(as: bytes) }) else { return nil }
    }

    /// Whether another string has the same UTF-8; equal strings need not: "é" has two forms.
    func hasSameUTF8(as other: String) -> Bool { StoreKey(unchecked: self) == StoreKey(unchecked: other) }

    /// Whether the UTF-8 is in the order of bytes before that of another string.
    func precedesInUTF8(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are equal; buffers with the same address are not compared.
    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let start = baseAddress, let otherStart = other.baseAddress else {
            return count == other.count
        }
        return start == otherStart || ByteSearch.isSame(start, otherStart, count: count)
    }
}

/// Whether two values have the same bits and so are equal.
///
/// Copies of one `String` or `Data` do, because a short one is stored inline and a long one as the address of its
/// storage. Equal values may have different bits.
///
/// Each of the two comparisons of contents that this avoids would take a tenth of a read.
func haveSameRepresentation<Value>(_ one: Value, _ other: Value) -> Bool {
    withUnsafeBytes(of: one) { own in
        withUnsafeBytes(of: other) { ByteSearch.isSame(own.baseAddress!, $0.baseAddress!, count: own.count) }
    }
}
