internal import DefaultJournal
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension FileDefaults {
    /// The result of ``FileDefaults/verify()``.
    public struct Verification: Sendable, Hashable {
        /// The journal's size in bytes.
        public let fileSize: UInt64
        /// The number of valid records.
        public let recordCount: Int
        /// The number of current values.
        public let valueCount: Int
        /// The parts of the journal that can't be used, as offsets in bytes.
        public let damage: [Range<UInt64>]

        /// Whether the journal has no damage.
        public var isIntact: Bool { damage.isEmpty }
    }

    /// Reads the whole journal from the disk and checks it, without changing it.
    ///
    /// - Returns: The result of the check.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed`` when the journal can't be read.
    public func verify() throws(DefaultsError) -> Verification {
        let found = try onJournal { journal throws(JournalError) in try journal.verify() }
        return Verification(
            fileSize: found.fileBytes,
            recordCount: found.records,
            valueCount: found.entries,
            damage: found.damage
        )
    }

    /// Rewrites the journal so that it contains only the current values.
    ///
    /// This happens automatically in the background, when the journal gets larger than twice its values plus 512 KiB.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/storeReadOnly`` or ``DefaultsError/Code/storeFailed``. The journal is unchanged then.
    public func compact() throws(DefaultsError) {
        try onJournal { journal throws(JournalError) in try journal.compact() }
    }

    /// Copies the suite in its current state; when the call returns, the copy is on the disk.
    ///
    /// - Parameter url: The file URL of the copy's directory, which must not exist yet.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed``. There is no copy then.
    public func copy(to url: URL) throws(DefaultsError) {
        let path = try SuiteLocation.directory(url).path()
        try onJournal { journal throws(JournalError) in try journal.copy(to: path) }
    }

    private func onJournal<Result>(
        _ body: (Journal) throws(JournalError) -> Result
    ) throws(DefaultsError) -> Result {
        let journal = try suite.open().journal
        do {
            return try body(journal)
        } catch {
            throw .failing(error, in: storeDescription)
        }
    }
}
