import Default
import Foundation

// Processes that record their calls and results, for the test that looks for an order of them.

/// The clock of the histories.
private func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// The file in which one thread records; each line is written before the next call begins, so that it survives a kill.
private final class Recorder {
    private let file: Int32
    private let process: Int
    private let thread: Int
    private var count = 0

    init(in directory: URL, process: Int, thread: Int) throws {
        (self.process, self.thread) = (process, thread)
        file = open(directory.appending(path: "\(process).\(thread)").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    func record(_ line: HistoryLine) {
        let text = line.text + "\n"
        guard write(file, text, text.utf8.count) == text.utf8.count else { exit(11) }
    }

    /// A value that no other call writes.
    func nextValue() -> Int {
        count += 1
        return process << 40 | thread << 32 | count
    }

    /// Records a call and its result, or that it was refused.
    func call(
        _ pair: Int,
        hasLock: Bool,
        writing written: KeyPair = .untouched,
        _ body: () throws -> KeyPair
    ) rethrows {
        record(.begin(time: now(), pair: pair, hasLock: hasLock, written: written))
        do {
            let found = try body()
            record(.end(time: now(), found: found))
        } catch let error as DefaultsError where error.code == .mandatory {
            record(.refused(time: now()))
        }
    }
}

/// The calls of one thread on the keys of the histories.
private struct Caller {
    let suite: FileDefaults
    let recorder: Recorder
    let compacts: Bool

    private func read(_ pair: Int, isFirst: Bool) -> Int {
        let key = HistorySuite.key(pair, isFirst: isFirst)
        let value =
            switch Int.random(in: 0..<3) {
            case 0: suite.object(forKey: key) as? Int ?? 0
            case 1: suite.df.fetch(forKey: key, type: Int.self) ?? 0
            default: Defaults(suite: suite)[Defaults.Key<Int>(key, default: 0)]
            }
        guard value == HistorySuite.mandatoryValue else { return value }
        guard case .integer(let stored)? = suite.ownValue(forKey: key) else { return 0 }
        return Int(stored)
    }

    private func write(_ value: Int, _ pair: Int, isFirst: Bool) throws {
        let key = HistorySuite.key(pair, isFirst: isFirst)
        if value == 0 {
            try suite.removeObject(forKey: key)
        } else if Bool.random() {
            try suite.set(value, forKey: key)
        } else if suite.sources != nil {
            try Defaults(suite: suite).save(value, for: Defaults.Key<Int>(key, default: 0))
        } else {
            // An error of this write is only reported, and the handler of reports ends this process.
            Defaults(suite: suite)[Defaults.Key<Int>(key, default: 0)] = value
        }
    }

    /// The value for one key of a pair, as it is recorded.
    private func pair(_ value: Int, isFirst: Bool) -> KeyPair {
        isFirst ? KeyPair(first: value, second: nil) : KeyPair(first: nil, second: value)
    }

    private func both(_ pair: Int) -> KeyPair {
        KeyPair(first: read(pair, isFirst: true), second: read(pair, isFirst: false))
    }

    func get(_ number: Int, isFirst: Bool) {
        recorder.call(number, hasLock: false) { pair(read(number, isFirst: isFirst), isFirst: isFirst) }
    }

    func getAll(_ number: Int) {
        recorder.call(number, hasLock: false) {
            let values = suite.dictionaryRepresentation()
            // What is mandatory hides what is stored.
            func value(isFirst: Bool) -> Int? {
                let value = values[HistorySuite.key(number, isFirst: isFirst)] as? Int ?? 0
                return value == HistorySuite.mandatoryValue ? nil : value
            }
            return KeyPair(first: value(isFirst: true), second: value(isFirst: false))
        }
    }

    /// Makes one random call of those that a writing process makes.
    func callAny() throws {
        let number = Int.random(in: 0..<HistorySuite.pairs)
        let isFirst = Bool.random()
        let value = recorder.nextValue()
        switch Int.random(in: 0..<100) {
        case 0..<30: get(number, isFirst: isFirst)
        case 30..<40: getAll(number)
        case 40..<60:
            try recorder.call(number, hasLock: true, writing: pair(value, isFirst: isFirst)) {
                try write(value, number, isFirst: isFirst)
                return .untouched
            }
        case 60..<65:
            try recorder.call(number, hasLock: true, writing: pair(0, isFirst: isFirst)) {
                try write(0, number, isFirst: isFirst)
                return .untouched
            }
        case 65..<80:
            try recorder.call(number, hasLock: true, writing: pair(value, isFirst: isFirst)) {
                let key = Defaults.Key<Int>(HistorySuite.key(number, isFirst: isFirst), default: 0)
                return try Defaults(suite: suite).update(key) { current in
                    defer { current = value }
                    return current == HistorySuite.mandatoryValue ? .untouched : pair(current, isFirst: isFirst)
                }
            }
        case 80..<88:
            try recorder.call(number, hasLock: true, writing: KeyPair(first: value, second: value)) {
                try suite.transaction {
                    let found = both(number)
                    try write(value, number, isFirst: true)
                    try write(value, number, isFirst: false)
                    return found
                }
            }
        case 88..<92:
            // The transaction is rolled back, so the call only reads.
            try recorder.call(number, hasLock: true) {
                var found = KeyPair.untouched
                do {
                    try suite.transaction {
                        found = both(number)
                        try write(value, number, isFirst: isFirst)
                        throw CancellationError()
                    }
                } catch is CancellationError {}
                return found
            }
        case 92..<95: try recorder.call(number, hasLock: true) { try suite.withExclusiveAccess { both(number) } }
        case 95:
            // Not recorded, and refused while nothing may be written.
            do {
                try suite.set(Data(repeating: 7, count: 20_000), forKey: "padding")
            } catch {
                guard error.code == .mandatory else { throw error }
            }
        default: if compacts { try suite.compact() }
        }
    }
}

/// Makes and records calls on several threads until a time of the clock, or until a file exists.
private func recordCalls(
    on suite: FileDefaults,
    in directory: URL,
    process: Int,
    threads: Int,
    kind: String,
    until end: UInt64,
    or endingFile: String?
) throws {
    let group = DispatchGroup()
    for thread in 0..<threads {
        let caller = try Caller(
            suite: suite,
            recorder: Recorder(in: directory, process: process, thread: thread),
            compacts: kind == "compacts"
        )
        // Each thread has its own caller.
        nonisolated(unsafe) let own = caller
        group.enter()
        Thread.detachNewThread {
            while now() < end, endingFile.map({ access($0, F_OK) != 0 }) ?? true {
                do {
                    if kind == "reads" || kind == "read-only" {
                        let pair = Int.random(in: 0..<HistorySuite.pairs)
                        if Bool.random() { own.get(pair, isFirst: Bool.random()) } else { own.getAll(pair) }
                    } else {
                        try own.callAny()
                    }
                } catch {
                    FileHandle.standardError.write(Data("\(error)\n".utf8))
                    exit(9)
                }
            }
            group.leave()
        }
    }
    group.wait()
}

/// Records the values that sequences deliver, until each has delivered the last value of its key.
private func recordDeliveries(of suite: FileDefaults, in directory: URL, process: Int) throws {
    let group = DispatchGroup()
    for number in 0..<(2 * HistorySuite.pairs) {
        let (pair, isFirst) = (number / 2, number % 2 == 0)
        let recorder = try Recorder(in: directory, process: process, thread: number)
        nonisolated(unsafe) let own = recorder
        let values = Defaults(suite: suite)
            .updates(Defaults.Key<Int>(HistorySuite.key(pair, isFirst: isFirst), default: 0))
        group.enter()
        Task.detached {
            for await value in values {
                let found = KeyPair(first: isFirst ? value : nil, second: isFirst ? nil : value)
                own.record(.delivery(time: now(), pair: pair, found: found))
                if value == HistorySuite.lastValue(pair, isFirst: isFirst) { break }
            }
            group.leave()
        }
    }
    group.wait()
}

/// Records a history: `record-history SUITE DIRECTORY PROCESS THREADS KIND END [MANDATORY]`.
///
/// The kind says whether the process writes, writes and compacts, reads with a suite that it could write or that it has
/// opened only for reading, or observes. A process that writes may have a mandatory file, which comes and goes; it ends
/// as soon as there is a file of that name and `.ended`.
func recordHistory(_ arguments: [String]) throws {
    DefaultsDiagnostics.handler = { event in
        // A suite that is restored or waited for is no error here.
        let expected: [DefaultsDiagnostics.Event.Kind] = [
            .storeReplaced, .storeBusy, .storeExposed, .sourceUnusable, .sourceRestored,
        ]
        guard !expected.contains(event.kind) else { return }
        FileHandle.standardError.write(Data("\(event)\n".utf8))
        exit(10)
    }
    let url = URL(filePath: arguments[0])
    let directory = URL(filePath: arguments[1])
    let process = Int(arguments[2]) ?? 0
    let kind = arguments[4]
    let mandatory = arguments.dropFirst(6).map { FileSource.file(URL(filePath: $0)) }
    let suite =
        kind == "read-only"
        ? try FileDefaults(readingFrom: url) : try FileDefaults(url: url, lockTimeout: patience, mandatory: mandatory)
    // Has the folder of the file watched, so that its changes count at once.
    let watching = mandatory.isEmpty ? nil : suite.observeChanges { _ in }
    defer { watching?.cancel() }
    if kind == "observes" {
        try recordDeliveries(of: suite, in: directory, process: process)
    } else {
        try recordCalls(
            on: suite,
            in: directory,
            process: process,
            threads: Int(arguments[3]) ?? 1,
            kind: kind,
            until: UInt64(arguments[5]) ?? 0,
            or: mandatory.first.map { "\($0.name).ended" }
        )
    }
}
