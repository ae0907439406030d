import Foundation
import Testing

@testable import Default
@testable import DefaultJournal

@Suite("A suite that flushes every write")
struct EveryWriteTests {
    @Test("flushes what is stored already too, when it is set, removed or in a transaction")
    func storedValues() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            // Nothing else may flush: neither the background nor, while it has too much to do, a write by itself.
            let journal = try Journal.open(at: url.path, options: JournalOptions(automaticMaintenance: false)) {
                SuiteIndex()
            }
            let suite = try FileDefaults(url: url)
            let durable = try FileDefaults(url: url, durability: .everyWrite)
            #expect(try suite.suite.open().journal === journal)
            let bodies: [() throws -> Void] = [
                { try durable.set(1, forKey: "k") },
                { try durable.removeObject(forKey: "absent") },
                { try durable.transaction { try durable.set(1, forKey: "k") } },
                { try durable.transaction { try durable.removeObject(forKey: "absent") } },
            ]
            for (number, body) in bodies.enumerated() {
                try suite.set(2, forKey: "k")
                try suite.set(1, forKey: "k")
                #expect(journal.writer.published.syncedEnd < journal.writer.published.end)
                try body()
                #expect(journal.writer.published.syncedEnd == journal.writer.published.end, "\(number)")
            }
        }
    }
}
