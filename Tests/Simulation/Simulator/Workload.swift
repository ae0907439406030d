import SimulatedKernel

/// The operations of a simulated process, one after the other.
enum Work {
    enum Kind: CaseIterable {
        case update, updatePair, read, flush, compact, reopen

        /// The frequency of the operation in a plan without preferences.
        var weight: UInt32 {
            switch self {
            case .update: 8
            case .read: 4
            case .updatePair, .flush, .compact: 2
            case .reopen: 1
            }
        }
    }

    /// Decides on a kind of operation.
    static func choose(_ plan: Plan) -> Kind {
        let kinds = Kind.allCases
        var rest = sim_choose(plan.weights.values.reduce(0, +))
        for kind in kinds {
            let weight = plan.weights[kind] ?? 0
            if rest < weight { return kind }
            rest -= weight
        }
        return .read
    }
}

/// An observer that finds unreported changes: a read of a process that differs from the one before, although no change
/// was reported in between.
private final class Observer: JournalObserver {
    let isObserving = true
    private var changed = [Bool](repeating: true, count: History.keys)
    private var values = [UInt64](repeating: 0, count: History.keys)

    func noteChange(of key: UnsafeRawBufferPointer, by origin: ChangeOrigin) { changed[number(ofKey: key)] = true }

    static func free(_ form: UnsafeMutableRawPointer) {}

    /// Compares a read with the reported changes, while no other change can come in between.
    func noteRead(_ key: Int, _ value: UInt64) {
        if values[key] != value, !changed[key] {
            run.history.fail("key \(key) has become \(value) instead of \(values[key]) without a report")
        }
        values[key] = value
        changed[key] = false
    }
}

/// A watcher of a suite, as a process uses it to be notified of changes.
private final class Watcher: @unchecked Sendable {
    // Needs no lock, since tasks take turns.
    private weak var journal: Journal?
    private var told = [UInt64](repeating: 0, count: History.keys)

    init(of journal: Journal) { watch(journal) }

    func watch(_ journal: Journal) {
        self.journal = journal
        journal.startWatching { [self] in note() }
    }

    private func note() {
        guard let journal else { return }
        for key in 0..<History.keys {
            let begin = run.history.begin(key)
            told[key] = journal.number(key)
            run.history.noteRead(key, told[key], begin, as: "what a watcher is told")
        }
    }

    /// Waits until the watcher has been notified of everything that was written before.
    ///
    /// The watcher polls twice a second, but its task may be kept waiting for longer than that.
    func end(_ journal: Journal) {
        let begins = (0..<History.keys).map(run.history.begin)
        for _ in 0..<1000 where !isTold(begins) { Threads.sleep(nanoseconds: 600_000_000) }
        if !isTold(begins) { run.history.fail("a watcher was told \(told), after \(begins)") }
        journal.stopWatching()
    }

    private func isTold(_ begins: [History.Begin]) -> Bool {
        begins.indices.allSatisfy { run.history.allows($0, told[$0], begins[$0]) }
    }
}

extension Journal {
    /// The number under a key, or 0.
    fileprivate func number(_ key: Int) -> UInt64 {
        let slot = beginReading()
        defer { endReading(slot) }
        return numberUnderLock(key)
    }

    /// Both numbers of the pair, read under one lock.
    fileprivate func pair() -> (UInt64, UInt64) {
        let slot = beginReading()
        defer { endReading(slot) }
        return (numberUnderLock(History.pair.0), numberUnderLock(History.pair.1))
    }

    /// The number among the entries, which nothing brings up to date.
    func storedNumber(_ key: Int) -> UInt64 {
        withKey(key) { entries.entry($0).map { $0.value.loadUnaligned(as: UInt64.self) } ?? 0 }
    }

    private func numberUnderLock(_ key: Int) -> UInt64 {
        let number = storedNumber(key)
        (observer as? Observer)?.noteRead(key, number)
        return number
    }

