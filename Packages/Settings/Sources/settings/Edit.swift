import ArgumentParser
import Default
import Foundation
import SettingsValues

struct Edit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Opens a value in an editor, and stores it when it is correct.",
        discussion: """
            The editor is $VISUAL, else $EDITOR, else vi. A string is edited as text, stored JSON as JSON, and other values in \
            the notation of JSON exports. What can't be read, or has another type than before, is not stored, and neither is \
            anything if another program has changed the value meanwhile. Text that was not stored is kept in a file of its own.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key.", completion: .keys)
    var key: String

    @OptionGroup
    var hiding: HidingOptions

    func run() throws {
        let store = try suite.existing()
        guard let old = store.ownValue(forKey: key) else {
            throw ToolError.noValue(forKey: key, in: suite)
        }
        guard case .all = hiding.patterns.visiblePart(of: old, forKey: key, .replaced) else {
            throw ToolError.hidden(key)
        }
        try checkTerminal()
        let form = EditedForm(old)
        let file = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString)\(form.suffix)")
        do {
            try writePrivately(Data(form.text.utf8), to: file.plainPath)
        } catch {
            // A part of the value may be there.
            try? FileManager.default.removeItem(at: file)
            throw error
        }
        do {
            try edit(file)
            let text = try readInput(file.plainPath, upTo: 1 << 30)
            if text == Data(form.text.utf8) {
                note("Nothing was changed.")
            } else {
                let new = try form.value(of: text)
                try SuiteContents(entries: [SuiteContents.Entry(key: key, value: new)]).checkStorable()
                try store.transaction {
                    guard let current = store.ownValue(forKey: key), current.isIdentical(to: old) else {
                        throw ToolError("Another program has changed the value for \(key.debugDescription) meanwhile.")
                    }
                    try store.setStoredValue(new, forKey: key)
                }
            }
        } catch {
            // What nobody has changed is worth nothing, and may be a secret.
            guard let text = try? Data(contentsOf: file), text != Data(form.text.utf8) else {
                try? FileManager.default.removeItem(at: file)
                throw ToolError("\(error) Nothing was stored.")
            }
            throw ToolError("\(error) Nothing was stored; your text is in \(file.plainPath).")
        }
        try FileManager.default.removeItem(at: file)
    }

    /// The editor that the user has chosen.
    private var chosenEditor: String? {
        let environment = ProcessInfo.processInfo.environment
        return [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty }
    }

    /// An editor that was chosen may need no terminal; vi would wait for one.
    private func checkTerminal() throws {
        guard chosenEditor == nil, isatty(STDIN_FILENO) == 0 || !isOutputTerminal else { return }
        throw ToolError("An editor needs a terminal. \"settings write\" takes a value from a pipe or a file.")
    }

    private func edit(_ file: URL) throws {
        let editor = chosenEditor ?? "vi"
        // In a shell, since the variable may hold arguments; and not with Process, which would take the terminal from
        // it.
        let path = "'" + file.plainPath.replacing("'", with: "'\\''") + "'"
        let status = runInShell("\(editor) \(path)")
        guard status == 0 else {
            throw ToolError("The editor \(editor.debugDescription) failed.")
        }
    }

    /// Runs a command with this program's terminal, and waits for its end.
    private func runInShell(_ command: String) -> Int32 {
        let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        var arguments = ["sh", "-c", command].map { (word: String) in strdup(word) }
        var variables = environment.map { (word: String) in strdup(word) }
        arguments.append(nil)
        variables.append(nil)
        defer { (arguments + variables).forEach { free($0) } }
        var process: pid_t = 0
        guard posix_spawn(&process, "/bin/sh", nil, nil, arguments, variables) == 0 else { return -1 }
        // Control-C is the editor's, as it is in `system`.
        let handler = signal(SIGINT, SIG_IGN)
        defer { signal(SIGINT, handler) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        return status
    }
}

/// A value as text for an editor.
private struct EditedForm {
    let old: PropertyListValue
    let text: String
    let suffix: String
    private let isJSON: Bool

    init(_ value: PropertyListValue) {
        old = value
        switch value {
        case .string(let string):
            (text, suffix, isJSON) = (string + "\n", ".txt", false)
        case .data(let data):
            let json = JSONText(parsing: data)
            (text, suffix, isJSON) = ((json ?? JSONText(exact: value)).pretty + "\n", ".json", json != nil)
        default:
            (text, suffix, isJSON) = (JSONText(exact: value).pretty + "\n", ".json", false)
        }
    }

    func value(of edited: Data) throws -> PropertyListValue {
        if case .string = old {
            guard let text = String(validating: edited, as: UTF8.self) else {
                throw ToolError("The text is not UTF-8.")
            }
            return .string(text.withoutLineEnd)
        }
        guard let json = JSONText(parsing: edited, maximumDepth: SuiteContents.maximumJSONDepth) else {
            throw ToolError("The text is not JSON.")
        }
        if isJSON {
            return .data(Data(json.compact.utf8))
        }
        let new = try PropertyListValue(exact: json)
        let (before, after) = (ValueNode.value(old).typeName, ValueNode.value(new).typeName)
        guard before == after else {
            throw ToolError("The value had the type \(before), and would have the type \(after).")
        }
        return new
    }
}

extension String {
    /// The text without the end of its last line, which editors and `echo` add.
    var withoutLineEnd: String {
        // "\r\n" is one character.
        last == "\n" || last == "\r\n" ? String(dropLast()) : self
    }
}
