package import Default
import Foundation

/// Text for people, with colours where a terminal shows them.
package struct StyledText {
    package enum Style: String {
        case key = "34"
        case string = "32"
        case number = "36"
        case word = "35"
        case faint = "2"
    }

    package let usesColor: Bool
    /// Which keys are kept from being seen.
    package var hidden = KeyPatterns()
    package private(set) var string = ""
    /// How many values inside `Data` are around what is appended.
    private var level = 0

    package init(usesColor: Bool, hidden: KeyPatterns = KeyPatterns()) {
        self.usesColor = usesColor
        self.hidden = hidden
    }

    package mutating func append(_ text: String, _ style: Style? = nil) {
        let text = text.escapedLinesForTerminal
        guard usesColor, let style else {
            string += text
            return
        }
        string += "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }

    /// Appends text as it is styled there, with something else between its lines.
    package mutating func append(_ other: StyledText, replacingLinesWith separator: String) {
        string += other.string.replacing("\n", with: separator.escapedLinesForTerminal)
    }

    package mutating func append(_ json: JSONText, indentation: Int = 0) {
        switch json {
        case .null, .boolean: append(json.compact, .word)
        case .number(let number): append(number, .number)
        case .string(let string): append(JSONText.quoted(hidden.redacted(string) ?? string), .string)
        case .array(let elements):
            appendList("[", elements, "]", indentation: indentation) { text, element in
                text.append(element, indentation: indentation + 1)
            }
        case .object(let members):
            appendList("{", members, "}", indentation: indentation) { text, member in
                text.appendEntry(JSONText.quoted(member.name), named: member.name, separator: ": ") { text in
                    text.append(member.value, indentation: indentation + 1)
                }
            }
        }
    }

    /// Appends a value; one inside `Data`, as settings types are stored, as the value that it is.
    package mutating func append(_ value: PropertyListValue, indentation: Int = 0) {
        switch value {
        case .string(let string): append(JSONText.quoted(hidden.redacted(string) ?? string), .string)
        case .boolean(let boolean): append(boolean ? "true" : "false", .word)
        case .integer(let integer): append("\(integer)", .number)
        case .unsigned(let unsigned): append("\(unsigned)", .number)
        case .real(let real): append("\(real)", .number)
        case .date(let date): append(date.exactText, .number)
        case .data(let data):
            level += 1
            switch DataContents(data, level: level - 1) {
            case .json(let json): append(json, indentation: indentation)
            case .propertyList(let value): append(value, indentation: indentation)
            case .unreadable where !hidden.patterns.isEmpty: append(KeyPatterns.placeholder, .faint)
            case .unreadable, .bytes:
                append("<\(data.map { UInt32($0).hexadecimal(digits: 2) }.joined())>", .faint)
            }
            level -= 1
        case .array(let elements):
            appendList("[", elements, "]", indentation: indentation) { text, element in
                text.append(element, indentation: indentation + 1)
            }
        case .dictionary(let entries):
            appendList("{", entries.sorted { $0.key < $1.key }, "}", indentation: indentation) { text, entry in
                text.appendEntry(JSONText.quoted(entry.key), named: entry.key, separator: ": ") { text in
                    text.append(entry.value, indentation: indentation + 1)
                }
            }
        }
    }

    /// Appends a key with its value, unless that is to be hidden.
    package mutating func appendEntry(
        _ label: String,
        named key: String,
        separator: String,
        _ appendValue: (inout StyledText) -> Void
    ) {
        append(label, .key)
        append(separator)
        if hidden.matches(key) {
            append(KeyPatterns.placeholder, .faint)
        } else {
            appendValue(&self)
        }
    }

    private mutating func appendList<Element>(
        _ opening: String,
        _ elements: [Element],
        _ closing: String,
        indentation: Int,
        _ appendElement: (inout StyledText, Element) -> Void
    ) {
        append(opening)
        for (index, element) in elements.enumerated() {
            append((index == 0 ? "\n" : ",\n") + String(repeating: "  ", count: indentation + 1))
            appendElement(&self, element)
        }
        append(elements.isEmpty ? closing : "\n" + String(repeating: "  ", count: indentation) + closing)
    }
}
