/// The result of a look at a suite's files.
package struct SuiteInspection: Sendable, Equatable {
    /// The backup of a damaged journal.
    package struct DamagedCopy: Sendable, Equatable {
        package let name: String
        package let bytes: UInt64
    }

    /// The journal's format; nil when no header can be read.
    package internal(set) var formatVersion: UInt32?
    /// The journal's size.
    package internal(set) var fileBytes: UInt64 = 0
    /// The size of a journal that has only the live entries.
    package internal(set) var liveBytes = UInt64(JournalHeader.size)
    package internal(set) var records = 0
    /// Live entries, without the library's own.
    package internal(set) var settings = 0
    /// The parts of the journal that can't be used.
    package internal(set) var damage: [Range<UInt64>] = []
    /// Bytes of an append that was cut short, at the journal's end.
    package internal(set) var tornBytes: UInt64 = 0
    package internal(set) var damagedCopies: [DamagedCopy] = []
    /// Whether the records can be read: not those of a later format, nor those of a journal whose salt is lost.
    package internal(set) var isReadable = true

    /// Whether every byte is as it was written.
    package var isIntact: Bool { damage.isEmpty }
}

extension SuiteInspection {
    mutating func findDamagedCopies(in suite: SuiteDirectory) throws(JournalError) {
        let names = try suite.calls.names(in: suite.raw)
        for name in names.sorted() where name.hasPrefix(SuiteDirectory.damagedPrefix) {
            guard let status = try suite.calls.status(of: name, in: suite.raw) else { continue }
            damagedCopies.append(DamagedCopy(name: name, bytes: status.size))
        }
    }
}
