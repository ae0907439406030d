#if DEBUG
import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

/// Scenarios in which every system call fails once, in every way; no acknowledged write may be lost.
@Suite("Faults", .waits)
struct FaultTests {
    private static let codes = [EIO, ENOSPC, EINTR, EACCES, EMFILE]
    private static let faults = codes.map { SystemCallProbe.Fault.fail(code: $0) }
    private static let cuts = [0, 1, 17, 60, 4095].map { SystemCallProbe.Fault.cut(to: $0) }

    /// The promises to a scenario: entries that must exist, and entries that may exist.
    private final class Promises {
        var sure: [String: String] = [:]
        var maybe: [String: Set<String?>] = [:]

        func check(_ journal: Journal, _ context: String) {
            for (key, value) in sure where maybe[key] == nil {
                #expect(journal[key] == value, "\(key) \(context)")
            }
            for (key, values) in maybe {
                #expect(values.contains(journal[key]), "\(key) is \(journal[key] ?? "missing") \(context)")
            }
        }

        /// Tries to set a value, and records what may be stored afterwards.
        func set(_ journal: Journal, _ key: String, _ value: String, _ durability: JournalDurability = .background)
            throws
        {
            do {
                try journal.set(key, value, durability: durability)
                sure[key] = value
                maybe[key] = nil
            } catch {
                maybe[key, default: [sure[key]]].insert(sure[key])
                // The value may be stored if only the flush has failed.
                if durability == .everyWrite { maybe[key]?.insert(value) }
                throw error
            }
        }
    }

