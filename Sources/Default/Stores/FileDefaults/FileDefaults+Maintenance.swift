internal import DefaultJournal
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension FileDefaults {
    /// Reads the whole journal from the disk and checks it, without changing it.
    ///
    /// Unlike ``inspect(at:)``, it knows how much of the journal was whole when this process last used it: what is
    /// missing there is damage.
    ///
    /// - Returns: What was found.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed`` when the journal can't be read; ``DefaultsError/Code/storeReadOnly`` when
    ///   there is no suite, and none can be created.
    public func verify() throws(DefaultsError) -> Inspection {
        let journal = try suite.open().journal
        return try Inspection(found: wrappingErrors { () throws(JournalError) in try journal.verify() })
    }

    /// Rewrites the journal so that it contains only the current values.
    ///
    /// This happens automatically in the background, before the journal gets larger than twice its values plus 512 KiB.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/storeReadOnly`` or ``DefaultsError/Code/storeFailed``. The journal is unchanged then.
    public func compact() throws(DefaultsError) {
        let journal = try suite.open().journal
        try wrappingErrors { () throws(JournalError) in try journal.compact() }
    }

    /// Copies the suite in its current state; when the call returns, the copy is on the disk.
    ///
    /// - Parameter url: The file URL of the copy's directory, which must not exist yet.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed``. No copy is left then.
    public func copy(to url: URL) throws(DefaultsError) {
        let path = try SuiteLocation.directory(url).path()
        let journal = try suite.open().journal
        try wrappingErrors { () throws(JournalError) in try journal.copy(to: path) }
    }
}

extension FileDefaults {
    /// The result of ``verify()`` or ``inspect(at:)``.
    public struct Inspection: Sendable, Equatable, CustomStringConvertible {
        /// The backup of a damaged journal, in the suite's directory.
        public struct DamagedCopy: Sendable, Equatable {
            /// The file's name.
            public let name: String
            /// The file's size in bytes.
            public let fileSize: UInt64
        }

        fileprivate let found: SuiteInspection

        /// The version of the journal's format; nil when the journal's header can't be read, or there is no journal.
        public var formatVersion: Int? { found.formatVersion.map { Int(clamping: $0) } }
        /// The number of keys that have a value, as in ``FileDefaults/storedKeys()``.
        public var keyCount: Int { found.settings }
        /// The number of valid records.
        public var recordCount: Int { found.records }
        /// The journal's size in bytes; 0 when there is no journal.
        public var fileSize: UInt64 { found.fileBytes }
        /// The size in bytes that the journal would have with only the current values.
        public var liveSize: UInt64 { found.liveBytes }
        /// The parts of the journal that can't be used, as offsets in bytes.
        public var damage: [Range<UInt64>] { found.damage }
        /// The number of bytes at the journal's end of a write that was cut short; 0 when there is none.
        ///
        /// It was never acknowledged, and is not damage.
        public var unfinishedBytes: UInt64 { found.tornBytes }
        /// The backups of damaged journals, sorted by name, which begins with the time in UTC.
        public var damagedCopies: [DamagedCopy] {
            found.damagedCopies.map { DamagedCopy(name: $0.name, fileSize: $0.bytes) }
        }
        /// Whether the keys can be listed by opening the suite: not if a later version of the library wrote it, nor if
        /// nothing is left of the header of a journal.
        public var canListKeys: Bool { found.isReadable }

        /// Whether nothing of the journal is damaged.
        public var isIntact: Bool { found.isIntact }

        /// A line in English that says all of this; its wording may change.
        public var description: String {
            var parts = ["keys: \(keyCount)", "records: \(recordCount)"]
            parts.append("bytes: \(fileSize), \(liveSize) of them live")
            parts.append(formatVersion.map { "format: \($0)" } ?? "no header that can be read")
            if unfinishedBytes > 0 { parts.append("unfinished bytes: \(unfinishedBytes)") }
            parts += damage.map { "damaged: \($0)" }
            parts += damagedCopies.map { "\($0.name): \($0.fileSize) bytes" }
            return parts.joined(separator: ", ")
        }
    }

    /// Checks the files of a suite without opening it.
    ///
    /// Nothing is changed, created, repaired or locked, and the suite need not be writable; root can check every user's
    /// suite. Opening a suite repairs what is damaged instead. The call reads the whole journal, in pieces: it takes as
    /// much memory as the keys and the longest value. It may be called on any thread, and while any process uses the
    /// suite. The result is the suite's state at some time during the call then; it may include a write whose call
    /// hasn't returned.
    ///
    /// - Parameter url: The file URL of the suite's directory.
    /// - Returns: What was found. A journal of a later format is described by its version and size only.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` when the directory is missing,
    ///   when it can't be read, or when a file in it is not what it has to be.
    public static func inspect(at url: URL) throws(DefaultsError) -> Inspection {
        let path = try SuiteLocation.directory(url).path()
        do {
            return Inspection(found: try Journal.inspect(at: path))
        } catch {
            throw .inspecting(error)
        }
    }
}
