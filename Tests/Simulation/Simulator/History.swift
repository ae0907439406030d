import SimulatedKernel

/// What processes have called and got, and whether that is what the engine promises.
///
/// Every key counts up, and each step of it is one update under the lock. So the values alone say in which order the
/// updates were. What holds for reads:
///
/// - A read gives at least what was written by calls that had returned before it, and what its process has read before.
/// - Where no process has a second thread, it gives at least what any process has read before. With one, a write that
///   hasn't returned may be seen by other processes before the threads of its own.
/// - A value that was flushed is there after a loss of power, and in every image that one could leave.
/// - When a backup is restored over the suite, what it holds takes the place of all that. A write that begins within a
///   millisecond of it may be lost, and a read may give what was there for a second ("Durability").
/// - Where a record is damaged, any earlier values of its keys may be there. Writers find all other keys as they were;
///   readers may have what they had until a writer has repaired it.
struct History {
    static let keys = 5
    /// Two keys that are always written together.
    static let pair = (3, 4)

    private let hasReaders: Bool
    /// Whether a process has any other thread, its background's too.
    private let hasThreads: Bool
    /// The highest value of each key whose call has returned, that a process has read, and that one tried to write.
    private var acknowledged = [UInt64](repeating: 0, count: keys)
    private var seen = [UInt64](repeating: 0, count: keys)
    private var attempted = [UInt64](repeating: 0, count: keys)
    /// What a loss of power must leave.
    private var promised = [UInt64](repeating: 0, count: keys)
    private var seenBy: [Int32: [UInt64]] = [:]
    private var writers: [[UInt64: Int32]] = Array(repeating: [:], count: keys)
    /// Whether a backup is being restored, or was, and when; both may be there until then.
    private var isRestoring = false
    private var restoredAt: UInt64?
    private var isCompacted = false
    /// Whether something was damaged, and the keys whose values it was.
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

    /// What is known of a key when a call begins.
    struct Begin {
        /// The least that it may give.
        fileprivate let floor: UInt64
        fileprivate let time: UInt64
    }

    func begin(_ key: Int) -> Begin {
        let floor = max(acknowledged[key], hasReaders ? seenBy[sim_process()]?[key] ?? 0 : seen[key])
        return Begin(floor: floor, time: Clock.monotonic())
    }

    /// What is known when a call that began before gets the lock.
    func locked(_ key: Int, _ begin: Begin) -> Begin {
        Begin(floor: self.begin(key).floor, time: begin.time)
    }

    /// How long after a backup was restored what a call does may be without effect.
    private enum Grace: UInt64 {
        case writer = 1_000_000
        // As long as a reader may not compare, and a tick of the clock that it uses for that.
        case reader = 1_004_000_000
    }

    /// Whether a call began so long after the last backup was restored that it has to know of it.
    private func isCertain(_ begin: Begin, _ grace: Grace) -> Bool {
        // Readers have what they had until a writer has repaired it.
        if grace == .reader, isDamaged { return false }
        guard isRestoring else { return true }
        guard let restoredAt else { return false }
        // While another thread has exclusive access, or waits for it, that one compares.
        if hasThreads, grace == .reader { return false }
        return begin.time > restoredAt + grace.rawValue
    }

    /// Whether a read that began then may give a value.
    func allows(_ key: Int, _ value: UInt64, _ begin: Begin) -> Bool {
        !isCertain(begin, .reader) || damagedKeys.contains(key) || value >= begin.floor
    }

    /// Checks the value of a read.
    ///
    /// It is locked if it was made with the lock, or in a suite that was opened just now.
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

    /// What a flush that begins now has to keep.
    var promise: [Begin] { (0..<Self.keys).map(begin) }

    mutating func noteFlush(_ promise: [Begin]) {
        // The images of a damaged journal aren't repaired.
        guard !isDamaged else { return }
        for key in 0..<Self.keys where isCertain(promise[key], .reader) {
            promised[key].formMaximum(promise[key].floor)
        }
    }

    /// A record with the values of these keys is about to be damaged, or the header if there are none.
    mutating func noteDamage(of keys: [Int]) {
        isDamaged = true
        damagedKeys.formUnion(keys)
        // A compaction makes one record of each.
        if !isPairWhole { damagedKeys.formUnion([Self.pair.0, Self.pair.1]) }
        promised = Array(repeating: 0, count: Self.keys)
    }

    var isPairWhole: Bool { !damagedKeys.contains(Self.pair.0) && !damagedKeys.contains(Self.pair.1) }

    /// A backup is about to be restored; from now on either may be there.
    mutating func noteRestoring() {
        isRestoring = true
        promised = Array(repeating: 0, count: Self.keys)
    }

    /// The engine has renamed a file over the journal.
    ///
    /// A compaction may not know of the backup any more than a write, and replaces it then.
    mutating func noteRename() {
        guard restoredAt != nil, !isCompacted else { return }
        isCompacted = true
        restoredAt = Clock.monotonic()
    }

    /// It is there, and on the disk.
    mutating func noteRestored(_ values: [UInt64]) {
        restoredAt = Clock.monotonic()
        (acknowledged, seen, seenBy) = (values, values, [:])
        writers = Array(repeating: [:], count: Self.keys)
    }

    /// Checks the values that an image of the disk has.
    mutating func check(image values: [UInt64], after event: String) {
        for key in 0..<Self.keys where values[key] < promised[key] {
            let flushed = promised[key]
            fail("after \(event) an image of the disk has \(values[key]) of key \(key), but \(flushed) was flushed")
        }
    }

    /// Begins again with what a loss of power has left.
    mutating func noteLoss(_ key: Int, _ value: UInt64) {
        let what = "after the loss of power key \(key) has \(value)"
        if value < promised[key] { fail("\(what), but \(promised[key]) was flushed") }
        if value > attempted[key] { fail("\(what), which nobody wrote") }
        (acknowledged[key], seen[key], attempted[key]) = (value, value, value)
        seenBy = [:]
        writers[key] = writers[key].filter { $0.key <= value }
    }
}

extension UInt64 {
    fileprivate mutating func formMaximum(_ other: UInt64) { self = Swift.max(self, other) }
}
