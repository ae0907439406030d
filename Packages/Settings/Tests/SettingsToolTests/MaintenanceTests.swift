import Default
import Foundation
import Testing

@Suite(.waits)
struct MaintenanceTests {
    @Test("A folder without a journal is no intact suite")
    func emptyFolder() throws {
        try Tool.withHome { tool in
            let folder = tool.url(ofSuite: "empty")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            for command in ["verify", "salvage", "read", "keys", "export", "watch", "compact"] {
                let outcome = try tool.run(command, "empty")
                // 1 is for a damaged suite.
                #expect(outcome.status == (command == "verify" ? 2 : 1) && outcome.text == "")
                #expect(outcome.errors.contains("has no journal") && outcome.errors.count { $0 == "\n" } == 1)
            }
        }
    }

    @Test("A suite that is damaged and not repaired is called so by what shows backups, and an empty journal is damage")
    func unrepaired() throws {
        try Tool.withHome { tool in
            try tool.makeDamagedSuite("app")
            let shown = try tool.run("salvage", "app")
            #expect(shown.errors.contains("not backed up yet") && shown.status == 0, "\(shown.errors)")
            #expect(try tool.run("compact", "app").status == 0)
            #expect(try tool.run("salvage", "app").text.contains("Some value that is damaged"))
            try tool.run("write", "empty", "a", "1")
            try Data().write(to: tool.url(ofSuite: "empty").appending(path: "journal"))
            let checked = try tool.run("verify", "empty")
            #expect(checked.status == 1 && checked.text.hasSuffix("Damaged.\n"), "\(checked.text)")
            #expect(try tool.run("verify", "nowhere").status == 2)
        }
    }

