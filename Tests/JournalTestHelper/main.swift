// The engine's internals are visible only in a debug build.
#if DEBUG
@testable import DefaultJournal
import JournalProbe
#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import Foundation

// The second process of the crash and multi-process tests. The first argument is the command, the second a suite's
// path; an error ends the process with status 1.

func open(_ path: String) throws -> Journal {
    // Longer than any wait on a busy machine: other tests are about how long to wait.
    try Journal.open(at: path, options: JournalOptions(lockTimeout: 60_000_000_000))
}

/// Opens a suite that another program may be overwriting with a backup.
func openSettled(_ path: String) throws -> Journal {
    while true {
        do {
            return try open(path)
        } catch let error as JournalError where error.kind == .overwritten {
            sched_yield()
        }
    }
}

func set(
    _ journal: Journal,
    _ key: String,
    _ value: String,
    durability: JournalDurability = .background
) throws {
    let outcome = Array(key.utf8).withUnsafeBytes { key in
        Array(value.utf8).withUnsafeBytes { value in
            Result { () throws(JournalError) in try journal.set(key: key, value: value) }
        }
    }
    _ = try outcome.get()
    if durability == .everyWrite { try journal.synchronize() }
}

/// Writes to each standard stream while a suite is open.
func printWhileOpen(_ path: String) throws {
    let journal = try open(path)
    let text = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
    for stream in STDIN_FILENO...STDERR_FILENO { _ = write(stream, text, text.count) }
    try set(journal, "k", "printed")
    try journal.compact()
    for stream in STDIN_FILENO...STDERR_FILENO { _ = write(stream, text, text.count) }
    try set(journal, "last", "printed")
    // Their places are taken, so that nothing else of the suite gets them, and printing fails as before.
    for stream in STDIN_FILENO...STDERR_FILENO {
        if fcntl(stream, F_GETFD) < 0 || write(stream, text, 1) > 0 { exit(2) }
    }
}

func get(_ journal: Journal, _ key: String) -> String? {
    journal.all[Array(key.utf8)].map { String(decoding: $0, as: UTF8.self) }
}

/// Writes increasing numbers until it is killed, and acknowledges each through shared memory.
func crash(_ path: String, acknowledgements: String, workload: String) throws {
    let file = Foundation.open(acknowledgements, O_RDWR)
    let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let page, page != MAP_FAILED else { exit(2) }
    let cell = page.assumingMemoryBound(to: Int.self)
    let journal = try open(path)
    var number = get(journal, "number").flatMap(Int.init) ?? 0
    while true {
        number += 1
        let filler = String(repeating: "x", count: 400 + number % 100)
        switch workload {
        case "set":
            try set(journal, "number", "\(number)")
            cell.pointee = number
            try set(journal, "filler", filler)
        case "batch":
            var batch = JournalBatch()
            for (key, value) in [("number", "\(number)"), ("filler", filler), ("twin", "\(number)")] {
                Array(key.utf8).withUnsafeBytes { key in
                    Array(value.utf8).withUnsafeBytes { batch.set(key: key, value: $0) }
                }
            }
            try journal.append(batch)
            cell.pointee = number
        case "durable":
            try set(journal, "number", "\(number)", durability: .everyWrite)
            cell.pointee = number
            try set(journal, "filler", filler)
        case "update":
            try journal.withExclusiveAccess {
                let value = get(journal, "number").flatMap(Int.init) ?? 0
                try Array("filler".utf8).withUnsafeBytes { try journal.remove(key: $0) }
                try set(journal, "filler", filler)
                try set(journal, "number", "\(value + 1)")
            }
            cell.pointee = number
        default: exit(64)
        }
        if number % 50 == 0 { try journal.compact() }
    }
}

func writeKeys(_ path: String, prefix: String, count: Int) throws {
    let journal = try open(path)
    for number in 0..<count {
        try set(journal, "\(prefix)-\(number)", String(repeating: "v", count: 112))
        if number % 100 == 99 { try journal.compact() }
        guard get(journal, "\(prefix)-\(number)") != nil else { exit(3) }
    }
}

/// Writes new values of a thousand bytes once, as a program does that ends afterwards.
func writeOnce(_ path: String, count: Int) throws {
    let journal = try open(path)
    for number in 0..<count {
        let value = (0..<1_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 97...122))) }
        try set(journal, "key\(number)", String(value))
    }
}