    private struct Scenario: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var prepare: @Sendable (TemporaryDirectory, Promises) throws -> Void = { _, _ in }
        var run: @Sendable (TemporaryDirectory, JournalOptions, Promises) throws -> Void
    }

    private static let fill: @Sendable (TemporaryDirectory, Promises) throws -> Void = { directory, promises in
        let journal = try Journal.openUnregistered(directory.suite)
        for number in 0..<20 { try promises.set(journal, "key\(number % 10)", "value \(number)") }
    }

    private static let scenarios = [
        Scenario(testDescription: "create") { directory, options, promises in
            let journal = try Journal.openUnregistered(directory.path + "/suite", options)
            try promises.set(journal, "a", "1")
        },
        Scenario(testDescription: "append", prepare: fill) { directory, options, promises in
            let journal = try Journal.openUnregistered(directory.suite, options)
            for number in 0..<3 { try promises.set(journal, "new", "\(number)") }
            try promises.set(journal, "durable", "1", .everyWrite)
        },
        Scenario(testDescription: "transaction", prepare: fill) { directory, options, promises in
            let journal = try Journal.openUnregistered(directory.suite, options)
            var batch = JournalBatch()
            batch.set("x", "1")
            batch.set("y", "1")
            do {
                try journal.withExclusiveAccess { try journal.append(batch) }
            } catch {
                #expect(journal["x"] == journal["y"])
                throw error
            }
            promises.sure["x"] = "1"
            promises.sure["y"] = "1"
        },
        Scenario(testDescription: "compact", prepare: fill) { directory, options, promises in
            let journal = try Journal.openUnregistered(directory.suite, options)
            try promises.set(journal, "new", "1")
            try journal.compact()
            try promises.set(journal, "new", "2")
            try journal.withExclusiveAccess { try journal.compact() }
            try promises.set(journal, "new", "3")
        },
        Scenario(testDescription: "synchronize", prepare: fill) { directory, options, promises in
            let journal = try Journal.openUnregistered(directory.suite, options)
            try promises.set(journal, "new", "1")
            try journal.synchronize()
            try journal.compact()
            try journal.synchronize()
            try promises.set(journal, "new", "2")
        },
        Scenario(testDescription: "read what others wrote", prepare: fill) { directory, options, promises in
            let journal = try Journal.openUnregistered(directory.suite, options)
            let other = try Journal.openUnregistered(directory.suite)
            try promises.set(other, "new", "1")
            _ = journal["new"]
            try other.compact()
            try promises.set(other, "new", "2")
            _ = journal["new"]
            promises.check(journal, "caught up")
        },
        Scenario(
            testDescription: "recover",
            prepare: { directory, promises in
                try fill(directory, promises)
                var bytes = try directory.bytes()
                // Damages the record of key3's first value, which a later one replaced, so that no live entry is lost.
                bytes[JournalHeader.size + 36 * 3 + 20] ^= 0x40
                try directory.write(bytes)
            },
            run: { directory, options, promises in
                let journal = try Journal.openUnregistered(directory.suite, options)
                try promises.set(journal, "new", "1")
            }
        ),
        Scenario(testDescription: "copy", prepare: fill) { directory, options, promises in
            let journal = try Journal.openUnregistered(directory.suite, options)
            do {
                try journal.copy(to: directory.path + "/copy")
            } catch {
                #expect(!FileManager.default.fileExists(atPath: directory.path + "/copy/journal"))
                throw error
            }
            promises.check(try Journal.openUnregistered(directory.path + "/copy"), "in the copy")
        },
    ]

    @Test(
        "A failed call is reported with its name, or recovered from; acknowledged writes stay",
        arguments: scenarios
    )
    private func failingCalls(_ scenario: Scenario) throws {
        for (call, count) in try callCounts(scenario) {
            for number in 0..<count {
                // Each call fails once; in full runs, once with each code.
                let brief = [Self.faults[number % Self.faults.count]]
                for fault in TestExtent.pick(brief: brief, full: Self.faults) { try run(scenario, fault, call, number) }
            }
        }
    }

    @Test("A short write is completed or rolled back", arguments: scenarios)
    private func cutWrites(_ scenario: Scenario) throws {
        for number in 0..<(try callCounts(scenario)[.pwrite] ?? 0) {
            let brief = [Self.cuts[number % Self.cuts.count]]
            for fault in TestExtent.pick(brief: brief, full: Self.cuts) { try run(scenario, fault, .pwrite, number) }
            for code in [EIO, ENOSPC] { try run(scenario, .halfThenFailing(code: code), .pwrite, number) }
        }
    }

    private func callCounts(_ scenario: Scenario) throws -> [SystemCall: Int] {
        let directory = TemporaryDirectory()
        let promises = Promises()
        try scenario.prepare(directory, promises)
        let probe = SystemCallProbe()
        try scenario.run(directory, options(probe), promises)
        return probe.counts
    }

    private func options(_ probe: SystemCallProbe) -> JournalOptions {
        JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
    }

    private func run(
        _ scenario: Scenario,
        _ fault: SystemCallProbe.Fault,
        _ call: SystemCall,
        _ number: Int
    ) throws {
        let context = "after \(fault) of \(call.rawValue) \(number) in \(scenario.testDescription)"
        let directory = TemporaryDirectory()
        let promises = Promises()
        try scenario.prepare(directory, promises)
        let probe = SystemCallProbe()
        probe.plan(fault, call: call, number: number)
        do {
            try scenario.run(directory, options(probe), promises)
        } catch let error as JournalError {
            #expect(probe.fired > 0, "\(context)")
            // The error may be about one of the directories above, which have the names of those that were created.
            let path = error.path.replacing("/.", with: "")
            let isAbove = !path.isEmpty && directory.path.hasPrefix(path)
            #expect(path.hasPrefix(directory.path) || isAbove, "\(error) \(context)")
            #expect(error.code != EINTR)
        }
        probe.clear()
        let journal = try Journal.openUnregistered(directory.suite, options(probe))
        promises.check(journal, context)
        try promises.set(journal, "next", "works")
        promises.maybe["next"] = nil
        try journal.synchronize()
        try journal.compact()
        promises.check(journal, "compacted, " + context)
        let again = try Journal.openUnregistered(directory.suite)
        promises.check(again, "opened again, " + context)
        #expect(again.all == journal.all, "\(context)")
        #expect(try again.verify().isIntact, "\(context)")
    }

    @Test("The same engine continues after a failed write, which left nothing behind")
    func goesOn() throws {
        for call in [SystemCall.pwrite, .flock, .stat, .ftruncate, .fdatasync] {
            let directory = TemporaryDirectory()
            let probe = SystemCallProbe()
            let journal = try Journal.openUnregistered(directory.suite, options(probe))
            try journal.set("a", "1")
            journal.forgetComparison()
            probe.plan(.fail(code: EIO), call: call, number: 0)
            // Makes the write fail half-way too, so that there is something to roll back.
            if call == .ftruncate { probe.plan(.halfThenFailing(code: EIO), call: .pwrite, number: 0) }
            #expect(throws: JournalError.self) { try journal.set("a", "2", durability: .everyWrite) }
            // A value that could not be flushed is stored.
            let value = call == .fdatasync ? "2" : "1"
            #expect(journal["a"] == value)
            probe.clear()
            #expect(try Journal.openUnregistered(directory.suite)["a"] == value)
            try journal.set("a", "3", durability: .everyWrite)
            #expect(try Journal.openUnregistered(directory.suite)["a"] == "3")
            #expect(try journal.verify().isIntact)
        }
    }
}
#endif
