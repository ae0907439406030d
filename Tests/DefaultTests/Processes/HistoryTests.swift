import Default
import Foundation
import Testing

/// Real processes make random calls, and record them; then an order of the calls must exist that explains the results.
///
/// `.ci/linearizable` runs it for a minute, or for as long as it is told.
@Suite("Histories of processes", .waits)
struct HistoryTests {
    @Test("have an order that explains what each call and each observer got")
    func haveAnOrder() throws {
        let seconds = ProcessInfo.processInfo.environment["DEFAULT_HISTORY_SECONDS"].flatMap(Int.init)
        let end = ContinuousClock.now + .seconds(seconds ?? 0)
        var (histories, calls) = (0, 0)
        repeat {
            // Brief runs make two histories, one of them with kills.
            for number in histories..<histories + 2 {
                let plan = seconds == nil ? HistoryPlan.brief(number) : HistoryPlan.random(number)
                let history = try RecordedHistory.make(plan)
                calls += history.callCount
                let problems = history.problems
                for problem in problems { Issue.record("\(plan)\n\(problem)") }
                guard problems.isEmpty else { return }
            }
            histories += 2
        } while ContinuousClock.now < end
        if seconds != nil { print("\(histories) histories of \(calls) calls have an order.") }
    }

    @Test("have an order beside a mandatory file that comes and goes: each write took effect, or threw that it may not")
    func mandatoryFile() throws {
        let plan = HistoryPlan.mandatory(arrivals: TestExtent.pick(brief: 200, full: 600))
        let history = try RecordedHistory.make(plan)
        for problem in history.problems { Issue.record("\(plan)\n\(problem)") }
        #expect(history.refusalCount > 0 && history.callCount > 0)
    }

    private func call(
        _ interval: ClosedRange<UInt64>,
        found: Int? = nil,
        wrote: Int? = nil,
        process: Int = 1,
        isOptional: Bool = false
    ) -> CallHistory.Call {
        CallHistory.Call(
            process: process,
            begin: interval.lowerBound,
            end: interval.upperBound,
            hasLock: wrote != nil,
            isOptional: isOptional,
            found: KeyPair(first: found, second: nil),
            written: KeyPair(first: wrote, second: nil)
        )
    }

    private func hasOrder(_ threads: [CallHistory.Call]...) -> Bool {
        let history = CallHistory(threads: threads, initial: KeyPair(first: 0, second: 0))
        return LinearizabilityChecker.findProblem(in: history) == nil
    }

    @Test("have no order if a read misses a write that had returned, or goes back")
    func staleReads() {
        #expect(hasOrder([call(1...2, wrote: 5)], [call(3...4, found: 5, process: 2)]))
        #expect(!hasOrder([call(1...2, wrote: 5)], [call(3...4, found: 0, process: 2)]))
        let (old, new) = (call(3...4, found: 0, process: 2), call(5...6, found: 5, process: 2))
        #expect(hasOrder([call(1...9, wrote: 5)], [old, new]))
        let (newFirst, oldThen) = (call(3...4, found: 5, process: 2), call(5...6, found: 0, process: 2))
        #expect(!hasOrder([call(1...9, wrote: 5)], [newFirst, oldThen]))
        #expect(!hasOrder([call(1...2, found: 7)]))
    }

    @Test("have no order if an update is lost")
    func lostUpdates() {
        let first = call(1...5, found: 0, wrote: 5)
        #expect(hasOrder([first], [call(2...6, found: 5, wrote: 6, process: 2)]))
        #expect(!hasOrder([first], [call(2...6, found: 0, wrote: 6, process: 2)]))
    }

    @Test("may include a killed call or not, but not both")
    func killedCalls() {
        let killed = call(1...4, wrote: 5, isOptional: true)
        #expect(hasOrder([killed], [call(5...6, found: 5, process: 2)]))
        #expect(hasOrder([killed], [call(5...6, found: 0, process: 2)]))
        #expect(!hasOrder([killed], [call(5...6, found: 5, process: 2), call(7...8, found: 0, process: 2)]))
        // A killed call has no effect after its process has ended.
        #expect(!hasOrder([killed], [call(5...6, found: 0, process: 2), call(7...8, found: 5, process: 2)]))
    }

    @Test("let a thread, and no other process, miss a write that another thread of its process is just making")
    func writesOfOtherThreads() {
        let write = call(1...9, wrote: 5)
        let seen = [call(2...3, found: 5, process: 2)]
        #expect(hasOrder([write], [call(4...5, found: 0)], seen))
        #expect(!hasOrder([write], [call(4...5, found: 0, process: 3)], seen))
        #expect(!hasOrder([write], [call(10...11, found: 0)], seen))
        #expect(!hasOrder([write, call(10...11, found: 0)], seen))
        // A read that overlaps the write may miss it, whatever the writing thread does before that read returns.
        let writer = [call(1...6, wrote: 5), call(7...7, found: 5)]
        #expect(hasOrder(writer, [call(5...9, found: 0)], seen))
        #expect(!hasOrder(writer, [call(7...9, found: 0)], seen))
    }

    @Test("have an order even if the search has to go back to find it")
    func searches() {
        // Only the last write fits the read, so writes that ended first must not be taken last.
        let writes = (0..<6).map { [call(1...UInt64(20 + $0), wrote: 10 + $0, process: 2 + $0)] }
        let reads = [call(30...31, found: 10), call(32...33, found: 10)]
        #expect(LinearizabilityChecker.findProblem(in: CallHistory(threads: writes + [reads], initial: .zero)) == nil)
        let wrong = [call(30...31, found: 10), call(32...33, found: 11)]
        #expect(LinearizabilityChecker.findProblem(in: CallHistory(threads: writes + [wrong], initial: .zero)) != nil)
    }
}

extension KeyPair {
    static let zero = KeyPair(first: 0, second: 0)
}
