import Default
import Foundation
import Synchronization

// Measures a FileDefaults against the floors of the system it runs on, all in one run:
//
//     swift run -c release --package-path Benchmarks SuiteMeasure [DIRECTORY]
//
// DIRECTORY is where the files go, best on the disk whose speed matters; the temporary directory by default. Each figure is
// the median of several rounds, which take turns, so that a machine whose speed drifts changes all of them alike.

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

#if os(Linux)
try MemoryMeasurement.measureIfAsked()
#endif

let parent = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : NSTemporaryDirectory()
let root = URL(filePath: parent).appending(path: "suite-measure-\(ProcessInfo.processInfo.processIdentifier)")
try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: root) }

let value = Data(repeating: 0x61, count: 112)
let changed = Data(repeating: 0x62, count: 112)
let rounds = 7

/// Nanoseconds that each of `count` operations took.
func nanoseconds(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    let time = (ContinuousClock.now - start).components
    return (Double(time.seconds) * 1e9 + Double(time.attoseconds) / 1e9) / Double(count)
}

func median(_ values: [Double]) -> Double {
    values.sorted()[values.count / 2]
}

func key(_ number: Int) -> String {
    "setting.\(number)"
}

func makeSuite(_ name: String, keys: Int) throws -> FileDefaults {
    let suite = try FileDefaults(url: root.appending(path: name))
    for number in 0..<keys {
        try suite.set(value, forKey: key(number))
    }
    try suite.synchronize()
    try suite.compact()
    return suite
}

// The least that a write safe across processes takes.
let lock = open(root.appending(path: "lock").path, O_RDWR | O_CREAT, 0o600)
let file = open(root.appending(path: "floor").path, O_RDWR | O_CREAT, 0o600)
let record = [UInt8](repeating: 1, count: 150)

func measureLockedWrite() -> Double {
    let count = 100_000
    return nanoseconds(count) {
        for index in 0..<count {
            flock(lock, LOCK_EX)
            _ = pwrite(file, record, 150, off_t(index % 1_000 * 150))
            flock(lock, LOCK_UN)
        }
    }
}

// The least that a look-up safe across threads takes.
let names = (0..<100).map(key)
let table = Mutex(Dictionary(uniqueKeysWithValues: names.map { ($0, value) }))

func measureLookUp() -> Double {
    let count = 1_000_000
    var bytes = 0
    let time = nanoseconds(count) {
        for index in 0..<count {
            bytes += table.withLock { $0[names[index % 100]] }?.count ?? 0
        }
    }
    precondition(bytes == count * value.count)
    return time
}

func measureData(_ suite: FileDefaults) -> Double {
    let count = 1_000_000
    var bytes = 0
    let time = nanoseconds(count) {
        for index in 0..<count {
            bytes += suite.data(forKey: names[index % 100])?.count ?? 0
        }
    }
    precondition(bytes == count * value.count)
    return time
}

func measureSet(_ suite: FileDefaults, keys: [String]) throws -> Double {
    let count = 100_000
    return try nanoseconds(count) {
        for index in 0..<count {
            try suite.set(index / keys.count % 2 == 0 ? changed : value, forKey: keys[index % keys.count])
        }
    }
}

func measureIncrement(_ suite: FileDefaults) throws -> Double {
    let count = 100_000
    return try nanoseconds(count) {
        for _ in 0..<count {
            try suite.withExclusiveAccess { try suite.set(suite.integer(forKey: "count") + 1, forKey: "count") }
        }
    }
}

func report(_ what: String, _ figure: String, _ ratio: Double? = nil, target: String = "") {
    let columns = [
        what.padding(toLength: 54, withPad: " ", startingAt: 0), figure,
        ratio.map { String(format: "%5.2f ×", $0) } ?? "", target,
    ]
    print(columns.joined(separator: "  "))
}

func show(_ nanoseconds: Double) -> String {
    String(format: "%9.1f ns", nanoseconds)
}

let sizes = [10, 100, 10_000]
let suites = try sizes.map { try makeSuite("keys-\($0)", keys: $0) }
let keys = sizes.map { (0..<$0).map(key) }
var writes: [Double] = []
var sets: [[Double]] = sizes.map { _ in [] }
let counting = try makeSuite("counting", keys: 100)
var increments: [Double] = []
var lookUps: [Double] = []
var reads: [Double] = []
for _ in 0..<rounds {
    writes.append(measureLockedWrite())
    for index in sizes.indices {
        sets[index].append(try measureSet(suites[index], keys: keys[index]))
    }
    increments.append(try measureIncrement(counting))
    lookUps.append(measureLookUp())
    reads.append(measureData(suites[1]))
}

report("flock + pwrite of 150 bytes + unlock", show(median(writes)))
for (index, size) in sizes.enumerated() {
    let time = median(sets[index])
    report("set of 112 bytes, \(size) keys, compactions included", show(time), time / median(writes), target: "≤ 1.3")
}
report("  10,000 keys over 10", "", median(sets[2]) / median(sets[0]), target: "≤ 1.15")
report(
    "integer + 1 under exclusive access, 100 keys",
    show(median(increments)),
    median(increments) / median(writes),
    target: "≤ 1.5"
)
report("Mutex + Dictionary look-up", show(median(lookUps)))
report("data(forKey:), unchanged suite", show(median(reads)), median(reads) / median(lookUps), target: "≤ 3")

for (index, suite) in suites.enumerated() {
    try suite.synchronize()
    let size = try suite.verify().fileSize
    let copy = root.appending(path: "live-\(sizes[index])")
    try suite.copy(to: copy)
    let live = try FileDefaults(url: copy).verify().fileSize
    report("journal, \(sizes[index]) keys", "\(size) bytes", nil, target: "≤ \(2 * live + 65_536)")
}

// What a suite takes beside the values themselves, compared with a dictionary of the same keys and values.
#if os(Linux)
let liveSuite = root.appending(path: "memory")
try suites[2].copy(to: liveSuite)
let liveBytes = try FileDefaults(url: liveSuite).verify().fileSize
let dictionaryBytes = try MemoryMeasurement.run(.dictionary, at: liveSuite)
let bound = 2 * Int(liveBytes) + dictionaryBytes
report("memory, dictionary of 10,000 keys and values", "\(dictionaryBytes) bytes")
for subject in [MemoryMeasurement.Subject.openSuite, .writtenSuite] {
    let bytes = try MemoryMeasurement.run(subject, at: liveSuite)
    report("memory, suite of 10,000 keys, \(subject.rawValue)", "\(bytes) bytes", nil, target: "≤ \(bound)")
}
#endif

var openings: [Double] = []
for round in 0..<15 {
    let copy = root.appending(path: "open-\(round)")
    try suites[2].copy(to: copy)
    openings.append(try nanoseconds(1) { _ = try FileDefaults(url: copy) } / 1e6)
}
report("opening, 10,000 keys of 112 bytes", String(format: "%9.2f ms", median(openings)), nil, target: "≤ 3 ms")

let durable = try FileDefaults(url: root.appending(path: "durable"), durability: .everyWrite)
let durableTime = try nanoseconds(200) {
    for index in 0..<200 {
        try durable.set(index % 2 == 0 ? changed : value, forKey: "k")
    }
}
report("set of 112 bytes, .everyWrite", String(format: "%9.1f µs", durableTime / 1_000))
