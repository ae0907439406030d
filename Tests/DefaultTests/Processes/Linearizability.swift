/// The calls of several processes on a pair of keys, and their results.
struct CallHistory {
    /// A call; all of its reads and writes happen in one step.
    struct Call {
        let process: Int
        let begin: UInt64
        /// The time when it had returned, or its process had been killed.
        let end: UInt64
        /// Whether it had the suite's lock, as all writing calls do.
        let hasLock: Bool
        /// Whether it may have had no effect, since its process was killed during it.
        var isOptional = false
        /// Whether it is the delivery of a value to an observer; the time when the value was read isn't known.
        var isDelivery = false
        let found: KeyPair
        let written: KeyPair

        var isRead: Bool { written == .untouched }
    }

    /// The calls of each thread, in the order of the thread.
    ///
    /// A delivery to an observer counts as a read that began with its process, since the value may have been current at
    /// any earlier time.
    var threads: [[Call]]
    var initial: KeyPair
}

/// A search for an order of calls that explains their results, in which each call takes effect between its begin and
/// its end.
///
/// The algorithm is that of Wing and Gong ("Testing and Verifying Concurrent Objects", 1993): take any call that began
/// before all other remaining calls have ended, and go back if that leads nowhere. As in Lowe's ("Testing for
/// linearizability", 2017), states that have led nowhere are remembered, and a read that fits is taken immediately,
/// since it changes nothing.
///
/// There is one exception to such an order, which "Durability" states: a thread may read the values before a write that
/// another thread of its process has not returned from.
struct LinearizabilityChecker {
    private struct State: Hashable {
        /// The number of calls taken from each thread.
        var taken: [Int]
        var first: Int
        var second: Int
        /// The thread whose write was taken last, the index of that call, and the values before it.
        var lastWriter = -1
        var lastWrite = 0
        var firstBefore: Int
        var secondBefore: Int
    }

    /// A state, and the threads whose calls can be tried in it next; an option with `skips` leaves out an optional
    /// call.
    private struct Choice {
        let state: State
        var options: [(thread: Int, skips: Bool)]
    }

    private let threads: [[CallHistory.Call]]
    private var state: State
    private var deadEnds: Set<State> = []
    /// The longest part of the history for which an order was found.
    private var furthest: State
    private var steps = 0

    /// More than any history of some seconds has needed.
    private static let limit = 20_000_000

    init(_ history: CallHistory) {
        threads = history.threads
        let (first, second) = (history.initial.first ?? 0, history.initial.second ?? 0)
        state = State(
            taken: Array(repeating: 0, count: threads.count),
            first: first,
            second: second,
            firstBefore: first,
            secondBefore: second
        )
        furthest = state
    }

    /// Looks for an order.
    ///
    /// - Returns: nil if there is one, or else a description of where the search ended.
    static func findProblem(in history: CallHistory) -> String? {
        var checker = Self(history)
        return checker.search()
    }

    private func next(_ thread: Int) -> CallHistory.Call? {
        let taken = state.taken[thread]
        return taken < threads[thread].count ? threads[thread][taken] : nil
    }

    /// The earliest end of a remaining call; calls that begin later come after that call.
    private var horizon: UInt64? { threads.indices.compactMap { next($0)?.end }.min() }

    private func matches(_ call: CallHistory.Call, thread: Int) -> Bool {
        if call.found.agrees(first: state.first, second: state.second) { return true }
        guard call.isRead, !call.hasLock, state.lastWriter >= 0, state.lastWriter != thread else { return false }
        // The exception: the read overlaps the last write, which another thread of the same process made, and may still
        // miss it.
        let write = threads[state.lastWriter][state.lastWrite]
        return write.process == call.process && write.end >= call.begin && write.begin <= call.end
            && call.found.agrees(first: state.firstBefore, second: state.secondBefore)
    }

    private mutating func take(_ thread: Int, skips: Bool) {
        guard let call = next(thread) else { return }
        state.taken[thread] += 1
        if skips || call.isRead { return }
        (state.lastWriter, state.lastWrite) = (thread, state.taken[thread] - 1)
        (state.firstBefore, state.secondBefore) = (state.first, state.second)
        state.first = call.written.first ?? state.first
        state.second = call.written.second ?? state.second
    }

    private mutating func takeReads(before horizon: UInt64) -> Bool {
        var hasTaken = false
        for thread in threads.indices {
            while let call = next(thread), call.isRead, call.begin <= horizon, matches(call, thread: thread) {
                take(thread, skips: false)
                hasTaken = true
            }
        }
        return hasTaken
    }

    private mutating func search() -> String? {
        var choices: [Choice] = []
        while true {
            // Reads that fit never need to be undone, so they open no choices.
            while let horizon, takeReads(before: horizon) {}
            guard let horizon else { return nil }
            steps += 1
            if steps > Self.limit { return "Undecided after \(steps) steps: \(situation)" }
            if state.taken.reduce(0, +) > furthest.taken.reduce(0, +) { furthest = state }
            var options: [(thread: Int, skips: Bool)] = []
            // The values and positions are all that matters for the rest, so a state is tried only once, by whichever
            // order it was reached.
            if !deadEnds.contains(state) {
                let candidates = threads.indices
                    .compactMap { thread in next(thread).map { (thread: thread, call: $0) } }
                    .filter { $0.call.begin <= horizon }
                options += candidates.filter(\.call.isOptional).map { ($0.thread, true) }
                // Options are taken from the end: the call that ended first is tried first, as it most often has to
                // come first.
                options += candidates.filter { !$0.call.isRead && matches($0.call, thread: $0.thread) }
                    .sorted { $0.call.end > $1.call.end }
                    .map { ($0.thread, false) }
            }
            choices.append(Choice(state: state, options: options))
            // Goes back to the last state that has another option.
            while let choice = choices.last, choice.options.isEmpty {
                deadEnds.insert(choice.state)
                choices.removeLast()
            }
            guard !choices.isEmpty else {
                state = furthest
                return "No order explains it: \(situation)"
            }
            let option = choices[choices.count - 1].options.removeLast()
            state = choices[choices.count - 1].state
            take(option.thread, skips: option.skips)
        }
    }

    /// A description of where the search stands: the values, and for each thread the last call and the next two.
    private var situation: String {
        var lines = ["\(state.first) and \(state.second)"]
        for (thread, calls) in threads.enumerated() {
            let taken = state.taken[thread]
            lines += (max(taken - 1, 0)..<min(taken + 2, calls.count)).map { index in
                let call = calls[index]
                return "\(index < taken ? "taken" : "left "), thread \(thread) of process \(call.process), "
                    + "\(call.begin) to \(call.end)\(call.isOptional ? " or not" : "")\(call.hasLock ? ", locked" : "")"
                    + ": found \(call.found.text), wrote \(call.written.text)"
            }
        }
        return lines.joined(separator: "\n")
    }
}

extension KeyPair {
    /// Whether the pair's values are these, for the keys that it has.
    fileprivate func agrees(first: Int, second: Int) -> Bool {
        (self.first ?? first) == first && (self.second ?? second) == second
    }
}
