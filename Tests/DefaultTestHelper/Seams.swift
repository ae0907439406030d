import Default
import Foundation
import Observation

// The seams of a process: its end, its forks, and calls that two of its threads begin at the same moment. Each action
// repeats one case, and prints how often it failed.

/// The settings of the programs that end or fork.
private struct SeamSettings: DefaultStorable {
    var name = "none"
    var count = 0
    static let defaultValue = SeamSettings()
}

extension Defaults.Keys {
    fileprivate static let seamCount = Defaults.Key<Int>("seam count")
    fileprivate static let seamSettings = Defaults.Key<SeamSettings>("seam settings", default: SeamSettings())
}

// MARK: A standard error that nobody reads

/// Has standard error lead into a pipe that is full, or whose reader has ended.
func breakStandardError(isFull: Bool) throws {
    // The program that started this one may ignore or block the signal.
    signal(SIGPIPE, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) == STDERR_FILENO else { throw CocoaError(.fileReadUnknown) }
    guard isFull else {
        close(ends[0])
        return
    }
    let flags = fcntl(STDERR_FILENO, F_GETFL)
    _ = fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK)
    let block = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
    for size in [block.count, 1] {
        while write(STDERR_FILENO, block, size) > 0 {}
    }
    _ = fcntl(STDERR_FILENO, F_SETFL, flags)
}

// MARK: exit in a handler of a signal

/// Writes in a loop until a signal comes, whose handler calls `exit`.
func writeUntilSignal(to suite: FileDefaults) throws -> Never {
    signal(SIGTERM) { _ in exit(0) }
    // The thread of Dispatch that started this program may have passed on a mask that blocks signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    try suite.set(0, forKey: "number")
    printNow("ready")
    var number = 0
    while true {
        number += 1
        // Each round opens, writes and schedules a flush of another suite, so that the lock of the background is taken
        // often.
        let other = try FileDefaults(url: suite.url.appending(path: "../other\(number % 50)"))
        try other.set(number, forKey: "number")
        try suite.set(number, forKey: "number")
    }
}

/// Starts programs that write and end by a signal.
///
/// - Returns: The number of programs that did not end.
func countHangs(ofSignalsIn directory: URL, rounds: Int) throws -> Int {
    var hangs = 0
    for round in 0..<rounds {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["write-until-signal", directory.appending(path: "s\(round)/suite").path]
        process.standardOutput = output
        try process.run()
        _ = output.fileHandleForReading.availableData
        usleep(UInt32.random(in: 0..<4_000))
        kill(process.processIdentifier, SIGTERM)
        if !waitForEnd(of: process.processIdentifier) {
            hangs += 1
            kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        try FileManager.default.removeItem(at: directory.appending(path: "s\(round)"))
    }
    return hangs
}

/// Waits for a process to end, for twenty seconds at most, without collecting its status.
///
/// - Parameters:
///   - process: The process.
///   - isFarEnough: Whether the process has got so far that it need not be waited for any longer.
/// - Returns: Whether it has ended, or got so far.
private func waitForEnd(of process: pid_t, or isFarEnough: () -> Bool = { false }) -> Bool {
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
        var info = siginfo_t()
        let flags = WEXITED | WNOHANG | WNOWAIT
        let isDone = waitid(P_PID, id_t(process), &info, flags) == 0 && info.si_signo != 0
        if isDone || kill(process, 0) != 0 || isFarEnough() { return true }
        usleep(1_000)
    }
    return false
}

// MARK: fork

/// Calls `fork`, which Swift hides, since little works in such a child; the C library has it all the same.
private func forkHere() -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { exit(8) }
    return unsafeBitCast(symbol, to: Fork.self)()
}

/// Starts a child that runs a closure and then ends.
///
/// - Returns: The child's process.
private func fork(_ body: () throws -> Void) -> pid_t {
    let child = forkHere()
    if child != 0 { return child }
    do {
        try body()
        _exit(0)
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        _exit(1)
    }
}

