import Foundation
import Testing

@testable import DefaultJournal

@Suite("Publication", .waits)
struct PublicationTests {
    private let directory = TemporaryDirectory()

    #if DEBUG
    /// What a process does when it is killed.
    enum Operation: String, CaseIterable {
        case append
        case durableAppend = "durable append"
        /// An import of a property list is one batch, with its mark.
        case batch
        case remove
        case flush
        case compact
        /// A compaction within exclusive access, which rewrites the journal under the lock.
        case rewrite
        /// The opening of a suite whose journal ends in the middle of a record.
        case openTorn = "open"
        /// The opening of a suite with a damaged journal, which is backed up and replaced.
        case recover
    }

    /// What happens first after a writer was killed.
    enum Aftermath: CaseIterable {
        case peerWrites
        case peerReads
        case anotherOpens
    }

    private static let killings = Operation.allCases.flatMap { operation in
        Aftermath.allCases.map { (operation, $0) }
    }

    @Test(
        "After a writer is killed at any step, all processes that have the suite open agree, and what they write is kept",
        .waits,
        arguments: TestExtent.sample(killings, every: 4)
    )
    func killed(operation: Operation, aftermath: Aftermath) throws {
        let options = JournalOptions(automaticMaintenance: false)
        let peer = try Journal.openUnregistered(directory.suite, options)
        try peer.set("before", "0")
        // Watches and reads, in a process of its own, from the first step to the last.
        let mirror = try Helper(["mirror", directory.suite])
        var step = 0
        var isKilled = true
        while isKilled {
            step += 1
            let context = Comment("killed at step \(step) of \(operation), then \(aftermath)")
            try peer.set("before", "\(step)")
            try peer.set("filler", String(repeating: "x", count: 100 + step))
            try peer.set("last", "\(step)")
            // So that a flush has something to do.
            try peer.compact()
            try peer.set("before", "\(step)")
            try spoil(for: operation)
            isKilled = try kill(in: operation, atStep: step, context)
            switch aftermath {
            case .peerWrites: break
            case .peerReads: #expect(peer["last"] == "\(step)", context)
            case .anotherOpens: _ = try Journal.openUnregistered(directory.suite, options)
            }
            try peer.set("after", "\(step)")
            let fresh = try Journal.openUnregistered(directory.suite, options)
            #expect(fresh["after"] == "\(step)" && fresh["last"] == "\(step)", context)
            #expect((fresh["victim"] != nil) == (fresh["other victim"] != nil) || operation != .batch, context)
            #expect(isKilled || !operation.setsVictim || fresh["victim"] != nil, context)
            #expect(peer.all == fresh.all, context)
            #expect(try mirror.ask("after \(step)") == fresh.listing, context)
            let inode = peer.state.journalInode
            #expect(try inode == directory.journalInode, context)
            #expect(try fresh.verify().isIntact, context)
            #expect(peer.page.publication()?.isReplacing == false, context)
            try peer.synchronize()
            #expect(peer.page.publication()?.isRenameUnsynced == false, context)
        }
        mirror.kill()
        // At least a lock, a write and its halves, and a publication and its halves.
        #expect(step > 4)
        print("\(operation), then \(aftermath): \(step - 1) steps")
    }

    @Test(
        "A process that is the first to use a suite after a writer was killed at any step writes on",
        arguments: [Operation.append, .compact, .rewrite]
    )
    func killedAlone(operation: Operation) throws {
        let peer = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        var step = 0
        var isKilled = true
        while isKilled {
            step += 1
            let context = Comment("killed at step \(step) of \(operation)")
            try peer.compact()
            // So that a compaction makes the journal shorter.
            try peer.set("replaced", "\(step)")
            try peer.set("replaced", "\(-step)")
            isKilled = try kill(in: operation, atStep: step, context)
            try peer.set("after", "\(step)")
            let fresh = try Journal.openUnregistered(directory.suite)
            #expect(fresh["after"] == "\(step)" && fresh["replaced"] == "\(-step)", context)
            #expect(peer.all == fresh.all, context)
        }
        #expect(step > 4)
    }

    /// Prepares what the operation finds.
    private func spoil(for operation: Operation) throws {
        let end = try directory.bytes().count
        switch operation {
        case .openTorn: try directory.overwriteInPlace("suite/journal", at: UInt64(end), with: [1, 2, 3, 4, 5, 6, 7])
        case .recover:
            let bytes = try directory.bytes()
            let filler = try #require(Data(bytes).range(of: Data("filler".utf8)))
            try directory.overwriteInPlace("suite/journal", at: UInt64(filler.lowerBound), with: [0])
        default: break
        }
    }

    /// - Returns: Whether the process was killed: not if the operation takes fewer steps.
    private func kill(in operation: Operation, atStep step: Int, _ context: Comment) throws -> Bool {
        let name = operation == .recover ? "open" : operation.rawValue
        let helper = try Helper(["die", directory.suite, name, "\(step)"])
        let outcome = helper.finish()
        let isKilled = helper.process.terminationReason == .uncaughtSignal
        #expect(outcome.status == (isKilled ? SIGKILL : 0), context)
        #expect((outcome.output == "acknowledged\n") == !isKilled, context)
        return isKilled
    }

