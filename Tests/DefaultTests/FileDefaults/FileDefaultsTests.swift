import Foundation
import Testing

@testable import Default
@testable import DefaultJournal

@Suite("A FileDefaults")
struct FileDefaultsTests {
    @Test("converts between types as UserDefaults does")
    func conversions() throws {
        let values: [Any] = [
            "text", "", "42", " 42 ", "-7.9", "1e3", "YES", "yes", "true", "T", "NO", "0", "1", "3 apples",
            true, false, 0, 1, -5, 1 << 40, 0.5, -3.99, 1.0, Data([1]), Date(timeIntervalSinceReferenceDate: 1),
            [1, 2], ["a", "b"], ["a": 1],
        ]
        try withTemporaryDirectory { directory in
            try withTemporarySuite { name in
                let ours = try FileDefaults(url: directory.appending(path: "s"))
                let theirs = try #require(UserDefaults(suiteName: name))
                for value in values {
                    try ours.set(value, forKey: "k")
                    theirs.set(value, forKey: "k")
                    let label = Comment(rawValue: "\(type(of: value)) \(value)")
                    #expect(ours.string(forKey: "k") == theirs.string(forKey: "k"), label)
                    #expect(ours.integer(forKey: "k") == theirs.integer(forKey: "k"), label)
                    #expect(ours.double(forKey: "k") == theirs.double(forKey: "k"), label)
                    #expect(ours.float(forKey: "k") == theirs.float(forKey: "k"), label)
                    #expect(ours.bool(forKey: "k") == theirs.bool(forKey: "k"), label)
                    #expect(ours.data(forKey: "k") == theirs.data(forKey: "k"), label)
                    #expect(ours.stringArray(forKey: "k") == theirs.stringArray(forKey: "k"), label)
                    #expect(ours.array(forKey: "k")?.count == theirs.array(forKey: "k")?.count, label)
                    #expect(ours.dictionary(forKey: "k")?.count == theirs.dictionary(forKey: "k")?.count, label)
                }
            }
        }
    }

    @Test("clamps numbers to the range of the requested type")
    func numberRanges() throws {
        try withSuite { suite in
            try suite.set(1e300, forKey: "k")
            #expect(suite.integer(forKey: "k") == .max)
            try suite.set(-Double.infinity, forKey: "k")
            #expect(suite.integer(forKey: "k") == .min)
            try suite.set(Double.nan, forKey: "k")
            #expect(suite.integer(forKey: "k") == 0)
            #expect(suite.double(forKey: "k").isNaN)
            try suite.set(UInt.max, forKey: "k")
            #expect(suite.integer(forKey: "k") == .max)
            #expect(suite.string(forKey: "k") == "18446744073709551615")
            try suite.set(-0.0, forKey: "k")
            #expect(suite.double(forKey: "k").sign == .minus)
            #expect(suite.integer(forKey: "absent") == 0)
        }
    }

    @Test("returns each value that its typed setters stored")
    func typedSetters() throws {
        try withSuite { suite in
            try suite.set(7, forKey: "int")
            try suite.set(0.1, forKey: "double")
            try suite.set(Float(0.1), forKey: "float")
            try suite.set(true, forKey: "bool")
            #expect(suite.integer(forKey: "int") == 7)
            #expect(suite.double(forKey: "double") == 0.1)
            #expect(suite.float(forKey: "float") == 0.1)
            #expect(suite.bool(forKey: "bool"))
            #expect(suite.object(forKey: "bool") as? Bool == true)
            #expect(suite.object(forKey: "int") as? Int == 7)
        }
    }

