import ArgumentParser
import Default
import Foundation
import SettingsValues

@main
struct SettingsTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Looks into suites of settings, and changes them.",
        discussion: """
            SUITE is the name of a suite in the directory for configuration ($XDG_CONFIG_HOME, else ~/.config; on a Mac \
            Application Support), or the path of a suite's directory, which may be read-only, or as root another user's. Any \
            program may use the suite at the same time. Commands that only look change nothing and repair nothing.

            With --as-owner, before the command, root works with the rights of the owner of the suite's directory, which is given \
            by its path: another user's, or that of a service without a login.

            $SETTINGS_HIDE holds patterns of keys whose values no command shows, separated by colons, as --hide does.
            """,
        version: "0.1.0-dev",
        subcommands: [
            List.self, Read.self, Keys.self, ReadType.self, Origin.self, Find.self, Diff.self, Write.self, Edit.self,
            Delete.self, Rename.self, Export.self, Import.self, Watch.self, Serve.self, Verify.self, Salvage.self,
            Compact.self, Quarantine.self,
        ]
    )

    @Flag(help: "As root, work with the rights of the owner of the suite's directory.")
    var asOwner = false

    static func main() async {
        // The library's own handler writes to standard error as well, but not with a terminal in mind.
        DefaultsDiagnostics.handler = { event in
            // A suite that can't be opened is an error of the command.
            if event.severity != .info, event.kind != .openFailed { warn("\(event.error)") }
        }
        do {
            try refuseInvalidText()
            let arguments = CommandLine.arguments.dropFirst()
            SuiteReference.actsAsOwner = arguments.first == "--as-owner"
            let words = Array(arguments.dropFirst(SuiteReference.actsAsOwner ? 1 : 0))
            try refuseMacDomains(words)
            try refuseUnknownCommand(words.first)
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            end(with: error)
        }
    }

    /// What the Mac's tool has and suites don't: taken for the name of a suite or a value, it would do something else.
    private static func refuseMacDomains(_ arguments: [String]) throws {
        for argument in arguments.prefix(2) {
            switch argument {
            case "NSGlobalDomain", "-g", "-globalDomain":
                throw ToolError(
                    "Each suite has its own values, and none are global. Name the suite, as \"settings list\" shows it."
                )
            case "-currentHost", "-host":
                throw ToolError("Suites are not kept by host. Leave \(argument) out.")
            default:
                break
            }
        }
    }

    /// What isn't UTF-8 would be stored as another text.
    private static func refuseInvalidText() throws {
        for argument in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)) {
            guard let argument, String(validatingCString: argument) == nil else { continue }
            let bytes = UnsafeBufferPointer(start: argument, count: strlen(argument)).map { UInt8(bitPattern: $0) }
            throw ValidationError(
                "The argument \(String(escaping: bytes)) is not UTF-8. Bytes can be stored with -data, and read with --from."
            )
        }
    }

    /// Names the command that was probably meant.
    private static func refuseUnknownCommand(_ word: String?) throws {
        guard let word, !word.hasPrefix("-"), word != "help" else { return }
        let names = configuration.subcommands.flatMap { [$0._commandName] + $0.configuration.aliases }
        guard !names.contains(word) else { return }
        let nearest = names.map { (name: $0, distance: word.editDistance(to: $0)) }.min { $0.distance < $1.distance }
        let hint = nearest.map { $0.distance <= 2 ? " Did you mean \($0.name)?" : "" } ?? ""
        throw ValidationError("\(word.debugDescription) isn't a command.\(hint) \"settings help\" lists all.")
    }

    /// Ends the program as the parser would, with nothing in its message that a terminal may act on.
    private static func end(with error: any Error) -> Never {
        let unreadable = error as? Unreadable
        let error = unreadable?.cause ?? error
        let code = unreadable == nil ? exitCode(for: error) : Unreadable.exitCode
        switch error {
        case let error as CocoaError: note("Error: \(ToolError(error).description.escapedForTerminal)")
        case is ToolError, is DefaultsError: note("Error: \("\(error)".escapedForTerminal)")
        default:
            var message = fullMessage(for: error)
            if code.isSuccess {
                // Help, the version, or a script for a shell.
                do {
                    try writeAsIs(Data((message + "\n").utf8))
                } catch {
                    end(with: error)
                }
                exit(withError: ExitCode.success)
            }
            // The message has lines of its own; those of the arguments that it quotes are none of them.
            for argument in CommandLine.arguments.dropFirst() {
                for part in [argument] + argument.split(separator: "=", maxSplits: 1).map(String.init)
                where !part.isSafeOnTerminal {
                    message = message.replacing(part, with: part.escapedForTerminal)
                }
            }
            if !message.isEmpty { note(message) }
        }
        exit(withError: code)
    }
}

/// A suite is there, and can't be read.
struct Unreadable: Error, CustomStringConvertible {
    /// 1 is for a value that isn't there.
    static let exitCode = ExitCode(2)

    let cause: any Error

    var description: String { "\(cause)" }
}

extension String {
    /// How many characters have to be added, left out or replaced to get another text (Levenshtein's distance).
    fileprivate func editDistance(to other: String) -> Int {
        let other = Array(other)
        var row = Array(0...other.count)
        for (index, character) in enumerated() {
            var next = [index + 1]
            for (column, wanted) in other.enumerated() {
                next.append(
                    Swift.min(row[column] + (character == wanted ? 0 : 1), row[column + 1] + 1, next[column] + 1)
                )
            }
            row = next
        }
        return row.last ?? 0
    }
}

extension ToolError {
    static func noValue(forKey key: String, in suite: SuiteReference) -> ToolError {
        ToolError("\(key.debugDescription) has no value in \(suite).", isAbsence: true)
    }
}
