import ArgumentParser
import Default
import Foundation

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the suites in the directory for configuration.")

    func run() throws {
        for name in try SuiteReference.names() {
            try write("\(name)\n")
        }
    }
}

struct Read: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows a suite's values, or one of them.",
        discussion: """
            JSON that is stored as bytes, as settings types are, is shown as JSON. A single string is shown without quotes, \
            for use in scripts.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key; all keys without one.", completion: .keys)
    var key: String?

    @Flag(help: "Write the value's bytes as they are stored, without a line's end: of data and strings.")
    var raw = false

    @OptionGroup
    var display: DisplayOptions

    func validate() throws {
        if raw, key == nil {
            throw ValidationError("--raw needs the key of a single value.")
        }
    }

    func run() throws {
        let store = try suite.existing()
        if let key {
            try show(key, in: store)
            return
        }
        var text = display.text
        for entry in try SuiteContents(of: store).entries {
            text.appendEntry(shownKey(entry.key), named: entry.key, separator: " = ") { $0.append(entry.value) }
            text.append("\n")
        }
        try write(text.string)
    }

    private func show(_ key: String, in store: FileDefaults) throws {
        guard let value = store.storedValue(forKey: key) else {
            throw ToolError.noValue(forKey: key, in: suite)
        }
        if raw {
            try FileHandle.standardOutput.write(contentsOf: bytes(of: value, key: key))
            return
        }
        var text = display.text
        if text.hidden.matches(key) {
            text.append(KeyPatterns.placeholder, .faint)
        } else if case .string(let string) = value {
            text.append(string)
        } else {
            text.append(value)
        }
        text.append("\n")
        try write(text.string)
    }

    private func bytes(of value: PropertyListValue, key: String) throws -> Data {
        guard !display.patterns.matches(key) else {
            throw ToolError("The value for \(key.debugDescription) is hidden.")
        }
        switch value {
        case .data(let data): return data
        case .string(let string): return Data(string.utf8)
        default: throw ToolError("What is stored under \(key.debugDescription) is neither data nor a string.")
        }
    }
}

/// A key as it is shown before its value: in quotes where it would not be clear where it ends.
func shownKey(_ key: String) -> String {
    key.allSatisfy { $0.isLetter || $0.isNumber || "._-:".contains($0) } ? key : JSONText.quoted(key)
}

/// Writes to standard output at once, so that a reader sees each line as soon as it is written.
func write(_ text: String) throws {
    try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
}
