import SimulatedKernel

/// The calls of processes and their results, checked against the promises of the engine.
///
/// Every key counts up, and each step is one update under the lock, so the values alone show the order of the updates.
/// These rules hold for reads:
///
/// - A read returns at least what was written by calls that had returned before it, and what its process has read
///   before.
/// - If no process has a second thread, a read returns at least what any process has read before. Otherwise other
///   processes may see a write that hasn't returned before the threads of its own process do.
/// - A flushed value is there after a loss of power, and in every image that one could leave.
/// - When a backup is restored over the suite, its content replaces all that. A write that begins within a millisecond
///   of it may be lost, and a read may return the previous content for a second ("Durability").
/// - If a record is damaged, its keys may have any earlier values. Writers find all other keys as they were; readers
///   may keep what they had until a writer has repaired the journal.
struct History {
    static let keys = 5
    /// Two keys that are always written together.
    static let pair = (3, 4)

    private let hasReaders: Bool
    /// Whether a process has any second thread, including that of its background.
    private let hasThreads: Bool
    /// The highest value of each key that a call has acknowledged, that a process has read, and that a call tried to
    /// write.
    private var acknowledged = [UInt64](repeating: 0, count: keys)
    private var seen = [UInt64](repeating: 0, count: keys)
    private var attempted = [UInt64](repeating: 0, count: keys)
    /// The values that a loss of power must leave.
    private var promised = [UInt64](repeating: 0, count: keys)
    private var seenBy: [Int32: [UInt64]] = [:]
    private var writers: [[UInt64: Int32]] = Array(repeating: [:], count: keys)
    /// Whether a backup is being or was restored, and when that ended; until then either content may be there.
    private var isRestoring = false
    private var restoredAt: UInt64?
    private var isCompacted = false
    /// Whether something was damaged, and the keys whose values were damaged.
    private(set) var isDamaged = false
    private var damagedKeys: Set<Int> = []
    private(set) var problems: [String] = []

    init(of plan: Plan) {
        hasReaders = plan.hasReaders || plan.hasWatchers
        hasThreads = hasReaders || plan.hasBackground
    }

    mutating func fail(_ text: String) {
        problems.append("step \(sim_current_report().pointee.steps), process \(sim_process()): \(text)")
    }

    /// The facts about a key when a call begins.
    struct Begin {
        /// The least value that the call may return.
        fileprivate let floor: UInt64
        fileprivate let time: UInt64
    }

    func begin(_ key: Int) -> Begin {
        // With a second thread, other processes may see a write before the threads of this one do, so only this
        // process's own reads count.
        let floor = max(acknowledged[key], hasReaders ? seenBy[sim_process()]?[key] ?? 0 : seen[key])
        return Begin(floor: floor, time: Clock.monotonic())
    }

    /// The facts when a call that began earlier gets the lock.
    func locked(_ key: Int, _ begin: Begin) -> Begin {
        Begin(floor: self.begin(key).floor, time: begin.time)
    }

    /// The time after restoring a backup during which a call may still work on the replaced file.
    private enum Grace: UInt64 {
        case writer = 1_000_000
        // The time for which a reader may skip the comparison, plus a tick of the clock that it uses for that.
        case reader = 1_004_000_000
    }

    /// Whether a call began so long after the last restored backup that it must see it.
    private func isCertain(_ begin: Begin, _ grace: Grace) -> Bool {
        // Readers keep what they had until a writer has repaired the journal.
        if grace == .reader, isDamaged { return false }
        guard isRestoring else { return true }
        guard let restoredAt else { return false }
        // While another thread has or waits for exclusive access, only that thread compares.
        if hasThreads, grace == .reader { return false }
        return begin.time > restoredAt + grace.rawValue
    }

    /// Whether a read that began then may return a value.
    func allows(_ key: Int, _ value: UInt64, _ begin: Begin) -> Bool {
        !isCertain(begin, .reader) || damagedKeys.contains(key) || value >= begin.floor
    }

