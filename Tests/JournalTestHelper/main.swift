import DefaultJournal
import Glibc
import Foundation

// The other process of the crash and multi-process tests. The first argument is the command, the second a suite's path;
// an error ends the process with status 1.

final class Index: JournalIndex {
    var entries: [[UInt8]: [UInt8]] = [:]

    func set(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Int? {
        entries.updateValue(Array(value), forKey: Array(key)).map { $0.count + key.count }
    }

    func remove(key: UnsafeRawBufferPointer) -> Int? {
        entries.removeValue(forKey: Array(key)).map { $0.count + key.count }
    }

    func prepare(forBytes count: Int) {}

    func removeAll() { entries = [:] }
}

func open(_ path: String) throws -> Journal { try Journal.open(at: path) { Index() } }

func set(_ journal: Journal, _ key: String, _ value: String) throws {
    let outcome = Array(key.utf8).withUnsafeBytes { key in
        Array(value.utf8).withUnsafeBytes { value in
            Result { () throws(JournalError) in try journal.set(key: key, value: value) }
        }
    }
    try outcome.get()
}

func get(_ journal: Journal, _ key: String) -> String? {
    journal.withCurrentIndex { index in
        (index as? Index)?.entries[Array(key.utf8)].map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Writes increasing numbers until it is killed, and acknowledges each through shared memory.
func crash(_ path: String, acknowledgements: String) throws {
    let file = Foundation.open(acknowledgements, O_RDWR)
    let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let page, page != MAP_FAILED else { exit(2) }
    let cell = page.assumingMemoryBound(to: Int.self)
    let journal = try open(path)
    var number = get(journal, "number").flatMap(Int.init) ?? 0
    while true {
        number += 1
        try set(journal, "number", "\(number)")
        cell.pointee = number
        try set(journal, "filler", String(repeating: "x", count: 400 + number % 100))
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

func countUp(_ path: String, count: Int) throws {
    let journal = try open(path)
    for number in 0..<count {
        try journal.withExclusiveAccess {
            let value = get(journal, "counter").flatMap(Int.init) ?? 0
            try set(journal, "counter", "\(value + 1)")
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
func stream(_ path: String) throws {
    let journal = try open(path)
    while true { try set(journal, "streamed", String(repeating: "v", count: 112)) }
}

/// Writes under a file size limit until a write fails, and again after the limit is lifted.
func fill(_ path: String, limit: UInt) throws {
    signal(SIGXFSZ, SIG_IGN)
    let journal = try open(path)
    try set(journal, "first", "kept")
    var rlimit = rlimit(rlim_cur: limit, rlim_max: rlim_t.max)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &rlimit)
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
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &rlimit)
    try set(journal, "last", "\(acknowledged)")
    try journal.synchronize()
}

/// Opens and writes as a user without privileges.
func openUnprivileged(_ path: String) throws {
    guard setgid(65_534) == 0, setuid(65_534) == 0 else { exit(7) }
    let journal = try open(path)
    try set(journal, "a", "1")
}

#if DEBUG
/// Makes one commit and kills itself after `last` stores to the shared page; exits with 0 if the commit takes fewer.
func die(_ path: String, in operation: String, afterStore last: Int) throws {
    let probe = SystemCallProbe()
    let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
    let journal = try Journal.open(at: path, options: options) { Index() }
    probe.onStore { number in
        if number == last { kill(getpid(), SIGKILL) }
    }
    switch operation {
    case "append": try set(journal, "victim", "1")
    case "batch":
        var batch = JournalBatch()
        for key in ["victim", "other victim"] {
            Array(key.utf8).withUnsafeBytes { batch.set(key: $0, value: $0) }
        }
        try journal.append(batch)
    case "compact": try journal.compact()
    default: exit(64)
    }
    probe.onStore(nil)
}

/// Writes to each of some suites and then ends in one of the ways that a program can end.
///
/// The background never flushes here, so that what is on the disk afterwards was flushed by the end. The disks of suites
/// whose names begin with "hanging" hang.
func end(_ folder: String, suites: [Substring], how: String) throws {
    let journals = try suites.map { name in
        let probe = SystemCallProbe()
        let options = JournalOptions(calls: SystemCalls(probe: probe), backgroundActivity: { _ in false })
        let journal = try Journal.open(at: folder + "/" + name, options: options) { Index() }
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
    case "exit in exclusive access": try journals[0].withExclusiveAccess { exit(0) }
    case "_exit": _exit(0)
    case "fork":
        // Swift hides it, since little works in such a child; it may be there all the same.
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
#endif

let arguments = CommandLine.arguments
do {
    switch (arguments.dropFirst().first, arguments.count) {
    case ("crash", 4): try crash(arguments[2], acknowledgements: arguments[3])
    case ("keys", 5): try writeKeys(arguments[2], prefix: arguments[3], count: Int(arguments[4]) ?? 0)
    case ("count", 4): try countUp(arguments[2], count: Int(arguments[3]) ?? 0)
    case ("turns", 4): try takeTurns(arguments[2], count: Int(arguments[3]) ?? 0)
    case ("stream", 3): try stream(arguments[2])
    case ("fill", 4): try fill(arguments[2], limit: UInt(arguments[3]) ?? 0)
    case ("unprivileged", 3): try openUnprivileged(arguments[2])
    #if DEBUG
    case ("die", 5): try die(arguments[2], in: arguments[3], afterStore: Int(arguments[4]) ?? 0)
    case ("end", 5): try end(arguments[2], suites: arguments[3].split(separator: ","), how: arguments[4])
    #endif
    default: exit(64)
    }
} catch {
    print(error)
    exit(1)
}
