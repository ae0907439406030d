/// An event that no caller's error covers, because it happened outside of their calls.
package enum JournalReport: Sendable {
    /// Damage was found in a journal; all that was valid is kept.
    case damaged(Damage)
    /// Committed bytes are missing at the journal's end: it was truncated, or power was lost before a sync.
    case shortened(path: String, bytes: UInt64)
    /// All users may write to the suite's directory, and so may replace its files.
    case writableByOthers(path: String)
    /// A call has waited for a second for another process, which is given where the system names it.
    case waiting(path: String, process: Int32?)
    /// The suite was deleted or replaced while it was open; the one at its path now is used.
    case replaced(path: String)
    /// The last writes are not on the disk yet, because flushing in the background failed. It is tried again.
    case flushFailed(JournalError)
    /// The file system syncs no directories, so a loss of power may take a new journal's name, and so the journal.
    case nameNotSynced(JournalError)
    /// The journal could not be compacted. It keeps growing, and compaction is tried again when it has doubled.
    case compactionFailed(JournalError)
    /// A write had to compact the journal, and so to wait for the disk, since no compaction in the background has
    /// ended: because of a process that has begun one, where that is known.
    case compactedByWrite(path: String, process: Int32?)
    /// A read could not catch up with the writes of others, and used the entries in memory.
    case catchUpFailed(JournalError)
    /// The system refused to watch the suite for other processes' changes.
    ///
    /// They are looked for twice a second if `isPolled`; otherwise the next read or write notices them.
    case watchRefused(JournalError, isPolled: Bool)

    /// Damage in a journal, and the backup of the damaged file.
    package struct Damage: Sendable {
        package internal(set) var path: String
        /// Bytes that could not be used.
        package internal(set) var bytes: UInt64
        /// The parts of the damaged file that could not be used.
        var ranges: [Range<UInt64>]
        /// Records that were valid and are kept.
        package internal(set) var keptRecords: Int
        /// The copy of the damaged file; nil when it could not be made, and the journal was left as it is.
        package internal(set) var copy: String?
        package internal(set) var copyError: JournalError?
        /// The keys that have another value now, or none, than this process had before it read the journal again,
        /// sorted.
        package internal(set) var changedKeys: [String]
        /// The keys whose newest value, or whose removal, may have been in a damaged record, in the order of the file.
        ///
        /// The names were read from damaged records, so they may be damaged too.
        package internal(set) var possibleKeys: [String]

        /// How many keys of each kind are named.
        package static let keyLimit = 20
    }
}

#if DEBUG
// For tests.
extension JournalReport: Equatable {}
extension JournalReport.Damage: Equatable {}
#endif
