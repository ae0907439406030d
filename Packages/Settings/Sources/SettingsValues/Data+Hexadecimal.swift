package import Foundation

extension Data {
    /// Reads pairs of digits, perhaps with space between them.
    package init?(hexadecimal text: String) {
        let digits = text.filter { !$0.isWhitespace }
        guard digits.utf8.count.isMultiple(of: 2), digits.allSatisfy(\.isHexDigit) else {
            return nil
        }
        self.init()
        var rest = digits[...]
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            append(byte)
            rest = rest.dropFirst(2)
        }
    }
}
