internal import Default
internal import Foundation

/// The text that a value has in the cluster: JSON that a person can read, and write with `etcdctl put`.
///
/// - Strings, Booleans, arrays and dictionaries are what they are in JSON.
/// - A number with a fraction or an exponent is a real; one without either is an integer. So a real always has one:
///   `2.0`.
/// - `{"$json": …}` is `Data` that is itself JSON, verbatim: a settings type, for example. `{"$data": "AAEC"}` is any
///   other `Data`, in Base64.
/// - `{"$date": "2026-11-22T17:00:00Z"}` is a date. If it isn't on a whole second, it is a number: seconds since the
///   beginning of 2001, as in Foundation.
/// - `{"$real": "inf"}`, also `-inf`, `nan` and a bit pattern like `0x7ff8000000000001`, are the reals that JSON lacks.
/// - A key of a dictionary that begins with `$` begins with `$$`.
///
/// Equal values have equal text. Text that a person has typed is also read after a byte order mark, and as a Boolean
/// when it is one of the words true, yes, on, false, no and off in any case. Text that is none of this is malformed.
enum JSONText {
    /// The text of a value.
    static func text(of value: PropertyListValue) -> Data {
        var writer = JSONWriter()
        writer.append(value)
        return Data(writer.bytes)
    }

    /// The value that a text means; nil when it is malformed or nests more than 256 levels.
    static func value(of text: Data) -> PropertyListValue? {
        let bytes = bytesWithoutMark(of: text)
        var reader = JSONReader(bytes)
        return reader.wholeValue() ?? boolean(in: bytes)
    }

    /// The values of a suite, of which a text is an object; nil when it is malformed or another value.
    static func values(of text: Data) -> [StoreKey: PropertyListValue]? {
        var reader = JSONReader(bytesWithoutMark(of: text))
        return reader.wholeSuite()
    }

    /// A text without the byte order mark that some editors put before it.
    private static func bytesWithoutMark(of text: Data) -> [UInt8] {
        let bytes = [UInt8](text)
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// The Boolean that a word means, which is no JSON, and so can't be taken for another value.
    private static func boolean(in bytes: [UInt8]) -> PropertyListValue? {
        guard bytes.count < 100 else { return nil }
        return
            switch String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
        {
        case "true", "yes", "on": .boolean(true)
        case "false", "no", "off": .boolean(false)
        default: nil
        }
    }

    /// What malformed text looks like, without showing it; nil if the value that is kept for the text is not its bytes.
    static func formOfMalformed(_ text: Data, keptAs value: PropertyListValue) -> String? {
        guard case .data(text) = value else { return nil }
        guard let string = String(validating: text, as: UTF8.self) else {
            return "\(text.count) bytes that are not UTF-8"
        }
        let trimmed = string.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.isEmpty {
            return "empty"
        }
        if trimmed.utf8.count < 100, trimmed.allSatisfy({ $0.isLetter || $0.isNumber || "._-".contains($0) }) {
            return "a word without quotes, of \(trimmed.count) characters"
        }
        return "\(text.count) bytes of text"
    }

    /// The value to keep for a text: for malformed text its bytes.
    ///
    /// Nothing that a type can be decoded from is lost then, and what replaces the text quarantines it.
    static func storedValue(of text: Data) -> PropertyListValue {
        value(of: text) ?? .data(text)
    }
}

/// Writes the text of values.
private struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: PropertyListValue) {
        switch value {
        case .string(let string): append(quoted: string)
        case .boolean(let boolean): append(boolean ? "true" : "false")
        case .integer(let integer): append("\(integer)")
        case .unsigned(let unsigned): append("\(unsigned)")
        case .real(let real): append(real)
        case .data(let data): append(data)
        case .date(let date):
            append("{\"$date\":")
            if let text = CivilTime.text(of: date) {
                append(quoted: text)
            } else {
                append(date.timeIntervalSinceReferenceDate)
            }
            append("}")
        case .array(let elements):
            append("[")
            for (index, element) in elements.enumerated() {
                append(index == 0 ? "" : ",")
                append(element)
            }
            append("]")
        case .dictionary(let entries):
            append("{")
            let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, entry) in sorted.enumerated() {
                append(index == 0 ? "" : ",")
                append(quoted: entry.key.utf8.first == UInt8(ascii: "$") ? "$" + entry.key : entry.key)
                append(":")
                append(entry.value)
            }
            append("}")
        }
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(_ real: Double) {
        if real.isFinite {
            // The shortest text that is read as the same number; it has a point or an exponent.
            append("\(real)")
        } else if real.isNaN, real.bitPattern != Double.nan.bitPattern {
            append("{\"$real\":\"0x\(String(real.bitPattern, radix: 16))\"}")
        } else {
            append("{\"$real\":\"\(real)\"}")
        }
    }

    private mutating func append(_ data: Data) {
        let content = [UInt8](data)
        if JSONScanner.isValue(content) {
            append("{\"$json\":")
            bytes.append(contentsOf: content)
            append("}")
        } else {
            append("{\"$data\":\"\(data.base64EncodedString())\"}")
        }
    }

    private mutating func append(quoted string: String) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        do {
            bytes.append(contentsOf: try encoder.encode(string))
        } catch {
            preconditionFailure("A string can't be written as JSON: \(error)")
        }
    }
}
