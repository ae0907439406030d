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
            // Written by another process, so that the suite isn't open here.
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
            expectError(.storeReadOnly) { try reader.removeAll() }
            #expect(reader.string(forKey: "color") == "old")
            try writer.set("red", forKey: "color")
            #expect(reader.string(forKey: "color") == "red")
            // The reading object has not replaced the writing one.
            #expect(try FileDefaults(url: url).string(forKey: "color") == "red")
            try FileDefaults(url: url).set("blue", forKey: "color")
            #expect(reader.string(forKey: "color") == "blue")
        }
    }

    @Test("refuses the changes of keys and containers too, each with one event, and reads on")
    func frontEnds() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            try FileDefaults(url: url).set(1, forKey: "n")
            let reader = try FileDefaults(readingFrom: url)
            let defaults = Defaults(suite: reader)
            let key = Defaults.Key<Int>("n", default: 7)
            let container: KeyValueContainer<Int> = reader.makeContainer(key: "n")
            typealias Kind = DefaultsDiagnostics.Event.Kind
            let changes: [(Kind, () throws -> Void)] = [
                (.writeFailed, { defaults[key] = 2 }), (.writeFailed, { defaults[key] += 1 }),
                (.writeFailed, { defaults["n"] = 2 }), (.writeFailed, { defaults["n"] += 1 }),
                (.writeFailed, { defaults["other"].setIfAbsent { 2 } }),
                (.writeFailed, { container.value = 2 }), (.writeFailed, { container.value? += 1 }),
                (.writeFailed, { container.remove() }), (.writeFailed, { reader.setValue(2, forKey: "n") }),
                (.writeFailed, { reader.df.store(2, forKey: "n") }),
                (.removalFailed, { defaults.remove("n") }), (.removalFailed, { defaults.reset(key) }),
                (.removalFailed, { defaults.removeAll() }), (.removalFailed, { defaults.remove("n") }),
                (.removalFailed, { key.reset(in: reader) }),
            ]
            for (number, (kind, change)) in changes.enumerated() {
                let collector = EventCollector()
                try collector.collect(change)
                #expect(collector.events.map(\.kind) == [kind], "\(number)")
                #expect(collector.codes == [.storeReadOnly], "\(number)")
                #expect(collector.events.first?.severity == .error, "\(number)")
            }
            expectError(.storeReadOnly) { try defaults.save(2, for: key) }
            expectError(.storeReadOnly) { try defaults.update(key) { $0 += 1 } }
            expectError(.storeReadOnly) { try container.update { $0 = 2 } }
            expectError(.storeReadOnly) { try defaults.convertForms(of: key) }
            expectError(.storeReadOnly) { try defaults.restoreQuarantined(key) }
            #expect(try defaults.load(key) == 1)
            #expect(try defaults.quarantined(key).isEmpty)
            #expect(container.value == 1 && reader.storedKeys() == ["n"])
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