/// Waits for a child, and kills it if it hangs.
///
/// - Parameters:
///   - child: The child.
///   - isFarEnough: Whether the child has got so far that it doesn't hang, however long its own children take.
/// - Returns: Whether it ended with status 0.
private func succeeds(_ child: pid_t, or isFarEnough: () -> Bool = { false }) -> Bool {
    let hasEnded = waitForEnd(of: child, or: isFarEnough)
    if !hasEnded { kill(child, SIGKILL) }
    var status: Int32 = 0
    return waitpid(child, &status, 0) == child && hasEnded && status == 0
}

/// Uses everything that has a lock for the whole process: the front ends on a suite, decoded values, tracked reads, and
/// events.
private func useEverything(in store: any DefaultsStore, _ number: Int) throws {
    let defaults = Defaults(suite: store)
    defaults[.seamCount] += 1
    defaults[.seamSettings].count += 1
    SeamSettings(name: "n", count: number).write(to: store)
    guard SeamSettings.read(from: store)?.count == number else { throw CocoaError(.coderInvalidValue) }
    guard SeamSettings.read(from: store)?.count == number else { throw CocoaError(.coderInvalidValue) }
    let container: KeyValueContainer<[String]> = store.makeContainer(key: "seam container")
    container.value = ["\(number)"]
    try store.setStoredValue(.string("not a number \(number)"), forKey: "seam broken")
    _ = store.df.fetch(forKey: "seam broken", type: Int.self)
    if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) {
        withObservationTracking {
            _ = LiveSettings<SeamSettings>(in: store).count
        } onChange: {
        }
    }
    SeamSettings.clear(in: store)
}

/// Forks while other threads use the library; each child then uses it with its own suites.
///
/// - Returns: The number of children that failed or hung.
func countFailures(ofForksIn directory: URL, rounds: Int) throws -> Int {
    DefaultsDiagnostics.handler = { _ in }
    let suite = try FileDefaults(url: directory.appending(path: "parent"))
    // Swift's runtime builds the metadata of a generic type at its first use, under locks that a child can't renew. So
    // all the work of the threads and the children is done once before the first fork.
    for number in 0..<10 { try useEverything(in: suite, number) }
    try useEverything(in: MemoryDefaults(), 1)
    let threadCount = 4
    let warm = DispatchSemaphore(value: 0)
    for thread in 0..<threadCount {
        Thread.detachNewThread {
            // One thread uses its own suite, one a store without files, and two share a suite.
            let store: any DefaultsStore =
                switch thread {
                case 0: MemoryDefaults()
                default: suite
                }
            var number = 0
            while true {
                number += 1
                let other = thread == 1 ? MemoryDefaults() : nil
                for _ in 0..<20 { _ = SeamSettings.read(from: other ?? store, forKey: "read \(thread)") }
                SeamSettings(name: "n", count: number).write(to: other ?? store, withKey: "read \(thread)")
                Defaults(suite: store)[Defaults.Key<Int>("count \(thread)")] += 1
                // The error must not have a type whose name the runtime looks up under a lock that a child can't renew.
                DefaultsDiagnostics.report(.readFailed, DefaultsError(.undecodable, reason: "\(number)"))
                if number == 5 { warm.signal() }
            }
        }
    }
    for _ in 0..<threadCount { warm.wait() }
    var failures = 0
    for round in 0..<rounds {
        let own = directory.appending(path: "own\(round)")
        let child = fork {
            // The child installs its own handler, since it has none.
            DefaultsDiagnostics.handler = { _ in }
            let store = try FileDefaults(url: own)
            for number in 0..<3 { try useEverything(in: store, number) }
            try useEverything(in: MemoryDefaults(), 1)
        }
        if !succeeds(child) { failures += 1 }
        try FileManager.default.removeItem(at: own)
    }
    return failures
}

