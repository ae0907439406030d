import Default
import Foundation

/// The largest sizes of a suite's files when it can't be compacted in time.
struct FileSizes {
    func measure() throws {
        print("== Sizes")
        do {
            let folder = Folder()
            var worst = 0
            for _ in 0..<10 {
                try PeerProcess(.once, folder.suite).wait()
                worst = max(worst, size(folder.suite))
            }
            print("a program that writes 1 MB once and ends, ten times: at most \(worst / 1_000) kB")
        }
        for bytes in [64_000, 1_000_000, 16_000_000] {
            let folder = Folder()
            let peer = try PeerProcess(.fills, folder.suite, Double(bytes))
            print("one value of \(bytes / 1_000) kB in a loop: at most \(try largest(folder.suite, seconds: 4))")
            peer.end()
        }
        let folder = Folder()
        let compactor = try PeerProcess(.compacts, folder.suite)
        usleep(500_000)
        let peer = try PeerProcess(.fills, folder.suite, 64_000)
        // Stops the compactor at a moment when the file that it writes exists.
        var isStopped = false
        for _ in 0..<2_000 where !isStopped {
            compactor.stop()
            isStopped = FileManager.default.fileExists(atPath: folder.suite + "/journal.new")
            if !isStopped { compactor.goOn() }
        }
        let state = isStopped ? "" : " (not in its work)"
        let size = try largest(folder.suite, seconds: 10)
        print("the same with 64 kB beside a compactor that is stopped\(state): at most \(size)")
        peer.end()
        compactor.end()
    }

    private func size(_ suite: String, _ name: String = "journal") -> Int {
        var status = stat()
        return stat(suite + "/" + name, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The largest sizes of the journal and of the file that a compaction writes.
    private func largest(_ suite: String, seconds: Int) throws -> String {
        var (journal, other) = (0, 0)
        for _ in 0..<(seconds * 2_000) {
            journal = max(journal, size(suite))
            other = max(other, size(suite, "journal.new"), size(suite, "journal.fresh"))
            usleep(500)
        }
        return "\(journal / 1_000) + \(other / 1_000) kB"
    }
}