    @Test("returns URLs as they were set, and a path as a file URL")
    func urls() throws {
        try withSuite { suite in
            let urls = [
                "https://example.com/a%20b?c=d#e", "mailto:a@example.com", "file:///tmp/a%20b", "a/relative/one?q",
                "urn:x:y",
            ]
            for string in urls {
                let url = try #require(URL(string: string))
                try suite.set(url, forKey: "u")
                #expect(suite.url(forKey: "u") == url)
                #expect(suite.string(forKey: "u") == string)
            }
            try suite.set("/tmp/x y", forKey: "u")
            #expect(suite.url(forKey: "u") == URL(filePath: "/tmp/x y"))
            try suite.set("~/x", forKey: "u")
            #expect(suite.url(forKey: "u")?.isFileURL == true)
            try suite.set(nil as URL?, forKey: "u")
            #expect(suite.url(forKey: "u") == nil)
            #expect(suite.object(forKey: "u") == nil)
        }
    }

    @Test("reads what is in the suite that took its place, without a write", .waits)
    func replacedForReaders() throws {
        try withTemporaryDirectory { directory in
            let (url, other) = (directory.appending(path: "s"), directory.appending(path: "other"))
            try EventCollector().collect {
                let suite = try FileDefaults(url: url)
                try suite.set("old", forKey: "a")
                #expect(suite.string(forKey: "a") == "old")
                #expect(try TestHelper.run(["assign", other.path, "a", "string", "new"]).status == 0)
                try FileManager.default.moveItem(at: url, to: directory.appending(path: "away"))
                try FileManager.default.moveItem(at: other, to: url)
                try wait(for: "the new suite's value") { suite.string(forKey: "a") == "new" }
            }
        }
    }

