import ArgumentParser
import Default
import Foundation
import SettingsValues

struct Find: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Finds values in all suites whose key or contents have a text in them; exits with 1 if there are none.",
        discussion: "Case makes no difference. What is hidden is not searched."
    )

    @Argument(help: "The text.")
    var text: String

    @Argument(help: "The suites; all those in the directory for configuration without one.")
    var suites: [SuiteReference] = []

    @Flag(help: "Show JSON: an object for each suite that has such values.")
    var json = false

    @OptionGroup
    var display: DisplayOptions

    func run() throws {
        var found: [JSONText.Member] = []
        for suite in try suites.isEmpty ? SuiteReference.names().map(SuiteReference.init(argument:)) : suites {
            let contents: SuiteContents
            do {
                contents = try SuiteContents(of: suite.reading())
            } catch {
                // The others may be found nevertheless.
                warn("\(error)")
                continue
            }
            let matches = SuiteContents(entries: contents.entries.filter(matches))
            guard !matches.entries.isEmpty else { continue }
            found.append(.init(name: suite.description, value: matches.readableJSON(display.patterns)))
            if !json { try show(matches, of: suite) }
        }
        if json { try write(JSONText.object(found).pretty + "\n") }
        if found.isEmpty { throw ExitCode.failure }
    }

    private func matches(_ entry: SuiteContents.Entry) -> Bool {
        if contains(entry.key) { return true }
        let visible = display.patterns.visiblePart(of: entry.value, forKey: entry.key, .omitted)
        return visible.value(of: entry.value).map { matches(JSONText(readable: $0)) } == true
    }

    private func matches(_ json: JSONText) -> Bool {
        switch json {
        case .array(let elements): elements.contains(where: matches)
        case .object(let members): members.contains { contains($0.name) || matches($0.value) }
        case .string(let string), .number(let string): contains(string)
        case .boolean, .null: contains(json.compact)
        }
    }

    private func contains(_ string: String) -> Bool {
        string.range(of: text, options: .caseInsensitive) != nil
    }

    private func show(_ contents: SuiteContents, of suite: SuiteReference) throws {
        var text = display.text
        for entry in contents.entries {
            text.append(shownKey(suite.description), .word)
            text.append(": ")
            text.appendEntry(shownKey(entry.key), named: entry.key, separator: " = ") { $0.append(entry.value) }
            text.append("\n")
        }
        try write(text)
    }
}

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows how one suite differs from another; exits with 1 if they differ.",
        discussion: "A line that begins with \"-\" is of the first suite, one with \"+\" of the second."
    )

    @Argument(help: "The first suite.")
    var first: SuiteReference

    @Argument(help: "The second suite.")
    var second: SuiteReference

    @Flag(help: "Show JSON: an object for each key that differs, with what is in the first and in the second suite.")
    var json = false

    @OptionGroup
    var display: DisplayOptions

    func run() throws {
        let (old, new) = (try SuiteContents(of: first.reading()), try SuiteContents(of: second.reading()))
        let keys = Set((old.keys(lostIn: new) + new.keys(lostIn: old)).map { Array($0.utf8) })
        var differing: [JSONText.Member] = []
        for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }).map({ String(decoding: $0, as: UTF8.self) }) {
            let sides = [("first", "-", old.value(forKey: key)), ("second", "+", new.value(forKey: key))]
            var members: [JSONText.Member] = []
            for (name, sign, value) in sides {
                guard let value else { continue }
                members.append(.init(name: name, value: display.patterns.readableJSON(value, forKey: key)))
                if !json { try show(value, forKey: key, sign: sign) }
            }
            differing.append(.init(name: key, value: .object(members)))
        }
        if json { try write(JSONText.object(differing).pretty + "\n") }
        if !differing.isEmpty { throw ExitCode.failure }
    }

    private func show(_ value: PropertyListValue, forKey key: String, sign: String) throws {
        var text = display.text
        text.appendEntry(shownKey(key), named: key, separator: " = ") { $0.append(value) }
        var signed = display.text
        signed.append(sign, sign == "-" ? .word : .string)
        signed.append(" ")
        signed.append(text, replacingLinesWith: "\n\(sign) ")
        signed.append("\n")
        try write(signed)
    }
}
