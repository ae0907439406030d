import Default
import Foundation
import Testing

@Suite(.waits)
struct WritingTests {
    @Test(
        "Each type that the Mac's tool knows is stored as that type",
        arguments: [
            (["-string", "-5"], PropertyListValue.string("-5")),
            (["plain"], .string("plain")),
            (["5"], .string("5")),
            (["-int", "-5"], .integer(-5)),
            (["-integer", "18446744073709551615"], .unsigned(.max)),
            (["-float", "-1"], .real(-1)),
            (["-5"], .string("-5")),
            (["-0.5e3"], .string("-0.5e3")),
            (["-array", "-int", "-1", "-2"], .array([.integer(-1), .string("-2")])),
            (["--", "plain"], .string("plain")),
            (["-string", "--create"], .string("--create")),
            (["-string", "--from=me"], .string("--from=me")),
            (["-string", "--from"], .string("--from")),
            (["-string", "-string", "--create"], .string("-string")),
            (["-array", "-string", "--from", "b"], .array([.string("--from"), .string("b")])),
            (["-float", "inf"], .real(.infinity)),
            (["-bool", "YES"], .boolean(true)),
            (["-boolean", "0"], .boolean(false)),
            (["-date", "2001-01-01 01:00:00 +0100"], .date(Date(timeIntervalSinceReferenceDate: 0))),
            (["-date", "2001-01-02T00:00:00.25Z"], .date(Date(timeIntervalSinceReferenceDate: 86_400.25))),
            (["-date", "2001-01-02"], .date(Date(timeIntervalSinceReferenceDate: 86_400))),
            (["-data", "0fBD 77"], .data(Data([0x0F, 0xBD, 0x77]))),
            (["-json", "{\"a\": 1}"], .data(Data("{\"a\": 1}".utf8))),
            (["-array"], .array([])),
            (["-array", "a", "-int", "1", "-bool", "no"], .array([.string("a"), .integer(1), .boolean(false)])),
            (["-dict"], .dictionary([:])),
            (["-dict", "a", "-float", "1", "b", "c"], .dictionary(["a": .real(1), "b": .string("c")])),
            (["(draft)"], .string("(draft)")), (["{a = b;}"], .string("{a = b;}")), (["<b>"], .string("<b>")),
            (["-plist", "(a, \"b c\")"], .array([.string("a"), .string("b c")])),
            (["--plist", "{a = b;}"], .dictionary(["a": .string("b")])),
            (["-plist", "<dict><key>a</key><integer>1</integer></dict>"], .dictionary(["a": .integer(1)])),
            (["-array", "-plist", "(1)", "(1)"], .array([.array([.string("1")]), .string("(1)")])),
        ]
    )
    func types(arguments: [String], expected: PropertyListValue) throws {
        try Tool.withHome { tool in
            let process = try tool.process()
            process.arguments = ["write", "app", "key"] + arguments
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(try FileDefaults(url: tool.url(ofSuite: "app")).storedValue(forKey: "key") == expected)
        }
    }

