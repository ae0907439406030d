import Default
import Foundation
import SettingsValues

/// The beginning of a value on one line.
struct Preview {
    /// How many characters there are at most.
    static let limit = 200

    private(set) var text = ""
    private(set) var isCut = false
    private var count = 0

    init(_ shown: ShownValue) {
        switch shown.node {
        case .json(let json): append(json, isTop: true)
        case .value(let value): append(value, isTop: true)
        }
    }

    private mutating func append(_ part: some StringProtocol) {
        guard !isCut else { return }
        for scalar in part.unicodeScalars {
            guard count < Self.limit else {
                isCut = true
                return
            }
            text.unicodeScalars.append(scalar)
            count += 1
        }
    }

    private mutating func append(_ value: PropertyListValue, isTop: Bool = false) {
        switch value {
        case .string(let string): append(string, isTop: isTop)
        case .boolean(let boolean): append(boolean ? "true" : "false")
        case .integer(let integer): append("\(integer)")
        case .unsigned(let unsigned): append("\(unsigned)")
        case .real(let real): append("\(real)")
        case .date(let date): append(date.exactText)
        case .data(let data): append(data)
        case .array(let elements):
            appendList("[", elements, "]") { $0.append($1) }
        case .dictionary(let entries):
            appendList("{", entries.sorted { $0.key < $1.key }, "}") { preview, entry in
                preview.append(entry.key, isTop: false)
                preview.append(": ")
                preview.append(entry.value)
            }
        }
    }

    private mutating func append(_ json: JSONText, isTop: Bool = false) {
        switch json {
        case .null, .boolean, .number: append(json.compact)
        case .string(let string): append(string, isTop: isTop)
        case .array(let elements):
            appendList("[", elements, "]") { $0.append($1) }
        case .object(let members):
            appendList("{", members, "}") { preview, member in
                preview.append(member.name, isTop: false)
                preview.append(": ")
                preview.append(member.value)
            }
        }
    }

    /// A string by itself needs no quotes.
    private mutating func append(_ string: String, isTop: Bool) {
        guard !isTop else { return append(string) }
        append("\"")
        append(string)
        append("\"")
    }

    private mutating func append(_ data: Data) {
        let beginning = data.prefix(Self.limit)
        if let text = beginning.plainText {
            append(text)
        } else {
            append(beginning.map { UInt32($0).hexadecimal(digits: 2) }.joined(separator: " "))
        }
        if data.count > beginning.count { isCut = true }
    }

    private mutating func appendList<Elements: Collection>(
        _ opening: String,
        _ elements: Elements,
        _ closing: String,
        _ appendElement: (inout Preview, Elements.Element) -> Void
    ) {
        append(opening)
        for (index, element) in elements.enumerated() {
            guard !isCut else { return }
            if index > 0 { append(", ") }
            appendElement(&self, element)
        }
        append(closing)
    }
}

extension Data {
    /// The text, if the bytes are UTF-8 that people wrote; a character that was cut off at the end is left out.
    var plainText: String? {
        for length in (Swift.max(0, count - 3)...count).reversed() {
            guard let text = String(validating: prefix(length), as: UTF8.self) else { continue }
            let isWritten = text.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control || "\t\r\n".unicodeScalars.contains($0)
            }
            return isWritten && (!text.isEmpty || isEmpty) ? text : nil
        }
        return nil
    }
}
