import Default
import Foundation
import SettingsValues

/// A value as text in a field or an editor, and its form, which says how the text is read.
struct EditedValue: Codable, Equatable {
    /// What has more text is not edited on the page.
    static let textLimit = 1 << 20

    var form: ValueForm
    var text: String
    /// Whether a string is written as JSON has it, since it has characters that a field would change or not show.
    var isQuoted: Bool?

    init(form: ValueForm, text: String, isQuoted: Bool? = nil) {
        self.form = form
        self.text = text
        self.isQuoted = isQuoted
    }

    /// The text of a value; nil for what is too large.
    init?(_ value: PropertyListValue, form: ValueForm) {
        guard value.byteCount <= Self.textLimit else { return nil }
        self.form = form
        isQuoted = nil
        switch (value, form) {
        case (.string(let string), _):
            let isPlain = string.unicodeScalars.allSatisfy { !$0.isUnsafeOnTerminal || $0 == "\n" || $0 == "\t" }
            text = isPlain ? string : JSONText.quoted(string)
            if !isPlain { isQuoted = true }
        case (.boolean(let boolean), _): text = boolean ? "true" : "false"
        case (.integer(let integer), _): text = "\(integer)"
        case (.unsigned(let unsigned), _): text = "\(unsigned)"
        case (.real(let real), _): text = "\(real)"
        case (.date(let date), _): text = Self.text(of: date)
        case (.data(let data), .json):
            guard let json = JSONText(parsing: data) else { return nil }
            text = json.pretty
        case (.data(let data), .propertyList):
            // What is written again is a binary list.
            guard BinaryPropertyListReader.isBinary(data), let value = PropertyListValue(serialized: data) else {
                return nil
            }
            text = JSONText(exact: value).pretty
        case (.data(let data), _):
            self.form = .data
            text = data.map { UInt32($0).hexadecimal(digits: 2) }.joined(separator: " ")
        case (.array, _), (.dictionary, _): text = JSONText(exact: value).pretty
        }
        guard text.utf8.count <= 4 * Self.textLimit else { return nil }
    }

    /// The date with all its digits: seconds since 2001-01-01 where no calendar date is exact.
    private static func text(of date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        let isExact = Date(text: date.exactText)?.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern
        return isExact ? date.exactText : "\(seconds)"
    }

    /// The value that the text stands for.
    ///
    /// - Throws: ``ToolError``, which says where the text is wrong.
    func value() throws -> PropertyListValue {
        switch form {
        case .string: return .string(try string())
        case .boolean where text == "true": return .boolean(true)
        case .boolean where text == "false": return .boolean(false)
        case .boolean: throw ToolError("A Boolean is true or false.")
        case .integer:
            if let integer = Int64(trimmed) { return .integer(integer) }
            guard let unsigned = UInt64(trimmed) else {
                throw ToolError("This is not a whole number between \(Int64.min) and \(UInt64.max).")
            }
            return .unsigned(unsigned)
        case .unsigned:
            guard let unsigned = UInt64(trimmed) else {
                throw ToolError("This is not a whole number between 0 and \(UInt64.max).")
            }
            return .unsigned(unsigned)
        case .real:
            guard let real = Double(written: trimmed) else {
                throw ToolError(
                    "This is not a number. A point separates the fraction: 0.5. nan, inf and -inf are numbers."
                )
            }
            return .real(real)
        case .date:
            let seconds = Double(written: trimmed).map(Date.init(timeIntervalSinceReferenceDate:))
            guard let date = Date(text: trimmed) ?? seconds else {
                throw ToolError("This is not a date. Write it as 2026-11-21T12:00:00Z.")
            }
            return .date(date)
        case .json: return .data(Data(try json().compact.utf8))
        case .propertyList:
            return .data(BinaryPropertyListWriter.data(try PropertyListValue(exact: json())))
        case .data, .image:
            guard let data = Data(hexadecimal: text) else {
                throw ToolError("Bytes are written as pairs of hexadecimal digits: 01 ff.")
            }
            return .data(data)
        case .array, .dictionary:
            let value = try PropertyListValue(exact: json())
            switch (value, form) {
            case (.array, .array), (.dictionary, .dictionary): return value
            case (_, .array): throw ToolError("An array is written in square brackets: [1, 2].")
            default: throw ToolError("A dictionary is written in braces: {\"name\": 1}.")
            }
        case .null: throw ToolError("A suite holds no null.")
        }
    }

    private var trimmed: String { text.trimmingCharacters(in: .whitespacesAndNewlines) }

    private func string() throws -> String {
        guard isQuoted == true else { return text }
        guard case .string(let string) = try json() else {
            throw ToolError("This string is written in quotes, with escapes.")
        }
        return string
    }

    private func json() throws -> JSONText {
        guard let json = JSONText(parsing: text.utf8, maximumDepth: SuiteContents.maximumJSONDepth) else {
            let place = JSONText.placeOfFault(in: text.utf8, maximumDepth: SuiteContents.maximumJSONDepth)
            throw ToolError("This is not JSON: look at \(place).")
        }
        return json
    }
}