/// Starts a child that returns from the exclusive access in which its parent forked, while another process waits to
/// write.
///
/// - Returns: The counts of the parent, which is still inside, and of the other process at the end; 2 if both count.
func countAfterForkInExclusiveAccess(of suite: FileDefaults) throws -> Int {
    try suite.set(0, forKey: "number")
    let path = try suite.url.path
    let other = Process()
    var isChild = false
    try suite.withExclusiveAccess {
        let number = suite.integer(forKey: "number")
        let child = forkHere()
        if child == 0 {
            isChild = true
            return
        }
        guard succeeds(child) else { exit(9) }
        other.executableURL = URL(filePath: CommandLine.arguments[0])
        other.arguments = ["increment-once", path]
        other.standardOutput = Pipe()
        try other.run()
        // By now the other process waits, or has written if nothing keeps it from that.
        let output = (other.standardOutput as? Pipe)?.fileHandleForReading.availableData
        guard output?.isEmpty == false else { exit(10) }
        usleep(200_000)
        try suite.set(number + 1, forKey: "number")
    }
    if isChild { _exit(0) }
    other.waitUntilExit()
    return suite.integer(forKey: "number")
}

/// Starts a child that continues with the suite that its parent has opened, observed and registered defaults in, as a
/// daemon does.
///
/// All that the child does, and the threads of its parent, has been done before, for the reason that
/// ``countFailures(ofForksIn:rounds:)`` has: the parent uses the suite as the child will, and hears of a change by
/// another process.
func printUseInChild(of suite: FileDefaults) throws {
    func use(_ number: Int) throws {
        let process = nameOfProcess
        let values = ["text", "registered"].map { suite.string(forKey: $0) ?? "nothing" }
        printNow("\(process) reads \(values.joined(separator: ", "))")
        try suite.transaction {
            try suite.set(process, forKey: "text")
            try suite.set(number, forKey: "number")
        }
        try suite.synchronize()
    }
    try suite.register(defaults: ["registered": "default"])
    try use(1)
    let isHeard = DispatchSemaphore(value: 0)
    let observation = suite.observeChanges { keys in
        printNow("\(nameOfProcess) hears of \(keys?.sorted().joined(separator: ", ") ?? "all")")
        isHeard.signal()
    }
    defer { observation.cancel() }
    let other = Process()
    other.executableURL = URL(filePath: CommandLine.arguments[0])
    other.arguments = ["set-number", try suite.url.path, "2"]
    try other.run()
    guard isHeard.wait(timeout: .now() + patience) == .success else { exit(8) }
    other.waitUntilExit()
    guard succeeds(fork { try use(3) }) else { exit(9) }
    guard isHeard.wait(timeout: .now() + patience) == .success else { exit(10) }
    printNow("parent finds \(suite.string(forKey: "text") ?? "nothing"), \(suite.integer(forKey: "number"))")
}

private let mainProcess = getpid()
private var nameOfProcess: String { getpid() == mainProcess ? "parent" : "child" }

/// Starts a child that returns from a transaction in which its parent forked.
///
/// - Returns: The child's error, and the values that the parent has stored.
func printTransactionInChild(of suite: FileDefaults) throws {
    try suite.set(0, forKey: "number")
    var isChild = false
    let refusal = codeOf {
        try suite.transaction {
            try suite.set(1, forKey: "number")
            isChild = forkHere() == 0
        }
    }
    if isChild {
        printNow("child \(refusal)")
        _exit(0)
    }
    wait(nil)
    printNow("parent \(refusal), \(suite.integer(forKey: "number"))")
}

/// Forks in a change of a value.
///
/// The parent stores 2 and another process 10, before the child returns from the change that it made of what was there
/// first.
func printUpdateInChild(of suite: FileDefaults) throws {
    try suite.set(1, forKey: "number")
    let path = try suite.url.path
    var isChild = false
    let go = Pipe()
    let refusal = codeOf {
        try suite.updateStoredValue(forKey: "number") { value in
            value = 2
            isChild = forkHere() == 0
            if isChild {
                // So that it isn't kept waiting if its parent fails.
                try go.fileHandleForWriting.close()
                _ = go.fileHandleForReading.availableData
            }
        }
    }
    if isChild {
        printNow("child \(refusal)")
        _exit(0)
    }
    let other = Process()
    other.executableURL = URL(filePath: CommandLine.arguments[0])
    other.arguments = ["set-number", path, "10"]
    try other.run()
    other.waitUntilExit()
    guard other.terminationStatus == 0 else { exit(12) }
    go.fileHandleForWriting.write(Data([0]))
    wait(nil)
    printNow("parent \(refusal), \(suite.integer(forKey: "number"))")
}

