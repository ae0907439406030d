/// Sixteen bytes that no other journal has at the same offset: the header of the last record, or the salt and
/// checksum in the journal's header.
struct RecordFingerprint: Equatable, Sendable {
    static let size: UInt64 = 16
    let offset: UInt64
    private let words: Words

    private struct Words: Equatable, BitwiseCopyable {
        var first: UInt64 = 0
        var second: UInt64 = 0
    }

    /// The fingerprint of a record that is in memory.
    init(_ record: UnsafeRawPointer, at offset: UInt64) {
        self.offset = offset
        words = record.loadUnaligned(as: Words.self)
    }

    /// Reads the fingerprint at an offset, by default that of the journal's header.
    init(of file: Int32, at offset: UInt64 = UInt64(JournalHeader.saltOffset), calls: SystemCalls) throws(JournalError)
    {
        self.offset = offset
        words = try calls.readWords(Words(), from: file, at: offset)
    }
}
