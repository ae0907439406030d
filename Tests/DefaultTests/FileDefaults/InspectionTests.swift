import Foundation
import Testing

@testable import Default

@Suite("FileDefaults.inspect")
struct FileDefaultsInspectionTests {
    @Test("describes a sound suite, a damaged one, and what backups there are, and repairs nothing")
    func inspect() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let journal = url.appending(path: "journal")
            // Written by another process, so that the suite isn't open here.
            for key in ["first", "second", "third", "fourth"] {
                #expect(try TestHelper.run(["assign", url.path, key, "string", "the \(key) value"]).status == 0)
            }
            let sound = try FileDefaults.inspect(at: url)
            #expect(sound.formatVersion == 1)
            #expect(sound.keyCount == 4)
            #expect(sound.recordCount == 4)
            #expect(sound.isIntact)
            #expect(sound.canListKeys)
            #expect(sound.fileSize == sound.liveSize)
            #expect(sound.damage.isEmpty)
            #expect(sound.unfinishedBytes == 0)
            #expect(sound.damagedCopies.isEmpty)
            let size = sound.fileSize
            #expect("\(sound)" == "keys: 4, records: 4, bytes: \(size), \(size) of them live, format: 1")

            var bytes = try Data(contentsOf: journal)
            try (bytes + [1, 2]).write(to: journal)
            let unfinished = try FileDefaults.inspect(at: url)
            #expect(unfinished.unfinishedBytes == 2)
            #expect(unfinished.isIntact && unfinished.keyCount == 4)
            for text in ["the first", "the third"] {
                let place = try #require(bytes.range(of: Data(text.utf8)))
                bytes[place.lowerBound] ^= 1
            }
            try (bytes + [0]).write(to: journal)
            for _ in 0..<2 {
                let damaged = try FileDefaults.inspect(at: url)
                #expect(damaged.keyCount == 2)
                #expect(damaged.damage.count == 2)
                let sizes = damaged.damage.map { $0.upperBound - $0.lowerBound }
                #expect(sizes.allSatisfy { $0 > 20 })
                #expect(damaged.unfinishedBytes == 1)
                #expect(!damaged.isIntact)
                #expect(damaged.damagedCopies.isEmpty)
                let text = "unfinished bytes: 1, damaged: \(damaged.damage[0]), damaged: "
                #expect("\(damaged)".contains(text))
            }
            #expect(try Data(contentsOf: journal) == bytes + [0])

            // Opening the suite repairs it.
            #expect(try TestHelper.run(["print-number", url.path]).status == 0)
            let repaired = try FileDefaults.inspect(at: url)
            #expect(repaired.isIntact)
            #expect(repaired.keyCount == 2)
            #expect(repaired.damagedCopies.map(\.fileSize) == [UInt64(bytes.count + 1)])
            #expect(repaired.damagedCopies[0].name.hasPrefix("journal.damaged-"))
            try FileManager.default.removeItem(at: journal)
            // The backups are listed in the order of their names, which begin with the time.
            try Data(count: 5).write(to: url.appending(path: "journal.damaged-0"))
            try Data(count: 7).write(to: url.appending(path: "journal.damaged-z"))
            try Data(count: 9).write(to: url.appending(path: "other.damaged-0"))
            let gone = try FileDefaults.inspect(at: url)
            #expect(gone.formatVersion == nil)
            #expect((gone.fileSize, gone.keyCount, gone.recordCount) == (0, 0, 0))
            #expect(gone.isIntact && gone.canListKeys && gone.unfinishedBytes == 0)
            #expect(gone.damagedCopies.map(\.fileSize) == [5, UInt64(bytes.count + 1), 7])
            #expect(gone.damagedCopies.first?.name == "journal.damaged-0")
            #expect("\(gone)".contains("no header that can be read, journal.damaged-0: 5 bytes, "))
        }
    }

    @Test("tells the bytes of replaced values from those of the current ones, in an open suite too")
    func sizes() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let suite = try FileDefaults(url: url)
            try suite.set(String(repeating: "x", count: 100), forKey: "k")
            try suite.set(1, forKey: "k")
            try suite.set(1, forKey: "gone")
            try suite.removeObject(forKey: "gone")
            let before = try FileDefaults.inspect(at: url)
            #expect(before.keyCount == 1 && before.recordCount == 4)
            #expect(before.liveSize + 100 < before.fileSize)
            #expect(try suite.verify() == before)
            try suite.compact()
            let after = try suite.verify()
            #expect(after.keyCount == 1 && after.recordCount == 1)
            #expect(after.fileSize == before.liveSize && after.liveSize == before.liveSize)
            #expect(after != before)
            #expect(try FileDefaults(readingFrom: url).verify() == after)
        }
    }

    @Test("describes a journal of a later version by its version and size")
    func newerFormat() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let future = try #require(Fixtures.data(named: "future.journal"))
            try future.write(to: url.appending(path: "journal"))
            let found = try FileDefaults.inspect(at: url)
            #expect(found.formatVersion == 2 && found.fileSize == UInt64(future.count))
            #expect(!found.canListKeys && found.keyCount == 0 && found.recordCount == 0)
            #expect(found.isIntact && found.damage.isEmpty)
            expectError(.newerFormat) { try FileDefaults(readingFrom: url) }
        }
    }

    @Test("throws for a suite that doesn't exist, and for what is no file")
    func missing() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "none")
            let error = expectError(.storeUnavailable) { try FileDefaults.inspect(at: url) }
            #expect(error?.description.contains(url.path) ?? false)
            #expect(error?.description.hasPrefix("The suite can't be checked. ") ?? false)
            #expect(error?.store == url.path && error?.key == nil)
            #expect((error?.underlyingError as? POSIXError)?.code == .ENOENT)
            #expect(!FileManager.default.fileExists(atPath: url.path))
            let web = try #require(URL(string: "https://example.com/s"))
            let suite = try FileDefaults(url: directory.appending(path: "s"))
            let bodies: [() throws -> Void] = [
                { _ = try FileDefaults.inspect(at: web) }, { try suite.copy(to: web) },
                { _ = try FileDefaults(url: web) }, { _ = try FileDefaults(readingFrom: web) },
            ]
            for body in bodies {
                let error = expectError(.storeUnavailable, from: body)
                #expect(error?.store == "https://example.com/s")
                let text = "The suite at https://example.com/s can't be opened: it is not a file URL."
                #expect(error?.description == text)
            }
        }
    }

    @Test("The report of damage names keys that it may have cost a newer value")
    func reportedKeys() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let journal = url.appending(path: "journal")
            let suite = try FileDefaults(url: url)
            for value in ["an older value", "a newer value"] { try suite.set(value, forKey: "changed") }
            try suite.set("unchanged", forKey: "other")
            let events = EventCollector()
            try events.collect {
                var bytes = try Data(contentsOf: journal)
                let place = try #require(bytes.range(of: Data("a newer value".utf8)))
                bytes[place.lowerBound] ^= 1
                // A new file at the path makes the engine read the journal again.
                try bytes.write(to: journal, options: .atomic)
                try suite.letMillisecondPass()
                try suite.set("more", forKey: "third")
                #expect(suite.string(forKey: "changed") == "an older value")
            }
            let description = try #require(events.events.first { $0.kind == .storeDamaged }?.description)
            #expect(description.contains("last read, or none: \"changed\"."))
            #expect(description.contains("perhaps held newer changes of these keys"))
            #expect(!description.contains("other\""))
            #expect(!description.contains("value\""))
        }
    }
}
