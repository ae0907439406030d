import Default
import Foundation
import Testing

@Suite(.waits)
struct ReadingTests {
    @Test("A settings type that the library stored is shown as JSON, and raw as its bytes")
    func settingsType() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.df.save(VisualSettings(), forKey: "VisualSettings")
            let shown = try tool.run("read", "app", "VisualSettings")
            #expect(shown.text == "{\n  \"apiToken\": \"secret-1\",\n  \"themeName\": \"dark\"\n}\n")
            let colored = try tool.run("read", "app", "VisualSettings", "--color", "always")
            #expect(colored.text.contains("\u{1B}[32m\"dark\"\u{1B}[0m"))
            let raw = try tool.run("read", "app", "VisualSettings", "--raw")
            #expect(raw.output == suite.data(forKey: "VisualSettings"))
        }
    }

    @Test("Colours are for terminals, unless they are switched off", arguments: [true, false])
    func terminal(isColored: Bool) throws {
        try Tool.withHome { tool in
            try FileDefaults(url: tool.url(ofSuite: "app")).df.save(VisualSettings(), forKey: "VisualSettings")
            let shown = try tool.runOnTerminal(
                "read",
                "app",
                "VisualSettings",
                environment: isColored ? [:] : ["NO_COLOR": "1"]
            )
            #expect(shown.contains("\u{1B}[34m\"themeName\"\u{1B}[0m: \u{1B}[32m\"dark\"\u{1B}[0m") == isColored)
            #expect(shown.contains("\u{1B}") == isColored)
            // Bytes are for files and pipes.
            let exported = try tool.runOnTerminal("export", "app")
            #expect(exported.hasPrefix("{") && exported.contains("\"themeName\": \"dark\""))
        }
    }

    @Test("All values of a suite are shown, sorted by key, each kind in its own notation")
    func wholeSuite() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("red\u{1B}[31m", forKey: "color")
            try suite.set(true, forKey: "b")
            try suite.set(1.0, forKey: "a key")
            try suite.set(Data([0x0F, 0xBD]), forKey: "bytes")
            try suite.set(Date(timeIntervalSinceReferenceDate: 0.5), forKey: "date")
            try suite.set(["list": [1]], forKey: "z")
            let expected = #"""
                "a key" = 1.0
                b = true
                bytes = <0fbd>
                color = "red\u001b[31m"
                date = 2001-01-01T00:00:00.500Z
                z = {
                  "list": [
                    1
                  ]
                }

                """#
            #expect(try tool.run("read", "app").text == expected)
            #expect(try tool.run("read", tool.url(ofSuite: "app").path).text == expected)
            #expect(try tool.run("read", "app.defaults").text == expected)
        }
    }

    @Test("What isn't there is 1, or the default that is given, and what can't be read is 2")
    func exitCodes() throws {
        try Tool.withHome { tool in
            try tool.run("write", "app", "color", "red")
            #expect(try tool.run("read", "app", "color", "--default", "blue").text == "red\n")
            for suite in ["app", "missing"] {
                #expect(try tool.run("read", suite, "size").status == 1)
                let substitute = try tool.run("read", suite, "size", "--default", "12")
                #expect(substitute.status == 0 && substitute.text == "12\n" && substitute.errors == "")
                #expect(try tool.run("read", suite, "size", "--raw", "--default", "12").text == "12")
            }
            #expect(try tool.run("read", "app", "--default", "12").status == 64)
            let journal = tool.url(ofSuite: "unreadable").appending(path: "journal", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: journal, withIntermediateDirectories: true)
            for command in ["read", "read-type"] {
                let refused = try tool.run(command, "unreadable", "size")
                #expect(refused.status == 2 && refused.text == "")
                #expect(refused.errors.hasPrefix("Error: ") && refused.errors.count { $0 == "\n" } == 1)
            }
            #expect(try tool.run("read", "unreadable", "size", "--default", "12").status == 2)
        }
    }

    @Test("Keys are shown alone, one on each line, or as JSON")
    func keys() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("secret", forKey: "token")
            try suite.set(1, forKey: "a key")
            #expect(try tool.run("keys", "app").text == "\"a key\"\ntoken\n")
            #expect(try tool.run("keys", "app", "--json").text == "[\n  \"a key\",\n  \"token\"\n]\n")
            #expect(try tool.run("keys", "missing").status == 1)
        }
    }

    @Test("A value without a type is shown without quotes, for scripts")
    func scripts() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("dark red", forKey: "color")
            #expect(try tool.shell("test \"$(settings read app color)\" = 'dark red'").status == 0)
        }
    }

    @Test("Hidden values are shown nowhere, at whatever depth, in whatever case", arguments: [true, false])
    func hiddenValues(singleKey: Bool) throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.df.save(VisualSettings(), forKey: "VisualSettings")
            try suite.set("secret-2", forKey: "TOKEN")
            try suite.set(["server": ["token": "secret-3"], "list": [["x.token": "secret-4"]]], forKey: "servers")
            try suite.set("shown", forKey: "color")
            let outcome = try tool.run("read", "app", "--hide", "*token")
            #expect(!outcome.text.contains("secret"))
            #expect(outcome.text.contains("shown"))
            #expect(outcome.text.components(separatedBy: "<hidden>").count == 5)
            #expect(try tool.run("read", "app", "TOKEN", "--hide", "token").text == "<hidden>\n")
            let raw = try tool.run("read", "app", "TOKEN", "--hide", "token", "--raw")
            #expect(raw.status == 1)
            #expect(raw.output.isEmpty)
        }
    }

    @Test(
        "Looking at a suite that doesn't exist fails, and makes none",
        arguments: [
            ["read", "nothing"], ["read", "nothing", "key"], ["export", "nothing"], ["verify", "nothing"],
            ["compact", "nothing"], ["quarantine", "nothing"], ["delete", "nothing", "key"],
            ["delete", "nothing"], ["rename", "nothing", "a", "b"], ["read", "./nothing.defaults"], ["read", "../x/y"],
            ["read", ""], ["read", "."], ["write", "./nothing", "key", "value"],
            ["write", "nothing", "key", "-int", "x"],
            ["write", "nothing", "", "value"], ["import", "nothing"], ["import", "nothing", "no file"],
        ]
    )
    func missingSuite(arguments: [String]) throws {
        try Tool.withHome { tool in
            let process = try tool.process()
            process.arguments = arguments
            let (output, errors) = (Pipe(), Pipe())
            process.standardOutput = output
            process.standardError = errors
            process.standardInput = FileHandle.nullDevice
            try process.run()
            #expect(output.fileHandleForReading.readDataToEndOfFile().isEmpty)
            let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(complaint.hasPrefix("Error: "))
            #expect(process.terminationStatus != 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path).isEmpty)
        }
    }

    @Test("A property list of Foundation's is not imported by a look at the suite of its name")
    func noAdoptionByReading() throws {
        try Tool.withHome { tool in
            _ = try FileDefaults(url: tool.url(ofSuite: "app"))
            let list = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .xml, options: 0)
            try list.write(to: tool.home.appending(path: "app.plist"))
            #expect(try tool.run("read", "app").text == "")
            try tool.run("write", "app", "b", "2")
            #expect(try tool.run("read", "app").text == "a = 1\nb = \"2\"\n")
        }
    }

    @Test("The suites are listed by name")
    func list() throws {
        try Tool.withHome { tool in
            _ = try FileDefaults(url: tool.url(ofSuite: "two"))
            _ = try FileDefaults(url: tool.url(ofSuite: "one"))
            let empty = tool.home.appending(path: "no suite.defaults")
            try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
            #expect(try tool.run("list").text == "one\ntwo\n")
        }
    }
}
