import Default
import Foundation
import Observation

// What has to be seen in a process of its own, since the tests' process has other observers and stores at the same time.

extension PersistentStorage {
    fileprivate var number: KeyValueContainer<Int> { makeContainer() }
}

/// Uses another store for the standard one, which nothing in this process has done before, in asynchronous code.
func printFirstAsynchronousUse() -> Never {
    Task.detached {
        await withDefaults(MemoryDefaults()) { () async in
            Defaults["number"] = 1
            print("inside", Defaults["number"].int ?? 0, terminator: ", ")
        }
        print("outside", Defaults["number"].int.map { "\($0)" } ?? "nil")
        exit(0)
    }
    dispatchMain()
}

/// How many threads watch suites; one that is to end is waited for.
private func countWatchers(afterEnd: Bool = false) throws -> Int {
    var count = 0
    for _ in 0..<(afterEnd ? 20_000 : 1) {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        count = threads.count { thread in
            let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
            return name?.hasPrefix("DefaultWatch") ?? false
        }
        if afterEnd, count == 0 {
            break
        }
        sched_yield()
    }
    return count
}

/// Prints how many threads watch a suite as observers come and go.
func printWatchers(of suite: FileDefaults) throws {
    var counts = [try countWatchers()]
    let first = suite.observeChanges { _ in }
    try counts.append(waitForWatcher())
    let second = suite.observeChanges { _ in }
    try counts.append(countWatchers())
    first.cancel()
    try counts.append(countWatchers())
    second.cancel()
    try counts.append(countWatchers(afterEnd: true))
    let third = suite.observeChanges { _ in }
    try counts.append(waitForWatcher())
    third.cancel()
    try counts.append(countWatchers(afterEnd: true))
    print(counts.map { "\($0)" }.joined(separator: " "))
}

/// A thread names itself only once it runs.
private func waitForWatcher() throws -> Int {
    for _ in 0..<20_000 {
        if try countWatchers() > 0 {
            break
        }
        sched_yield()
    }
    return try countWatchers()
}

/// Counts what is reported, on any thread.
private final class Counts: @unchecked Sendable {
    // Used under `lock` only.
    private var counts: [Int]
    private let lock = NSLock()

    init(_ count: Int) {
        counts = Array(repeating: 0, count: count)
    }

    func increment(_ index: Int) {
        lock.withLock { counts[index] += 1 }
    }

    var description: String { lock.withLock { counts.map(String.init).joined(separator: " ") } }
}

/// Tracks containers of two suites under one key, and prints how often each was reported as changed.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
func printNoticesOfTwoSuites() {
    let suites = ["one", "two"].compactMap { PersistentStorage(suiteName: $0, keyPrefix: "p.") }
    let counts = Counts(2)
    func track(_ number: Int) {
        withObservationTracking {
            _ = suites[number].number.value
        } onChange: {
            counts.increment(number)
        }
    }
    func printCounts(terminator: String) {
        print(counts.description, terminator: terminator)
    }
    track(0)
    track(1)
    printCounts(terminator: ", ")
    suites[0].number.value = 1
    printCounts(terminator: ", ")
    suites[1].number.value = 1
    printCounts(terminator: ", ")
    track(0)
    track(1)
    suites[0].number.value = 2
    printCounts(terminator: "\n")
}
