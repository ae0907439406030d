// Generic functions of the standard library, each compiled for one type instead of for many, or written for one:
// reading a number takes one and a half kilobytes for each type of number and of text, and a comparison of two strings'
// UTF-8 as much.

internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Array {
    /// The elements in an order; equal ones stay in the order that they have.
    func inOrder(by isBefore: (Element, Element) -> Bool) -> [Element] {
        positions(count) { isBefore(self[$0], self[$1]) }.map { self[$0] }
    }
}

extension [String] {
    /// The strings in their own order.
    func inOrder() -> [String] { inOrder(by: <) }
}

extension Int64 {
    /// The number that a text consists of, as in `Int64("-12")`.
    init?(digits text: String) {
        guard let (isNegative, magnitude) = wholeNumber(in: text, radix: 10) else { return nil }
        if isNegative, magnitude == Int64.min.magnitude {
            self = .min
        } else {
            guard let number = Int64(exactly: magnitude) else { return nil }
            self = isNegative ? -number : number
        }
    }
}

extension UInt64 {
    /// The number that a text consists of, as in `UInt64("ff", radix: 16)`.
    init?(digits text: String, radix: UInt64 = 10) {
        guard let (isNegative, magnitude) = wholeNumber(in: text, radix: radix), !isNegative || magnitude == 0 else {
            return nil
        }
        self = magnitude
    }
}

/// The number that a text consists of; nil when it has over 64 bits, or is something else.
private func wholeNumber(in text: String, radix: UInt64) -> (isNegative: Bool, magnitude: UInt64)? {
    let bytes = Array(text.utf8)
    let hasSign = bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+")
    guard bytes.count > (hasSign ? 1 : 0) else { return nil }
    var magnitude: UInt64 = 0
    for byte in bytes[(hasSign ? 1 : 0)...] {
        let digit: UInt8
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A") + 10
        default: return nil
        }
        let (product, isTooLarge) = magnitude.multipliedReportingOverflow(by: radix)
        let (sum, isSumTooLarge) = product.addingReportingOverflow(UInt64(digit))
        guard digit < radix, !isTooLarge, !isSumTooLarge else { return nil }
        magnitude = sum
    }
    return (bytes.first == UInt8(ascii: "-"), magnitude)
}

extension Data {
    /// The UTF-8 of a text, as in `Data(text.utf8)`.
    init(utf8Of text: String) {
        var text = text
        self = text.withUTF8 { Data(buffer: $0) }
    }

    /// Whether the bytes are the same, as in `==`.
    func isSame(as other: Data) -> Bool { withUnsafeBytes { other.isSame(as: $0) } }

    @inline(never)
    private func isSame(as other: UnsafeRawBufferPointer) -> Bool { withUnsafeBytes { $0.isSame(as: other) } }
}

extension String {
    /// Whether another string has the same UTF-8; equal strings need not: "é" has two forms.
    func hasSameUTF8(as other: String) -> Bool { StoreKey(unchecked: self) == StoreKey(unchecked: other) }

    /// Whether the UTF-8 is in the order of bytes before that of another string.
    func precedesInUTF8(_ other: String) -> Bool {
        var (one, other) = (self, other)
        return one.withUTF8 { one in other.withUTF8 { one.lexicographicallyPrecedes($0) } }
    }
}
