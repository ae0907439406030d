import Foundation
import Testing

@testable import DefaultJournal

@Suite("Publication")
struct PublicationTests {
    private let directory = TemporaryDirectory()

    #if DEBUG
    /// What happens first after a writer was killed.
    enum Aftermath: CaseIterable {
        case peerWrites
        case peerReads
        case anotherOpens
    }

    @Test(
        "After a writer is killed between any two stores to the shared page, every open engine is current and writes the named file",
        arguments: ["append", "batch", "compact"],
        Aftermath.allCases
    )
    func killed(operation: String, aftermath: Aftermath) throws {
        var store = 1
        while try killWriter(in: operation, afterStore: store, aftermath) { store += 1 }
        // Pending, the end, the generation, and pending again.
        #expect(store > 4)
    }

    /// - Returns: Whether the writer was killed: not if the operation takes fewer stores.
    private func killWriter(in operation: String, afterStore store: Int, _ aftermath: Aftermath) throws -> Bool {
        let directory = TemporaryDirectory()
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let peer = try Journal.openUnregistered(directory.suite, options)
        let reader = try Journal.openUnregistered(directory.suite)
        for number in 0..<10 { try peer.set("before", "\(number)") }
        try peer.synchronize()
        #expect(reader["before"] == "9")
        let inode = try directory.journalInode

        let helper = try Helper(["die", directory.suite, operation, "\(store)"])
        let status = helper.finish().status
        guard helper.process.terminationReason == .uncaughtSignal else {
            #expect(status == 0)
            return false
        }
        #expect(status == SIGKILL)

        let context = Comment("killed after store \(store) of \(operation), then \(aftermath)")
        switch aftermath {
        case .peerWrites: break
        case .peerReads: #expect(peer["before"] == "9", context)
        case .anotherOpens: _ = try Journal.openUnregistered(directory.suite)
        }
        try peer.set("after", "1")
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh["before"] == "9" && fresh["after"] == "1", context)
        #expect((fresh["victim"] != nil) == (fresh["other victim"] != nil) || operation == "append", context)
        #expect(peer.all == fresh.all, context)
        #expect(reader.all == fresh.all, context)
        let journalInode = peer.state.journalInode
        #expect(try journalInode == directory.journalInode, context)
        #expect(try fresh.verify().isIntact, context)
        #expect(peer.page.pending == 0, context)
        // The next synchronize has to flush the rename, which the killed process no longer could.
        probe.clear()
        try peer.synchronize()
        if try directory.journalInode != inode { #expect(probe.counts[.fsync, default: 0] > 0, context) }
        return true
    }

    @Test("A page that changes to another journal never claims that too much is on the disk")
    func anotherJournal() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        for number in 0..<10 { try journal.set("a", "\(number)") }
        try journal.synchronize()
        let page = journal.page
        page.pending = LockPage.replacing
        let generation = page.generation
        let steps = Guarded(0)
        probe.onStore { _ in
            steps.withLock { $0 += 1 }
            if page.journalID == 77 {
                #expect(page.syncedEnd <= 100)
                #expect(page.directoryDirty == 77)
            }
            if page.generation != generation { #expect(page.journalID == 77 && page.end == 300 && !page.syncFailed) }
            if page.pending == 0 { #expect(page.generation != generation) }
        }
        page.publish(journalID: 77, end: 300, syncedEnd: 100)
        probe.onStore(nil)
        #expect(steps.withLock { $0 } == 9)
        #expect(page.syncedEnd == 100)
    }

    @Test("A failed sync stays recorded when the next process repairs what a killed writer left")
    func failedSync() throws {
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        try journal.set("a", "1")
        journal.page.syncFailed = true
        journal.page.pending = journal.page.end + 100
        _ = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        #expect(journal.page.pending == 0)
        #expect(journal.page.syncFailed)
    }

    @Test("A page that names another journal is noticed by the next write, once")
    func otherJournal() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(calls: SystemCalls(probe: probe)))
        try journal.set("a", "1")
        try directory.overwriteInPlace("suite/lock", at: 16, with: [1, 2, 3, 4, 5, 6, 7, 8])
        probe.clear()
        for number in 0..<2_000 { try journal.set("a", String(repeating: "v", count: 112) + "\(number)") }
        #expect(probe.counts[.open, default: 0] < 200)
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh["a"]?.hasSuffix("1999") == true)
        #expect(try fresh.verify().isIntact)
        #expect(fresh.page.journalID == journal.state.journalID)
    }
    #endif

    @Test("A suite restored in place while it is open keeps what is written after that")
    func restored() throws {
        let options = JournalOptions(automaticMaintenance: false)
        let writer = try Journal.openUnregistered(directory.suite, options)
        let peer = try Journal.openUnregistered(directory.suite, options)
        try writer.set("restored", "1")
        let journal = try directory.bytes()
        let lock = try directory.bytes("suite/lock")
        try writer.set("dropped", "1")
        try writer.compact()
        try peer.set("dropped", "2")
        let generation = peer.generation
        try directory.overwriteInPlace("suite/journal", with: journal)
        try directory.overwriteInPlace("suite/lock", with: lock)
        // Until the restored page reaches a generation that the peer has seen already.
        while writer.page.generation != generation { try writer.set("other", "1") }
        try peer.set("after", "1")
        let fresh = try Journal.openUnregistered(directory.suite, options)
        #expect(fresh.all.count == 3)
        #expect(fresh["restored"] == "1" && fresh["other"] == "1" && fresh["after"] == "1")
        #expect(peer.all == fresh.all)
        #expect(writer.all == fresh.all)
        #expect(try fresh.verify().isIntact)
    }
}
