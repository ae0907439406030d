import Default
public import Foundation
import SettingsValues
import Synchronization

/// The suites of the configuration home, or those in given directories.
public final class FileSuites: PageSource {
    private let directories: [URL]
    private let inspections = Mutex<[String: (stamp: FileStamp, found: FileDefaults.Inspection)]>([:])

    /// - Parameter directories: The suites' directories; those of the configuration home if there are none.
    public init(_ directories: [URL] = []) {
        self.directories = directories
    }

    /// The suites, with what a check of their files says.
    public func suites() throws -> [SuiteSummary] {
        if !directories.isEmpty { return directories.map { summary(of: $0, id: $0.plainPath) } }
        let home = try SuiteDirectory.home
        return try SuiteDirectory.names(in: home).map { bytes in
            guard let name = String(validating: bytes, as: UTF8.self) else {
                let name = String(escaping: bytes)
                let note = ConditionNote(
                    .warning,
                    "Name",
                    "The name is not UTF-8, and no program can open the suite by it."
                )
                return SuiteSummary(id: "\0" + name, name: name, notes: [note])
            }
            return summary(of: SuiteDirectory.url(ofSuite: name, in: home), id: name)
        }
    }

    /// Opens a suite for reading; it is opened for writing when something is stored.
    public func suite(_ id: String) throws -> any PageSuite {
        let directory =
            if directories.isEmpty {
                // A name, as the list has it: never a path that leads elsewhere.
                try SuiteDirectory.names(in: SuiteDirectory.home).contains(Array(id.utf8))
                    ? SuiteDirectory.url(ofSuite: id, in: try SuiteDirectory.home) : nil
            } else {
                directories.first { $0.plainPath == id }
            }
        guard let directory else { throw ToolError.noSuite("There is no suite of this name any more.") }
        return try FileSuite(at: directory, in: self)
    }

    private func summary(of directory: URL, id: String) -> SuiteSummary {
        let name = directory.deletingPathExtension().lastPathComponent
        var summary = SuiteSummary(id: id, name: name)
        let stamp = FileStamp(of: directory.appending(path: "journal"))
        summary.lastChange = stamp?.modified
        summary.size = stamp.map { UInt64($0.size) }
        summary.notes = SuiteDirectory.access(to: directory)
        do {
            let found = try inspection(of: directory)
            summary.keyCount = found.canListKeys ? found.keyCount : nil
            summary.notes += found.notes
        } catch {
            summary.notes.append(ConditionNote(.problem, "Unreadable", "\(error)"))
        }
        return summary
    }

    /// What a check of the files says, made again when they have changed.
    fileprivate func inspection(of directory: URL) throws -> FileDefaults.Inspection {
        let stamp = FileStamp(of: directory.appending(path: "journal"), besides: directory)
        if let stamp, let known = inspections.withLock({ $0[directory.plainPath] }), known.stamp == stamp {
            return known.found
        }
        let found = try FileDefaults.inspect(at: directory)
        if let stamp { inspections.withLock { $0[directory.plainPath] = (stamp, found) } }
        return found
    }
}

/// A suite of files: read without a change to it, until something is stored.
private final class FileSuite: PageSuite {
    let store: any DefaultsStore & Sendable
    private let directory: URL
    private let suites: FileSuites
    private let writable = Mutex<FileDefaults?>(nil)

    init(at directory: URL, in suites: FileSuites) throws {
        store = try FileDefaults(readingFrom: directory, sourcesOf: SuiteDirectory.sourceName(of: directory))
        self.directory = directory
        self.suites = suites
    }

    func writableStore() throws -> any DefaultsStore & Sendable {
        try writable.withLock { writable in
            guard SuiteDirectory.isSuite(directory) else {
                throw ToolError("Nothing was stored: the suite was deleted.")
            }
            // This repairs a damaged suite, as each program does that opens it.
            let store =
                try writable ?? FileDefaults(url: directory, sourcesOf: SuiteDirectory.sourceName(of: directory))
            writable = store
            return store
        }
    }

    func condition() -> [ConditionNote] {
        var notes = SuiteDirectory.access(to: directory)
        do {
            let found = try suites.inspection(of: directory)
            notes += found.notes
            notes.append(found.contentsNote)
        } catch {
            notes.append(ConditionNote(.problem, "Unreadable", "\(error)"))
        }
        return notes + SuiteUsers(of: directory).notes
    }
}

/// What a file is compared by, to find out whether it has changed.
private struct FileStamp: Equatable {
    let modified: Date
    let size: Int
    private var others: [Int] = []

    init?(of file: URL, besides directory: URL? = nil) {
        var status = stat()
        guard stat(file.plainPath, &status) == 0 else { return nil }
        modified = Date(timeIntervalSince1970: Self.seconds(status))
        size = Int(status.st_size)
        others = [Int(status.st_ino)]
        // Backups that come and go change the directory.
        if let directory, stat(directory.plainPath, &status) == 0 {
            others.append(Int(Self.seconds(status) * 1e6))
        }
    }

    private static func seconds(_ status: stat) -> Double {
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension FileDefaults.Inspection {
    fileprivate var notes: [ConditionNote] {
        var notes: [ConditionNote] = []
        if let version = formatVersion, !canListKeys {
            let text = "The suite has format version \(version), which this program can't read."
            notes.append(ConditionNote(.problem, "Newer", text))
        }
        if isIntact {
            notes.append(ConditionNote(.good, "Intact", "Each record of the journal was checked: nothing is damaged."))
        } else {
            let places = damage.map { "\($0.lowerBound) to \($0.upperBound)" }.joined(separator: ", ")
            let text = """
                Bytes \(places) of the journal can't be used. The values that are intact are shown. The next program that opens \
                the suite to change it backs up the journal and goes on with them; so does this page, when it stores something.
                """
            notes.append(ConditionNote(.problem, "Damaged", text))
        }
        if unfinishedBytes > 0 {
            let text =
                "The last \(unfinishedBytes) bytes are of a write that goes on, or was cut short; it counts for nothing."
            notes.append(ConditionNote(.information, "Unfinished", text))
        }
        for copy in damagedCopies {
            let text = """
                A damaged journal was backed up as \(copy.name), with \(copy.fileSize) bytes. "settings salvage" shows what it holds \
                that the suite lacks, restores that, and removes the backup.
                """
            notes.append(ConditionNote(.warning, "Backup", text))
        }
        return notes
    }

    fileprivate var contentsNote: ConditionNote {
        let text =
            "\(fileSize) bytes; \(liveSize) bytes with the current values alone. Values: \(keyCount). Records: \(recordCount)."
        return ConditionNote(.information, "Journal", text)
    }
}