func countUp(_ path: String, count: Int, durability: JournalDurability = .background) throws {
    let journal = try open(path)
    for number in 0..<count {
        try journal.withExclusiveAccess {
            let value = get(journal, "counter").flatMap(Int.init) ?? 0
            try set(journal, "counter", "\(value + 1)", durability: durability)
        }
        if number % 100 == 99 { try journal.compact() }
    }
}

/// Increments a counter in turns with the process that started this one.
func takeTurns(_ path: String, count: Int) throws {
    let journal = try open(path)
    for number in 0..<count {
        while get(journal, "turn") != "\(2 * number + 1)" { sched_yield() }
        try set(journal, "turn", "\(2 * number + 2)")
    }
}

/// Writes as fast as it can until it is killed.
///
/// - Parameters:
///   - path: The suite.
///   - isStubborn: Whether to go on while the journal is being overwritten by another program.
/// - Throws: What a write throws.
func stream(_ path: String, isStubborn: Bool = false) throws {
    let journal = try isStubborn ? openSettled(path) : open(path)
    var number = 0
    while true {
        do {
            // The value differs each time, since an equal one would not be written.
            number += 1
            try set(journal, "streamed", String(repeating: "v", count: 104) + "\(10_000_000 + number)")
        } catch let error as JournalError where isStubborn && error.kind == .overwritten {
            continue
        }
    }
}

/// Writes under a file size limit until a write fails, and again after the limit is lifted.
func fill(_ path: String, limit: rlim_t) throws {
    signal(SIGXFSZ, SIG_IGN)
    let journal = try open(path)
    try set(journal, "first", "kept")
    var rlimit = rlimit(rlim_cur: limit, rlim_max: rlim_t.max)
    setrlimit(fileSizeLimit, &rlimit)
    var acknowledged = 0
    do {
        while acknowledged < 100_000 {
            try set(journal, "key\(acknowledged)", String(repeating: "v", count: 300))
            acknowledged += 1
        }
        exit(4)
    } catch let error as JournalError {
        guard error.code == EFBIG, get(journal, "first") == "kept" else { exit(5) }
        guard get(journal, "key\(acknowledged - 1)") != nil, get(journal, "key\(acknowledged)") == nil else { exit(6) }
    }
    rlimit.rlim_cur = rlim_t.max
    setrlimit(fileSizeLimit, &rlimit)
    try set(journal, "last", "\(acknowledged)")
    try journal.synchronize()
}

/// Watches a suite; for each input line of a key and a value it waits until the watch has found that value, and prints
/// all entries.
func mirror(_ path: String) throws {
    let journal = try open(path)
    let found = NSCondition()
    // Used only inside `found`.
    nonisolated(unsafe) var entries: [[UInt8]: [UInt8]] = [:]
    let look: @Sendable () -> Void = { [unowned journal] in
        let current = journal.all
        found.lock()
        entries = current
        found.broadcast()
        found.unlock()
    }
    journal.startWatching(look)
    look()
    while let line = readLine() {
        let parts = line.split(separator: " ").map { Array($0.utf8) }
        found.lock()
        while entries[parts[0]] != parts[1] { found.wait() }
        found.unlock()
        // The watch may have found older entries than a read does.
        let current = journal.all
        let listing = current.map { String(decoding: $0 + [UInt8(ascii: "=")] + $1, as: UTF8.self) }
        print(listing.sorted().joined(separator: ";"))
        fflush(nil)
    }
}

/// Reads a key that always has one value, until it is killed.
func look(_ path: String, key: String, value: String) throws {
    let journal = try openSettled(path)
    while true {
        guard get(journal, key) == value else { exit(3) }
    }
}

/// Keeps exclusive access from the line that it prints until its input ends.
func hold(_ path: String) throws {
    let journal = try open(path)
    try journal.withExclusiveAccess {
        print("held")
        fflush(nil)
        while readLine() != nil {}
    }
}

/// Is killed in exclusive access, while a child made with `fork` goes on until the input ends.
func dieBesideChild(_ path: String) throws {
    let journal = try open(path)
    try set(journal, "before", "1")
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { exit(8) }
    let child = unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 {
        var byte: UInt8 = 0
        while read(STDIN_FILENO, &byte, 1) > 0 {}
        _exit(0)
    }
    guard child > 0 else { exit(9) }
    try journal.withExclusiveAccess {
        print("held")
        fflush(nil)
        kill(getpid(), SIGKILL)
    }
}

