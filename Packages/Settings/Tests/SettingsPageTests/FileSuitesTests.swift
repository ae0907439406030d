import Default
import Foundation
import SettingsValues
import Testing

@testable import SettingsPage

struct FileSuitesTests {
    @Test("A suite of files says how it is, and looking at it changes nothing, even where it is damaged")
    func condition() throws {
        try TemporaryDirectory.with { home in
            let url = home.appending(path: "app.defaults", directoryHint: .isDirectory)
            // A copy, which no program has open: a program repairs a suite when it opens it.
            let original = try FileDefaults(url: home.appending(path: "original.defaults", directoryHint: .isDirectory))
            try original.set("a value", forKey: "whole")
            try original.set("a value that is damaged", forKey: "broken")
            try FileManager.default.copyItem(at: original.url, to: url)
            let suites = FileSuites([url])
            let intact = try #require(try suites.suites().first)
            #expect(intact.name == "app" && intact.keyCount == 2 && intact.notes.map(\.label) == ["Intact"])

            let journal = url.appending(path: "journal")
            var bytes = try Data(contentsOf: journal)
            let place = try #require(bytes.range(of: Data("that is".utf8), options: .backwards))
            bytes[place.lowerBound] ^= 1
            try bytes.write(to: journal)
            let damaged = try #require(try suites.suites().first)
            #expect(damaged.keyCount == 1 && damaged.notes.map(\.label) == ["Damaged"])
            let suite = try suites.suite(damaged.id)
            #expect(suite.store.storedKeys() == ["whole"])
            #expect(suite.condition().contains { $0.level == .problem && $0.label == "Damaged" })
            #expect(try Data(contentsOf: journal) == bytes)

            // What is stored repairs it, as each program does that opens it.
            try suite.writableStore().setStoredValue(.string("new"), forKey: "new")
            #expect(suite.store.storedKeys().sorted() == ["new", "whole"])
            #expect(suite.condition().map(\.label).contains("Backup"))
        }
    }

    @Test("Only the suites of the list can be opened, and none is made")
    func names() throws {
        try TemporaryDirectory.with { home in
            let url = home.appending(path: "app.defaults", directoryHint: .isDirectory)
            _ = try FileDefaults(url: url).set(1, forKey: "a")
            let suites = FileSuites([url])
            for id in ["", "app", "../app.defaults", home.plainPath, url.plainPath + "/."] {
                #expect(throws: ToolError.self) { try suites.suite(id) }
            }
            let suite = try suites.suite(url.plainPath)
            try FileManager.default.removeItem(at: url)
            #expect(throws: ToolError.self) { try suite.writableStore() }
            #expect(!FileManager.default.fileExists(atPath: url.plainPath))
        }
    }
}
