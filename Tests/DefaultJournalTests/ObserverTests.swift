import Foundation
import JournalProbe
import Testing

@testable import DefaultJournal

@Suite("A journal's observer")
struct JournalObserverTests {
    let directory = TemporaryDirectory()

    /// Notes changes; used on one thread.
    private final class Observer: JournalObserver {
        var isObserving = true
        var changes: [String] = []

        func noteChange(of key: UnsafeRawBufferPointer, by origin: ChangeOrigin) {
            changes.append(String(decoding: key, as: UTF8.self) + (origin == .thisThread ? " here" : ""))
        }

        static func free(_ form: UnsafeMutableRawPointer) { form.deallocate() }

        func take() -> [String] {
            defer { changes = [] }
            return changes.sorted()
        }
    }

    @Test("is notified of who changed which keys, even by a removal of all, but not while it doesn't observe")
    func changes() throws {
        let observer = Observer()
        let journal = try Journal.open(at: directory.suite, makeObserver: { observer })
        let other = try Journal.openUnregistered(directory.suite)
        try journal.set("a", "1")
        try journal.set("a", "1")
        try other.set("b", "2")
        #expect(journal["b"] == "2")
        #expect(observer.take() == ["a here", "b"])
        var batch = JournalBatch()
        batch.set("a", "2")
        batch.remove("b")
        try journal.append(batch)
        #expect(observer.take() == ["a here", "b here"])
        try other.set("c", "3")
        try journal.removeAll()
        #expect(observer.take() == ["a here", "c", "c here"])
        observer.isObserving = false
        try journal.set("d", "4")
        try other.set("e", "5")
        #expect(journal["e"] == "5")
        #expect(observer.take().isEmpty)
    }

    @Test("is that of the first opening: a later one makes none, and changes no options")
    func firstOpening() throws {
        let observer = Observer()
        let first = JournalOptions(automaticMaintenance: false, lockTimeout: 7)
        let journal = try Journal.open(at: directory.suite, options: first, makeObserver: { observer })
        let again = try Journal.open(
            at: directory.suite,
            makeObserver: {
                Issue.record("A second observer was made.")
                return nil
            }
        )
        #expect(again === journal && again.observer === observer && again.options.lockTimeout == 7)
        #expect(try Journal.openUnregistered(directory.suite, first).observer == nil)
    }

    @Test("is notified of the keys that differ when the journal is read again, and of no others")
    func readAgain() throws {
        let observer = Observer()
        let journal = try Journal.open(at: directory.suite, makeObserver: { observer })
        for key in ["same", "changed", "removed"] { try journal.set(key, "1") }
        let backup = try directory.bytes("suite/journal")
        try journal.set("changed", "2")
        try journal.remove("removed")
        try journal.set("added", "1")
        _ = observer.take()
        try directory.write(backup, to: "suite/journal")
        journal.forgetComparison()
        #expect(journal["changed"] == "1")
        #expect(observer.take() == ["added", "changed", "removed"])
        observer.isObserving = false
        try directory.write([UInt8](backup.prefix(JournalHeader.size)), to: "suite/journal")
        journal.forgetComparison()
        #expect(journal.all.isEmpty)
        #expect(observer.take().isEmpty)
    }

    #if DEBUG
    @Test(
        "isn't notified of damage while it doesn't observe, but the report names changed keys, in order, without own ones",
        arguments: [false, true]
    )
    func damage(isLookedAtTwice: Bool) throws {
        let observer = Observer()
        let reports = ReportCollector()
        var options = reports.options(SystemCallProbe(fileTimeAdvance: isLookedAtTwice ? 0 : 10_000_000_000))
        options.automaticMaintenance = false
        let journal = try Journal.open(at: directory.suite, options: options, makeObserver: { observer })
        let keys = ["c", "b", "\0own", "a"]
        for key in keys { try journal.set(key, "1") }
        _ = observer.take()
        observer.isObserving = false
        var bytes = try directory.bytes("suite/journal")
        // One set takes 32 bytes; a look compares the last one, which therefore stays intact.
        for record in [0, 2, 3] { bytes[JournalHeader.size + record * 32 + 12] ^= 1 }
        if isLookedAtTwice {
            // A new file at the path counts as part of a copy while it has just changed.
            try directory.write(bytes, to: "suite/copy")
            try FileManager.default.removeItem(atPath: directory.journal)
            try FileManager.default.moveItem(atPath: directory.suite + "/copy", toPath: directory.journal)
        } else {
            try directory.write(bytes, to: "suite/journal")
        }
        try journal.compact()
        #expect(reports.damage.map(\.changedKeys) == [["a", "c"]])
        #expect(journal.all.keys.map { String(decoding: $0, as: UTF8.self) } == ["b"])
        #expect(observer.take().isEmpty)
    }
    #endif
}
