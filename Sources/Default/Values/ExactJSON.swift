#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A store's values as JSON that loses nothing.
///
/// The text is an object of keys. What JSON lacks is an object with one member, whose name begins with a dollar sign:
///
/// ```text
/// {"$data": "AQI="}                     bytes, in Base64
/// {"$json": {"a": 1}}                   bytes that are this JSON, compact
/// {"$date": "2026-11-21T12:00:00Z"}     a date of whole seconds
/// {"$date": 816955200.25}               another: seconds since 2001-01-01
/// {"$real": "nan"}                      nan, inf and -inf
/// {"$dict": {"$a": 1}}                  what would look like one of these
/// ```
///
/// Other floating-point numbers have a fraction or an exponent, which integers don't.
enum ExactJSON {
    /// What a value may nest: each level of it may have a tag, and the innermost may hold JSON.
    private static let maximumDepth = 3 * PropertyListValue.maximumDepth

    // MARK: Writing

    /// The text, over several lines; the same values give the same bytes.
    static func text(of values: [StoreKey: PropertyListValue]) -> [UInt8] {
        var text: [UInt8] = []
        let sorted = values.sorted { $0.key.string.utf8.lexicographicallyPrecedes($1.key.string.utf8) }
        appendObject(sorted.map { ($0.key.string, $0.value) }, to: &text)
        return JSONLayout.pretty(text) + [UInt8(ascii: "\n")]
    }

    private static func appendObject(_ fields: [(name: String, value: PropertyListValue)], to text: inout [UInt8]) {
        text.append(UInt8(ascii: "{"))
        for (index, field) in fields.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            append(field.name, to: &text)
            text.append(UInt8(ascii: ":"))
            append(field.value, to: &text)
        }
        text.append(UInt8(ascii: "}"))
    }

    private static func append(_ value: PropertyListValue, to text: inout [UInt8]) {
        switch value {
        case .string(let string): append(string, to: &text)
        case .boolean(let boolean): text += "\(boolean)".utf8
        case .integer(let integer): text += "\(integer)".utf8
        case .unsigned(let unsigned): text += "\(unsigned)".utf8
        case .real(let real) where real.isFinite: text += "\(real)".utf8
        case .real(let real): appendTagged("$real", to: &text) { append("\(real)", to: &$0) }
        case .data(let data):
            let bytes = Array(data)
            if isCompactJSON(bytes) {
                appendTagged("$json", to: &text) { $0 += bytes }
            } else {
                appendTagged("$data", to: &text) { append(data.base64EncodedString(), to: &$0) }
            }
        case .date(let date): appendTagged("$date", to: &text) { append(date, to: &$0) }
        case .array(let elements):
            text.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                append(element, to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .dictionary(let entries):
            let fields = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .map { (name: $0.key, value: $0.value) }
            if fields.count == 1, fields[0].name.hasPrefix("$") {
                appendTagged("$dict", to: &text) { appendObject(fields, to: &$0) }
            } else {
                appendObject(fields, to: &text)
            }
        }
    }

    private static func appendTagged(_ tag: String, to text: inout [UInt8], _ append: (inout [UInt8]) -> Void) {
        text += "{\"\(tag)\":".utf8
        append(&text)
        text.append(UInt8(ascii: "}"))
    }

    private static func append(_ date: Date, to text: inout [UInt8]) {
        let seconds = date.timeIntervalSinceReferenceDate
        // The notation has the years from 1 to 9999.
        let isWhole = seconds == seconds.rounded() && (-63_113_904_000..<252_423_993_600).contains(seconds)
        let notation = isWhole ? date.formatted(Date.ISO8601FormatStyle()) : ""
        if self.date(notation)?.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern {
            append(notation, to: &text)
        } else if seconds.isFinite {
            text += "\(seconds)".utf8
        } else {
            append("\(seconds)", to: &text)
        }
    }

    private static func append(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\"".utf8
            case "\\": text += "\\\\".utf8
            case "\n": text += "\\n".utf8
            case "\r": text += "\\r".utf8
            case "\t": text += "\\t".utf8
            case _ where scalar.isInvisible:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
                }
            default: text += Array(String(scalar).utf8)
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    /// Whether bytes are JSON without white space, which a reader of the text gets back as they are.
    private static func isCompactJSON(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return false }
        // What can't be seen would have to be escaped, and be other bytes then.
        guard !String(decoding: bytes, as: UTF8.self).unicodeScalars.contains(where: \.isInvisible) else {
            return false
        }
        return (try? JSONDocument.parse(bytes, maximumDepth: PropertyListValue.maximumDepth)) != nil
            && JSONLayout.compact(bytes[...]) == bytes
    }

    // MARK: Reading

    /// The values of a text.
    ///
    /// - Throws: Where the text isn't such JSON, has a name twice, a null, or a number that would lose digits.
    static func values(of bytes: [UInt8]) throws(JSONDocument.Fault) -> [StoreKey: PropertyListValue] {
        let (document, node) = try JSONDocument.parse(bytes, maximumDepth: maximumDepth)
        guard case .object(let fields) = node.content else {
            throw document.fault("the text isn't an object of keys", at: node)
        }
        var values: [StoreKey: PropertyListValue] = [:]
        for field in fields { values[StoreKey(unchecked: field.name)] = try value(of: field.value, in: document) }
        return values
    }

    private static func value(
        of node: JSONDocument.Node,
        in document: JSONDocument
    ) throws(JSONDocument.Fault) -> PropertyListValue {
        switch node.content {
        case .null: throw document.fault("null is not a value", at: node)
        case .boolean(let boolean): return .boolean(boolean)
        case .number(let text):
            if text == "-0" { return .real(-0.0) }
            guard significantDigits(of: text) <= 17 || Int64(text) != nil || UInt64(text) != nil else {
                throw document.fault("a number has more digits than 64 bits hold", at: node)
            }
            return try document.number(node)
        case .string(let string): return .string(string)
        case .array(let elements):
            var values: [PropertyListValue] = []
            for element in elements { values.append(try value(of: element, in: document)) }
            return .array(values)
        case .object(let fields):
            if fields.count == 1, let tagged = try tagged(fields[0], in: document) { return tagged }
            return try dictionary(fields, in: document)
        }
    }

    private static func dictionary(
        _ fields: [JSONDocument.Node.Field],
        in document: JSONDocument
    ) throws(JSONDocument.Fault) -> PropertyListValue {
        var values: [String: PropertyListValue] = [:]
        for field in fields {
            // A dictionary's keys are equal as strings, where a store's differ in their bytes.
            guard values[field.name] == nil else {
                throw document.fault(
                    "the name \(field.name.debugDescription) is there in another spelling",
                    at: field.value
                )
            }
            values[field.name] = try value(of: field.value, in: document)
        }
        return .dictionary(values)
    }

    /// The value of a tag; nil for a name that is none.
    private static func tagged(
        _ field: JSONDocument.Node.Field,
        in document: JSONDocument
    ) throws(JSONDocument.Fault) -> PropertyListValue? {
        var value: PropertyListValue?
        switch (field.name, field.value.content) {
        case ("$data", .string(let text)): value = Data(base64Encoded: text).map { .data($0) }
        case ("$json", _): value = .data(Data(JSONLayout.compact(document.text(of: field.value))))
        case ("$date", .string(let text)): value = date(text).map { .date($0) }
        case ("$date", .number(let text)):
            value = Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case ("$real", .string(let text)) where ["nan", "inf", "-inf"].contains(text):
            value = Double(text).map { .real($0) }
        case ("$dict", .object(let fields)): value = try dictionary(fields, in: document)
        default:
            guard ["$data", "$date", "$real", "$dict"].contains(field.name) else { return nil }
        }
        guard let value else {
            throw document.fault("the value of \(field.name) can't be read", at: field.value)
        }
        return value
    }

    private static func date(_ text: String) -> Date? {
        if let seconds = Double(text), !seconds.isFinite { return Date(timeIntervalSinceReferenceDate: seconds) }
        return (try? Date(text, strategy: Date.ISO8601FormatStyle()))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    /// The digits of a number without zeros at its beginning and its end.
    private static func significantDigits(of text: String) -> Int {
        let mantissa = text.prefix { $0 != "e" && $0 != "E" }.filter(\.isNumber)
        guard let first = mantissa.firstIndex(where: { $0 != "0" }) else { return 0 }
        let last = mantissa.lastIndex { $0 != "0" } ?? first
        return mantissa.distance(from: first, to: last) + 1
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character, a mark of direction or another one that changes the text around it.
    ///
    /// The two joiners belong to the spelling of languages and to emoji.
    fileprivate var isInvisible: Bool {
        if (0x20..<0x7F).contains(value) { return false }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        case .format: return self != "\u{200C}" && self != "\u{200D}"
        default: return false
        }
    }
}

