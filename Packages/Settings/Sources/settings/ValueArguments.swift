import ArgumentParser
import Default
import Foundation
import SettingsValues

/// What is to be stored, as it is written on the command line in the words of the Mac's tool.
enum ValueArguments {
    case value(PropertyListValue)
    case addedElements([PropertyListValue])
    case addedEntries([String: PropertyListValue])

    /// The types that a value may have before it.
    static let types = scalarTypes + ["--plist"] + ["-array", "-array-add", "-dict", "-dict-add"]

    /// Those of which a value is a single text.
    static let scalarTypes = [
        "-string", "-int", "-integer", "-float", "-bool", "-boolean", "-date", "-data", "-json", "-plist",
    ]

    static let help = """
        VALUE is a string, unless its type is before it:

          -string TEXT            a string
          -int NUMBER             a whole number
          -float NUMBER           a floating-point number; nan, inf and -inf as well
          -bool true|false        a Boolean; yes, no, 1 and 0 as well
          -date DATE              2026-11-21, 2026-11-21T12:00:00.5Z or "2026-11-21 12:00:00 +0100"
          -data DIGITS            bytes in hexadecimal
          -json TEXT              JSON, stored as settings types are: as bytes
          -plist TEXT             a property list, in XML or in the old notation: "(a, b)", "{a = b;}"
          -array VALUE ...        an array; each VALUE may have its type before it
          -array-add VALUE ...    elements for the end of the array that is there
          -dict KEY VALUE ...     a dictionary
          -dict-add KEY VALUE ... entries for the dictionary that is there

        A single VALUE that is "-" is read from standard input, and with --from FILE from a file, without the end of its last \
        line; with -data the bytes themselves. A secret that is read so is not in the list of processes. A text that begins \
        with a hyphen and is not a number needs -string, which takes the next word as it is, even "--from".
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        switch rest.first {
        case nil:
            throw ValidationError("Give a value to write.")
        case "-array":
            self = .value(.array(try Self.elements(rest.dropFirst())))
        case "-array-add":
            self = .addedElements(try Self.elements(rest.dropFirst()))
        case "-dict":
            self = .value(.dictionary(try Self.entries(rest.dropFirst())))
        case "-dict-add":
            self = .addedEntries(try Self.entries(rest.dropFirst()))
        default:
            self = .value(try Self.takeValue(from: &rest))
            if let excess = rest.first {
                throw ValidationError("There is more than one value: \(excess.debugDescription) is left over.")
            }
        }
    }

    /// Takes what was read from a file or from standard input, with the type that is on the command line.
    init(_ arguments: [String], content: Data) throws {
        try Self.checkType(arguments)
        if arguments == ["-data"] {
            self = .value(.data(content))
            return
        }
        guard let text = String(validating: content, as: UTF8.self)?.withoutLineEnd else {
            throw ToolError("What was read is not UTF-8. Use -data for bytes.")
        }
        let type = arguments.first ?? "-string"
        guard let value = Self.typed(type, text) else {
            // The text may be a secret.
            let place = type == "-json" ? ": look at \(JSONText.placeOfFault(in: text.utf8))" : ""
            throw ToolError("What was read can't be used as \(type)\(place).")
        }
        self = .value(value)
    }

    /// Throws unless the arguments are the type of a single value, or none.
    static func checkType(_ arguments: [String]) throws {
        guard arguments.isEmpty || arguments.count == 1 && scalarTypes.contains(arguments[0]) else {
            throw ValidationError("With --from or \"-\" there can only be the type of a single value.")
        }
    }

    /// What was written, whether it is the value or to be added to one.
    var given: PropertyListValue {
        switch self {
        case .value(let value): value
        case .addedElements(let elements): .array(elements)
        case .addedEntries(let entries): .dictionary(entries)
        }
    }

    private static func elements(_ arguments: ArraySlice<String>) throws -> [PropertyListValue] {
        var rest = arguments
        var elements: [PropertyListValue] = []
        while !rest.isEmpty {
            elements.append(try takeValue(from: &rest))
        }
        return elements
    }

    private static func entries(_ arguments: ArraySlice<String>) throws -> [String: PropertyListValue] {
        var rest = arguments
        var entries: [String: PropertyListValue] = [:]
        while let key = rest.popFirst() {
            guard !rest.isEmpty else {
                throw ValidationError("The key \(key.debugDescription) has no value.")
            }
            entries[key] = try takeValue(from: &rest)
        }
        return entries
    }

    private static func takeValue(from arguments: inout ArraySlice<String>) throws -> PropertyListValue {
        guard let first = arguments.popFirst() else {
            throw ValidationError("A value is missing at the end.")
        }
        guard types.contains(first) else {
            return try untyped(first)
        }
        guard let text = arguments.popFirst() else {
            throw ValidationError("\(first) needs a value.")
        }
        guard let value = typed(first, text) else {
            let place = first == "-json" ? ": look at \(JSONText.placeOfFault(in: text.utf8))" : ""
            throw ValidationError("\(text.debugDescription) can't be read as \(first)\(place).")
        }
        return value
    }

    private static func typed(_ type: String, _ text: String) -> PropertyListValue? {
        switch type {
        case "-string": .string(text)
        case "-int", "-integer": Int64(text).map { .integer($0) } ?? UInt64(text).map { .unsigned($0) }
        case "-float": Double(written: text).map { .real($0) }
        case "-bool", "-boolean": boolean(text).map { .boolean($0) }
        case "-date": Date(text: text).map { .date($0) }
        case "-data": Data(hexadecimal: text).map { .data($0) }
        case "-json": JSONText(parsing: text.utf8) == nil ? nil : .data(Data(text.utf8))
        case "-plist", "--plist": PropertyListValue(serialized: Data(text.utf8))
        default: nil
        }
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }

    private static func untyped(_ text: String) throws -> PropertyListValue {
        if text.hasPrefix("-"), Double(text) == nil {
            throw ValidationError(
                "\(text.debugDescription) is not a type, and a text that begins with a hyphen needs -string before it."
            )
        }
        return .string(text)
    }
}
