import BenchmarkSupport
import Default
import Foundation

/// The work of another process on a suite, until it is ended.
enum Peer: String {
    /// Holds the lock for five milliseconds, again and again.
    case neighbor
    /// The same in LMDB.
    case lmdbNeighbor = "lmdb-neighbor"
    /// Sets a value repeatedly for a number of seconds, and prints how long each call took.
    case sets
    /// The same in LMDB.
    case lmdbSets = "lmdb-sets"
    /// Increments a counter for a number of seconds, in a suite whose every write is synced.
    case counts
    /// Appends to a file under its lock and syncs it, for a number of seconds.
    case bareSyncs = "bare-syncs"
    /// Sets a value every 20 milliseconds, for a number of seconds.
    case seldom
    /// Writes a megabyte of values once, and ends.
    case once
    /// Sets a value of a given size without a pause.
    case fills
    /// Writes and flushes alternately without a pause.
    case flushes
    /// Compacts without a pause.
    case compacts

    func run(_ path: String, _ figure: Double) throws {
        switch self {
        case .lmdbNeighbor:
            let store = try LMDBStore(path: path)
            while true { try store.hold { spin(nanoseconds: 5_000_000) } }
        case .lmdbSets:
            let store = try LMDBStore(path: path)
            try printTimes(for: figure) { try store.set(Raw.value($0), "setting.1") }
        case .counts:
            let suite = try FileDefaults(url: URL(filePath: path), durability: .everyWrite)
            try printTimes(for: figure) { _ in
                try suite.transaction { try suite.set(suite.integer(forKey: "count") + 1, forKey: "count") }
            }
        case .bareSyncs:
            let file = try LockedFile(path: path)
            try printTimes(for: figure) { _ in
                file.append()
                file.sync()
            }
        case .neighbor, .sets, .seldom, .once, .fills, .flushes, .compacts:
            try run(FileDefaults(url: URL(filePath: path)), figure)
        }
    }

    private func run(_ suite: FileDefaults, _ figure: Double) throws {
        switch self {
        case .neighbor:
            while true { try suite.transaction { spin(nanoseconds: 5_000_000) } }
        case .sets:
            try printTimes(for: figure) { try suite.set(Raw.value($0), forKey: "setting.1") }
        case .seldom:
            try printTimes(for: figure, pause: 20_000) { try suite.set(Raw.value($0), forKey: "setting.2") }
        case .once:
            for number in 0..<1_000 {
                try suite.set(Data((0..<1_000).map { _ in UInt8.random(in: 0...255) }), forKey: "value.\(number)")
            }
        case .fills:
            var value = Data(repeating: 0x61, count: Int(figure))
            for number in 0... {
                value[0] = UInt8(truncatingIfNeeded: number)
                try suite.set(value, forKey: "large")
                if figure < 100_000 { usleep(1_000) }
            }
        case .flushes:
            for number in 0... {
                try suite.set(number, forKey: "flushed")
                try suite.synchronize()
            }
        case .compacts:
            while true { try suite.compact() }
        default:
            break
        }
    }

    private func spin(nanoseconds: Int) {
        let end = Moment.now + nanoseconds
        while Moment.now < end {}
    }

    /// Prints, at the end, how many nanoseconds each call took, or that it failed.
    private func printTimes(for seconds: Double, pause: UInt32 = 0, _ body: (Int) throws -> Void) throws {
        let end = Moment.now + Int(seconds * 1e9)
        var times: [Int] = []
        var failures = 0
        var number = 0
        while Moment.now < end {
            let begin = Moment.now
            do { try body(number) } catch { failures += 1 }
            times.append(Moment.now - begin)
            number += 1
            if pause > 0 { usleep(pause) }
        }
        let text = times.map { "\($0)" }.joined(separator: "\n") + "\nfailures \(failures)\n"
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
