import Default
import Foundation
import Testing

@testable import settings
import SettingsValues

@Suite(.waits)
struct InterchangeTests {
    @Test("Values are read from pipes, also those that have a name, and a directory is said to be one")
    func pipes() throws {
        try Tool.withHome { tool in
            let imported = try tool.shell(
                """
                mkfifo pipe; (echo '{"a": 1}' > pipe) & settings import app pipe
                echo '{"b": 2}' | settings import app /dev/stdin
                (echo three > pipe) & settings write app c --from pipe
                echo four | settings write app d --from /dev/stdin
                settings read app a && settings read app b && settings read app c && settings read app d
                """
            )
            #expect(imported.text == "1\n2\nthree\nfour\n", "\(imported.errors)")
            for arguments in [["import", "app", "."], ["write", "app", "a", "--from", "."]] {
                let refused = try tool.run(arguments: arguments)
                #expect(refused.status == 1)
                #expect(refused.errors == "Error: . is a directory. Name a file, or \"-\" for standard input.\n")
            }
            #expect(try tool.run("import", "app", "nowhere").errors.hasPrefix("Error: nowhere can't be read: "))
            #expect(try tool.shell("settings import app < .").errors.hasPrefix("Error: Standard input is a directory."))
            #expect(try tool.shell("settings import app <&-").errors.hasPrefix("Error: Standard input can't be read: "))
        }
    }

    @Test("JSON with a mistake is refused with its line and column")
    func faultyJSON() throws {
        try Tool.withHome { tool in
            let refused = try tool.shell("printf '{\"a\": 1,\\n  \"é\": tru}' | settings import app")
            #expect(refused.status == 1)
            #expect(refused.errors == "Error: The input is not JSON: look at line 2, column 8.\n")
            // Taken for the old notation of property lists, on which Foundation comments.
            for text in ["{\"a\"", "{a = b"] {
                let unfinished = try tool.shell("printf '\(text)' | settings import app")
                #expect(unfinished.errors.hasPrefix("Error: ") && unfinished.errors.count { $0 == "\n" } == 1)
            }
            let property = try tool.run("write", "app", "a", "-plist", "{a = b")
            #expect(property.errors.hasPrefix("Error: "), "\(property.errors)")
            let value = try tool.run("write", "app", "a", "-json", "[1,]")
            #expect(value.status == 64 && value.errors.contains("look at line 1, column 4."))
            #expect(try tool.run("list").text == "")
        }
    }

    @Test(
        "A suite that is exported and imported is equal to the first, for every type of value",
        arguments: [
            "settings export one | settings import two",
            "settings export one - | settings import two -",
            "settings export one --format json | settings import two",
            "settings export one file.plist && settings import two file.plist",
            "settings export one file.json && settings import two file.json",
            "cp -r one.defaults two.defaults",
        ]
    )
    func exportedSuite(line: String) throws {
        try Tool.withHome { tool in
            let one = try FileDefaults(url: tool.url(ofSuite: "one"))
            try Samples.store(in: one)
            let outcome = try tool.shell(line)
            #expect(outcome.status == 0)
            #expect(outcome.errors == "")
            let two = try FileDefaults(url: tool.url(ofSuite: "two"))
            #expect(two.exactContents() == one.exactContents())
        }
    }