    @Test("A suite that can't be looked at isn't called missing")
    func unreachable() throws {
        try Tool.withHome { tool in
            let link = tool.url(ofSuite: "app")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "app.defaults")
            let outcome = try tool.run("read", "app")
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("can't be read"), "\(outcome.errors)")
        }
    }

    @Test("A suite that can't be created is said once")
    func failedCreation() throws {
        try Tool.withHome { tool in
            try Data().write(to: tool.url(ofSuite: "file"))
            let outcome = try tool.run("write", "file", "a", "1")
            #expect(outcome.status == 1)
            #expect(outcome.errors.count { $0 == "\n" } == 1, "\(outcome.errors)")
        }
    }

    @Test("Salvaging says why nothing was restored")
    func nothingRestored() throws {
        try Tool.withHome { tool in
            try tool.makeDamagedSuite("app")
            // Opens the suite, which backs up its journal.
            try tool.run("write", "app", "other", "1")
            let outcome = try tool.run("salvage", "app", "--restore")
            #expect(outcome.errors.contains("Nothing was restored. Name the keys"), "\(outcome.errors)")
            #expect(try tool.run("salvage", "app", "unknown").errors == "The backups have no value for these keys.\n")
            try tool.run("salvage", "app", "damaged", "--restore")
            #expect(try tool.run("salvage", "app").errors == "The suite has each value of the backups.\n")
        }
    }

    @Test("An intact suite is reported as intact")
    func intact() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set(1, forKey: "a")
            try suite.set(2, forKey: "a")
            let outcome = try tool.run("verify", "app")
            #expect(outcome.status == 0)
            #expect(outcome.text.hasPrefix("1 value in 2 records"))
            #expect(outcome.text.hasSuffix("Intact.\n"))
        }
    }

    @Test("The exit status reports a damaged suite, which is not changed in a single byte")
    func damaged() throws {
        try Tool.withHome { tool in
            try tool.makeDamagedSuite("app")
            let before = try tool.files(ofSuite: "app")
            for _ in 0..<2 {
                let outcome = try tool.run("verify", "app")
                #expect(outcome.status == 1)
                #expect(outcome.text.hasSuffix("Damaged.\n"))
                #expect(try tool.files(ofSuite: "app") == before)
            }
            #expect(try tool.run("read", "app").text == "whole = \"another value\"\n")
            #expect(try tool.files(ofSuite: "app") == before)
        }
    }

    @Test("A suite that was repaired fails the check as long as the damaged copy is there")
    func damagedCopy() throws {
        try Tool.withHome { tool in
            try tool.makeDamagedSuite("app")
            // A change opens the suite, and that repairs it.
            try tool.run("write", "app", "new", "value")
            let outcome = try tool.run("verify", "app")
            #expect(outcome.status == 1)
            #expect(outcome.text.contains("journal.damaged-"))
            #expect(try tool.run("salvage", "app", "--remove").status == 0)
            let checked = try tool.run("verify", "app")
            #expect(checked.status == 0)
            #expect(checked.text.hasSuffix("Intact.\n"))
        }
    }

    @Test(
        "What the copy holds is shown, and restored: what is damaged only by name, other values only when that is said"
    )
    func salvage() throws {
        try Tool.withHome { tool in
            try tool.makeDamagedSuite("app")
            try tool.run("delete", "app", "whole")
            let before = try tool.files(ofSuite: "app")
            let shown = try tool.run("salvage", "app")
            #expect(shown.status == 0)
            let lines = shown.text.split(separator: "\n").dropFirst()
            let remark = " (from damaged bytes, may be wrong)"
            #expect(lines == ["damaged = \"Some value that is damaged\"\(remark)", "whole = \"another value\""])
            #expect(try tool.files(ofSuite: "app") == before)
            let hidden = try tool.run("salvage", "app", environment: ["SETTINGS_HIDE": "d*:w*"])
            #expect(!hidden.text.contains("value that") && !hidden.text.contains("another"))

            #expect(try tool.run("salvage", "app", "--restore").status == 0)
            #expect(try tool.run("read", "app").text == "whole = \"another value\"\n")
            #expect(try tool.run("salvage", "app", "damaged", "--restore").status == 0)
            #expect(try tool.run("read", "app", "damaged").text == "Some value that is damaged\n")
            try tool.run("write", "app", "whole", "newer")
            #expect(try tool.run("salvage", "app", "whole").text.hasSuffix("(the suite has another value)\n"))
            #expect(try tool.run("salvage", "app", "whole", "--restore").status == 0)
            #expect(try tool.run("read", "app", "whole").text == "newer\n")
            #expect(try tool.run("salvage", "app", "whole", "--restore", "--overwrite").status == 0)
            #expect(try tool.run("read", "app", "whole").text == "another value\n")
            #expect(try tool.run("salvage", "app", "--restore", "--overwrite").status != 0)
        }
    }

    @Test(
        "A value is restored under a fallback and a mandatory value, and a backup goes when the suite has all of it",
        arguments: ["app.json", "app.mandatory.json"]
    )
    func salvageUnderSources(file: String) throws {
        try Tool.withHome { tool in
            try tool.makeDamagedSuite("app")
            try tool.run("delete", "app", "whole")
            let folder = tool.home.appending(path: "xdg", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try Data(#"{"whole": "of all users"}"#.utf8).write(to: folder.appending(path: file))
            let environment = ["XDG_CONFIG_DIRS": folder.path]
            let restored = try tool.run(
                arguments: ["salvage", "app", "--restore", "--remove"],
                environment: environment
            )
            #expect(try tool.run("read", "app").text == "whole = \"another value\"\n")
            #expect(restored.status == 0 && restored.errors.contains("Restored 1 value."), "\(restored.errors)")
            // The one from damaged bytes is nowhere else.
            #expect(restored.errors.contains("is kept"), "\(restored.errors)")
            #expect(try tool.run("salvage", "app").text.contains("Some value that is damaged"))
            try tool.run("salvage", "app", "damaged", "--restore")
            let removed = try tool.run(
                arguments: ["salvage", "app", "--restore", "--remove"],
                environment: environment
            )
            #expect(removed.status == 0 && !removed.errors.contains("is kept"), "\(removed.errors)")
            #expect(try tool.run("verify", "app").status == 0)
        }
    }

    @Test("A suite of which nothing but a backup is left is salvaged")
    func salvageWithoutJournal() throws {
        try Tool.withHome { tool in
            try tool.makeDamagedSuite("app")
            try tool.run("compact", "app")
            try FileManager.default.removeItem(at: tool.url(ofSuite: "app").appending(path: "journal"))
            let before = try tool.files(ofSuite: "app")
            let checked = try tool.run("verify", "app")
            #expect(checked.status == 1 && checked.text.contains("journal.damaged-"), "\(checked.text)")
            let shown = try tool.run("salvage", "app")
            #expect(shown.status == 0 && shown.text.contains("whole = \"another value\""), "\(shown.errors)")
            #expect(try tool.files(ofSuite: "app") == before)
            let restored = try tool.run("salvage", "app", "--restore")
            #expect(restored.status == 0, "\(restored.errors)")
            #expect(try tool.run("read", "app").text == "whole = \"another value\"\n")
        }
    }

    @Test("The commands for one suite exit with 2 when it is there and can't be read")
    func unreadable() throws {
        try Tool.withHome { tool in
            let suite = tool.url(ofSuite: "app")
            let journal = suite.appending(path: "journal", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: journal, withIntermediateDirectories: true)
            for arguments in [
                "read app", "export app", "origin app", "watch app", "verify app", "quarantine app", "salvage app",
                "salvage app --restore", "write app key 1", "write ./app.defaults key 1", "delete app key",
                "rename app key new", "compact app", "import app empty.json", "import ./app.defaults empty.json",
            ] {
                try Data("{}".utf8).write(to: tool.home.appending(path: "empty.json"))
                let outcome = try tool.run(arguments: arguments.components(separatedBy: " "))
                #expect(outcome.status == 2 && outcome.errors.hasPrefix("Error: "), "\(arguments): \(outcome.errors)")
            }
        }
    }

    @Test("Compaction shrinks a journal and keeps its values")
    func compact() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            for number in 1...1_000 {
                try suite.set(number, forKey: "number")
            }
            let before = try suite.verify().fileSize
            #expect(try tool.run("compact", "app").text.hasPrefix("\(before) bytes before"))
            #expect(try suite.verify().fileSize < before / 5)
            #expect(suite.integer(forKey: "number") == 1_000)
        }
    }

    /// Runs a process that watches a suite, until a test has read what it wants of the output.
    private func watch(_ process: Process, _ test: (FileHandle) throws -> Void) throws {
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        #expect(errors.fileHandleForReading.nextLine() == "Watching app.")
        try test(output.fileHandleForReading)
    }

    @Test("Changes that another process makes are shown with their time, hidden ones without their value")
    func watch() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("old", forKey: "color")
            let process = try tool.process("watch", "app", "--hide", "token")
            try watch(process) { output in
                try suite.set("red", forKey: "color")
                let set = try #require(output.nextLine())
                #expect(set.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z color = "red"/) != nil)
                try suite.removeObject(forKey: "color")
                #expect(output.nextLine()?.hasSuffix("Z color removed") == true)
                try suite.set("secret", forKey: "token")
                #expect(output.nextLine()?.hasSuffix("Z token = <hidden>") == true)
            }
        }
    }

    @Test("Watching shows what is stored, as reading does, whatever fallbacks and mandatory values there are")
    func watchUnderSources() throws {
        try Tool.withHome { tool in
            let folder = tool.home.appending(path: "xdg", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let text = #"{"color": "grey", "volume": 1, "unstored": true}"#
            try Data(text.utf8).write(to: folder.appending(path: "app.json"))
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("red", forKey: "color")
            let process = try tool.process("watch", "app")
            process.environment?["XDG_CONFIG_DIRS"] = folder.path
            try watch(process) { output in
                try suite.removeObject(forKey: "color")
                #expect(output.nextLine()?.hasSuffix("Z color removed") == true)
                // The value of the fallback, which is stored now.
                try suite.set(1, forKey: "volume")
                #expect(output.nextLine()?.hasSuffix("Z volume = 1") == true)
            }
        }
    }

    @Test("Watching a suite that doesn't exist fails, and makes none")
    func watchNothing() throws {
        try Tool.withHome { tool in
            let process = try tool.process("watch", "nothing")
            let errors = Pipe()
            process.standardError = errors
            try process.run()
            let complaint = try #require(errors.fileHandleForReading.nextLine())
            #expect(complaint.hasPrefix("Error: "))
            if !complaint.hasPrefix("Error: ") {
                process.terminate()
            }
            process.waitUntilExit()
            #expect(process.terminationStatus == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path).isEmpty)
        }
    }

    @Test("Only the key that is watched is shown")
    func watchKey() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            let process = try tool.process("watch", "app", "color")
            try watch(process) { output in
                try suite.transaction {
                    try suite.set(1, forKey: "another")
                    try suite.set("red", forKey: "color")
                }
                #expect(output.nextLine()?.hasSuffix("color = \"red\"") == true)
            }
        }
    }

    @Test("Of many keys only the changed ones are shown, those that differ from others in their bytes only included")
    func watchManyKeys() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.transaction {
                for number in 0..<10_000 { try suite.set(number, forKey: "key.\(number)") }
            }
            let process = try tool.process("watch", "app", "--json")
            try watch(process) { output in
                func next() throws -> [String: String] {
                    let line = try #require(output.nextLine())
                    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    return (object ?? [:]).filter { $0.key != "time" }.mapValues { "\($0)" }
                }
                for round in 1...50 {
                    try suite.set(-round, forKey: "key.\(round * 100)")
                    #expect(try next() == ["key": "key.\(round * 100)", "value": "\(-round)"])
                }
                try suite.transaction {
                    // The same value isn't a change.
                    try suite.set(7, forKey: "key.7")
                    try suite.set("composed", forKey: "\u{E9}")
                    try suite.set("decomposed", forKey: "e\u{301}")
                    try suite.removeObject(forKey: "key.8")
                }
                #expect(try Set([next(), next(), next()].map { $0["value"] ?? "" }) == ["composed", "decomposed", ""])
            }
        }
    }

    @Test("Quarantined values are shown, and removed on request")
    func quarantine() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set(1, forKey: "other")
            let defaults = Defaults(suite: suite)
            let key = Defaults.Key<VisualSettings?>("VisualSettings")
            try suite.set(Data("{\"half".utf8), forKey: "VisualSettings")
            try defaults.save(VisualSettings(), for: key)
            try #require(try defaults.quarantined(key).count == 1)
            let line = /[-0-9T:.]+Z, not usable as .*VisualSettings.*: VisualSettings = <7b2268616c66>\n/
            #expect(try tool.run("quarantine", "app").text.wholeMatch(of: line) != nil)
            let hidden = try tool.run("quarantine", "app", "--hide", "*settings").text
            #expect(hidden.hasSuffix("VisualSettings = <hidden>\n"))
            // Nor by reading what the quarantine is kept as.
            #expect(!(try tool.run("read", "app", "--hide", "*settings").text.contains("half")))
            #expect(try tool.run("read", "app").text.contains("7b2268616c66"))
            #expect(try tool.run("quarantine", "app", "other", "--remove").text == "")
            #expect(try tool.run("quarantine", "app", "VisualSettings", "--remove").text.wholeMatch(of: line) != nil)
            #expect(try tool.run("quarantine", "app").text == "")
            #expect(try defaults.quarantined(key).isEmpty)
            #expect(suite.storedKeys().sorted() == ["VisualSettings", "other"])
        }
    }

    @Test("The newest quarantined value of a key is stored again on request, and exchanged with the one it replaces")
    func restore() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            let key = Defaults.Key<VisualSettings?>("VisualSettings")
            let damaged = Data("{\"half".utf8)
            try suite.set(damaged, forKey: "VisualSettings")
            try Defaults(suite: suite).save(VisualSettings(), for: key)
            let replaced = suite.data(forKey: "VisualSettings")
            let line = /[-0-9T:.]+Z, not usable as .*VisualSettings.*: VisualSettings = <7b2268616c66>\n/
            #expect(try tool.run("quarantine", "app", "VisualSettings", "--restore").text.wholeMatch(of: line) != nil)
            #expect(suite.data(forKey: "VisualSettings") == damaged)
            #expect(try tool.run("quarantine", "app", "VisualSettings", "--restore").status == 0)
            #expect(suite.data(forKey: "VisualSettings") == replaced)
            let none = try tool.run("quarantine", "app", "other", "--restore")
            #expect(none.status == 1 && none.text == "")
            #expect(try tool.run("quarantine", "app", "--restore").status == 64)
            #expect(try tool.run("quarantine", "app", "VisualSettings", "--restore", "--remove").status == 64)
            #expect(suite.data(forKey: "VisualSettings") == replaced)
        }
    }

    @Test("A value whose key only ends like a quarantine is not shown as one")
    func quarantineInName() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("two weeks", forKey: "traveller.quarantine")
            try suite.set("always", forKey: ".quarantine")
            let all = try tool.run("quarantine", "app", "--remove")
            #expect(all.status == 0)
            #expect(all.text == "")
            #expect(suite.storedKeys().count == 2)
            #expect(try tool.run("quarantine", "app", "traveller").status == 1)
        }
    }
}

extension FileHandle {
    /// Waits for a line and takes it; nil at the end.
    fileprivate func nextLine() -> String? {
        var line = Data()
        while true {
            let byte = readData(ofLength: 1)
            if byte.isEmpty {
                return nil
            }
            if byte == Data("\n".utf8) {
                return String(decoding: line, as: UTF8.self)
            }
            line += byte
        }
    }
}
