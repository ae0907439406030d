import Default
import Foundation
import Testing

/// The processes of a history.
struct HistoryPlan: CustomStringConvertible {
    /// The number of threads and the kind of work of each process, as the helper takes them.
    var processes: [(threads: Int, kind: String)]
    var milliseconds: Int
    /// The longest time that a process lives before it is killed; nil for no kills.
    var killedWithin: Int?
    /// Whether a backup is restored over the suite during the run.
    var restores = false
    /// How often a mandatory file of the writing processes comes and goes.
    ///
    /// If it does, the run is as long as that takes.
    var arrivals = 0

    var description: String {
        let names = processes.map { "\($0.threads) × \($0.kind)" }.joined(separator: ", ")
        return "\(names), \(milliseconds) ms, killed within \(killedWithin ?? 0) ms\(restores ? ", restored" : "")"
            + (arrivals > 0 ? ", a mandatory file that comes \(arrivals) times" : "")
    }

    static func brief(_ number: Int) -> Self {
        let processes = [(2, "compacts"), (1, "writes"), (1, "observes"), (1, number == 0 ? "reads" : "read-only")]
        return Self(processes: processes, milliseconds: 250, killedWithin: number == 0 ? nil : 60)
    }

    /// Two processes that write, compact and observe, beside a mandatory file that comes and goes.
    static func mandatory(arrivals: Int) -> Self {
        let processes = [(2, "compacts"), (1, "writes"), (1, "observes")]
        return Self(processes: processes, milliseconds: 60_000, killedWithin: nil, arrivals: arrivals)
    }

    static func random(_ number: Int) -> Self {
        var processes = (0..<Int.random(in: 1...3)).map { _ in
            (threads: Int.random(in: 1...2), kind: ["writes", "compacts"].randomElement()!)
        }
        processes += ["reads", "read-only", "observes"].filter { _ in Bool.random() }.map {
            (Int.random(in: 1...2), $0)
        }
        // FUSE servers that keep replaced files under other names leave a moment without the file, as .ci/places
        // explains.
        let isRestorable = ProcessInfo.processInfo.environment["DEFAULT_HISTORY_RESTORES"] != "no"
        let restores = isRestorable && number % 5 == 4
        return Self(
            processes: processes,
            milliseconds: restores ? 2_500 : Int.random(in: 200...800),
            killedWithin: !restores && Bool.random() ? Int.random(in: 20...300) : nil,
            restores: restores
        )
    }
}

/// A mandatory file that comes, is replaced, can't be read, and goes.
struct MandatoryFile {
    let url: URL
    private(set) var arrivals = 0
    private let new: URL

    init(_ directory: URL) {
        url = directory.appending(path: "mandatory.json")
        new = directory.appending(path: "new.json")
    }

    /// Makes the next change: the file comes, is replaced, or goes.
    mutating func change() throws {
        if !FileManager.default.fileExists(atPath: url.path) || Bool.random() {
            let keys = (0..<HistorySuite.pairs).flatMap { pair in
                [true, false].map { HistorySuite.key(pair, isFirst: $0) }
            }
            let values = keys.shuffled().prefix(.random(in: 1...keys.count))
                .map { "\"\($0)\": \(HistorySuite.mandatoryValue)" }
            // One of four can't be used, and makes all of the suite mandatory.
            let isComplete = Int.random(in: 0..<4) > 0
            try Data("{\(values.joined(separator: ", "))\(isComplete ? "}" : "")".utf8).write(to: new)
            guard rename(new.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
            arrivals += 1
        } else {
            try FileManager.default.removeItem(at: url)
        }
    }

    /// Leaves none, and ends the processes that have it.
    func end() throws {
        try? FileManager.default.removeItem(at: url)
        try Data().write(to: URL(filePath: "\(url.path).ended"))
    }
}

/// The recorded history of processes that used a suite.
struct RecordedHistory {
    private let pairs: [CallHistory]
    /// How many calls threw that a value is mandatory.
    private(set) var refusalCount = 0

    var callCount: Int { pairs.reduce(0) { $0 + $1.threads.reduce(0) { $0 + $1.count } } }

    /// The reasons why no order explains the history.
    var problems: [String] {
        pairs.enumerated().compactMap { pair, history in
            LinearizabilityChecker.findProblem(in: history).map { "Pair \(pair): \($0)" }
        }
    }

    /// A recording process, and the time when it was killed.
    private final class Recording {
        let helper: RunningHelper
        let number: Int
        let kind: String
        let began = Recording.now()
        private(set) var killed: UInt64?