    @Test("keeps dates, numbers and strings to the last bit")
    func exactValues() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let values: [PropertyListValue] = [
                .date(Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_7)), .date(.distantPast),
                .date(.distantFuture),
                .date(Date(timeIntervalSinceReferenceDate: -0.000_000_1)), .real(0.1 + 0.2), .real(-0.0),
                .real(.infinity),
                .real(.leastNonzeroMagnitude), .integer(.min), .integer(.max), .unsigned(.max),
                .string("e\u{301}\0\u{E9}"),
                .data(Data([0, 255])), .array([]), .dictionary([:]),
                .array([.dictionary(["": .array([.boolean(false)])])]),
            ]
            do {
                let suite = try FileDefaults(url: url)
                for (index, value) in values.enumerated() { try suite.setStoredValue(value, forKey: "\(index)") }
                try suite.copy(to: directory.appending(path: "t"))
            }
            // The copy reads the values from the file.
            let copy = try FileDefaults(url: directory.appending(path: "t"))
            for (index, value) in values.enumerated() {
                let stored = try #require(copy.storedValue(forKey: "\(index)"))
                #expect(stored.binaryForm == value.binaryForm, "\(value)")
            }
        }
    }

    @Test("has its own registered defaults, for as long as the process runs")
    func registeredDefaults() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "a")
            let suite = try FileDefaults(url: url)
            let other = try FileDefaults(url: directory.appending(path: "b"))
            try suite.register(defaults: ["volume": 0.5, "name": "none"])
            #expect(suite.double(forKey: "volume") == 0.5)
            #expect(other.object(forKey: "volume") == nil)
            #expect(try FileDefaults(url: url).string(forKey: "name") == "none")
            #expect(suite.dictionaryRepresentation().count == 2)
            // Also when no object for the suite is left in between.
            let closed = directory.appending(path: "closed")
            try FileDefaults(url: closed).register(defaults: ["name": "kept"])
            #expect(try FileDefaults(url: closed).string(forKey: "name") == "kept")
            #expect(try FileDefaults(readingFrom: closed).string(forKey: "name") == "kept")

            try suite.set(1, forKey: "volume")
            #expect(suite.double(forKey: "volume") == 1)
            try suite.removeObject(forKey: "volume")
            #expect(suite.double(forKey: "volume") == 0.5)
            #expect(try suite.verify().keyCount == 0)

            try suite.register(defaults: ["token": Data([1])])
            #expect(suite.data(forKey: "token") == Data([1]))
            #expect(suite.data(forKey: "name") == nil)
            try suite.set("text", forKey: "token")
            #expect(suite.data(forKey: "token") == nil)
            try suite.set(Data([2]), forKey: "token")
            #expect(suite.data(forKey: "token") == Data([2]))

            expectError(.unsupportedValue) { try suite.register(defaults: ["good": 1, "bad": NSNull()]) }
            #expect(suite.object(forKey: "good") == nil)
        }
    }

    @Test(
        "accepts only names that are one path component",
        arguments: [
            "", ".", "..", "a/b", "/a", "../x", "a\0b", String(repeating: "n", count: 201),
        ]
    )
    func suiteNames(name: String) {
        let error = expectError(.invalidSuiteName) { try FileDefaults(suiteName: name) }
        #expect(error?.description.hasPrefix("\(String(name.prefix(64)).debugDescription) can't be used") == true)
        #expect(error?.store == nil && error?.key == nil)
    }

    @Test("passes on how durable it is and how long it waits, by whichever name it is opened")
    func options() throws {
        func lockTimeout(of suite: FileDefaults) throws -> UInt64 { try suite.suite.open().journal.options.lockTimeout }
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let suite = try FileDefaults(url: url)
            #expect(suite.durability == .background)
            #expect(try lockTimeout(of: suite) == 5_000_000_000)
            let other = try FileDefaults(url: url, durability: .everyWrite, lockTimeout: 1)
            #expect(other.durability == .everyWrite)
            // The options of the first opening count.
            #expect(try lockTimeout(of: other) == 5_000_000_000)
            #expect(try FileDefaults(readingFrom: url).durability == .background)
            let patient = try FileDefaults(url: directory.appending(path: "t"), lockTimeout: .infinity)
            #expect(try lockTimeout(of: patient) == 1_000_000_000_000_000_000)
        }
        let name = "suite-\(UUID().uuidString)"
        let named = try FileDefaults(suiteName: name, durability: .everyWrite, lockTimeout: 1.5)
        let url = try named.url
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(named.durability == .everyWrite)
        #expect(try lockTimeout(of: named) == 1_500_000_000)
        #expect(named.storeDescription.hasSuffix("/\(name).defaults)"))
        let storage = try #require(PersistentStorage(suiteName: name))
        #expect(storage.suite.storeDescription == named.storeDescription)
        #expect(try FileDefaults(suiteName: name).durability == .background)
    }

    @Test("takes back settings that a failed transaction wrote, though this process can replace its own unread")
    func settingsInTransaction() throws {
        struct Stop: Error {}
        struct Noted: DefaultStorable, Equatable {
            var number = 0
            static let defaultValue = Noted()
        }
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "s"))
            for number in 1...2 {
                try Noted(number: number).save(to: suite)
            }
            #expect(throws: Stop.self) {
                try suite.transaction {
                    try Noted(number: 3).save(to: suite)
                    #expect(try Noted.load(from: suite) == Noted(number: 3))
                    throw Stop()
                }
            }
            #expect(try Noted.load(from: suite) == Noted(number: 2))
        }
    }

    @Test("has a description and a URL by its path, before it is opened and where there is none too")
    func descriptions() throws {
        try withTemporaryDirectory { directory in
            func suite(_ location: SuiteLocation) -> FileDefaults {
                let suite = FileSuite(location: location)
                return FileDefaults(suite: suite, durability: .background, sources: nil)
            }
            let path = directory.path + "/s"
            let unopened = suite(.directory(URL(filePath: path)))
            #expect(unopened.storeDescription == "FileDefaults(\(path))")
            let url = try unopened.url
            #expect(url.path == path && url.hasDirectoryPath)
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(try FileDefaults(url: url).storeDescription == "FileDefaults(\(path))")
            let nowhere = suite(.named("a/b"))
            #expect(nowhere.storeDescription == "FileDefaults(unavailable)")
            expectError(.invalidSuiteName) { try nowhere.url }
            expectError(.invalidSuiteName) { try nowhere.set(1, forKey: "k") }
            expectError(.invalidSuiteName) { try nowhere.checkAvailability() }
            #expect(nowhere.object(forKey: "k") == nil && nowhere.storedKeys() == [])
        }
    }

    @Test("shares its values with every object for the same directory, whatever the form of its path")
    func oneSuite() throws {
        try withTemporaryDirectory { directory in
            let first = try FileDefaults(url: directory.appending(path: "s"))
            let link = directory.appending(path: "link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: directory)
            let second = try FileDefaults(url: link.appending(path: "s/"))
            try first.withExclusiveAccess {
                // This would deadlock if the second object had its own lock.
                try second.set(1, forKey: "k")
            }
            #expect(first.integer(forKey: "k") == 1)
            #expect(first.storeDescription == second.storeDescription)
            #expect(try first.url.path(percentEncoded: false).hasSuffix("/s/"))
            for path in ["/./a", "//b/.", "/x/../c", "/./x/.././d//"] {
                let other = try FileDefaults(url: URL(fileURLWithPath: directory.path + path))
                let name = try #require(path.first { "abcd".contains($0) })
                #expect(
                    other.storeDescription.hasSuffix("\(directory.lastPathComponent)/\(name))"),
                    "\(other.storeDescription)"
                )
                let found = try other.url.path(percentEncoded: false)
                #expect(found.hasSuffix("\(directory.lastPathComponent)/\(name)/"), "\(found)")
            }
        }
    }

    @Test("rejects a value over 64 MiB, and keeps the stored value")
    func largeValues() throws {
        try withSuite { suite in
            try suite.set("before", forKey: "k")
            let error = expectError(.valueTooLarge) { try suite.set(Data(count: 64 << 20 + 1), forKey: "k") }
            #expect(error?.key == "k")
            #expect(suite.string(forKey: "k") == "before")
            let large = Data(count: 5 << 20)
            try suite.set(large, forKey: "k")
            #expect(suite.data(forKey: "k") == large)
        }
    }

    @Test("copies itself, verifies itself and compacts itself")
    func maintenance() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "s"), durability: .everyWrite)
            for number in 0..<50 {
                try suite.set(number, forKey: "k")
            }
            try suite.set("v", forKey: "l")
            let before = try suite.verify()
            #expect(before.isIntact)
            #expect(before.recordCount == 51)
            #expect(before.keyCount == 2)
            try suite.compact()
            let after = try suite.verify()
            #expect(after.recordCount == 2)
            #expect(after.fileSize < before.fileSize)

            let target = directory.appending(path: "copy")
            try suite.copy(to: target)
            try suite.set("changed", forKey: "l")
            let copy = try FileDefaults(url: target)
            #expect(copy.integer(forKey: "k") == 49)
            #expect(copy.string(forKey: "l") == "v")
            let error = expectError(.storeFailed) { try suite.copy(to: target) }
            #expect(error?.store == suite.storeDescription && error?.key == nil)
            #expect(error?.description.contains("\(target.path) exists already") == true)
            #expect(copy.string(forKey: "l") == "v")
        }
    }

    @Test("reports a directory that all users may write to, and refuses a file with a second name")
    func exposed() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: url.path)
            let collector = EventCollector()
            try collector.collect { try FileDefaults(url: url).set(1, forKey: "k") }
            #expect(collector.events.map(\.kind) == [.storeExposed])
            #expect(collector.codes == [.storeExposed])

            let linked = directory.appending(path: "linked")
            try FileManager.default.createDirectory(at: linked, withIntermediateDirectories: false)
            try FileManager.default.linkItem(
                at: url.appending(path: "journal"),
                to: linked.appending(path: "journal")
            )
            let error = #expect(throws: DefaultsError.self) { try FileDefaults(url: linked) }
            #expect(error?.code == .storeUnavailable)
            #expect(error?.description.contains("hard link") == true)
        }
    }

    @Test("refuses a value that is too large at its set, inside a transaction too, with the caller's size")
    func tooLarge() throws {
        try withSuite { suite in
            let size = 64 << 20
            try suite.transaction {
                let error = expectError(.valueTooLarge) { try suite.set(Data(count: size + 1), forKey: "large") }
                #expect(error?.description.contains("\(size + 1) bytes") == true)
                #expect(error?.description.contains("at most \(size).") == true)
                #expect(error?.key == "large" && error?.store == suite.storeDescription)
                try suite.set(1, forKey: "small")
            }
            #expect(suite.storedKeys() == ["small"])
        }
    }

    @Test("is recreated by the next write after its directory was deleted, and reports it")
    func deletedWhileOpen() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let suite = try FileDefaults(url: url)
            try suite.set(1, forKey: "old")
            try FileManager.default.removeItem(at: url)
            let collector = EventCollector()
            try collector.collect {
                try suite.letMillisecondPass()
                try suite.set(2, forKey: "new")
            }
            #expect(collector.codes == [.storeReplaced])
            #expect(try FileDefaults(url: url).integer(forKey: "new") == 2)
            #expect(suite.object(forKey: "old") == nil)
        }
    }

    private func withSuite(_ test: (FileDefaults) throws -> Void) throws {
        try withTemporaryDirectory { try test(FileDefaults(url: $0.appending(path: "s"))) }
    }
}

