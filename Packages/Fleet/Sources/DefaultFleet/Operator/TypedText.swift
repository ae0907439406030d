package import Default
internal import Foundation

/// Values that an operator types, and the types that they must have.
package enum TypedText {
    /// The types, as an operator calls them.
    package enum ValueType: String, CaseIterable, Sendable {
        case boolean, integer, real, string, date, json, data, array, dictionary

        package init(of value: PropertyListValue) {
            self =
                switch value {
                case .boolean: .boolean
                case .integer, .unsigned: .integer
                case .real: .real
                case .string: .string
                case .date: .date
                case .array: .array
                case .dictionary: .dictionary
                case .data(let data): JSONScanner.isValue([UInt8](data)) ? .json : .data
                }
        }
    }

    /// Why a text is no value; a sentence.
    package struct Mistake: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    /// The text of a value, which the cluster has.
    package static func text(of value: PropertyListValue) -> String {
        String(decoding: JSONText.text(of: value), as: UTF8.self)
    }

    /// The text of a value as one line, which a terminal shows as it is.
    ///
    /// What is between the parts of JSON is spaces, and control characters are escaped.
    package static func line(of value: PropertyListValue) -> String {
        text(of: value).unicodeScalars.map { scalar in
            // JSON has them outside of strings only.
            "\n\r\t".unicodeScalars.contains(scalar)
                ? " " : scalar.isInvisible ? "\\u" + hexadecimal(scalar, digits: 4) : String(scalar)
        }
        .joined()
    }

    /// A key as one line, which a terminal shows as it is.
    ///
    /// Control characters, those that turn the direction of text, and the backslash are escaped as in Swift.
    package static func line(of key: String) -> String {
        key.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\t": "\\t"
            case "\n": "\\n"
            case "\r": "\\r"
            default: scalar.isInvisible ? "\\u{\(hexadecimal(scalar, digits: 1).uppercased())}" : String(scalar)
            }
        }
        .joined()
    }

    private static func hexadecimal(_ scalar: Unicode.Scalar, digits: Int) -> String {
        let text = String(scalar.value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// The value of a text that the cluster could have; nil if it is malformed.
    package static func value(of text: String) -> PropertyListValue? {
        JSONText.value(of: Data(text.utf8))
    }

    /// The values of a suite, of which a text is an object; nil if it is malformed or another value.
    package static func values(of text: String) -> [StoreKey: PropertyListValue]? {
        JSONText.values(of: Data(text.utf8))
    }

    /// The value that an operator means.
    ///
    /// It has the given type; without one that of the present value, and without that the type that its text has.
    package static func value(
        of text: String,
        as type: ValueType?,
        inPlaceOf present: PropertyListValue?
    ) throws(Mistake) -> PropertyListValue {
        let found = value(of: text)
        guard let expected = type ?? present.map(ValueType.init(of:)) else {
            guard let found else {
                throw Mistake("This is not JSON. For a text, say --type string.")
            }
            return found
        }
        switch (expected, found) {
        case (.string, .string(let string)?): return .string(string)
        case (.string, _): return .string(text)
        case (.real, .integer(let integer)?): return .real(Double(integer))
        case (.real, .unsigned(let unsigned)?): return .real(Double(unsigned))
        case (.date, nil):
            if let date = value(of: "{\"$date\":\"\(text)\"}"), case .date = date { return date }
        // As a settings type is stored, without having to type that.
        case (.json, .data(let data)?) where ValueType(of: .data(data)) == .json: return .data(data)
        case (.json, .some):
            let bytes = Data(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
            if JSONScanner.isValue([UInt8](bytes)) { return .data(bytes) }
        case (_, let found?) where ValueType(of: found) == expected: return found
        default: break
        }
        let kind =
            type == nil ? "The key's value is of the type \(expected.rawValue)" : "--type is \(expected.rawValue)"
        throw Mistake("\(kind), and this is none. To store a value of another type, say which: --type.")
    }
}

extension Unicode.Scalar {
    /// Whether a terminal might do something else than show it.
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