        init(
            _ number: Int,
            _ process: (threads: Int, kind: String),
            suite: URL,
            records: URL,
            end: UInt64,
            mandatory: URL? = nil
        ) throws {
            (self.number, kind) = (number, process.kind)
            let arguments = [
                "record-history", suite.path, records.path, "\(number)", "\(process.threads)", process.kind, "\(end)",
            ]
            helper = try TestHelper.start(arguments + (mandatory.map { [$0.path] } ?? []))
        }

        func kill() {
            helper.kill()
            killed = Self.now()
        }

        static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
    }

    /// The restoring of a backup.
    private struct Restoring {
        let time: ClosedRange<UInt64>
        /// Whether it had the suite's lock.
        ///
        /// Otherwise a compaction may be between its last look at the journal's name and its own rename, and replace
        /// the backup ("Durability").
        let hasLock: Bool
    }

    static func make(_ plan: HistoryPlan) throws -> Self {
        try withTemporaryDirectory { directory in
            let records = directory.appending(path: "records")
            try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
            let suite = try FileDefaults(url: directory.appending(path: "suite"), lockTimeout: 60)
            // The contents of the backup, which also are the values that the first reads find.
            for (key, value) in keys({ 1 + 2 * $0 + $1 }) { try suite.set(value, forKey: key) }
            try suite.flush()
            let (recordings, restored) = try record(plan, of: suite, in: records)
            for recording in recordings where recording.killed == nil && recording.kind != "observes" {
                recording.helper.waitUntilExit()
                try #require(recording.helper.status == 0, "\(recording.kind)")
            }
            let last = Recording.now()
            for (key, value) in keys({ HistorySuite.lastValue($0, isFirst: $1 == 0) }) {
                try suite.set(value, forKey: key)
            }
            let end = Recording.now()
            for recording in recordings where recording.kind == "observes" {
                try wait(for: "the last values", until: { !recording.helper.isRunning })
                try #require(recording.helper.status == 0, "\(recording.kind)")
            }
            return try Self(
                pairs: (0..<HistorySuite.pairs).map { pair in
                    try read(pair, recordings, restored: restored, last: last...end, from: records)
                },
                refusalCount: countRefusals(in: records)
            )
        }
    }

    /// All keys, each with a value for its pair and its place in the pair.
    private static func keys(_ value: (Int, Int) -> Int) -> [(String, Int)] {
        (0..<2 * HistorySuite.pairs).map { number in
            (HistorySuite.key(number / 2, isFirst: number % 2 == 0), value(number / 2, number % 2))
        }
    }

    /// Runs the processes, except the observers, until their time is over.
    private static func record(_ plan: HistoryPlan, of suite: FileDefaults, in records: URL) throws
        -> (recordings: [Recording], restored: Restoring?)
    {
        let url = try suite.url
        let backup = records.deletingLastPathComponent().appending(path: "backup")
        let journal = url.appending(path: "journal")
        try FileManager.default.copyItem(at: journal, to: backup)
        let begin = Recording.now()
        let end = begin + UInt64(plan.milliseconds) * 1_000_000
        var recordings: [Recording] = []
        var policy = plan.arrivals > 0 ? MandatoryFile(records.deletingLastPathComponent()) : nil
        func start(_ process: (threads: Int, kind: String)) throws {
            let mandatory = ["writes", "compacts"].contains(process.kind) ? policy?.url : nil
            try recordings.append(
                Recording(
                    recordings.count + 1,
                    process,
                    suite: url,
                    records: records,
                    end: end,
                    mandatory: mandatory
                )
            )
        }
        for process in plan.processes { try start(process) }
        while Recording.now() < end, let arrivals = policy?.arrivals, arrivals < plan.arrivals {
            try policy?.change()
            usleep(.random(in: 0...8_000))
        }
        try policy?.end()
        var restored: Restoring?
        while policy == nil, Recording.now() < end {
            if let limit = plan.killedWithin {
                usleep(UInt32.random(in: 0...UInt32(limit)) * 1_000)
                let running = recordings.indices.filter {
                    recordings[$0].killed == nil && recordings[$0].kind != "observes"
                }
                guard let index = running.randomElement(), Recording.now() < end else { continue }
                recordings[index].kill()
                try start(plan.processes.first { $0.kind == recordings[index].kind } ?? plan.processes[0])
            } else if plan.restores, restored == nil, Recording.now() > begin + 700_000_000 {
                restored = try restore(backup, over: journal)
            } else {
                usleep(1_000)
            }
        }
        return (recordings, restored)
    }

