#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Identifies contents without storing them: the 64-bit FNV-1a hash, which is the same in every process and version.
struct ContentDigest: Equatable, Sendable {
    let bits: UInt64

    /// Sixteen hexadecimal digits.
    var text: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ContentDigest {
    // Compiled once, instead of in each of its callers.
    @inline(never)
    init(_ data: Data) {
        var bits: UInt64 = 0xCBF2_9CE4_8422_2325
        data.withUnsafeBytes { bytes in
            for byte in bytes {
                bits = (bits ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            }
        }
        self.init(bits: bits)
    }
}

extension DefaultsError {
    /// The same error about a stored value, which is reported once for each value.
    func about(_ value: PropertyListValue) -> DefaultsError {
        let data = if case .data(let data) = value { data } else { value.binaryForm }
        return about(content: ContentDigest(data).bits)
    }
}
