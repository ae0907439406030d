/// Finds where a JSON value ends, and so whether bytes are one; without recursion, since others' JSON may nest deeply.
///
/// The grammar is that of RFC 8259.
struct JSONScanner {
    private let bytes: [UInt8]
    private(set) var position: Int

    init(_ bytes: [UInt8], at position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    /// Whether bytes are one JSON value, with no white space around it, in valid UTF-8.
    static func isValue(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first, !isSpace(first), let last = bytes.last, !isSpace(last) else { return false }
        var scanner = JSONScanner(bytes)
        return scanner.skipValue() && scanner.position == bytes.count && isUTF8(bytes)
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    static func isUTF8(_ bytes: [UInt8]) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }

    /// The byte at the position; nil at the end.
    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipSpace() {
        while let byte = current, Self.isSpace(byte) {
            position += 1
        }
    }

    /// Steps over a byte if it is at the position.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Steps over a value that begins at the position; false when none does.
    mutating func skipValue() -> Bool {
        var closings: [Unicode.Scalar] = []
        while true {
            // A value begins here.
            skipSpace()
            if skip("[") {
                skipSpace()
                if !skip("]") {
                    closings.append("]")
                    continue
                }
            } else if skip("{") {
                skipSpace()
                if !skip("}") {
                    closings.append("}")
                    guard skipName() else { return false }
                    continue
                }
            } else if !skipScalar() {
                return false
            }
            // A value has ended: so may those around it.
            while true {
                guard let closing = closings.last else { return true }
                skipSpace()
                if skip(closing) {
                    closings.removeLast()
                    continue
                }
                guard skip(",") else { return false }
                if closing == "}" {
                    skipSpace()
                    guard skipName() else { return false }
                }
                break
            }
        }
    }

    private mutating func skipName() -> Bool {
        guard skipString() else { return false }
        skipSpace()
        return skip(":")
    }

    private mutating func skipScalar() -> Bool {
        switch current {
        case UInt8(ascii: "\""): skipString()
        case UInt8(ascii: "t"): skipWord("true")
        case UInt8(ascii: "f"): skipWord("false")
        case UInt8(ascii: "n"): skipWord("null")
        default: skipNumber()
        }
    }

    mutating func skipWord(_ word: StaticString) -> Bool {
        for offset in 0..<word.utf8CodeUnitCount {
            guard current == word.utf8Start[offset] else { return false }
            position += 1
        }
        return true
    }

    mutating func skipString() -> Bool {
        guard skip("\"") else { return false }
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"):
                guard skipEscape() else { return false }
            case 0..<0x20: return false
            default: break
            }
        }
        return false
    }

    private mutating func skipEscape() -> Bool {
        guard let byte = current else { return false }
        position += 1
        guard byte == UInt8(ascii: "u") else {
            return "\"\\/bfnrt".utf8.contains(byte)
        }
        for _ in 0..<4 {
            guard let digit = current, Character(Unicode.Scalar(digit)).isHexDigit else { return false }
            position += 1
        }
        return true
    }

    mutating func skipNumber() -> Bool {
        _ = skip("-")
        if !skip("0") {
            guard skipDigits() else { return false }
        }
        if skip("."), !skipDigits() {
            return false
        }
        if skip("e") || skip("E") {
            _ = skip("+") || skip("-")
            return skipDigits()
        }
        return true
    }

    private mutating func skipDigits() -> Bool {
        let start = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            position += 1
        }
        return position > start
    }
}
