import BenchmarkSupport
import Default
import Foundation

/// The time that writers wait for others that write at the same time.
struct LockWaits {
    func measure() throws {
        print("== Waits at the lock")
        for count in [1, 3] {
            let folder = Folder()
            let neighbors = try (0..<count).map { _ in try PeerProcess(.neighbor, folder.suite) }
            sleep(1)
            let times = try PeerProcess(.seldom, folder.suite, 6).times()
            neighbors.forEach { $0.end() }
            print("a set each 20 ms beside \(count) that have the lock for 5 ms: \(times.description)")
        }
        do {
            let folder = Folder()
            let neighbor = try PeerProcess(.lmdbNeighbor, folder.path + "/lmdb")
            sleep(1)
            let times = try PeerProcess(.lmdbSets, folder.path + "/lmdb", 3).times()
            neighbor.end()
            print("LMDB, sets without a pause beside one of 5 ms: \(times.description)")
        }
        for role in [Peer.sets, .lmdbSets] {
            let folder = Folder()
            let path = role == .sets ? folder.suite : folder.path + "/lmdb"
            let peers = try (0..<8).map { _ in try PeerProcess(role, path, 4) }
            let times = try peers.map { try $0.times() }
            let all = times.reduce(Times(), +)
            let counts = times.map(\.all.count)
            print(
                "\(role == .sets ? "" : "LMDB, ")eight processes in loops: \(all.all.count / 4) sets a second "
                    + "(of one \(counts.min() ?? 0) to \(counts.max() ?? 0)), \(all.description)"
            )
        }
        for role in [Peer.counts, .bareSyncs] {
            let folder = Folder()
            let path = role == .counts ? folder.suite : folder.path + "/bare"
            let peers = try (0..<3).map { _ in try PeerProcess(role, path, 6) }
            let times = try peers.map { try $0.times() }.reduce(Times(), +)
            let name = role == .counts ? "that count, each write synced" : "with the bare calls of that"
            print("three processes \(name): \(times.description)")
        }
        try measureThreads()
    }

    private func measureThreads() throws {
        let folder = Folder()
        let suite = try FileDefaults(url: URL(filePath: folder.suite))
        let lock = NSLock()
        nonisolated(unsafe) var worst: [Int] = []
        nonisolated(unsafe) var counts: [Int] = []
        let group = DispatchGroup()
        let end = Moment.now + 5_000_000_000
        for thread in 0..<200 {
            group.enter()
            let body = Thread {
                var longest = 0
                var count = 0
                while Moment.now < end {
                    let begin = Moment.now
                    try? suite.set(Raw.value(count), forKey: "thread.\(thread)")
                    longest = max(longest, Moment.now - begin)
                    count += 1
                }
                lock.withLock {
                    worst.append(longest)
                    counts.append(count)
                }
                group.leave()
            }
            body.start()
        }
        group.wait()
        worst.sort()
        counts.sort()
        print(
            "200 threads in loops: \(counts.reduce(0, +) / 5) sets a second (of one \(counts[0]) to \(counts[199])), "
                + "the longest wait of a thread: median \(worst[100] / 1_000) µs, worst \(worst[199] / 1_000) µs"
        )
    }
}
