internal import DefaultJournal
public import Foundation

extension FileDefaults {
    /// What ``FileDefaults/verify()`` found.
    public struct Verification: Sendable, Hashable {
        /// The journal's size in bytes.
        public let fileSize: UInt64
        /// The number of valid records.
        public let recordCount: Int
        /// The number of values in force.
        public let valueCount: Int
        /// The parts of the journal that can't be used, as offsets in bytes.
        public let damage: [Range<UInt64>]

        /// Whether every byte is as it was written.
        public var isIntact: Bool { damage.isEmpty }
    }

    /// Reads the whole journal from the disk and checks it, changing nothing.
    ///
    /// - Returns: What was found.
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

    /// Rewrites the journal with nothing but the values in force.
    ///
    /// That happens by itself, before the journal is larger than twice its values and 64 KiB.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed``; the journal is as it was then.
    public func compact() throws(DefaultsError) {
        try onJournal { journal throws(JournalError) in try journal.compact() }
    }

    /// Makes a copy of the suite as it is at this moment, on the disk when the call returns.
    ///
    /// - Parameter url: The copy's directory, by a file URL; there must be nothing yet.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed``; there is no copy then.
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