    @Test("The same contents are exported as the same bytes each time", arguments: ["binary", "xml", "json"])
    func sameBytes(format: String) throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "one"))
            try Samples.store(in: suite)
            try suite.set(Dictionary(uniqueKeysWithValues: (0..<50).map { ("entry \($0)", $0) }), forKey: "many")
            let first = try tool.run("export", "one", "--format", format).output
            #expect(!first.isEmpty)
            for _ in 0..<4 {
                #expect(try tool.run("export", "one", "--format", format).output == first)
            }
            // Another suite with the same contents, which were stored in another order.
            let other = try FileDefaults(url: tool.url(ofSuite: "two"))
            for key in suite.storedKeys().sorted().reversed() {
                try other.setStoredValue(suite.storedValue(forKey: key), forKey: key)
            }
            #expect(try tool.run("export", "two", "--format", format).output == first)
        }
    }

    @Test("What the tool writes as a binary property list, Foundation reads")
    func foundationReads() throws {
        // NaN is not equal to itself.
        let values = Samples.values.filter { !["nan", "data in containers"].contains($0.key) }
        let data = BinaryPropertyListWriter.data(.dictionary(values))
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        let objects = try #require(list as? [String: Any])
        #expect(try objects.mapValues { try PropertyListValue(object: $0) } == values)
        #expect(BinaryPropertyListReader.value(in: data) == .dictionary(values))
    }

    @Test("XML keeps what it can, and the tool reports what it can't")
    func xml() throws {
        try Tool.withHome { tool in
            let one = try FileDefaults(url: tool.url(ofSuite: "one"))
            try Samples.store(in: one)
            let outcome = try tool.shell("settings export one one.xml && settings import two one.xml")
            #expect(outcome.status == 0)
            let text = try String(contentsOf: tool.home.appending(path: "one.xml"), encoding: .utf8)
            #expect(text.hasPrefix("<?xml"))
            let two = try FileDefaults(url: tool.url(ofSuite: "two"))
            let (before, after) = (one.exactContents(), two.exactContents())
            let lost = before.keys.filter { before[$0] != after[$0] }
            #expect(lost.contains("negative zero") && !lost.contains("string") && !lost.contains("largest unsigned"))
            for key in lost {
                #expect(outcome.errors.contains("The value for \"\(key)\" is not exact in xml."))
            }
            #expect(outcome.errors.split(separator: "\n").count == lost.count)
        }
    }

    @Test("A value that XML can't hold at all is refused with its key")
    func notInXML() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("red", forKey: "color")
            try suite.setStoredValue(.array([.date(Date(timeIntervalSinceReferenceDate: .nan))]), forKey: "dates")
            let outcome = try tool.run("export", "app", "--format", "xml")
            #expect(outcome.status == 1 && outcome.output.isEmpty)
            #expect(outcome.errors == "Error: The value for \"dates\" can't be written as xml. Use another format.\n")
        }
    }

    @Test("An exported file is its owner's alone, and one that can't be written is an error")
    func permissions() throws {
        try Tool.withHome { tool in
            try FileDefaults(url: tool.url(ofSuite: "one")).set("secret", forKey: "key")
            #expect(try tool.shell("umask 0; settings export one file.plist").status == 0)
            let file = tool.home.appending(path: "file.plist").path
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            let refused = try tool.run("export", "one", "missing/file.plist")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("missing/file.plist can't be written"))
            let unread = try tool.run("import", "one", "missing.plist")
            #expect(unread.status == 1)
            #expect(unread.errors.contains("missing.plist can't be read: ") && !unread.errors.contains("Domain"))
        }
    }

    @Test("Keys that differ in their bytes only go through JSON, and are refused as a property list")
    func equivalentKeys() throws {
        try Tool.withHome { tool in
            let one = try FileDefaults(url: tool.url(ofSuite: "one"))
            try one.set(1, forKey: "\u{E9}")
            try one.set(2, forKey: "e\u{301}")
            let refused = try tool.run("export", "one")
            #expect(refused.status == 1)
            #expect(refused.output.isEmpty)
            #expect(refused.errors.contains("--format json"))
            #expect(try tool.shell("settings export one --format json | settings import two").status == 0)
            let two = try FileDefaults(url: tool.url(ofSuite: "two"))
            #expect(two.integer(forKey: "\u{E9}") == 1)
            #expect(two.integer(forKey: "e\u{301}") == 2)
        }
    }

    @Test("An import adds to what is there, or replaces it")
    func merging() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "suite"))
            try suite.set("old", forKey: "kept")
            try suite.set("old", forKey: "color")
            let file = tool.home.appending(path: "new.json")
            try Data(#"{"color": "red"}"#.utf8).write(to: file)
            #expect(try tool.run("import", "suite", "new.json").status == 0)
            #expect(suite.string(forKey: "kept") == "old")
            #expect(suite.string(forKey: "color") == "red")
            #expect(try tool.run("import", "suite", "--replace", input: file).status == 0)
            #expect(suite.storedKeys() == ["color"])
        }
    }

    @Test(
        "What can't be imported changes nothing and makes no suite",
        arguments: [
            "", "nonsense", "bplist00nonsense", "[1]", "{\"a\": null}", "{\"a\": 1", "{\"a\": {\"$data\": \"?\"}}",
            "(a, b)", "{\"\": 1}",
            "{\"good\": 1, \"\": 2}", "{\"a\": 1e999}",
        ]
    )
    func badInput(text: String) throws {
        try Tool.withHome { tool in
            let file = tool.home.appending(path: "input")
            try Data(text.utf8).write(to: file)
            let outcome = try tool.run("import", "suite", "input")
            #expect(outcome.status == 1)
            #expect(outcome.errors.hasPrefix("Error: "))
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path) == ["input"])
            try FileDefaults(url: tool.url(ofSuite: "suite")).set("old", forKey: "good")
            #expect(try tool.run("import", "suite", "--replace", input: file).status == 1)
            #expect(try tool.run("read", "suite").text == "good = \"old\"\n")
        }
    }

    @Test("A property list that nests too deep is refused with its key")
    func tooDeepPropertyList() throws {
        let depth = 300
        let text = String(repeating: "(", count: depth) + String(repeating: ")", count: depth)
        let error = #expect(throws: ToolError.self) { try SuiteContents(decoding: Data("{deep = \(text);}".utf8)) }
        #expect(error?.description == "The value for \"deep\" can't be stored. The value nests more than 256 levels.")
    }

    @Test("A damaged property list is read or refused, and never ends the tool", arguments: [true, false])
    func damagedPropertyLists(isBinary: Bool) throws {
        let values: [String: Any] = [
            "a": [1, 2.5, "b", UInt64.max, -1, "é"] as [Any], "c": Data([1, 2]), "d": Date(timeIntervalSince1970: 0.5),
            "e": ["f": [String: Any](), "g": true] as [String: Any],
        ]
        let format: PropertyListSerialization.PropertyListFormat = isBinary ? .binary : .xml
        let list = try PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0)
        for index in list.indices {
            for change: UInt8 in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF] {
                var damaged = list
                damaged[index] ^= change
                _ = try? SuiteContents(decoding: damaged)
            }
            _ = try? SuiteContents(decoding: list.prefix(index))
        }
        #expect(try SuiteContents(decoding: list).entries.count == values.count)
    }

    @Test("A failed export at the head of a pipe makes no suite at its end")
    func failedExport() throws {
        try Tool.withHome { tool in
            let outcome = try tool.shell("settings export nothing | settings import two")
            #expect(outcome.status == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path).isEmpty)
        }
    }
}
