import SimulatedKernel

/// What processes have called and got, and whether that is what the engine promises.
///
/// Every key counts up, and each step of it is one update under the lock. So the values alone say in which order the updates were.
/// What holds for reads:
///
/// - A read gives at least what was written by calls that had returned before it, and what its process has read before.
/// - Where no process has a second thread, it gives at least what any process has read before. With one, a write that hasn't
///   returned may be seen by other processes before the threads of its own.
/// - A value that was flushed is there after a loss of power, and in every image that one could leave.
struct History {
    static let keys = 5
    /// Two keys that are always written together.
    static let pair = (3, 4)

    private let hasReaders: Bool
    /// The highest value of each key whose call has returned, that a process has read, and that one tried to write.
    private var acknowledged = [UInt64](repeating: 0, count: keys)
    private var seen = [UInt64](repeating: 0, count: keys)
    private var attempted = [UInt64](repeating: 0, count: keys)
    /// What a loss of power must leave.
    private var promised = [UInt64](repeating: 0, count: keys)
    private var seenBy: [Int32: [UInt64]] = [:]
    private var writers: [[UInt64: Int32]] = Array(repeating: [:], count: keys)
    private(set) var problems: [String] = []

    init(hasReaders: Bool) { self.hasReaders = hasReaders }

    mutating func fail(_ text: String) {
        problems.append("step \(sim_current_report().pointee.steps), process \(sim_process()): \(text)")
    }

    /// The least that a read may give now.
    func floor(_ key: Int) -> UInt64 {
        max(acknowledged[key], hasReaders ? seenBy[sim_process()]?[key] ?? 0 : seen[key])
    }

    /// Checks the value of a read that began when ``floor(_:)`` was this.
    mutating func noteRead(_ key: Int, _ value: UInt64, floor: UInt64, as what: String) {
        if value < floor { fail("\(what) of key \(key) gives \(value), after \(floor)") }
        if value > attempted[key] { fail("\(what) of key \(key) gives \(value), which nobody wrote") }
        seen[key] = max(seen[key], value)
        seenBy[sim_process(), default: Array(repeating: 0, count: Self.keys)][key].formMaximum(value)
    }

    mutating func noteAttempt(_ key: Int, _ value: UInt64) { attempted[key].formMaximum(value) }

    mutating func noteWrite(_ key: Int, _ value: UInt64) {
        if let other = writers[key][value] { fail("\(value) of key \(key) was written by process \(other) too") }
        writers[key][value] = sim_process()
        acknowledged[key].formMaximum(value)
    }

    /// What a flush that begins now has to keep.
    var promise: [UInt64] { (0..<Self.keys).map(floor) }

    mutating func noteFlush(_ promise: [UInt64]) {
        for key in 0..<Self.keys { promised[key].formMaximum(promise[key]) }
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
