#if DEBUG
@testable import DefaultJournal
import JournalProbe

/// A pessimistic disk, which derives from a recorded trace the images that a power loss may have left.
///
/// Content is modelled per inode. Data that was not synchronized may be present, missing, or present in parts of 512
/// bytes; each directory entry may be present or not, regardless of the order that journaling file systems guarantee.
struct PessimisticDisk {
    /// A change that may not have reached the disk yet.
    private enum FileChange {
        case write(offset: Int, bytes: ArraySlice<UInt8>)
        case truncate(Int)
    }

    private struct File {
        var durable: [UInt8] = []
        var pending: [FileChange] = []
        /// Changes that the system dropped after a failed sync: later syncs succeed without them.
        var forgotten: [FileChange] = []
    }

    private enum NameChange {
        case set(String, file: Int)
        case remove(String)
    }

    private var files: [File] = []
    private var inodes: [UInt64: Int] = [:]
    /// The directory as the running system sees it.
    private var visible: [String: Int] = [:]
    private var durable: [String: Int] = [:]
    private var pending: [NameChange] = []
    /// New directories whose names may not be on the disk: the suite's, or some of those above it.
    private var newDirectories: [String] = []
    private let suite: String

    init(suite: String) {
        self.suite = suite
    }

    /// The number of independent changes that may or may not be on the disk.
    var pendingCount: Int {
        newDirectories.count + pending.count + files.reduce(0) { $0 + $1.pending.count + $1.forgotten.count }
    }

    mutating func apply(_ record: SystemCallProbe.RecordedCall) {
        // When a sync fails, the system marks the data as written, so that no later sync writes it.
        if record.call == .fdatasync, record.result < 0, let file = inodes[record.inode] {
            files[file].forgotten += files[file].pending
            files[file].pending = []
        }
        // A failed call has no effect, except that a failed write may have written a part.
        guard record.result >= 0 || record.call == .pwrite else { return }
        switch record.call {
        case .open:
            guard record.path.hasPrefix(suite + "/") else { return }
            let name = String(record.path.dropFirst(suite.count + 1))
            if visible[name] == nil {
                files.append(File())
                visible[name] = files.count - 1
                pending.append(.set(name, file: files.count - 1))
            }
            inodes[record.inode] = visible[name]
        case .pwrite:
            guard let file = inodes[record.inode] else { return }
            var start = 0
            while start < record.bytes.count {
                // Pieces end at the file's sector boundaries, not at the write's.
                let offset = Int(record.offset) + start
                let end = min(record.bytes.count, start + 512 - offset % 512)
                files[file].pending.append(.write(offset: offset, bytes: record.bytes[start..<end]))
                start = end
            }
        case .ftruncate:
            guard let file = inodes[record.inode] else { return }
            files[file].pending.append(.truncate(Int(record.offset)))
        case .mkdir:
            if (suite + "/").hasPrefix(record.path + "/") { newDirectories.append(record.path) }
        // A sync writes the names in a directory only through that directory, and a file's content only through that
        // file.
        case .fsync, .fdatasync:
            newDirectories.removeAll { SuiteDirectory.parent(of: $0) == record.path }
            if record.path == suite {
                for change in pending { Self.apply(change, to: &durable) }
                pending = []
            } else if let file = inodes[record.inode] {
                for change in files[file].pending { Self.apply(change, to: &files[file].durable) }
                files[file].pending = []
            }
        case .rename:
            guard record.path.hasPrefix(suite + "/"), let file = visible.removeValue(forKey: record.name) else {
                return
            }
            visible[record.target] = file
            // The two names are independent changes: a power loss may leave both, one or neither.
            pending.append(.set(record.target, file: file))
            pending.append(.remove(record.name))
        case .unlink:
            visible[record.name] = nil
            pending.append(.remove(record.name))
        default: break
        }
    }

    /// Makes one of the possible images, with the pending changes for which `keeps` returns true; nil without the
    /// suite's directory.
    func image(keeps: () -> Bool) -> [String: [UInt8]]? {
        // A directory whose name is missing takes everything in it with it.
        for _ in newDirectories where !keeps() { return nil }
        var names = durable
        for change in pending where keeps() { Self.apply(change, to: &names) }
        return names.mapValues { file in
            var bytes = files[file].durable
            for change in files[file].forgotten + files[file].pending where keeps() { Self.apply(change, to: &bytes) }
            return bytes
        }
    }

    private static func apply(_ change: NameChange, to names: inout [String: Int]) {
        switch change {
        case .set(let name, let file): names[name] = file
        case .remove(let name): names[name] = nil
        }
    }

    private static func apply(_ change: FileChange, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let size):
            bytes = size <= bytes.count ? Array(bytes[..<size]) : bytes + Array(repeating: 0, count: size - bytes.count)
        case .write(let offset, let piece):
            let end = offset + piece.count
            if bytes.count < end { bytes += Array(repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(offset..<end, with: piece)
        }
    }
}

/// The promises to a scenario, each from a certain record on.
final class PowerLossTrace: @unchecked Sendable {
    // Used on one thread only: the probe's steps run inside its calls.

    /// An attempt to set a key, from this record on.
    var attempts: [(from: Int, key: String, value: String?)] = []
    /// Entries that must be stored, or overwritten by a later attempt, from this record on.
    var promises: [(from: Int, entries: [String: String])] = []
    /// Whether all entries or none must be stored.
    var isAtomic = false
    /// The entries that the running scenario believes are stored.
    var current: [String: String] = [:]
    let probe = SystemCallProbe()

    func set(_ journal: Journal, _ key: String, _ value: String, _ durability: JournalDurability) throws {
        attempts.append((probe.records.count, key, value))
        try journal.set(key, value, durability: durability)
        current[key] = value
        if durability == .everyWrite { promise() }
    }

    func remove(_ journal: Journal, _ key: String) throws {
        attempts.append((probe.records.count, key, nil))
        try journal.remove(key)
        current[key] = nil
    }

    func synchronize(_ journal: Journal) throws {
        try journal.synchronize()
        promise()
    }

    /// Notes that the current entries must be stored from now on.
    func promise() {
        promises.append((probe.records.count, current))
    }

    /// A problem with the entries found after a power loss at a record; nil if there is none.
    func problem(at record: Int, found: Journal) -> String? {
        guard let promise = promises.last(where: { $0.from <= record }) else { return nil }
        let later = attempts.filter { $0.from >= promise.from && $0.from <= record }
        for key in Set(promise.entries.keys).union(attempts.map(\.key)) {
            // Any value of an attempt since the promise may have reached the disk.
            var allowed: Set<String?> = [promise.entries[key]]
            for attempt in later where attempt.key == key { allowed.insert(attempt.value) }
            if !allowed.contains(found[key]) {
                return "\(key) is \(found[key] ?? "missing") instead of \(allowed)"
            }
        }
        return nil
    }
}
#endif
