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

    /// The value of a text that the cluster could have; nil if it is malformed.
    package static func value(of text: String) -> PropertyListValue? {
        JSONText.value(of: Data(text.utf8))
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
            type == nil ? "The present value is of the type \(expected.rawValue)" : "--type is \(expected.rawValue)"
        throw Mistake("\(kind), and this is none. To store a value of another type, say which: --type.")
    }
}
