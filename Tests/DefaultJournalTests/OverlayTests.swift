#if os(Linux)
import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

/// Suites in an overlayfs, as containers have them: the first write to a file of a lower layer makes a copy of it.
@Suite("A suite of a lower layer", .waits, .enabled(if: Overlay.isAvailable))
struct OverlayTests {
    private let options = JournalOptions(automaticMaintenance: false)

    @Test("that a process has opened shows it later writes, although they go to another file")
    func copyUp() throws {
        let overlay = try Overlay()
        defer { overlay.unmount() }
        let suite = overlay.path + "/suite"
        try Journal.openUnregistered(overlay.lower + "/suite", options).set("key", "old")
        try overlay.mount()

        var reading = options
        reading.isReadOnly = true
        // One engine that reads at a time of its choice, and one that is notified.
        let reader = try Journal.openUnregisteredForReading(suite, reading)
        let watcher = try Journal.openUnregisteredForReading(suite, reading)
        let found = Locked<[String?]>([])
        watcher.startWatching { [weak watcher] in
            let value = watcher?["key"]
            found.withLock { $0.append(value) }
        }
        defer { watcher.stopWatching() }
        #expect(reader["key"] == "old" && watcher["key"] == "old")
        #expect(overlay.copiedFiles.isEmpty)

        // The first write makes the copy, and the later ones go to it.
        for number in 0..<20 {
            let written = try Helper(["set", suite, "key", "\(number)"]).finish()
            #expect(written.status == 0, "\(written.output)")
            // Notes a comparison, so that only the look can find the change.
            reader.noteComparison()
            #expect(reader["key"] == "\(number)")
            try wait(for: "the watch") { found.withLock { $0.last == "\(number)" } }
        }
        #expect(overlay.copiedFiles.contains("suite/journal"))

        let writer = try Journal.openUnregistered(suite, options)
        for _ in 0..<2 {
            try writer.compact()
            try writer.set("key", "compacted")
            reader.noteComparison()
            #expect(reader["key"] == "compacted")
            try writer.set("key", "and written")
            reader.noteComparison()
            #expect(reader["key"] == "and written")
        }
        #expect(reader.all == writer.all)
        #expect(try Journal.openUnregistered(overlay.lower + "/suite", options)["key"] == "old")
    }
}

/// An overlayfs of a lower and an upper layer.
private struct Overlay {
    let lower: String
    let path: String
    private let upper: String
    private let changes: String
    // The layers need their own place: an overlayfs can't have its layers in another overlayfs or in FUSE.
    private let directory = TemporaryDirectory(in: "/dev/shm")

    static let isAvailable: Bool = {
        guard Machine.canMount, let overlay = try? Overlay(), (try? overlay.mount()) != nil else { return false }
        overlay.unmount()
        return true
    }()

    init() throws {
        let folders = ["lower", "overlay", "upper", "changes"].map { [directory] in directory.path + "/" + $0 }
        (lower, path, upper, changes) = (folders[0], folders[1], folders[2], folders[3])
        for folder in folders {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
    }

    func mount() throws {
        let layers = "lowerdir=\(lower),upperdir=\(upper),workdir=\(changes)"
        guard try runCommand(["mount", "-t", "overlay", "overlay", "-o", layers, path]) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    func unmount() {
        do { #expect(try runCommand(["umount", "--lazy", path]) == 0) } catch { Issue.record(error) }
    }

    /// The files that the upper layer has a copy or a newer version of.
    var copiedFiles: [String] {
        FileManager.default.enumerator(atPath: upper)?.compactMap { $0 as? String }.filter { $0.contains("/") } ?? []
    }
}
#endif
