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
            let suite = try FileDefaults(url: url)
            let durable = try FileDefaults(url: url, durability: .everyWrite)
            let journal = try suite.suite.open().journal
            let bodies: [() throws -> Void] = [
                { try durable.set(1, forKey: "k") },
                { try durable.removeObject(forKey: "absent") },
                { try durable.transaction { try durable.set(1, forKey: "k") } },
                { try durable.transaction { try durable.removeObject(forKey: "absent") } },
            ]
            for (number, body) in bodies.enumerated() {
                // The flush in the background seldom comes before the one that is expected, if they are made under the lock.
                try suite.withExclusiveAccess {
                    try suite.set(2, forKey: "k")
                    try suite.set(1, forKey: "k")
                    try body()
                    #expect(journal.flusher.isSynced(journal.state.file, to: journal.state.position), "\(number)")
                }
            }
        }
    }
}
