import Foundation
import Testing

@testable import Default

@Suite("FileDefaults(readingFrom:)")
struct ReadingFromTests {
    /// The bytes of all files in a suite's directory.
    private func files(in url: URL) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
            files[name] = try Data(contentsOf: url.appending(path: name))
        }
        return files
    }

    @Test("reads what is intact of a damaged suite, and changes none of its files")
    func damaged() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let journal = url.appending(path: "journal")
            // In another process, so that the suite isn't open here.
            for (key, value) in [("first", "the first value"), ("second", "the second value")] {
                #expect(try TestHelper.run(["assign", url.path, key, "string", value]).status == 0)
            }
            var bytes = try Data(contentsOf: journal)
            let place = try #require(bytes.range(of: Data("the first".utf8)))
            bytes[place.lowerBound] ^= 1
            try (bytes + [0]).write(to: journal)
            let before = try files(in: url)

            let suite = try FileDefaults(readingFrom: url)
            #expect(suite.storedKeys() == ["second"])
            #expect(suite.string(forKey: "second") == "the second value")
            #expect(suite.string(forKey: "first") == nil)
            try suite.flush()
            #expect(try files(in: url) == before)
        }
    }

    @Test("refuses every change of a suite that could be written, and sees those of others")
    func writable() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let writer = try FileDefaults(url: url)
            try writer.set("old", forKey: "color")
            let reader = try FileDefaults(readingFrom: url)
            #expect(reader.string(forKey: "color") == "old")
            expectError(.storeReadOnly) { try reader.set("new", forKey: "color") }
            expectError(.storeReadOnly) { try reader.removeObject(forKey: "color") }
            expectError(.storeReadOnly) { try reader.transaction {} }
            expectError(.storeReadOnly) { try reader.withExclusiveAccess {} }
            expectError(.storeReadOnly) { try reader.compact() }
            try writer.set("red", forKey: "color")
            #expect(reader.string(forKey: "color") == "red")
            // The object that reads didn't take the place of the one that writes.
            #expect(try FileDefaults(url: url).string(forKey: "color") == "red")
            try FileDefaults(url: url).set("blue", forKey: "color")
            #expect(reader.string(forKey: "color") == "blue")
        }
    }

    @Test("leaves its suite to an object that writes and is created later")
    func openedFirst() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            #expect(try TestHelper.run(["assign", url.path, "color", "string", "old"]).status == 0)
            let reader = try FileDefaults(readingFrom: url)
            #expect(reader.string(forKey: "color") == "old")
            let writer = try FileDefaults(url: url)
            try writer.set("new", forKey: "color")
            #expect(reader.string(forKey: "color") == "new")
            expectError(.storeReadOnly) { try reader.set("red", forKey: "color") }
            expectError(.storeReadOnly) { try reader.set("new", forKey: "color") }
            expectError(.storeReadOnly) { try reader.removeObject(forKey: "absent") }
            #expect(writer.string(forKey: "color") == "new")
        }
    }

    @Test("makes no suite where there is none")
    func missing() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            expectError(.storeUnavailable) { _ = try FileDefaults(readingFrom: url) }
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            expectError(.storeUnavailable) { _ = try FileDefaults(readingFrom: url) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: url.path).isEmpty)
        }
    }
}