    @Test(
        "A text that is not a value of its type is refused, and what was stored stays",
        arguments: [
            ["-int", "1.5"], ["-int"], ["-bool", "perhaps"], ["-date", "yesterday"], ["-date", "2001-02-30"],
            ["-data", "0f0"], ["-data", "zz"], ["-json", "{"], ["-dict", "a"], ["-array-add", "b"],
            ["-dict-add", "a", "b"],
            ["-plist", "(a,"], ["-float", "1e400"], ["-float", "-1e999"], ["one", "two"], [], ["-itn"],
            ["--form", "file"], ["--from"], ["--from", "no file"],
            ["-array", "--from", "no file"], ["-int", "one", "--from", "no file"],
        ]
    )
    func badValues(arguments: [String]) throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("old", forKey: "key")
            let process = try tool.process()
            process.arguments = ["write", "app", "key"] + arguments
            let errors = Pipe()
            process.standardError = errors
            try process.run()
            let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus != 0)
            #expect(complaint.hasPrefix("Error: "))
            #expect(suite.string(forKey: "key") == "old")
        }
    }

    @Test("A suite is made at a path that is that of a suite")
    func newSuiteAtPath() throws {
        try Tool.withHome { tool in
            for arguments in [["key", "value"], ["key", "-int", "1"]] {
                let refused = try tool.run(arguments: ["write", "./folder/new.defaults"] + arguments)
                #expect(refused.status == 1)
                #expect(refused.errors.contains("--create"))
            }
            #expect(try tool.shell("echo '{}' | settings import ./folder/new.defaults").status == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path).isEmpty)
            #expect(try tool.run("write", "./folder/new.defaults", "key", "value", "--create").status == 0)
            #expect(try tool.run("write", "--create", "./folder/2.defaults", "key", "value").status == 0)
            #expect(try tool.shell("echo '{}' | settings import ./folder/3.defaults --create").status == 0)
            let suite = try FileDefaults(url: tool.home.appending(path: "folder/new.defaults"))
            #expect(suite.string(forKey: "key") == "value")
            #expect(try tool.run("read", "folder/new.defaults/", "key").text == "value\n")
        }
    }

    @Test("A value comes from standard input or a file, and so is in no list of processes")
    func valueFromInput() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            let json = "{\"name\": \"ada\"}\n"
            for (line, expected) in [
                ("echo s3cret | settings write app key -", PropertyListValue.string("s3cret")),
                ("printf 'a\\nb\\n\\n' | settings write app key -", .string("a\nb\n")),
                ("printf s3cret | settings write app key -string -", .string("s3cret")),
                ("echo -7 | settings write app key -int -", .integer(-7)),
                ("printf '(a)' | settings write app key -", .string("(a)")),
                ("cat json | settings write app key -json -", .data(Data(json.dropLast().utf8))),
                ("settings write app key -json --from json", .data(Data(json.dropLast().utf8))),
                ("settings write app key --from json -json", .data(Data(json.dropLast().utf8))),
                ("settings write --from=json app key", .string(String(json.dropLast()))),
                ("settings write app key -data --from json", .data(Data(json.utf8))),
                ("printf '\\377' | settings write app key -data -", .data(Data([0xFF]))),
                ("echo x | settings write app key --from -", .string("x")),
            ] {
                try Data(json.utf8).write(to: tool.home.appending(path: "json"))
                try suite.removeObject(forKey: "key")
                #expect(try tool.shell(line).status == 0, "\(line)")
                #expect(suite.storedValue(forKey: "key") == expected, "\(line)")
            }
            for line in [
                "printf '\\377' | settings write app key -", "echo s3cret | settings write app key -int -",
                "echo '{' | settings write app key -json -",
            ] {
                let outcome = try tool.shell(line)
                #expect(outcome.status == 1)
                #expect(outcome.errors.hasPrefix("Error: ") && !outcome.errors.contains("s3cret"))
                #expect(suite.string(forKey: "key") == "x")
            }
        }
    }

    /// An editor that replaces one text by another.
    private func replacing(_ old: String, by new: String) -> [String: String] {
        ["EDITOR": "sed -i 's/\(old)/\(new)/'", "VISUAL": ""]
    }

    @Test(
        "A value is edited in its own notation, and stored as what it was",
        arguments: [
            (PropertyListValue.string("old text"), PropertyListValue.string("new text")),
            (.string("old\n\n"), .string("new\n\n")),
            (.data(Data(#"{"name":"old","size":1.50}"#.utf8)), .data(Data(#"{"name":"new","size":1.50}"#.utf8))),
            (
                .dictionary(["a": .array([.string("old"), .date(Date(timeIntervalSinceReferenceDate: 0.5))])]),
                .dictionary(["a": .array([.string("new"), .date(Date(timeIntervalSinceReferenceDate: 0.5))])])
            ),
        ]
    )
    func edit(old: PropertyListValue, new: PropertyListValue) throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.setStoredValue(old, forKey: "key")
            var environment = replacing("old", by: "new")
            environment["TMPDIR"] = tool.home.path
            let outcome = try tool.run("edit", "app", "key", environment: environment)
            #expect(outcome.status == 0)
            #expect(suite.storedValue(forKey: "key") == new)
            // With nothing to replace, nothing is stored.
            #expect(try tool.run("edit", "app", "key", environment: environment).errors == "Nothing was changed.\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path) == ["app.defaults"])
        }
    }

    @Test("What an editor leaves is checked before it is stored, and kept if it is not")
    func badEdits() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            let values: [String: PropertyListValue] = [
                "json": .data(Data(#"{"a":1}"#.utf8)), "number": .integer(1), "list": .array([.integer(1)]),
            ]
            for (key, value) in values { try suite.setStoredValue(value, forKey: key) }
            let path = tool.home.path
            for (key, editor, reason) in [
                ("json", "sed -i s/1/1,/", "not JSON"), ("number", "sed -i s/1/true/", "the type integer"),
                ("list", "sed -i s/1/null/", "null"), ("json", "false", "The editor"),
                ("number", "settings write app number -int 2 && sed -i s/1/3/", "meanwhile"),
            ] {
                let outcome = try tool.shell("TMPDIR='\(path)' EDITOR='\(editor)' VISUAL= settings edit app \(key)")
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains(reason) && outcome.errors.contains("Nothing was stored"))
                let kept = try FileManager.default.contentsOfDirectory(atPath: path).filter {
                    $0.hasPrefix("settings-")
                }
                // What the editor has not changed is not kept.
                #expect(kept.count == (reason == "The editor" ? 0 : 1))
                for name in kept {
                    let file = tool.home.appending(path: name).path
                    #expect(outcome.errors.contains(file))
                    let attributes = try FileManager.default.attributesOfItem(atPath: file)
                    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
                    try FileManager.default.removeItem(atPath: file)
                }
            }
            #expect(suite.integer(forKey: "number") == 2)
            #expect(suite.storedValue(forKey: "json") == values["json"])
            #expect(suite.storedValue(forKey: "list") == values["list"])
            #expect(try tool.run("edit", "app", "missing").status == 1)
        }
    }

    @Test("A text that can't be written or read for an editor is an error that names its file, and isn't left there")
    func unusableEditorFiles() throws {
        try Tool.withHome { tool in
            try FileDefaults(url: tool.url(ofSuite: "app")).set(String(repeating: "x", count: 8_192), forKey: "key")
            let edit = "TMPDIR='\(tool.home.path)' VISUAL= settings edit app key"
            for (line, reason) in [
                ("trap '' XFSZ; ulimit -f 1; EDITOR=true \(edit)", "can't be written: File too large."),
                ("EDITOR=rm \(edit)", "can't be read: No such file or directory."),
            ] {
                let outcome = try tool.shell(line)
                #expect(outcome.status == 1)
                #expect(outcome.errors.hasPrefix("Error: /") && outcome.errors.contains(reason), "\(outcome.errors)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path) == ["app.defaults"])
            }
        }
    }

    @Test("Elements and entries are added to what is there")
    func adding() throws {
        try Tool.withHome { tool in
            try tool.run("write", "app", "list", "-array-add", "a")
            try tool.run("write", "app", "list", "-array-add", "b", "-int", "1")
            try tool.run("write", "app", "map", "-dict", "a", "1", "b", "2")
            try tool.run("write", "app", "map", "-dict-add", "b", "3")
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            #expect(suite.storedValue(forKey: "list") == .array([.string("a"), .string("b"), .integer(1)]))
            #expect(suite.storedValue(forKey: "map") == .dictionary(["a": .string("1"), "b": .string("3")]))
        }
    }

    @Test("A value is moved to another key, and onto another value only when that is said")
    func rename() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set(1, forKey: "a")
            try suite.set(2, forKey: "b")
            #expect(try tool.run("rename", "app", "a", "b").status == 1)
            #expect(suite.integer(forKey: "b") == 2)
            #expect(try tool.run("rename", "app", "a", "b", "--overwrite").status == 0)
            #expect(suite.integer(forKey: "b") == 1)
            #expect(suite.storedKeys() == ["b"])
            #expect(try tool.run("rename", "app", "a", "c").status == 1)
        }
    }

    @Test("What the library keeps beside a value moves and goes with it")
    func companions() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            for key in ["a", "a.schemaVersion", "a.quarantine", "a.other"] { try suite.set(1, forKey: key) }
            #expect(try tool.run("rename", "app", "a", "b").status == 0)
            let moved = ["a.other", "b", "b.quarantine", "b.schemaVersion"]
            #expect(suite.storedKeys().sorted() == moved)
            #expect(try tool.run("rename", "app", "b", "b", "--overwrite").status == 0)
            #expect(suite.storedKeys().sorted() == moved)
            // One whose last character is another one with the dot behind it.
            #expect(try tool.run("rename", "app", "b", "c\u{600}").status == 0)
            #expect(try tool.run("rename", "app", "c\u{600}", "b").status == 0)
            #expect(suite.storedKeys().sorted() == moved)
            #expect(try tool.run("delete", "app", "b").status == 0)
            #expect(suite.storedKeys() == ["a.other"])
        }
    }

    @Test("Text that is not UTF-8 is refused, and so are files that are missing or too large")
    func unusableInput() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("old", forKey: "key")
            for (line, status, reason) in [
                ("settings write app key \"$(printf '\\377')\"", 64, "is not UTF-8"),
                ("settings write app key --from nofile", 1, "No such file"),
                ("settings write app key --from /dev/zero", 1, "64 MiB"),
                ("echo '{\"key\": 1, \"key\": 2}' | settings import app", 1, "there twice"),
                ("echo '{\"key\": 0.123456789012345678901234567890}' | settings import app", 1, "more digits"),
            ] {
                let outcome = try tool.shell(line)
                #expect(Int(outcome.status) == status && outcome.errors.contains(reason), "\(line): \(outcome.errors)")
                #expect(suite.string(forKey: "key") == "old")
            }
        }
    }

    @Test("A value is removed, or all of them, and nothing of them stays in the journal")
    func delete() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("first secret", forKey: "a")
            try suite.set("second secret", forKey: "b")
            #expect(try tool.run("delete", "app", "a").status == 0)
            #expect(suite.storedKeys() == ["b"])
            #expect(try tool.run("delete", "app", "a").status == 1)
            // As a script with an empty variable calls it.
            for line in ["settings delete app $KEY", "settings delete app \"$KEY\"", "settings delete app b --all"] {
                let refused = try tool.shell(line)
                #expect(refused.status == 64 && refused.errors.contains("--all"), "\(refused.errors)")
                #expect(suite.storedKeys() == ["b"])
            }
            #expect(try tool.run("delete", "app", "--all").status == 0)
            #expect(suite.storedKeys().isEmpty)
            let journal = try Data(contentsOf: tool.url(ofSuite: "app").appending(path: "journal"))
            #expect(journal.range(of: Data("secret".utf8)) == nil)
        }
    }
}
