import Foundation

@testable import DefaultJournal
import JournalProbe

/// A directory for one test, removed with the last reference.
final class TemporaryDirectory: Sendable {
    let path: String

    init(in folder: String = NSTemporaryDirectory()) {
        // The path in the system's spelling.
        path = (folder.hasSuffix("/") ? String(folder.dropLast()) : folder) + "/journal-test-" + UUID().uuidString
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            preconditionFailure("The test has no place to work in: \(error)")
        }
    }

    deinit { removeDirectory(atPath: path) }

    /// The path at which a suite may be created.
    var suite: String { path + "/suite" }
    var journal: String { suite + "/journal" }

    /// Whether a look at a file here reads mapped memory; otherwise it asks the system for the file's size.
    var isMapped: Bool {
        guard let mounts = try? String(contentsOfFile: "/proc/mounts", encoding: .utf8) else { return true }
        let fields = mounts.split(separator: "\n").map { $0.split(separator: " ") }
        let mine = fields.filter { $0[1] == "/" || (path + "/").hasPrefix($0[1] + "/") }
        let type = mine.last { mount in mine.allSatisfy { $0[1].count <= mount[1].count } }?[2] ?? ""
        return ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs"].contains(type)
    }

    func bytes(_ name: String = "suite/journal") throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }

    private struct NotWritten: Error {
        let name: String
    }

    func write(_ bytes: [UInt8], to name: String = "suite/journal") throws {
        // Data's own method syncs the file, which is too slow for tests that write thousands.
        guard let file = fopen(path + "/" + name, "w") else { throw NotWritten(name: name) }
        let count = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, count == bytes.count else { throw NotWritten(name: name) }
    }

    /// Overwrites a file without giving it another inode; without an offset the file gets only this content.
    func overwriteInPlace(_ name: String, at offset: UInt64? = nil, with bytes: [UInt8]) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path + "/" + name))
        defer { file.closeFile() }
        try file.seek(toOffset: offset ?? 0)
        try file.write(contentsOf: Data(bytes))
        if offset == nil { try file.truncate(atOffset: UInt64(bytes.count)) }
    }

    /// The inode that the journal's name refers to.
    var journalInode: UInt64 {
        get throws {
            let attributes = try FileManager.default.attributesOfItem(atPath: journal)
            return (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
        }
    }

    func names(in folder: String = "suite") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)
    }

    var damagedCopies: [String] {
        get throws { try names().filter { $0.hasPrefix("journal.damaged-") } }
    }
}

/// A collector of a journal's reports.
final class ReportCollector: Sendable {
    private let reports = Locked<[JournalReport]>([])

    var all: [JournalReport] { reports.withLock { $0 } }

    var damage: [JournalReport.Damage] {
        all.compactMap { if case .damaged(let damage) = $0 { damage } else { nil } }
    }

    var options: JournalOptions { JournalOptions(report: { report in self.reports.withLock { $0.append(report) } }) }

    #if DEBUG
    /// The collector's options with a probe, and a background worker that only this journal uses.
    func options(_ probe: SystemCallProbe) -> JournalOptions {
        var options = options
        options.calls = SystemCalls(probe: probe)
        options.worker = BackgroundWorker()
        return options
    }
    #endif
}

extension JournalOptions {
    /// These options ten seconds later, so that the engine doesn't mistake a test's journal for a copy in progress.
    var later: JournalOptions {
        var options = self
        #if DEBUG
        options.calls = SystemCalls(probe: SystemCallProbe(fileTimeAdvance: 10_000_000_000))
        #endif
        return options
    }
}
