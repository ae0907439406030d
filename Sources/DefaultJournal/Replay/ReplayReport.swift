/// The result of replaying a journal, besides its operations.
package struct ReplayReport: Equatable, Sendable {
    /// Offset after the last valid record.
    package var validEnd: UInt64
    /// Where an unfinished append begins, if the file ends in one; it was never acknowledged.
    package var tornTail: UInt64?
    /// Ranges of the file that hold neither valid records nor an unfinished append, in order.
    package var damage: [Range<UInt64>] = []
    /// Valid records.
    package var records = 0

    /// Whether every byte belonged to a valid record.
    package var isClean: Bool { damage.isEmpty && tornTail == nil }

    /// Bytes in the damaged ranges.
    package var damagedBytes: UInt64 {
        damage.reduce(0) { sum, range in sum + UInt64(range.count) }
    }

    /// Adds a damaged range, joined to the last one if they touch.
    mutating func addDamage(_ range: Range<UInt64>) {
        if let last = damage.last, last.upperBound == range.lowerBound {
            damage[damage.count - 1] = last.lowerBound..<range.upperBound
        } else {
            damage.append(range)
        }
    }
}
