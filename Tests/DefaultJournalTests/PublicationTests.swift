import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("Publication", .waits)
struct PublicationTests {
    private let directory = TemporaryDirectory()

    #if DEBUG
    /// The operation during which a process is killed.
    enum Operation: String, CaseIterable {
        case append
        case durableAppend = "durable append"
        /// A batch, like the import of a property list with its mark.
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

    /// The first event after a writer was killed.
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
        arguments: TestExtent.sample(killings, every: 8)
    )
    func killed(operation: Operation, aftermath: Aftermath) throws {
        let options = JournalOptions(automaticMaintenance: false)
        let peer = try Journal.openUnregistered(directory.suite, options)
        try peer.set("before", "0")
        // A process that watches and reads the suite from the first step to the last.
        let mirror = try Helper(["mirror", directory.suite])
        var step = 0
        var isKilled = true
        while isKilled {
            step += 1
            let context = Comment("killed at step \(step) of \(operation), then \(aftermath)")
            try peer.set("before", "\(step)")
            try peer.set("filler", String(repeating: "x", count: 100 + step))
            try peer.set("last", "\(step)")
            // Leaves a name to be synced, so that a flush has work to do.
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
            let inode = peer.state.file.id.inode
            #expect(try inode == directory.journalInode, context)
            #expect(try fresh.verify().isIntact, context)
            try peer.synchronize()
            #expect(!peer.isRenameUnsynced, context)
        }
        mirror.kill()
        // The operation makes at least two calls.
        #expect(step > 2)
        print("\(operation), then \(aftermath): \(step - 1) steps")
    }

    @Test(
        "The first process that uses a suite after a writer was killed at any step can write",
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
            // Makes the next compaction shorten the journal.
            try peer.set("replaced", "\(step)")
            try peer.set("replaced", "\(-step)")
            isKilled = try kill(in: operation, atStep: step, context)
            try peer.set("after", "\(step)")
            let fresh = try Journal.openUnregistered(directory.suite)
            #expect(fresh["after"] == "\(step)" && fresh["replaced"] == "\(-step)", context)
            #expect(peer.all == fresh.all, context)
        }
        #expect(step > 3)
    }

    /// Damages the journal as the operation needs it.
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

    /// - Returns: Whether the process was killed, which it isn't if the operation takes fewer steps.
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

    @Test("A reader in the writing process doesn't read a record that the writing thread is still publishing")
    func announced() throws {
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        let other = try Journal.openUnregistered(directory.suite)
        try journal.set("a", "1")
        let found = Locked<[String?]>([])
        let isReading = Locked(false)
        probe.onStep { [unowned journal] _ in
            guard journal.canBeRead else { return }
            // A read makes calls, and so steps, too.
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
        // The steps are at least the lock, the write, and its first half.
        #expect(found.withLock(\.count) > 2)
        #expect(found.withLock { Set($0) } == ["1"])
        #expect(journal["a"] == "2" && other["a"] == "2")
    }

    @Test("Half a record that could not be removed either is removed by the next access")
    func failingRemoval() throws {
        let probe = SystemCallProbe()
        let journal = try Journal.openUnregistered(directory.suite, JournalOptions(calls: SystemCalls(probe: probe)))
        let other = try Journal.openUnregistered(directory.suite)
        for size in [10, 500, 20_000] {
            try journal.set("a", "1")
            probe.clear()
            probe.plan(.cut(to: size), call: .pwrite, number: 0)
            probe.plan(.fail(code: ENOSPC), call: .pwrite, number: 1)
            probe.plan(.fail(code: EIO), call: .ftruncate, number: 0)
            // The failed record is longer than the one that is written next.
            let long = String(repeating: "2", count: 2 * size)
            #expect(throws: JournalError.self) { try journal.set("a", long) }
            #expect(probe.fired == 3)
            #expect(other["a"] == "1")
            try journal.set("b", "\(size)")
            #expect(journal["a"] == "1" && other["a"] == "1" && other["b"] == "\(size)")
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
        #expect(other.hasSyncFailed)
        let inode = try directory.journalInode
        try other.synchronize()
        #expect(try directory.journalInode != inode)
        #expect(!other.hasSyncFailed)
    }

    #endif

    @Test("A suite restored in place while it is open keeps what is written after that")
    func restored() throws {
        let options = JournalOptions(automaticMaintenance: false)
        let writer = try Journal.openUnregistered(directory.suite, options)
        let peer = try Journal.openUnregistered(directory.suite, options.later)
        try writer.set("restored", "1")
        let journal = try directory.bytes()
        try writer.set("dropped", "1")
        try writer.compact()
        try peer.set("dropped", "2")
        try directory.overwriteInPlace("suite/journal", with: journal)
        peer.forgetComparison()
        try peer.set("after", "1")
        let fresh = try Journal.openUnregistered(directory.suite, options)
        #expect(fresh.all.count == 2)
        #expect(fresh["restored"] == "1" && fresh["after"] == "1")
        #expect(peer.all == fresh.all)
        writer.forgetComparison()
        #expect(writer.all == fresh.all)
        #expect(try fresh.verify().isIntact)
    }
}

#if DEBUG
extension PublicationTests.Operation {
    var setsVictim: Bool { [.append, .durableAppend, .batch].contains(self) }
}
#endif