    /// Restores a journal as backup programs do, with the suite's lock or without: the whole file gets the name in one
    /// step.
    private static func restore(_ backup: URL, over journal: URL) throws -> Restoring {
        let directory = open(journal.deletingLastPathComponent().path, O_RDONLY)
        defer { close(directory) }
        let hasLock = Bool.random()
        if hasLock, flock(directory, LOCK_EX) != 0 { throw CocoaError(.fileWriteUnknown) }
        let begin = Recording.now()
        guard rename(backup.path, journal.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return Restoring(time: begin...Recording.now(), hasLock: hasLock)
    }

    /// How many calls of all threads threw that a value is mandatory.
    private static func countRefusals(in records: URL) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: records.path).reduce(0) { count, name in
            let text = try String(contentsOf: records.appending(path: name), encoding: .utf8)
            return count + text.split(separator: "\n").count { $0.hasPrefix("refused") }
        }
    }

    /// Reads the records of all threads for one pair.
    private static func read(
        _ pair: Int,
        _ recordings: [Recording],
        restored: Restoring?,
        last: ClosedRange<UInt64>,
        from records: URL
    ) throws -> CallHistory {
        func own(
            _ interval: ClosedRange<UInt64>,
            _ written: KeyPair,
            isOptional: Bool = false
        ) -> [CallHistory.Call] {
            [
                CallHistory.Call(
                    process: 0,
                    begin: interval.lowerBound,
                    end: interval.upperBound,
                    hasLock: true,
                    isOptional: isOptional,
                    found: .untouched,
                    written: written
                )
            ]
        }
        let initial = KeyPair(first: 1 + 2 * pair, second: 2 + 2 * pair)
        var threads: [[CallHistory.Call]] = []
        for recording in recordings {
            let prefix = "\(recording.number)."
            for name in try FileManager.default.contentsOfDirectory(atPath: records.path) where name.hasPrefix(prefix) {
                let text = try String(contentsOf: records.appending(path: name), encoding: .utf8)
                threads.append(
                    calls(text, pair, process: recording.number, began: recording.began, killed: recording.killed)
                )
            }
        }
        if let restored {
            threads =
                threads.map { thread in thread.compactMap { allow(for: restored.time, $0) } }
                + [own(restored.time, initial, isOptional: !restored.hasLock)]
        }
        // The last values are written one after the other, so each is a call with one key.
        let lastValues = [true, false].map { isFirst in
            let value = HistorySuite.lastValue(pair, isFirst: isFirst)
            return KeyPair(first: isFirst ? value : nil, second: isFirst ? nil : value)
        }
        threads += lastValues.map { own(last, $0) }
        return CallHistory(threads: threads, initial: initial)
    }

    /// The calls on a pair that a thread recorded in these lines.
    private static func calls(_ text: String, _ pair: Int, process: Int, began: UInt64, killed: UInt64?) -> [CallHistory
        .Call]
    {
        var calls: [CallHistory.Call] = []
        var open: (begin: UInt64, hasLock: Bool, written: KeyPair)?
        func add(_ found: KeyPair, until end: UInt64, isOptional: Bool = false, isDelivery: Bool = false) {
            guard let call = open else { return }
            open = nil
            calls.append(
                CallHistory.Call(
                    process: process,
                    begin: call.begin,
                    end: end,
                    hasLock: call.hasLock,
                    isOptional: isOptional,
                    isDelivery: isDelivery,
                    found: found,
                    written: call.written
                )
            )
        }
        for line in text.split(separator: "\n").compactMap({ HistoryLine($0) }) {
            switch line {
            case .begin(let time, pair, let hasLock, let written): open = (time, hasLock, written)
            case .end(let time, let found): add(found, until: time)
            // It must have had no effect.
            case .refused: open = nil
            case .delivery(let time, pair, let found):
                open = (began, false, .untouched)
                add(found, until: time, isDelivery: true)
            case .begin, .delivery: break
            }
        }
        // An unfinished read proves nothing, but an unfinished write may have had its effect.
        if let killed, open?.written != .untouched { add(.untouched, until: killed, isOptional: true) }
        return calls
    }

    /// Relaxes a call by what is allowed when a backup is restored over the suite.
    ///
    /// "Durability" allows a write to go to the replaced file for a millisecond, and a read to return that file's
    /// values for a second.
    ///
    /// - Returns: The call with its remaining conditions, or nil if none remain.
    private static func allow(for restored: ClosedRange<UInt64>, _ call: CallHistory.Call) -> CallHistory.Call? {
        // The clock with which processes measure the age of a comparison has ticks of some milliseconds.
        let grace: UInt64 = call.isRead && !call.hasLock ? 1_100_000_000 : 20_000_000
        guard call.end >= restored.lowerBound,
            (call.isDelivery ? call.end : call.begin) <= restored.upperBound + grace
        else { return call }
        if call.isRead { return nil }
        return CallHistory.Call(
            process: call.process,
            begin: call.begin,
            end: call.end,
            hasLock: call.hasLock,
            isOptional: true,
            found: call.found,
            written: call.written
        )
    }
}
