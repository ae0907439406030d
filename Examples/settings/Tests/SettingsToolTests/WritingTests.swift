import Default
import Foundation
import Testing

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
            (["(a, \"b c\")"], .array([.string("a"), .string("b c")])),
            (["{a = b;}"], .dictionary(["a": .string("b")])),
            (["<dict><key>a</key><integer>1</integer></dict>"], .dictionary(["a": .integer(1)])),
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
            ["(a,"], ["one", "two"], [],
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
            #expect(try tool.run("write", "./folder/new.defaults", "key", "value").status == 0)
            let suite = try FileDefaults(url: tool.home.appending(path: "folder/new.defaults"))
            #expect(suite.string(forKey: "key") == "value")
            #expect(try tool.run("read", "folder/new.defaults/", "key").text == "value\n")
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

    @Test("A value is removed, or all of them, and nothing of them stays in the journal")
    func delete() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set("first secret", forKey: "a")
            try suite.set("second secret", forKey: "b")
            #expect(try tool.run("delete", "app", "a").status == 0)
            #expect(suite.storedKeys() == ["b"])
            #expect(try tool.run("delete", "app", "a").status == 1)
            #expect(try tool.run("delete", "app").status == 0)
            #expect(suite.storedKeys().isEmpty)
            let journal = try Data(contentsOf: tool.url(ofSuite: "app").appending(path: "journal"))
            #expect(journal.range(of: Data("secret".utf8)) == nil)
        }
    }
}