/// Forks in a chain, in which each child opens its own suite.
///
/// - Returns: The number of suites that could be written and read.
func countForks(inChainIn directory: URL, length: Int) throws -> Int {
    func go(_ number: Int) throws {
        let suite = try FileDefaults(url: directory.appending(path: "\(number)"))
        try suite.set(number, forKey: "number")
        guard suite.integer(forKey: "number") == number else { exit(11) }
        try Data().write(to: end(of: number))
        guard number < length else { return }
        let next = end(of: number + 1).path
        _ = succeeds(fork { try go(number + 1) }) { FileManager.default.fileExists(atPath: next) }
    }
    func end(of number: Int) -> URL { directory.appending(path: "done\(number)") }
    try go(1)
    return try FileManager.default.contentsOfDirectory(atPath: directory.path).count { $0.hasPrefix("done") }
}

// MARK: Two threads at once

/// Opens suites on two threads at the same time, by two spellings of their paths.
///
/// - Returns: The number of pairs that were two engines, whose exclusive access doesn't nest.
func countPairs(ofSpellingsIn directory: URL, rounds: Int) throws -> Int {
    let link = directory.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: directory)
    var pairs = 0
    for round in 0..<rounds {
        nonisolated(unsafe) var suites: [FileDefaults?] = [nil, nil]
        let lock = NSLock()
        let gate = DispatchSemaphore(value: 0)
        let ends = DispatchSemaphore(value: 0)
        for (index, folder) in [directory, link].enumerated() {
            Thread.detachNewThread {
                gate.wait()
                let suite = try? FileDefaults(url: folder.appending(path: "s\(round)"), lockTimeout: 0)
                lock.withLock { suites[index] = suite }
                ends.signal()
            }
        }
        for _ in 0..<2 { gate.signal() }
        for _ in 0..<2 { ends.wait() }
        guard let first = suites[0], let second = suites[1] else { exit(12) }
        do {
            try first.withExclusiveAccess { try second.withExclusiveAccess {} }
        } catch {
            pairs += 1
        }
        try FileManager.default.removeItem(at: directory.appending(path: "s\(round)"))
    }
    return pairs
}

/// The actions of this file, by the first argument.
func runSeams() throws -> Bool {
    switch CommandLine.arguments[1] {
    case "write-until-signal": try writeUntilSignal(to: suite())
    case "signal-exits": print(try countHangs(ofSignalsIn: URL(filePath: arguments[0]), rounds: Int(arguments[1]) ?? 0))
    case "forks": print(try countFailures(ofForksIn: URL(filePath: arguments[0]), rounds: Int(arguments[1]) ?? 0))
    case "fork-in-exclusive-access": print(try countAfterForkInExclusiveAccess(of: suite()))
    case "fork-and-use": try printUseInChild(of: suite())
    case "fork-in-transaction": try printTransactionInChild(of: suite())
    case "fork-in-update": try printUpdateInChild(of: suite())
    case "set-number": try suite().set(Int(arguments[1]) ?? 0, forKey: "number")
    case "increment-once":
        let suite = try suite()
        printNow("waiting")
        suite[Defaults.Key<Int>("number")] += 1
    case "fork-chain": print(try countForks(inChainIn: URL(filePath: arguments[0]), length: Int(arguments[1]) ?? 0))
    case "spellings": print(try countPairs(ofSpellingsIn: URL(filePath: arguments[0]), rounds: Int(arguments[1]) ?? 0))
    default: return false
    }
    return true
}