    /// Checks the value of a read.
    ///
    /// A read is locked if it was made with the lock, or in a suite that was just opened.
    mutating func noteRead(_ key: Int, _ value: UInt64, _ begin: Begin, isLocked: Bool = false, as what: String) {
        if value > attempted[key] { fail("\(what) of key \(key) gives \(value), which nobody wrote") }
        guard isCertain(begin, isLocked ? .writer : .reader), !damagedKeys.contains(key) else { return }
        if value < begin.floor { fail("\(what) of key \(key) gives \(value), after \(begin.floor)") }
        seen[key] = max(seen[key], value)
        seenBy[sim_process(), default: Array(repeating: 0, count: Self.keys)][key].formMaximum(value)
    }

    mutating func noteAttempt(_ key: Int, _ value: UInt64) { attempted[key].formMaximum(value) }

    mutating func noteWrite(_ key: Int, _ value: UInt64, _ begin: Begin) {
        guard isCertain(begin, .writer), !damagedKeys.contains(key) else { return }
        if let other = writers[key][value] { fail("\(value) of key \(key) was written by process \(other) too") }
        writers[key][value] = sim_process()
        acknowledged[key].formMaximum(value)
    }

    /// The values that a flush that begins now must keep.
    var promise: [Begin] { (0..<Self.keys).map(begin) }

    mutating func noteFlush(_ promise: [Begin]) {
        // The images of a damaged journal aren't repaired, so nothing is known of them.
        guard !isDamaged else { return }
        for key in 0..<Self.keys where isCertain(promise[key], .reader) {
            promised[key].formMaximum(promise[key].floor)
        }
    }

    /// Notes that a record with the values of these keys is about to be damaged, or the header if there are no keys.
    mutating func noteDamage(of keys: [Int]) {
        isDamaged = true
        damagedKeys.formUnion(keys)
        // A compaction makes one record of each key, so the two values may differ from then on.
        if !isPairWhole { damagedKeys.formUnion([Self.pair.0, Self.pair.1]) }
        promised = Array(repeating: 0, count: Self.keys)
    }

    var isPairWhole: Bool { !damagedKeys.contains(Self.pair.0) && !damagedKeys.contains(Self.pair.1) }

    /// Notes that a backup is about to be restored; from now on either content may be there.
    mutating func noteRestoring() {
        isRestoring = true
        promised = Array(repeating: 0, count: Self.keys)
    }

    /// Notes that the engine has renamed a file over the journal.
    ///
    /// Like a write, a compaction may not have noticed the backup yet, and then replaces it.
    mutating func noteRename() {
        guard restoredAt != nil, !isCompacted else { return }
        isCompacted = true
        restoredAt = Clock.monotonic()
    }

    /// Notes that the backup is restored and on the disk.
    mutating func noteRestored(_ values: [UInt64]) {
        restoredAt = Clock.monotonic()
        (acknowledged, seen, seenBy) = (values, values, [:])
        writers = Array(repeating: [:], count: Self.keys)
    }

    /// Checks the values in an image of the disk.
    mutating func check(image values: [UInt64], after event: String) {
        for key in 0..<Self.keys where values[key] < promised[key] {
            let flushed = promised[key]
            fail("after \(event) an image of the disk has \(values[key]) of key \(key), but \(flushed) was flushed")
        }
    }

    /// Continues with the value that a loss of power has left.
    mutating func noteLoss(_ key: Int, _ value: UInt64) {
        let what = "after the loss of power key \(key) has \(value)"
        if value < promised[key] { fail("\(what), but \(promised[key]) was flushed") }
        if value > attempted[key] { fail("\(what), which nobody wrote") }
        (acknowledged[key], seen[key], attempted[key]) = (value, value, value)
        seenBy = [:]
        // Values above the one that remained are lost, so later processes may write them again.
        writers[key] = writers[key].filter { $0.key <= value }
    }
}

extension UInt64 {
    fileprivate mutating func formMaximum(_ other: UInt64) { self = Swift.max(self, other) }
}