    /// Stores a number, followed by bytes that make it longer.
    fileprivate func store(_ number: UInt64, size: Int, under key: Int) throws(JournalError) {
        let bytes = Self.value(number, size: size)
        _ = try withKey(key) { key in
            bytes.withUnsafeBytes { bytes in
                Result { () throws(JournalError) in try set(key: key, value: bytes) }
            }
        }.get()
    }

    fileprivate func storePair(_ number: UInt64) throws(JournalError) {
        var batch = JournalBatch()
        let bytes = Self.value(number, size: 8)
        for key in [History.pair.0, History.pair.1] {
            withKey(key) { key in bytes.withUnsafeBytes { batch.set(key: key, value: $0) } }
        }
        try append(batch)
    }

    private static func value(_ number: UInt64, size: Int) -> [UInt8] {
        withUnsafeBytes(of: number) { $0 + Array(repeating: UInt8(truncatingIfNeeded: number), count: size - 8) }
    }

    private func withKey<Result>(_ key: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: UInt8(ascii: "a") + UInt8(key), body)
    }
}

/// The number of a key, which is a letter in the suite.
func number(ofKey key: UnsafeRawBufferPointer) -> Int { Int(key[0] - UInt8(ascii: "a")) }

/// A process that uses the suite.
struct SimulatedProcess {
    static let path = "/home/suite"
    let plan: Plan
    let operations: Int
    var isReadOnly = false

    /// Adds the process, which begins with the next step.
    static func add(_ plan: Plan, operations: Int, isReadOnly: Bool = false) {
        let process = SimulatedProcess(plan: plan, operations: operations, isReadOnly: isReadOnly)
        Tasks.add(to: sim_add_process()) { process.work() }
    }

    private func work() {
        // A planned failure is no defect, whichever call throws because of it.
        attempt { () throws(JournalError) in
            var journal = try open()
            if plan.hasReaders { addReader(of: journal) }
            let watcher = plan.hasWatchers ? Watcher(of: journal) : nil
            for _ in 0..<operations {
                let kind = isReadOnly ? .read : Work.choose(plan)
                if kind == .reopen { journal = try reopen(journal) }
                attempt { () throws(JournalError) in try perform(kind, journal) }
                if kind == .reopen { watcher?.watch(journal) }
            }
            watcher?.end(journal)
            withExtendedLifetime(journal) {}
        }
    }

    private func attempt(_ body: () throws(JournalError) -> Void) {
        do throws(JournalError) {
            try body()
        } catch {
            let isPlanned = sim_current_report().pointee.failed_calls > 0 || error.isBusy
            let isMissing = isReadOnly && error.isNotFound
            // A journal that has just changed may be a part of a copy.
            let isDamaged = run.history.isDamaged && error.kind == .overwritten
            if !isPlanned, !isMissing, !isDamaged { run.history.fail("error \(error)") }
        }
    }

    private func open() throws(JournalError) -> Journal {
        var options = JournalOptions(automaticMaintenance: plan.hasBackground)
        options.isReadOnly = isReadOnly
        options.report = { report in
            switch report {
            case .catchUpFailed, .compactedByWrite, .replaced, .waiting, .watchRefused: break
            default:
                // A report of damage or loss needs a reason.
                if sim_current_report().pointee.failed_calls == 0, !run.history.isDamaged {
                    run.history.fail("report \(report)")
                }
            }
        }
        return try Journal.open(at: Self.path, options: options) { Observer() }
    }

    /// Opens the suite again; it is closed before unless something else uses it.
    private func reopen(_ journal: consuming Journal) throws(JournalError) -> Journal {
        _ = consume journal
        return try open()
    }

    private func addReader(of journal: Journal) {
        Tasks.add(to: sim_process()) {
            for _ in 0..<operations {
                read(journal, "a second thread's read")
                sim_step("read")
            }
        }
    }

    private func perform(_ kind: Work.Kind, _ journal: Journal) throws(JournalError) {
        switch kind {
        case .update: try update(journal, Int(sim_choose(3)))
        case .updatePair: try updatePair(journal)
        case .read: read(journal, "a read")
        case .flush: try flush(journal)
        case .compact: try journal.compact()
        case .reopen: break
        }
    }