/// Opens a suite, and then causes a SIGBUS that isn't about it; exits with 77 from a handler, or with 0 if nothing
/// happens.
func causeBusError(_ path: String, disposition: String, cause: String) throws {
    var action = sigaction()
    switch disposition {
    case "ignored": action.setHandler(SIG_IGN)
    case "handled": action.setHandler { _ in _exit(77) }
    case "handled with information":
        action.setHandler(withInformation: { _, information, _ in
            _exit(information?.pointee.si_signo == SIGBUS ? 77 : 78)
        })
    default: break
    }
    sigaction(SIGBUS, &action, nil)
    let journal = try open(path)
    try set(journal, "a", "1")
    guard cause == "fault" else {
        kill(getpid(), SIGBUS)
        return
    }
    let file = Foundation.open(path + "/../cut", O_RDWR | O_CREAT, 0o600)
    ftruncate(file, 4096)
    let page = mmap(nil, 4096, PROT_READ, MAP_SHARED, file, 0)
    guard let page, page != MAP_FAILED else { exit(2) }
    ftruncate(file, 0)
    print(page.load(as: UInt64.self))
}

/// Fills a disk while it writes to a suite on it, and prints how many writes were refused.
func fillDisk(_ path: String, filler: String) throws {
    let journal = try open(path)
    try set(journal, "before", "1")
    let file = Foundation.open(filler, O_RDWR | O_CREAT, 0o600)
    let block = [UInt8](repeating: 1, count: 1 << 16)
    for size in [block.count, 4096] {
        while write(file, block, size) > 0 {}
        fsync(file)
    }
    var refused = 0
    var last = ""
    for number in 0..<2_000 {
        do {
            try set(journal, "during", "\(number)")
            last = "\(number)"
            // Writes the data in memory to the disk, so that the next write needs new blocks.
            if number % 100 == 0 { try journal.synchronize() }
        } catch {
            refused += 1
        }
        guard get(journal, "before") == "1", get(journal, "during") ?? "" == last else { exit(3) }
    }
    guard unlink(filler) == 0, ftruncate(file, 0) == 0, close(file) == 0 else { exit(4) }
    sync()
    try set(journal, "after", "1")
    try journal.synchronize()
    guard get(try open(path), "after") == "1" else { exit(5) }
    print(refused)
}

/// Opens and writes as a user without privileges.
func openUnprivileged(_ path: String) throws {
    dropPrivileges()
    let journal = try open(path)
    try set(journal, "a", "1")
}

/// The owner of the suites that these commands use if root starts them.
let unprivilegedUser: uid_t = 65_534

func dropPrivileges() {
    guard geteuid() == 0 else { return }
    // For root these calls also change the real and the saved identifiers.
    guard setgid(unprivilegedUser) == 0, setuid(unprivilegedUser) == 0 else { exit(7) }
}

func describe(_ body: () throws -> Void) -> String {
    do {
        try body()
        return "done"
    } catch let error as JournalError {
        return switch error.kind {
        case .readOnly(let reason): "\(reason)"
        default: error.description
        }
    } catch {
        return "\(error)"
    }
}

/// Uses a suite that can't be written at first, and prints the result of each step.
func useReadOnly(_ path: String, makeWritable: [Substring]) throws {
    dropPrivileges()
    let journal = try open(path)
    print("read:", get(journal, "a") ?? "nothing")
    print("again:", try open(path) === journal)
    print("set:", describe { try set(journal, "a", "2") })
    print("exclusive:", describe { try journal.withExclusiveAccess {} })
    print("compact:", describe { try journal.compact() })
    print("flush:", describe { try journal.synchronize() })
    print("read:", get(journal, "a") ?? "nothing")
    guard !makeWritable.isEmpty else { return }
    for name in makeWritable { chmod(path + "/" + name, name == "." ? 0o700 : 0o600) }
    print("later:", describe { try set(journal, "a", "3") })
    print("read:", get(journal, "a") ?? "nothing", journal.isReadOnly)
    print("other:", get(try open(path), "a") ?? "nothing")
}

/// Sets a value as the user without privileges.
func setUnprivileged(_ path: String, key: String, value: String) throws {
    dropPrivileges()
    try set(open(path), key, value)
}

/// Opens a suite, reads and writes it, and prints the peak size of this process's memory in bytes.
func measureMemory(_ path: String) throws {
    let journal = try open(path)
    guard get(journal, "key0") != nil else { exit(10) }
    try set(journal, "opened", "1")
    try journal.synchronize()
    guard try journal.verify().isIntact else { exit(11) }
    try journal.compact()
    // `getrusage` is no use here, since its figure includes the process that started this one.
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    guard let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) else {
        exit(12)
    }
    print(kilobytes * 1_024)
}