@Suite("A suite that can't be opened")
struct UnavailableSuiteTests {
    @Test("throws immediately, names the path, and changes nothing")
    func errors() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appending(path: "file")
            try Data("mine".utf8).write(to: file)
            let below = directory.appending(path: "file/s")
            for url in [file, below] {
                let error = expectError(.storeUnavailable) { try FileDefaults(url: url) }
                #expect(error?.description.contains(file.path(percentEncoded: false)) == true)
            }
            #expect(try Data(contentsOf: file) == Data("mine".utf8))
            expectError(.storeUnavailable) { try FileDefaults(url: URL(string: "https://example.com")!) }
        }
    }

    @Test("of a later version's format is left unchanged")
    func newerFormat() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let journal = url.appending(path: "journal")
            let future = try #require(Fixtures.data(named: "future.journal"))
            try future.write(to: journal)
            let error = expectError(.newerFormat) { try FileDefaults(url: url) }
            #expect(error?.description.contains("version 2") == true)
            #expect(try Data(contentsOf: journal) == future)
        }
    }

    @Test("still works as the standard store for registered defaults, and is opened when that is possible")
    func standardStore() throws {
        let outcome = try withTemporaryDirectory { directory in
            let home = directory.appending(path: "home")
            try Data().write(to: home)
            return try TestHelper.run(["unavailable-standard"], home: home)
        }
        #expect(
            outcome.output == """
                registered
                load: storeUnavailable
                read: nil
                save: storeUnavailable
                later: dark

                """
        )
        #expect(outcome.errors.contains("write failed"))
        #expect(outcome.errors.contains("/home/.config"))
    }
}