    @Test("A suite whose creation was interrupted at any step is usable", arguments: [false, true])
    func killedInCreation(hasDirectory: Bool) throws {
        var step = 0
        var isKilled = true
        while isKilled {
            step += 1
            let directory = TemporaryDirectory()
            if hasDirectory {
                try FileManager.default.createDirectory(atPath: directory.suite, withIntermediateDirectories: true)
            }
            let helper = try Helper(["die", directory.suite, "open", "\(step)"])
            _ = helper.finish()
            isKilled = helper.process.terminationReason == .uncaughtSignal
            let first = try Journal.openUnregistered(directory.suite)
            let second = try Journal.openUnregistered(directory.suite)
            try first.set("a", "1")
            try second.set("b", "2")
            #expect(first.all == second.all && first.all.count == 2, "killed at step \(step)")
            #expect(try first.verify().isIntact)
        }
        #expect(step > 10)
        print("creation: \(step - 1) steps")
    }

    @Test("What is published is published as a whole, or not at all")
    func wholePublication() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        let page = journal.page
        let before = try #require(page.publication())
        let after = LockPage.Publication(
            generation: before.generation + 1,
            journalID: .random(in: 1 ... .max),
            end: .random(in: 1 ... .max),
            syncedEnd: .random(in: 1 ... .max),
            isRenameUnsynced: true,
            syncFailed: true,
            isReplacing: true
        )
        let halves = Guarded(0)
        probe.onStep { step in
            guard step.isHalf else { return }
            halves.withLock { $0 += 1 }
            #expect(page.publication() == nil)
        }
        try page.publish(after, path: "")
        probe.onStep(nil)
        #expect(halves.withLock { $0 } == 1)
        #expect(page.publication() == after)
    }

    @Test("A reader of the writing process leaves a record that is being published to the writing thread")
    func announced() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        let other = try Journal.openUnregistered(directory.suite)
        try journal.set("a", "1")
        let found = Guarded<[String?]>([])
        let isReading = Guarded(false)
        probe.onStep { [unowned journal] _ in
            // What a read does is a step too.
            if isReading.withLock({ isReading in
                defer { isReading = true }; return isReading
            }) {
                return
            }
            found.withLock { $0.append(journal["a"]) }
            isReading.withLock { $0 = false }
        }
        try journal.set("a", "2")
        probe.onStep(nil)
        // At least both writes and their halves.
        #expect(found.withLock(\.count) > 4)
        #expect(found.withLock { Set($0) } == ["1"])
        #expect(journal["a"] == "2" && other["a"] == "2")
    }

    @Test("A publication that fails leaves nothing of the write", arguments: [ENOSPC, EIO])
    func failingPublication(code: Int32) throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(calls: SystemCalls(probe: probe)))
        let other = try Journal.openUnregistered(directory.suite)
        try journal.set("a", "1")
        let bytes = try directory.bytes()
        for durability in [JournalDurability.background, .everyWrite] {
            probe.clear()
            probe.plan(.fail(code: code), call: .pwrite, number: 1)
            #expect(throws: JournalError.self) { try journal.set("a", "2", durability: durability) }
            #expect(probe.fired == 1)
            #expect(journal["a"] == "1" && other["a"] == "1")
            #expect(try directory.bytes() == bytes)
        }
        try journal.set("a", "3")
        #expect(other["a"] == "3")
    }

    @Test("A whole record whose publication and removal failed is removed by the next access")
    func failingRemoval() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(calls: SystemCalls(probe: probe)))
        let other = try Journal.openUnregistered(directory.suite)
        // After the second, the lock is kept between writes.
        for count in [1, 100] {
            for _ in 0..<count { try journal.set("a", "1") }
            probe.clear()
            probe.plan(.fail(code: ENOSPC), call: .pwrite, number: 1)
            probe.plan(.fail(code: EIO), call: .ftruncate, number: 0)
            // Longer than what is written next.
            #expect(throws: JournalError.self) { try journal.set("a", String(repeating: "2", count: 500)) }
            #expect(probe.fired == 2)
            try journal.set("b", "1")
            #expect(journal["a"] == "1" && other["a"] == "1" && other["b"] == "1")
            #expect(try journal.verify().isIntact)
            #expect(try Journal.openUnregistered(directory.suite).all == journal.all)
        }
    }

    @Test("A failed sync stays recorded when the next process repairs what a killed writer left")
    func failedSync() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("a", "1")
        probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
        #expect(throws: JournalError.self) { try journal.synchronize() }
        try directory.overwriteInPlace("suite/journal", at: UInt64(directory.bytes().count), with: [1, 2, 3])
        let other = try Journal.openUnregistered(directory.suite, JournalOptions(automaticMaintenance: false))
        #expect(other.page.publication()?.syncFailed == true)
        let inode = try directory.journalInode
        try other.synchronize()
        #expect(try directory.journalInode != inode)
        #expect(other.page.publication()?.syncFailed == false)
    }

    @Test("A page that names another journal is noticed by the next write, once")
    func otherJournal() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(calls: SystemCalls(probe: probe)))
        try journal.set("a", "1")
        var publication = try #require(journal.page.publication())
        publication.journalID ^= 1
        try journal.page.publish(publication, path: "")
        probe.clear()
        for number in 0..<2_000 { try journal.set("a", String(repeating: "v", count: 112) + "\(number)") }
        #expect(probe.counts[.open, default: 0] < 200)
        let fresh = try Journal.openUnregistered(directory.suite)
        #expect(fresh["a"]?.hasSuffix("1999") == true)
        #expect(try fresh.verify().isIntact)
        #expect(fresh.page.publication()?.journalID == journal.state.journalID)
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

#if DEBUG
extension PublicationTests.Operation {
    var setsVictim: Bool { [.append, .durableAppend, .batch].contains(self) }
}
#endif
