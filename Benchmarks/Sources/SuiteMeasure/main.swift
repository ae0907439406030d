import Default
import Foundation

// The size of a FileDefaults, on the disk and in memory, compared with its contents:
//
//     swift run -c release --package-path Benchmarks SuiteMeasure [DIRECTORY]
//
// DIRECTORY is the folder for the files; the temporary directory by default. Times are measured by DefaultBenchmarks.

#if os(Linux)
try MemoryMeasurement.measureIfAsked()
#endif

let parent = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : NSTemporaryDirectory()
let root = URL(filePath: parent).appending(path: "suite-measure-\(ProcessInfo.processInfo.processIdentifier)")
try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: root) }

func report(_ what: String, _ bytes: Int, most: Int? = nil) {
    let bound = most.map { "  at most \($0)\($0 < bytes ? ", missed" : "")" } ?? ""
    print(what.padding(toLength: 54, withPad: " ", startingAt: 0) + "\(bytes) bytes" + bound)
}

let values = [Data(repeating: 0x61, count: 112), Data(repeating: 0x62, count: 112)]
for size in [10, 100, 10_000] {
    let suite = try FileDefaults(url: root.appending(path: "keys-\(size)"))
    for index in 0..<300_000 {
        try suite.set(values[index / size % 2], forKey: "setting.\(index % size)")
    }
    try suite.synchronize()
    let fileSize = try suite.verify().fileSize
    let copy = root.appending(path: "live-\(size)")
    try suite.copy(to: copy)
    let live = try FileDefaults(url: copy).verify().fileSize
    report("journal, \(size) keys, after 300,000 writes", Int(fileSize), most: Int(2 * live + 65_536))
}

#if os(Linux)
let suite = root.appending(path: "live-10000")
let liveBytes = Int(try FileDefaults(url: suite).verify().fileSize)
let dictionaryBytes = try MemoryMeasurement.run(.dictionary, at: suite)
report("memory, dictionary of 10,000 keys and values", dictionaryBytes)
for subject in [MemoryMeasurement.Subject.openSuite, .writtenSuite] {
    let bytes = try MemoryMeasurement.run(subject, at: suite)
    report("memory, suite of 10,000 keys, \(subject.rawValue)", bytes, most: 2 * liveBytes + dictionaryBytes)
}
#endif
