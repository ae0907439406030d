import Foundation
import Testing

@testable import Default
@testable import DefaultJournal
import JournalProbe

@Suite("A suite that flushes every write")
struct EveryWriteTests {
    #if DEBUG
    @Test("holds no lock while the disk works")
    func unlocked() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let probe = SystemCallProbe()
            let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
            let journal = try Journal.open(at: url.path, options: options) { SuiteState() }
            let durable = try FileDefaults(url: url, durability: .everyWrite)
            #expect(try durable.suite.open().journal === journal)
            let syncs = Locked(0)
            probe.onStep { step in
                guard step.call == .fdatasync else { return }
                syncs.withLock { $0 += 1 }
                let descriptor = open(url.path, O_RDONLY)
                #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
                close(descriptor)
            }
            try durable.set(1, forKey: "k")
            try durable.transaction { try durable.set(2, forKey: "k") }
            try durable.removeObject(forKey: "k")
            try durable.withExclusiveAccess {
                try durable.set(3, forKey: "k")
                try durable.transaction { try durable.set(4, forKey: "other") }
                try durable.withExclusiveAccess { try durable.set(5, forKey: "k") }
            }
            let defaults = Defaults(suite: durable)
            try defaults.update(Defaults.Key<Int>("k", default: 0)) { $0 += 1 }
            defaults[Defaults.Key<Int>("k", default: 0)] += 1
            probe.onStep(nil)
            #expect(syncs.withLock { $0 } == 6)
        }
    }
    #endif

    @Test("flushes what is stored already too, when it is set, removed or in a transaction")
    func storedValues() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            // Nothing else may flush: neither the background, nor a write when the background has too much to do.
            let journal = try Journal.open(at: url.path, options: JournalOptions(automaticMaintenance: false)) {
                SuiteState()
            }
            let suite = try FileDefaults(url: url)
            let durable = try FileDefaults(url: url, durability: .everyWrite)
            #expect(try suite.suite.open().journal === journal)
            let bodies: [() throws -> Void] = [
                { try durable.set(1, forKey: "k") },
                { try durable.removeObject(forKey: "absent") },
                { try durable.removeObject(forKey: "k") },
                { try durable.withExclusiveAccess { try durable.set(1, forKey: "k") } },
                { try durable.withExclusiveAccess { try durable.removeObject(forKey: "absent") } },
                { try durable.transaction { try durable.set(1, forKey: "k") } },
                { try durable.transaction { try durable.removeObject(forKey: "absent") } },
                { try suite.transaction { try durable.set(1, forKey: "k") } },
                { try suite.transaction { try durable.removeObject(forKey: "absent") } },
                { try suite.transaction { try durable.transaction { try durable.set(1, forKey: "k") } } },
            ]
            for (number, body) in bodies.enumerated() {
                try suite.set(2, forKey: "k")
                try suite.set(1, forKey: "k")
                #expect(!journal.state.file.flusher.isSynced(to: journal.state.position))
                try body()
                #expect(journal.state.file.flusher.isSynced(to: journal.state.position), "\(number)")
            }
        }
    }
}
