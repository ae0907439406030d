#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Identifies contents without storing them: the 64-bit FNV-1a hash, which is the same in every process and version.
struct ContentDigest: Hashable, Sendable {
    let bits: UInt64

    init(bits: UInt64) {
        self.bits = bits
    }

    init(_ bytes: some ContiguousBytes) {
        self = bytes.withUnsafeBytes { Self(of: $0) }
    }

    // Compiled once, instead of in each of its callers.
    @inline(never)
    private init(of bytes: UnsafeRawBufferPointer) {
        bits = bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    @inline(never)
    init(_ value: PropertyListValue) {
        if case .data(let data) = value {
            self.init(data)
        } else {
            self.init(value.bytes)
        }
    }

    /// Sixteen hexadecimal digits.
    var text: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension DefaultsError {
    /// The same error about a stored value, which is reported once for each value.
    func about(_ value: PropertyListValue) -> DefaultsError {
        about(ContentDigest(value).bits)
    }
}