@Suite("A value that is already stored")
struct UnchangedValueTests {
    @Test("is not written again by any call")
    func unchanged() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            let defaults = Defaults(suite: suite)
            let key = DefaultsKey<[Int]>("numbers")
            func write() throws {
                try suite.set(Data(repeating: 7, count: 100), forKey: "data")
                try suite.set(0.5, forKey: "real")
                defaults[key] = [1, 2]
                try suite.df.save(["a": 1], forKey: "json")
            }
            try write()
            let size = try suite.verify().fileSize
            try write()
            #expect(try suite.verify().fileSize == size)
            try suite.set(0.25, forKey: "real")
            #expect(try suite.verify().fileSize > size)
        }
    }

    @Test("is written again if the suite was deleted in the meantime")
    func deleted() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            let suite = try FileDefaults(url: url)
            try suite.set(1, forKey: "k")
            try FileManager.default.removeItem(at: url)
            try suite.letMillisecondPass()
            try suite.set(1, forKey: "k")
            #expect(try FileDefaults(url: url).integer(forKey: "k") == 1)
            #expect(FileManager.default.fileExists(atPath: url.path))
        }
    }
}

@Suite("A transaction")
struct TransactionTests {
    private struct Stop: Error {}

    @Test("reports the keys that it changed, and not one that it removed although it had no value")
    func reportedKeys() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "s"))
            try suite.set(1, forKey: "gone")
            let reported = Locked<[Set<String>?]>([])
            let observation = suite.observeChanges { keys in reported.withLock { $0.append(keys) } }
            try suite.transaction {
                try suite.set(2, forKey: "a")
                try suite.removeObject(forKey: "gone")
                try suite.removeObject(forKey: "never there")
            }
            #expect(reported.withLock { $0 } == [["a", "gone"]])
            observation.cancel()
        }
    }

    @Test("writes and reports nothing for values that are stored already, also if they were changed in between")
    func storedValues() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "s"))
            try suite.set(1, forKey: "a")
            try suite.set(1, forKey: "b")
            let records = try suite.verify().recordCount
            let reported = Locked<[Set<String>?]>([])
            let observation = suite.observeChanges { keys in reported.withLock { $0.append(keys) } }
            try suite.transaction {
                try suite.set(1, forKey: "a")
                try suite.removeAll()
                try suite.set(1, forKey: "b")
                try suite.set(1, forKey: "a")
            }
            #expect(reported.withLock { $0 } == [])
            #expect(try suite.verify().recordCount == records)
            try suite.transaction {
                try suite.set(1, forKey: "a")
                try suite.set(2, forKey: "b")
            }
            #expect(reported.withLock { $0 } == [["b"]])
            observation.cancel()
        }
    }

    @Test("is what removes several values, in each of the ways to do that, as one record that is reported once")
    func removals() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "s"))
            try suite.register(defaults: ["registered": 1])
            let removals: [() throws -> Void] = [
                { try suite.removeAll() }, { Defaults(suite: suite).removeAll() },
                { Defaults(suite: suite).remove("a", "b") },
                { Defaults(suite: suite).reset(DefaultsKey<Int>("a"), DefaultsKey<Int>("b")) },
            ]
            for (number, remove) in removals.enumerated() {
                try suite.set(1, forKey: "a")
                try suite.set(1, forKey: "b")
                let records = try suite.verify().recordCount
                let reported = Locked<[Set<String>?]>([])
                let observation = suite.observeChanges { keys in reported.withLock { $0.append(keys) } }
                try remove()
                #expect(suite.storedKeys() == [], "\(number)")
                #expect(reported.withLock { $0 } == [["a", "b"]], "\(number)")
                #expect(try suite.verify().recordCount == records + 1, "\(number)")
                observation.cancel()
            }
            #expect(suite.integer(forKey: "registered") == 1)
        }
    }

    @Test("shows its changes to its own body, and to others when it has ended")
    func visibility() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "s"))
            try suite.set(1, forKey: "a")
            try suite.set(1, forKey: "gone")
            let records = try suite.verify().recordCount
            try suite.transaction {
                try suite.set(2, forKey: "a")
                try suite.set(2, forKey: "b")
                try suite.removeObject(forKey: "gone")
                #expect(suite.integer(forKey: "a") == 2)
                #expect(suite.object(forKey: "gone") == nil)
                #expect(suite.dictionaryRepresentation().keys.sorted() == ["a", "b"])
                let seen = onAnotherThread { (suite.integer(forKey: "a"), suite.object(forKey: "b") == nil) }
                #expect(seen == (1, true))
            }
            #expect(suite.integer(forKey: "a") == 2)
            #expect(suite.integer(forKey: "b") == 2)
            #expect(suite.object(forKey: "gone") == nil)
            #expect(try suite.verify().recordCount == records + 1)
        }
    }

    @Test("gives data that were set as a slice back as a whole, to its own body too")
    func slices() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "s"))
            func expectWhole() {
                let data = suite.data(forKey: "a")
                #expect(data == Data([2, 3]) && data?.startIndex == 0)
            }
            try suite.transaction {
                try suite.set(Data([1, 2, 3])[1...], forKey: "a")
                expectWhole()
            }
            expectWhole()
            try suite.set(Data([0, 2, 3])[1...], forKey: "a")
            expectWhole()
        }
    }

    @Test("changes nothing if it throws, and discards only a nested one's changes if that throws")
    func failures() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "s"))
            let records = try suite.verify().recordCount
            do {
                try suite.transaction {
                    try suite.set(1, forKey: "a")
                    throw Stop()
                }
            } catch is Stop {}
            #expect(suite.object(forKey: "a") == nil)
            #expect(try suite.verify().recordCount == records)

            try suite.transaction {
                try suite.set("outer", forKey: "a")
                do {
                    try suite.transaction {
                        try suite.set("inner", forKey: "a")
                        try suite.set("inner", forKey: "b")
                        throw Stop()
                    }
                } catch is Stop {}
                #expect(suite.string(forKey: "a") == "outer")
                try suite.transaction { try suite.set("kept", forKey: "c") }
            }
            #expect(suite.string(forKey: "a") == "outer")
            #expect(suite.object(forKey: "b") == nil)
            #expect(suite.string(forKey: "c") == "kept")
        }
    }

    @Test("rejects a value over 64 MiB, and changes nothing")
    func tooLarge() throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "s"))
            expectError(.valueTooLarge) {
                try suite.transaction {
                    try suite.set(1, forKey: "a")
                    try suite.set(Data(count: 64 << 20 + 1), forKey: "b")
                }
            }
            expectError(.valueTooLarge) {
                try suite.transaction { try suite.set(Data(count: 64 << 20 + 1), forKey: "b") }
            }
            #expect(suite.dictionaryRepresentation().isEmpty)
        }
    }
}

