import BenchmarkSupport
import Default
import Foundation

// The second process of the benchmarks that need one: `BenchmarkPeer WHAT PATH`. It prints a line when it is ready, and
// ends when its standard input does, so that no process outlives the benchmark.

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    print("usage: BenchmarkPeer default|sqlite|lmdb|locked-file|stamps PATH")
    exit(2)
}
let path = arguments[2]

/// Sets values forever, on its own thread.
func setContinually(_ set: @escaping @Sendable (_ index: Int) throws -> Void) throws {
    try set(0)
    Thread.detachNewThread {
        do {
            var index = 1
            while true {
                try set(index)
                index += 1
            }
        } catch {
            print(error)
            exit(1)
        }
    }
}

/// Waits for one byte; false when there are no more.
func readByte() -> Bool {
    FileHandle.standardInput.readData(ofLength: 1).count == 1
}

func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

switch arguments[1] {
case "default":
    let suite = try FileDefaults(url: URL(filePath: path))
    try setContinually { try suite.set(Raw.value($0), forKey: "setting.1") }
    say("ready")
    while readByte() {}
case "sqlite":
    let store = try SQLiteStore(path: path)
    try setContinually { try store.set(Raw.value($0), "setting.1") }
    say("ready")
    while readByte() {}
case "lmdb":
    let store = try LMDBStore(path: path)
    try setContinually { try store.set(Raw.value($0), "setting.1") }
    say("ready")
    while readByte() {}
case "locked-file":
    let file = try LockedFile(path: path)
    try setContinually { _ in file.append() }
    say("ready")
    while readByte() {}
case "stamps":
    let suite = try FileDefaults(url: URL(filePath: path))
    say("ready")
    while readByte() {
        try suite.set(Moment.now, forKey: "stamp")
    }
default:
    say("There is no \(arguments[1]).")
    exit(2)
}
