import Default
import Foundation
import Observation

// Actions that need their own process, since the tests' process has other observers and stores at the same time.

extension PersistentStorage {
    fileprivate var number: KeyValueContainer<Int> { makeContainer() }
}

/// Substitutes the standard store in asynchronous code, before anything else in this process has done so.
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

/// The number of threads with a name, by default those with which the library watches suites.
///
/// A thread names itself only when it runs; until then it has the name of the thread that started it.
private func countThreads(named prefix: String = "DefaultWatch") throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { thread in
        let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
        return name?.hasPrefix(prefix) ?? false
    }
}

/// Waits for a number of such threads, for a minute at most.
///
/// - Returns: The number of threads at the end of the wait.
private func waitForThreads(_ count: Int, named prefix: String = "DefaultWatch") throws -> Int {
    let limit = ContinuousClock.now + .seconds(60)
    while try countThreads(named: prefix) != count, ContinuousClock.now < limit {
        usleep(200)
    }
    return try countThreads(named: prefix)
}

/// Prints how many threads watch a suite as observers come and go, and how many are left in the end.
func printWatchers(of suite: FileDefaults) throws {
    var counts = [try countThreads()]
    let first = suite.observeChanges { _ in }
    try counts.append(waitForThreads(1))
    let second = suite.observeChanges { _ in }
    try counts.append(waitForThreads(1))
    first.cancel()
    try counts.append(waitForThreads(1))
    second.cancel()
    try counts.append(waitForThreads(0))
    let third = suite.observeChanges { _ in }
    try counts.append(waitForThreads(1))
    // The first event starts the thread that examines suites.
    try suite.set(1, forKey: "number")
    try counts.append(waitForThreads(1, named: "DefaultNotify"))
    third.cancel()
    try counts.append(waitForThreads(0))
    try counts.append(waitForThreads(0, named: "DefaultNotify"))
    print(counts.map { "\($0)" }.joined(separator: " "))
}

/// Counts of reports, which may come on any thread.
private final class Counts: @unchecked Sendable {
    // Used only under `lock`.
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

// MARK: Many suites

/// The suites in a directory that `printNoticesOfManySuites(in:count:)` and `writeToManySuites(in:count:)` share.
private func manySuites(in directory: URL, count: Int) throws -> [FileDefaults] {
    try (0..<count).map { try FileDefaults(url: directory.appending(path: "\($0).defaults")) }
}

/// Lets this process open as many files as the system allows, or no more than it has open.
private func limitOpenFiles(toPresentOnes: Bool) {
    #if canImport(Glibc)
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let resource = Int32(RLIMIT_NOFILE)
    #endif
    var limit = rlimit()
    getrlimit(resource, &limit)
    if toPresentOnes {
        let lowestUnused = open("/dev/null", O_RDONLY)
        close(lowestUnused)
        limit.rlim_cur = rlim_t(lowestUnused)
    } else {
        limit.rlim_cur = limit.rlim_max
    }
    setrlimit(resource, &limit)
}

/// This process's inotify descriptors.
private func inotifyDescriptors() throws -> [String] {
    try descriptors { $0.contains("inotify") }
}

/// The descriptors of this process of a given kind, by the system's names.
private func descriptors(where isIncluded: (String) -> Bool) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { descriptor in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
        return target.map(isIncluded) ?? false
    }
}

/// The number of directories that this process watches.
private func countWatchedDirectories() throws -> Int {
    try inotifyDescriptors().reduce(0) { count, descriptor in
        let info = try String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
        return count + info.split(separator: "\n").count { $0.hasPrefix("inotify wd:") }
    }
}

/// The suites that were reported as changed, on any thread.
private final class ChangedSuites: @unchecked Sendable {
    // Used only under `condition`.
    private var numbers: Set<Int> = []
    private let condition = NSCondition()
    private let expected: Int

    init(_ expected: Int) {
        self.expected = expected
    }

    func insert(_ number: Int) {
        condition.withLock {
            numbers.insert(number)
            condition.signal()
        }
    }

    /// Waits for all suites, and returns how many there are.
    func waitForAll() -> Int {
        condition.withLock {
            while numbers.count < expected {
                condition.wait()
            }
            return numbers.count
        }
    }
}

/// Observes many suites, and prints the resources that this needs: numbers, one on each line.
///
/// The first numbers are the inotify descriptors and the threads that watch. When another process has written to all
/// suites, the suites that were reported as changed and the threads that watch follow. The last ones are the watched
/// directories when all but one observation have ended, and the inotify descriptors when all have.
func printNoticesOfManySuites(in directory: URL, count: Int) throws {
    limitOpenFiles(toPresentOnes: false)
    let suites = try manySuites(in: directory, count: count)
    let changed = ChangedSuites(count)
    var observations = suites.enumerated().map { number, suite in
        suite.observeChanges { keys in
            if keys?.contains("number") ?? true {
                changed.insert(number)
            }
        }
    }
    printNow("\(try inotifyDescriptors().count)")
    printNow("\(try waitForThreads(1))")
    printNow("\(changed.waitForAll())")
    printNow("\(try waitForThreads(1))")
    observations.removeLast(count - 1)
    printNow("\(try countWatchedDirectories())")
    observations = []
    _ = try waitForThreads(0)
    printNow("\(try inotifyDescriptors().count)")
}

/// Changes each of the suites that another process observes.
func writeToManySuites(in directory: URL, count: Int) throws {
    limitOpenFiles(toPresentOnes: false)
    for suite in try manySuites(in: directory, count: count) {
        try suite.set(1, forKey: "number")
    }
}

/// Observes a suite while the system has no descriptor left for the watch, and prints numbers, one on each line.
///
/// The first is the number of events that this caused, the second the number of those that name the suite and the
/// system call. The third is the value that another process has stored under "number", once it is reported.
func printNoticesWithoutWatch(of suite: FileDefaults) throws {
    try suite.set(0, forKey: "number")
    let names = [try suite.url.path, "inotify_init1", "max_user_instances"]
    let events = Counts(2)
    DefaultsDiagnostics.handler = { event in
        events.increment(0)
        if event.kind.name == "watch failed", names.allSatisfy(event.error.description.contains) {
            events.increment(1)
        }
    }
    limitOpenFiles(toPresentOnes: true)
    // Each of these watches is refused.
    suite.observeChanges { _ in }.cancel()
    let isDone = DispatchSemaphore(value: 0)
    let observation = suite.observeChanges { keys in
        if keys?.contains("number") ?? true {
            isDone.signal()
        }
    }
    printNow(events.description.replacing(" ", with: "\n"))
    isDone.wait()
    printNow("\(suite.integer(forKey: "number"))")
    observation.cancel()
}
