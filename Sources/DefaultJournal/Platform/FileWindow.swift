/// A file that is read a piece at a time, in memory whose size doesn't depend on that of the file.
struct FileWindow: ~Copyable {
    private let descriptor: Int32
    private let calls: SystemCalls
    /// The offset up to which it is read.
    let end: UInt64
    let pieceSize: Int

    private var buffer: Buffer
    /// The offset of the first byte in memory, and how many there are.
    private var start: UInt64 = 0
    private var count = 0

    /// A window of an open file, which has to stay open.
    init(
        of descriptor: Int32,
        to end: UInt64,
        calls: SystemCalls,
        pieceSize: Int = 1 << 17
    ) throws(JournalError) {
        self.descriptor = descriptor
        self.end = end
        self.calls = calls
        self.pieceSize = max(16, min(pieceSize, Int(clamping: end)))
        buffer = try Buffer(capacity: self.pieceSize)
    }

    /// The bytes in a range, fewer only if the file ends before; valid until the next call.
    ///
    /// The memory grows for a range that is longer than ``pieceSize``, and shrinks again afterwards.
    ///
    /// Without reading ahead, only the range is read if it isn't in memory, and not a whole piece.
    mutating func bytes(
        _ range: Range<UInt64>,
        readsAhead: Bool = true
    ) throws(JournalError) -> UnsafeRawBufferPointer {
        if range.lowerBound < start || range.upperBound > start + UInt64(count) {
            let count = Int(clamping: range.upperBound - range.lowerBound)
            try read(from: range.lowerBound, count: count, readsAhead: readsAhead)
        }
        let offset = Int(range.lowerBound - start)
        let end = min(Int(clamping: range.upperBound - start), count)
        return UnsafeRawBufferPointer(start: buffer.memory + offset, count: max(0, end - offset))
    }

    /// One piece from an offset on, up to another one.
    mutating func piece(from offset: UInt64, to end: UInt64) throws(JournalError) -> UnsafeRawBufferPointer {
        try bytes(offset..<min(offset + UInt64(pieceSize), end))
    }

    /// The first offset from `offset` on at which the file may have something other than zeros; nil when there are only
    /// zeros.
    ///
    /// Holes are skipped without being read.
    mutating func firstData(from offset: UInt64) throws(JournalError) -> UInt64? {
        var cursor = offset
        while cursor < end {
            guard let data = try calls.nextData(descriptor, from: cursor), data < end else { return nil }
            cursor = data
            let piece = try bytes(cursor..<min(cursor + UInt64(pieceSize), end))
            if piece.isEmpty { return nil }
            if !ByteSearch.isZero(piece) { return cursor }
            cursor += UInt64(piece.count)
        }
        return nil
    }

    private mutating func read(from offset: UInt64, count wanted: Int, readsAhead: Bool) throws(JournalError) {
        count = 0
        start = offset
        try buffer.resize(to: max(wanted, pieceSize))
        let left = Int(clamping: max(end, offset + UInt64(wanted)) - offset)
        let limit = readsAhead ? buffer.capacity : wanted
        let target = UnsafeMutableRawBufferPointer(start: buffer.memory, count: min(limit, left))
        count = try calls.read(into: target, from: descriptor, at: offset)
    }
}
