/// The result of replaying a journal, besides its operations.
struct ReplayReport: Equatable, Sendable {
    /// Offset after the last valid record.
    var validEnd = UInt64(JournalHeader.size)
    /// Where an unfinished append begins, if the file ends in one; it was never acknowledged.
    var tornTail: UInt64?
    /// Ranges of the file that hold neither valid records nor an unfinished append, in order.
    var damage: [Range<UInt64>] = []
    var records = 0
    var lastRecord: JournalMark?

    /// - Parameter start: Where the first record begins.
    init(validEnd start: UInt64 = UInt64(JournalHeader.size)) {
        validEnd = start
    }

    var isClean: Bool { damage.isEmpty && tornTail == nil }

    var damagedBytes: UInt64 {
        damage.reduce(0) { sum, range in sum + UInt64(range.count) }
    }

    mutating func addDamage(_ range: Range<UInt64>) {
        if let last = damage.last, last.upperBound == range.lowerBound {
            damage[damage.count - 1] = last.lowerBound..<range.upperBound
        } else {
            damage.append(range)
        }
    }
}

/// Sixteen bytes of a journal that differ in any other one: the header of the last record, or of the journal.
struct JournalMark: Equatable, Sendable {
    let offset: UInt64
    private let words: (UInt64, UInt64)

    /// The mark of a record that is in memory.
    init(_ record: UnsafeRawPointer, at offset: UInt64) {
        self.offset = offset
        words = record.loadUnaligned(as: (UInt64, UInt64).self)
    }

    /// Reads the mark at an offset, by default that of the journal's header.
    init(of file: Int32, at offset: UInt64 = UInt64(JournalHeader.saltOffset), calls: SystemCalls) throws(JournalError)
    {
        self.offset = offset
        words = try calls.readWords((0, 0), from: file, at: offset)
    }

    static func == (one: JournalMark, other: JournalMark) -> Bool {
        one.offset == other.offset && one.words == other.words
    }
}
