import ArgumentParser
import Default
import Foundation
import SettingsValues

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the suites in the directory for configuration.",
        discussion: """
            A name is shown in quotes, with escapes, where it has characters that a terminal may act on; bytes that are not \
            UTF-8, which no program can open by name, are shown as \\xFF.
            """,
        aliases: ["domains"]
    )

    @Flag(help: "Show the names as a JSON array.")
    var json = false

    func run() throws {
        if json {
            try write(JSONText.array(try SuiteReference.names().map { .string($0) }).pretty + "\n")
            return
        }
        for name in try SuiteReference.fileNames() {
            if let text = String(validating: name, as: UTF8.self) {
                try write((text.isSafeOnTerminal ? text : JSONText.quoted(text)) + "\n")
            } else {
                try write(String(escaping: name) + "\n")
            }
        }
    }
}

struct Read: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows a suite's values, or one of them.",
        discussion: """
            KEY may be followed by a path: KEY.NAME is an entry of a dictionary or a member of JSON, KEY.0 the first element \
            of an array.

            JSON that is stored as bytes, as settings types are, is shown as JSON. A single string is shown without quotes, \
            for use in scripts, unless it has characters that a terminal may act on; these are escaped, and --raw writes \
            them as they are into a pipe or a file.

            Exits with 1 when there is no value, or no suite, and with 2 when the suite can't be read.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key, perhaps with a path; all keys without one.", completion: .keys)
    var key: String?

    @Flag(help: "Write the value's bytes as they are stored, without a line's end: of data and strings.")
    var raw = false

    @Flag(help: "Show JSON for other programs: dates and bytes as in exports, stored JSON as it is.")
    var json = false

    @Flag(help: "Show the value that a program finds, where it comes from, and what it hides.")
    var origin = false

    @Option(name: .customLong("default"), help: "Show this when there is no value for the key, and exit with 0.")
    var substitute: String?

    @OptionGroup
    var display: DisplayOptions

    func validate() throws {
        if substitute != nil, key == nil {
            throw ValidationError("--default needs the key of a single value.")
        }
        if raw, key == nil {
            throw ValidationError("--raw needs the key of a single value.")
        }
        if raw, json {
            throw ValidationError("--raw and --json exclude each other.")
        }
        if origin, raw || key == nil {
            throw ValidationError(
                "--origin needs the key of a single value, without --raw. \"settings origin\" shows all."
            )
        }
    }

    func run() throws {
        if let key, origin {
            let found = try LayeredValue.all(in: suite.layered(), hiding: display.patterns).filter { $0.isAt(key) }
            guard !found.isEmpty else { throw ToolError.noValue(forKey: key, in: suite) }
            try LayeredValue.show(found, asJSON: json, with: display)
            return
        }
        if let key {
            do {
                try show(key, in: suite.reading())
            } catch let error as ToolError where error.isAbsence {
                guard let substitute else { throw error }
                try write(raw ? substitute : substitute + "\n")
            }
            return
        }
        let store = try suite.reading()
        let contents = try SuiteContents(of: store)
        if json {
            try write(contents.readableJSON(display.patterns).pretty + "\n")
            return
        }
        var text = display.text
        for entry in contents.entries {
            text.appendEntry(shownKey(entry.key), named: entry.key, separator: " = ") { $0.append(entry.value) }
            text.append("\n")
        }
        try write(text)
    }

    private func show(_ key: String, in store: FileDefaults) throws {
        guard let match = ValueNode.find(key, in: store) else {
            throw ToolError.noValue(forKey: key, in: suite)
        }
        var text = display.text
        let isHidden = match.names.contains(where: text.hidden.matches)
        if raw {
            guard !isHidden, let visible = match.node.visiblePart(text.hidden).value(of: match.node) else {
                throw ToolError.hidden(key)
            }
            try writeRaw(visible, key: key)
            return
        }
        if json {
            let shown = isHidden ? ValueNode.json(.string(KeyPatterns.placeholder)) : match.node
            try write((shown.redacted(text.hidden) ?? shown).readableJSON.pretty + "\n")
            return
        }
        if isHidden {
            text.append(KeyPatterns.placeholder, .faint)
        } else if let string = match.node.string, string.isSafeOnTerminal {
            text.append(text.hidden.redacted(string) ?? string)
        } else {
            text.append(match.node)
        }
        text.append("\n")
        try write(text)
    }

    private func writeRaw(_ node: ValueNode, key: String) throws {
        guard let bytes = node.bytes else {
            throw ToolError("What is stored under \(key.debugDescription) is neither data nor a string.")
        }
        if isOutputTerminal {
            try write(String(escaping: bytes, keepingLines: true))
        } else {
            try writeAsIs(bytes)
        }
    }
}

struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the keys of a suite, without their values.",
        discussion: "A key is in quotes where it would not be clear where it ends."
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Flag(help: "Show the keys as a JSON array.")
    var json = false

    func run() throws {
        let keys = try SuiteContents(of: try suite.reading()).entries.map(\.key)
        if json {
            try write(JSONText.array(keys.map { .string($0) }).pretty + "\n")
        } else {
            try write(keys.map { shownKey($0) + "\n" }.joined())
        }
    }
}

struct ReadType: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows the type of a value.")

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key, perhaps with a path.", completion: .keys)
    var key: String

    func run() throws {
        guard let match = ValueNode.find(key, in: try suite.reading()) else {
            throw ToolError.noValue(forKey: key, in: suite)
        }
        try write("Type is \(match.node.typeName)\n")
    }
}

/// A key as it is shown before its value: in quotes where it would not be clear where it ends.
func shownKey(_ key: String) -> String {
    let isWord = key.isSafeOnTerminal && key.allSatisfy { $0.isLetter || $0.isNumber || "._-:".contains($0) }
    return isWord ? key : JSONText.quoted(key)
}
