import Default
import Foundation
import Testing

struct CommandTests {
    static let commands = [
        "list", "read", "write", "delete", "rename", "export", "import", "watch", "verify", "compact", "quarantine",
    ]

    @Test("Help names every command, and each has help of its own")
    func help() throws {
        try Tool.withHome { tool in
            let overview = try tool.run("--help")
            #expect(overview.status == 0)
            for command in Self.commands {
                #expect(overview.text.contains("  \(command) "))
                let help = try tool.run(command, "--help")
                #expect(help.status == 0)
                #expect(help.text.contains("USAGE: settings \(command)"))
            }
        }
    }

    @Test("A command that is not known fails on standard error")
    func unknownCommand() throws {
        try Tool.withHome { tool in
            let outcome = try tool.run("remove", "app")
            #expect(outcome.status == 64)
            #expect(outcome.output.isEmpty)
            #expect(!outcome.errors.isEmpty)
        }
    }

    @Test(
        "The shell completes commands, suites and keys",
        arguments: [("settings ver", "verify"), ("settings read ap", "app"), ("settings read app co", "color")]
    )
    func completion(line: String, completed: String) throws {
        try Tool.withHome { tool in
            try FileDefaults(url: tool.url(ofSuite: "app")).set("red", forKey: "color")
            let words = line.split(separator: " ")
            let outcome = try tool.shell(
                """
                settings --generate-completion-script bash > completion && . ./completion
                COMP_WORDS=(\(line)) COMP_CWORD=\(words.count - 1) COMP_LINE="\(line)" COMP_POINT=\(line.count)
                _settings settings "\(words.last ?? "")" "\(words.dropLast().last ?? "")"
                printf '%s\\n' "${COMPREPLY[@]}"
                """,
                shell: "/bin/bash"
            )
            #expect(outcome.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } == [completed])
        }
    }

    @Test("Completion scripts are there for every shell", arguments: ["bash", "zsh", "fish"])
    func completionScripts(shell: String) throws {
        try Tool.withHome { tool in
            let outcome = try tool.run("--generate-completion-script", shell)
            #expect(outcome.status == 0)
            #expect(Self.commands.allSatisfy(outcome.text.contains))
        }
    }
}
