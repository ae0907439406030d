/// The result of replaying a journal, besides its operations.
struct ReplayReport: Equatable, Sendable {
    /// The offset after the last valid record.
    var validEnd: UInt64
    /// Where an unfinished append begins, if the file ends in one; it was never acknowledged.
    var tornTail: UInt64?
    /// Ranges of the file that hold neither valid records nor an unfinished append, in order.
    var damage: [Range<UInt64>] = []
    var records = 0
    var lastRecord: RecordFingerprint?

    var isClean: Bool { damage.isEmpty && tornTail == nil }

    var damagedBytes: UInt64 { damage.reduce(0) { sum, range in sum + UInt64(range.count) } }

    mutating func addDamage(_ range: Range<UInt64>) {
        if let last = damage.last, last.upperBound == range.lowerBound {
            damage[damage.count - 1] = last.lowerBound..<range.upperBound
        } else {
            damage.append(range)
        }
    }
}