    private func read(_ journal: Journal, _ what: String) {
        let key = Int(sim_choose(UInt32(History.keys)))
        let begin = run.history.begin(key)
        if key == History.pair.0 {
            let (one, other) = journal.pair()
            if one != other, run.history.isPairWhole {
                run.history.fail("\(what) gives \(one) and \(other), which are written together")
            }
            run.history.noteRead(key, one, begin, as: what)
        } else {
            run.history.noteRead(key, journal.number(key), begin, as: what)
        }
    }

    func update(_ journal: Journal, _ key: Int) throws(JournalError) {
        let begin = run.history.begin(key)
        try journal.beginExclusiveAccess()
        defer { journal.endExclusiveAccess() }
        let value = next(journal, key, begin)
        try journal.store(value, size: [8, 8, 8, 40, 600, 3000][Int(sim_choose(6))], under: key)
        run.history.noteWrite(key, value, begin)
    }

    private func updatePair(_ journal: Journal) throws(JournalError) {
        let (first, second) = (run.history.begin(History.pair.0), run.history.begin(History.pair.1))
        try journal.beginExclusiveAccess()
        defer { journal.endExclusiveAccess() }
        let value = next(journal, History.pair.0, first)
        _ = next(journal, History.pair.1, second)
        run.history.noteAttempt(History.pair.1, value)
        try journal.storePair(value)
        run.history.noteWrite(History.pair.0, value, first)
        run.history.noteWrite(History.pair.1, value, second)
    }

    /// Reads the value under the lock, and returns the one that an update is about to write.
    private func next(_ journal: Journal, _ key: Int, _ begin: History.Begin) -> UInt64 {
        let begin = run.history.locked(key, begin)
        run.checkEntries(of: journal)
        let value = journal.number(key)
        run.history.noteRead(key, value, begin, isLocked: true, as: "the value under the lock")
        run.history.noteAttempt(key, value + 1)
        return value + 1
    }

    private func flush(_ journal: Journal) throws(JournalError) {
        let promise = run.history.promise
        try journal.synchronize()
        run.history.noteFlush(promise)
        run.checkImages(after: "a flush")
        if plan.losesPowerAfterFlush, sim_choose(6) == 1 { sim_lose_power_after(sim_choose(16)) }
    }

    /// Opens the suite when everything else has ended, and checks its contents.
    static func check(isAfterLoss: Bool, _ plan: Plan) {
        let process = SimulatedProcess(plan: plan, operations: 0)
        Tasks.add(to: sim_add_process()) {
            do throws(JournalError) {
                var options = JournalOptions(automaticMaintenance: false)
                // A thread of another process may be compacting, and not be chosen for long.
                options.lockTimeout = .max / 2
                // A journal that has changed within the last second may be a part of a copy.
                if run.history.isDamaged { Threads.sleep(nanoseconds: 2_000_000_000) }
                // A compaction in the background may still end, and replace a backup that it hasn't noticed.
                let inspection = isAfterLoss || plan.hasBackground ? nil : try inspect()
                let journal = try Journal.open(at: path, options: options)
                for key in 0..<History.keys {
                    let value = journal.number(key)
                    if isAfterLoss {
                        run.history.noteLoss(key, value)
                    } else {
                        let begin = run.history.begin(key)
                        run.history.noteRead(key, value, begin, isLocked: true, as: "the last read")
                    }
                }
                let settings = (0..<History.keys).count { journal.number($0) != 0 }
                if let inspection, inspection.settings != settings {
                    run.history.fail("\(inspection.settings) settings were seen, and \(settings) are there")
                }
                for key in 0..<3 { try process.update(journal, key) }
            } catch {
                run.history.fail("at the end: error \(error)")
            }
        }
    }
    /// The result of inspecting the files; nil if there are none.
    private static func inspect() throws(JournalError) -> SuiteInspection? {
        do throws(JournalError) {
            return try Journal.inspect(at: path)
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }
}