@Suite("A damaged suite")
struct DamagedSuiteTests {
    @Test("loses the values in the damaged bytes, is reported once, and is backed up")
    func damage() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            // Written by another process, so that the suite is already damaged when this process opens it.
            let written = try TestHelper.run(["fill", url.path(percentEncoded: false), "10"])
            #expect(written.status == 0, "\(written.errors)")
            let journal = url.appending(path: "journal")
            var bytes = try Data(contentsOf: journal)
            let range = try #require(bytes.range(of: Data("value of key 4".utf8)))
            bytes[range.lowerBound] ^= 1
            try bytes.write(to: journal)

            let collector = EventCollector()
            try collector.collect {
                let suite = try FileDefaults(url: url)
                for number in 0..<10 where number != 4 {
                    #expect(suite.string(forKey: "key \(number)") == "value of key \(number)")
                }
                #expect(suite.object(forKey: "key 4") == nil)
                #expect(try suite.verify().isIntact)
            }
            #expect(collector.codes == [.storeDamaged])
            #expect(collector.events.first?.kind == .storeDamaged)
            let names = try FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false))
            let kept = try #require(names.first { $0.hasPrefix("journal.damaged-") })
            #expect(try Data(contentsOf: url.appending(path: kept)) == bytes)
        }
    }
}

extension FileDefaults {
    /// Makes the next write compare the suite with the files at its path, as it does a millisecond after the last
    /// comparison.
    func letMillisecondPass() throws {
        let journal = try suite.open().journal
        journal.stateLock.lock()
        journal.state.comparedAt = 0
        journal.stateLock.unlock()
    }
}
