#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Identifies contents without storing them, by their hash ``FNV1a``.
struct ContentDigest: Equatable, Sendable {
    let bits: UInt64

    /// Sixteen hexadecimal digits.
    var text: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ContentDigest {
    init(_ data: Data) { self.init(bits: data.withUnsafeBytes { FNV1a.hash($0) }) }
}