#if DEBUG
/// Makes one operation and kills itself at a step of it, or prints "acknowledged" if the operation takes fewer steps.
func die(_ path: String, in operation: String, atStep last: Int) throws {
    let probe = SystemCallProbe()
    let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
    let begin = {
        probe.onStep { step in
            if step.number == last { kill(getpid(), SIGKILL) }
        }
    }
    // The opening of a suite is itself an operation.
    if operation == "open" { begin() }
    let journal = try Journal.open(at: path, options: options)
    if operation != "open" { begin() }
    switch operation {
    case "open": break
    case "append": try set(journal, "victim", "1")
    case "durable append": try set(journal, "victim", "1", durability: .everyWrite)
    case "batch":
        var batch = JournalBatch()
        for key in ["victim", "other victim"] {
            Array(key.utf8).withUnsafeBytes { batch.set(key: $0, value: $0) }
        }
        try journal.append(batch)
    case "remove": try Array("before".utf8).withUnsafeBytes { try journal.remove(key: $0) }
    case "flush": try journal.synchronize()
    case "compact": try journal.compact()
    case "rewrite": try journal.withExclusiveAccess { try journal.compact() }
    case "move on":
        // The suite is deleted while it is open, and the write creates a new one.
        try FileManager.default.removeItem(atPath: path)
        try set(journal, "victim", "1")
    default: exit(64)
    }
    probe.onStep(nil)
    print("acknowledged")
}

/// Writes to each of several suites and then ends in one of the ways in which a program can end.
///
/// The background never flushes here, so everything on the disk afterwards was flushed by the end. The disks of suites
/// whose names begin with "hanging" hang.
///
/// At the very end it prints the names of the suites that were flushed.
func end(_ folder: String, suites: [Substring], how: String) throws {
    // Handlers are called in the reverse order of their registration.
    atexit {
        for (name, probe) in endingSuites where probe.counts[.fdatasync, default: 0] > probe.fired { print(name) }
        fflush(nil)
    }
    let journals = try suites.map { name in
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), backgroundActivity: { _ in false })
        let journal = try Journal.open(at: name.hasPrefix("/") ? String(name) : folder + "/" + name, options: options)
        endingSuites.append((String(name), probe))
        probe.clear()
        if name.hasPrefix("hanging") { probe.plan(.hang, call: .fdatasync, number: 0) }
        try set(journal, "key", "value")
        return journal
    }
    switch how {
    case "return": return
    case "exit": exit(0)
    case "exit on a thread":
        Thread.detachNewThread { exit(0) }
        while true { pause() }
    case "exit with the background's lock":
        // A handler may run on this thread while it has the lock.
        BackgroundWorker.shared.lock.lock()
        exit(0)
    case "exit in exclusive access": try journals[0].withExclusiveAccess { exit(0) }
    case "_exit": _exit(0)
    case "fork":
        // Swift hides `fork`, since little works in such a child; the C library has it all the same.
        typealias Fork = @convention(c) () -> pid_t
        guard let symbol = dlsym(nil, "fork") else { exit(8) }
        let child = unsafeBitCast(symbol, to: Fork.self)()
        if child == 0 { exit(0) }
        var status: Int32 = 0
        guard waitpid(child, &status, 0) == child, status == 0 else { exit(9) }
        _exit(0)
    default: exit(64)
    }
}

/// Opens a suite, and forks; the child tries to use it, and then opens its own suites, the parent's among them.
func forkChild(_ folder: String) throws {
    let probe = SystemCallProbe()
    let options = JournalOptions(calls: SystemCalls(probe: probe))
    let inherited = try Journal.open(at: folder + "/parent", options: options)
    let flushes = probe.counts[.fdatasync, default: 0]
    try set(inherited, "a", "1")
    // Waits until the parent's background has worked and rests again: a thread in the middle of work may hold a lock of
    // Swift's runtime, which would never be released in the child.
    while probe.counts[.fdatasync, default: 0] == flushes { usleep(1_000) }
    usleep(100_000)
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { exit(8) }
    let child = unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 {
        let calls: [() throws -> Void] = [{ try set(inherited, "a", "2") }, inherited.synchronize, inherited.compact]
        for call in calls {
            do {
                try call()
                print("done")
            } catch let error as JournalError where error.kind == .forked {
                print("refused")
            }
        }
        let own = try Journal.open(at: folder + "/own", options: options)
        try set(own, "a", "1")
        print("own", get(own, "a") ?? "nothing")
        // The flush happens in the background, as in any other process.
        let count = probe.counts[.fdatasync, default: 0]
        while probe.counts[.fdatasync, default: 0] == count { sched_yield() }
        print("flushed")
        print("parent", get(try open(folder + "/parent"), "a") ?? "nothing")
        fflush(nil)
        exit(0)
    }
    var status: Int32 = 0
    guard waitpid(child, &status, 0) == child, status == 0 else { exit(9) }
}

