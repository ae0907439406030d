import Default
import Foundation
import Testing

@Suite(.waits)
struct CommandTests {
    static let commands = [
        "list", "read", "read-type", "find", "diff", "write", "edit", "delete", "rename", "export", "import", "watch",
        "verify",
        "salvage", "compact", "quarantine",
    ]

    @Test("Help names every command, and each has help of its own")
    func help() throws {
        try Tool.withHome { tool in
            let overview = try tool.run("--help")
            #expect(overview.status == 0)
            for command in Self.commands {
                #expect(overview.text.contains("  \(command) ") || overview.text.contains("  \(command), "))
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

    @Test("The version is shown")
    func version() throws {
        try Tool.withHome { tool in
            let outcome = try tool.run("--version")
            #expect(outcome.status == 0)
            #expect(outcome.text.wholeMatch(of: /\d+\.\d+\.\d+(-[a-z]+)?\n/) != nil)
        }
    }

    @Test("The manual page describes every command and option, and no others")
    func manual() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let page = try String(contentsOf: package.appending(path: "settings.1"), encoding: .utf8)
        let help = try Tool.withHome { tool in
            try tool.run("--experimental-dump-help").output
        }
        let described = Set(page.matches(of: /\n\.It (?:Fl -|Em )([-a-z0-9]+)/).map { String($0.1) })
        var expected: Set<String> = []
        func collect(_ object: Any) {
            if let list = object as? [Any] { list.forEach(collect) }
            guard let entries = object as? [String: Any] else { return }
            if let name = entries["commandName"] as? String, name != "settings", name != "help" {
                expected.insert(name)
            }
            if entries["kind"] as? String == "flag" || entries["kind"] as? String == "option",
                let name = (entries["preferredName"] as? [String: Any])?["name"] as? String
            {
                expected.insert(name)
            }
            entries.values.forEach(collect)
        }
        collect(try JSONSerialization.jsonObject(with: help))
        #expect(expected.isSuperset(of: Self.commands))
        #expect(described.subtracting(["help"]) == expected.subtracting(["help"]))
    }

    @Test(
        "What the Mac's tool has and suites don't is refused with a sentence, and nothing is made for it",
        arguments: [
            ["read", "NSGlobalDomain"], ["read", "-g", "key"], ["write", "-globalDomain", "key", "value"],
            ["-currentHost", "read", "app"], ["-host", "name", "read", "app"],
        ]
    )
    func macDomains(arguments: [String]) throws {
        try Tool.withHome { tool in
            let outcome = try tool.run(arguments: arguments)
            #expect(outcome.status == 1)
            #expect(outcome.errors.hasPrefix("Error: ") && outcome.errors.hasSuffix(".\n"))
            #expect(outcome.errors.contains("none are global") || outcome.errors.contains("by host"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path).isEmpty)
        }
    }

    @Test("A command that is misspelt is named as it was meant")
    func misspelt() throws {
        try Tool.withHome { tool in
            for (word, meant) in [("raed", "read"), ("exprot", "export"), ("lst", "list")] {
                let outcome = try tool.run(word, "app")
                #expect(outcome.status == 64 && outcome.errors.contains("Did you mean \(meant)?"), "\(outcome.errors)")
            }
            #expect(try !tool.run("frobnicate").errors.contains("Did you mean"))
        }
    }

    @Test(
        "What can't be written in full fails with a sentence that names what it is written to",
        arguments: ["read app", "export app", "help", "--version", "help read", "--generate-completion-script bash"]
    )
    func fullOutput(command: String) throws {
        try Tool.withHome { tool in
            try tool.run("write", "app", "color", "red")
            let outcome = try tool.shell("settings \(command) >/dev/full")
            #expect(outcome.status == 1)
            #expect(outcome.errors == "Error: Standard output can't be written: No space left on device.\n")
            let closed = try tool.shell("settings \(command) >&-")
            #expect(closed.status == 1)
            #expect(closed.errors == "Error: Standard output can't be written: Bad file descriptor.\n")
            let file = try tool.run("export", "app", "/dev/full")
            #expect(file.errors == "Error: /dev/full can't be written: No space left on device.\n")
        }
    }

    @Test("What goes into a pipe that doesn't block arrives in full")
    func nonBlockingOutput() throws {
        try Tool.withHome { tool in
            let store = try FileDefaults(url: tool.url(ofSuite: "app"))
            try store.set(Data(repeating: 1, count: 4 << 20), forKey: "large")
            let process = try tool.process("export", "app")
            let pipe = Pipe()
            let output = pipe.fileHandleForWriting.fileDescriptor
            #expect(fcntl(output, F_SETFL, fcntl(output, F_GETFL) | O_NONBLOCK) == 0)
            process.standardOutput = pipe
            try process.run()
            try pipe.fileHandleForWriting.close()
            // In so small parts that the pipe is full again and again.
            var count = 0
            while let part = try pipe.fileHandleForReading.read(upToCount: 512) { count += part.count }
            process.waitUntilExit()
            #expect(process.terminationStatus == 0 && count > 4 << 20)
        }
    }

    @Test("An error goes into no file of a suite when standard error is closed")
    func closedErrors() throws {
        try Tool.withHome { tool in
            try tool.run("write", "app", "color", "red")
            let outcome = try tool.shell("settings delete app missing <&- 2>&-")
            #expect(outcome.status == 1)
            #expect(try tool.run("verify", "app").text.hasSuffix("Intact.\n"))
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