/// The white space of a JSON text, which is otherwise left as it is written.
enum JSONLayout {
    /// A text without white space.
    static func compact(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        forEachByte(of: text) { byte, isInString in
            if isInString || ![0x20, 0x09, 0x0A, 0x0D].contains(byte) { result.append(byte) }
        }
        return result
    }

    /// A text without white space over several lines, indented by two spaces for each level.
    static func pretty(_ compact: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var level = 0
        var before: UInt8 = 0
        func newLine() {
            result.append(0x0A)
            result += repeatElement(0x20, count: 2 * level)
        }
        forEachByte(of: compact[...]) { byte, isInString in
            let opens = before == UInt8(ascii: "{") || before == UInt8(ascii: "[")
            let closes = byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
            if !isInString, closes {
                level -= 1
                if !opens { newLine() }
            } else if opens {
                newLine()
            }
            result.append(byte)
            before = isInString ? 0 : byte
            guard !isInString else { return }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): level += 1
            case UInt8(ascii: ","): newLine()
            case UInt8(ascii: ":"): result.append(0x20)
            default: break
            }
        }
        return result
    }

    /// Calls a body with each byte, and with whether it is part of a string, its quotation marks included.
    private static func forEachByte(of text: ArraySlice<UInt8>, _ body: (_ byte: UInt8, _ isInString: Bool) -> Void) {
        var isInString = false
        var isEscaped = false
        for byte in text {
            let isQuote = byte == UInt8(ascii: "\"") && !isEscaped
            isEscaped = isInString && byte == UInt8(ascii: "\\") && !isEscaped
            body(byte, isInString || isQuote)
            if isQuote { isInString.toggle() }
        }
    }
}