/// Calls a function of the engine that asserts a lock, with that lock or without it.
func callAsserting(_ path: String, _ call: String) throws {
    let journal = try Journal.open(at: path, options: JournalOptions(automaticMaintenance: false))
    switch call {
    case "catchUp": _ = try journal.catchUp()
    case "catchUp with stateLock":
        _ = try journal.stateLock.withLock { () throws(JournalError) in try journal.catchUp() }
    case "catchUp with stateLock, shared":
        let token = journal.stateLock.tryLockShared()
        defer { token.map(journal.stateLock.unlockShared) }
        _ = try journal.catchUp()
    case "reload": try journal.reload()
    case "reload with exclusive": try journal.exclusive.withLock { () throws(JournalError) in try journal.reload() }
    case "reload under the lock": try journal.withExclusiveAccess { try journal.reload() }
    case "releaseFileLock": journal.releaseFileLock()
    case "releaseFileLock with exclusive": try journal.exclusive.withLock { journal.releaseFileLock() }
    case "needsCompaction": _ = journal.needsCompaction
    case "needsCompaction in exclusive access": try journal.withExclusiveAccess { _ = journal.needsCompaction }
    default: exit(64)
    }
    print("returned")
}

extension ThreadLock {
    fileprivate func withLock(_ body: () throws(JournalError) -> Void) throws(JournalError) {
        lock()
        defer { unlock() }
        try body()
    }
}

nonisolated(unsafe) var endingSuites: [(String, SystemCallProbe)] = []
#endif

endWithParent()
let arguments = CommandLine.arguments
do {
    switch (arguments.dropFirst().first, arguments.count) {
    case ("crash", 5): try crash(arguments[2], acknowledgements: arguments[3], workload: arguments[4])
    case ("keys", 5): try writeKeys(arguments[2], prefix: arguments[3], count: Int(arguments[4]) ?? 0)
    case ("count", 4): try countUp(arguments[2], count: Int(arguments[3]) ?? 0)
    case ("write-once", 4): try writeOnce(arguments[2], count: Int(arguments[3]) ?? 0)
    case ("turns", 4): try takeTurns(arguments[2], count: Int(arguments[3]) ?? 0)
    case ("stream", 3): try stream(arguments[2])
    case ("fill", 4): try fill(arguments[2], limit: rlim_t(arguments[3]) ?? 0)
    case ("durable-count", 4): try countUp(arguments[2], count: Int(arguments[3]) ?? 0, durability: .everyWrite)
    case ("stubborn-stream", 3): try stream(arguments[2], isStubborn: true)
    case ("look", 5): try look(arguments[2], key: arguments[3], value: arguments[4])
    case ("bus-error", 5): try causeBusError(arguments[2], disposition: arguments[3], cause: arguments[4])
    case ("full-disk", 4): try fillDisk(arguments[2], filler: arguments[3])
    case ("hold", 3): try hold(arguments[2])
    case ("die-beside-child", 3): try dieBesideChild(arguments[2])
    case ("mirror", 3): try mirror(arguments[2])
    case ("memory", 3): try measureMemory(arguments[2])
    case ("read-only", 4): try useReadOnly(arguments[2], makeWritable: arguments[3].split(separator: ","))
    case ("set-unprivileged", 5): try setUnprivileged(arguments[2], key: arguments[3], value: arguments[4])
    case ("print", 3): try printWhileOpen(arguments[2])
    case ("set", 5): try set(open(arguments[2]), arguments[3], arguments[4])
    case ("unprivileged", 3): try openUnprivileged(arguments[2])
    #if DEBUG
    case ("fork", 3): try forkChild(arguments[2])
    case ("die", 5): try die(arguments[2], in: arguments[3], atStep: Int(arguments[4]) ?? 0)
    case ("asserting", 4): try callAsserting(arguments[2], arguments[3])
    case ("end", 5): try end(arguments[2], suites: arguments[3].split(separator: ","), how: arguments[4])
    #endif
    default: exit(64)
    }
} catch {
    print(error)
    exit(1)
}
#endif
