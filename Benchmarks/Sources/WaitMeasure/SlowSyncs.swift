import BenchmarkSupport
import Default
import Foundation

/// The time of a write on a slow disk, which the script simulates with syncs of six seconds.
struct SlowSyncs {
    func measure() throws {
        print("== Writes beside slow syncs")
        for role in [Peer.counts, .flushes, .compacts, .fills] {
            let folder = Folder()
            let suite = try FileDefaults(url: URL(filePath: folder.suite))
            try suite.set(1, forKey: "first")
            let peer = try PeerProcess(role, folder.suite, role == .counts ? 25 : 6_000)
            sleep(1)
            let times = try PeerProcess(.seldom, folder.suite, 25).times()
            peer.end()
            print("beside one that \(role.rawValue): \(times.description)")
        }
    }
}
