/// Something that no caller's error can tell, because it was found or happened outside of their calls.
package enum JournalReport: Sendable, Hashable {
    /// Damage was found in a journal; all that was valid is kept.
    case damaged(Damage)
    /// Bytes that had been committed are missing at the journal's end: it was cut, or the power went before a sync.
    case shortened(path: String, bytes: UInt64)
    /// The suite was deleted or replaced while it was open; what stands at its path now is used.
    case replaced(path: String)
    /// What was written is not on the disk yet, because flushing in the background failed. It is tried again.
    case flushFailed(JournalError)
    /// The journal could not be compacted. It grows on, and compaction is tried again when it has doubled.
    case compactionFailed(JournalError)
    /// A read could not catch up with what others wrote, and went on with what was known.
    case catchUpFailed(JournalError)

    /// What was lost to damage, and where the damaged file went.
    package struct Damage: Sendable, Hashable {
        /// The journal.
        package var path: String
        /// Bytes that could not be used.
        package var bytes: UInt64
        /// The parts of the damaged file that could not be used.
        package var ranges: [Range<UInt64>]
        /// Records that were valid and are kept.
        package var keptRecords: Int
        /// The copy of the damaged file; nil when it could not be made, and the journal was left as it is.
        package var copy: String?
        /// Why there is no copy.
        package var copyError: JournalError?
    }
}
