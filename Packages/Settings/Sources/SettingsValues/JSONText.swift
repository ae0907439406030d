/// JSON as it is written: with the order of members and the digits of numbers, which Foundation's parsers drop.
package indirect enum JSONText {
    case null
    case boolean(Bool)
    case number(String)
    case string(String)
    case array([JSONText])
    case object([Member])

    package struct Member {
        package let name: String
        package let value: JSONText

        package init(name: String, value: JSONText) {
            self.name = name
            self.value = value
        }
    }
}

extension JSONText {
    /// Parses text by RFC 8259; nil for anything else, and for what nests too deep.
    package init?(parsing bytes: some Collection<UInt8>, maximumDepth: Int = 256) {
        var parser = JSONParser(bytes: Array(bytes), maximumDepth: maximumDepth)
        guard let value = parser.parseText() else {
            return nil
        }
        self = value
    }

    /// Without any white space, as `JSONEncoder` writes it when it leaves slashes as they are; not for terminals.
    package var compact: String {
        switch self {
        case .null: "null"
        case .boolean(let boolean): boolean ? "true" : "false"
        case .number(let number): number
        case .string(let string): Self.quoted(string, isCompact: true)
        case .array(let elements): "[\(elements.map(\.compact).joined(separator: ","))]"
        case .object(let members):
            "{\(members.map { "\(Self.quoted($0.name, isCompact: true)):\($0.value.compact)" }.joined(separator: ","))}"
        }
    }

    /// On one line, for terminals as well.
    package var line: String {
        switch self {
        case .string(let string): Self.quoted(string)
        case .array(let elements): "[\(elements.map(\.line).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\(Self.quoted($0.name)): \($0.value.line)" }.joined(separator: ", "))}"
        default: compact
        }
    }

    /// On several lines.
    package var pretty: String {
        var text = StyledText(usesColor: false)
        text.append(self)
        return text.string
    }

    /// A string as JSON has it, with escapes for all that a terminal may act on; compact, for those only that JSON asks
    /// for.
    package static func quoted(_ string: String, isCompact: Bool = false) -> String {
        var quoted = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{8}": quoted += "\\b"
            case "\u{C}": quoted += "\\f"
            case "\0"..<" ": quoted += "\\u00" + scalar.value.hexadecimal(digits: 2)
            default:
                if isCompact || !scalar.isUnsafeOnTerminal {
                    quoted.unicodeScalars.append(scalar)
                } else {
                    quoted += UTF16.encode(scalar)?.map { "\\u" + UInt32($0).hexadecimal(digits: 4) }.joined() ?? ""
                }
            }
        }
        return quoted + "\""
    }
}

extension UInt32 {
    package func hexadecimal(digits: Int) -> String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }
}

extension JSONText {
    /// Where bytes that are not JSON cease to be it: "line 3, column 12".
    package static func placeOfFault(in bytes: some Sequence<UInt8>, maximumDepth: Int = 256) -> String {
        var parser = JSONParser(bytes: Array(bytes), maximumDepth: maximumDepth)
        _ = parser.parseText()
        let lines = parser.bytes[..<parser.position].split(
            separator: UInt8(ascii: "\n"),
            omittingEmptySubsequences: false
        )
        let column = String(decoding: lines.last ?? [], as: UTF8.self).count + 1
        return "line \(lines.count), column \(column)"
    }
}

private struct JSONParser {
    let bytes: [UInt8]
    let maximumDepth: Int
    var position = 0

    mutating func parseText() -> JSONText? {
        skipSpace()
        guard let value = parseValue(depth: 0) else {
            return nil
        }
        skipSpace()
        return position == bytes.count ? value : nil
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func parseValue(depth: Int) -> JSONText? {
        guard depth <= maximumDepth, let next else {
            return nil
        }
        switch next {
        case UInt8(ascii: "{"): return parseObject(depth: depth)
        case UInt8(ascii: "["): return parseArray(depth: depth)
        case UInt8(ascii: "\""): return parseString().map { .string($0) }
        case UInt8(ascii: "t"): return take("true") ? .boolean(true) : nil
        case UInt8(ascii: "f"): return take("false") ? .boolean(false) : nil
        case UInt8(ascii: "n"): return take("null") ? .null : nil
        default: return parseNumber().map { .number($0) }
        }
    }

    private mutating func parseObject(depth: Int) -> JSONText? {
        var members: [JSONText.Member] = []
        position += 1
        skipSpace()
        if take("}") {
            return .object([])
        }
        repeat {
            skipSpace()
            guard let name = parseString() else { return nil }
            skipSpace()
            guard take(":") else { return nil }
            skipSpace()
            guard let value = parseValue(depth: depth + 1) else { return nil }
            members.append(JSONText.Member(name: name, value: value))
            skipSpace()
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func parseArray(depth: Int) -> JSONText? {
        var elements: [JSONText] = []
        position += 1
        skipSpace()
        if take("]") {
            return .array([])
        }
        repeat {
            skipSpace()
            guard let element = parseValue(depth: depth + 1) else { return nil }
            elements.append(element)
            skipSpace()
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    private mutating func parseNumber() -> String? {
        let start = position
        _ = take("-")
        guard take("0") || takeDigits() else { return nil }
        if take("."), !takeDigits() {
            return nil
        }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            guard takeDigits() else { return nil }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func parseString() -> String? {
        guard take("\"") else { return nil }
        var units: [UInt8] = []
        while let unit = next {
            position += 1
            switch unit {
            case UInt8(ascii: "\""):
                return String(validating: units, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = parseEscape() else { return nil }
                units += Array(String(Character(scalar)).utf8)
            case 0..<0x20:
                return nil
            default:
                units.append(unit)
            }
        }
        return nil
    }

    private mutating func parseEscape() -> Unicode.Scalar? {
        guard let escape = next else { return nil }
        position += 1
        switch escape {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "u"):
            guard let first = parseCodeUnit() else { return nil }
            guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
            guard take("\\u"), let second = parseCodeUnit(), UTF16.isTrailSurrogate(second) else { return nil }
            return UTF16.decode(UTF16.EncodedScalar([first, second]))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(escape)
        default: return nil
        }
    }

    private mutating func parseCodeUnit() -> UInt16? {
        guard position + 4 <= bytes.count else { return nil }
        let digits = bytes[position..<position + 4]
        position += 4
        guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private mutating func take(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { expected in
            guard bytes[position...].starts(with: expected) else { return false }
            position += expected.count
            return true
        }
    }

    private mutating func takeDigits() -> Bool {
        let start = position
        while let next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) {
            position += 1
        }
        return position > start
    }

    private mutating func skipSpace() {
        while let next, [0x20, 0x09, 0x0A, 0x0D].contains(next) {
            position += 1
        }
    }
}
