/// A file that is read a piece at a time, in memory whose size doesn't depend on that of the file.
struct FileWindow: ~Copyable {
    let descriptor: Int32
    let calls: SystemCalls
    let path: String
    /// How much is read at once.
    let size: Int

    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// The offset of the first byte in memory, and how many there are.
    private var start: UInt64 = 0
    private var count = 0

    /// - Parameters:
    ///   - descriptor: The file, which has to stay open.
    ///   - calls: The system calls.
    ///   - path: The file, for errors.
    ///   - size: How much is read at once.
    /// - Throws: An error when there is no memory.
    init(of descriptor: Int32, calls: SystemCalls, path: String, size: Int = 1 << 20) throws(JournalError) {
        self.descriptor = descriptor
        self.calls = calls
        self.path = path
        self.size = size
        capacity = size
        memory = try SystemCalls.allocate(size, isMapped: true, path: path)
    }

    /// The bytes in a range, fewer only if the file ends before; valid until the next call.
    ///
    /// The memory grows for a range that is longer than ``size``, and shrinks again afterwards.
    mutating func bytes(_ range: Range<UInt64>) throws(JournalError) -> UnsafeRawBufferPointer {
        if range.lowerBound < start || range.upperBound > start + UInt64(count) {
            try read(from: range.lowerBound, count: Int(clamping: range.upperBound - range.lowerBound))
        }
        let offset = Int(range.lowerBound - start)
        let end = min(Int(clamping: range.upperBound - start), count)
        return UnsafeRawBufferPointer(start: memory + offset, count: max(0, end - offset))
    }

    /// One piece from an offset on, up to another one.
    mutating func piece(from offset: UInt64, to end: UInt64) throws(JournalError) -> UnsafeRawBufferPointer {
        try bytes(offset..<min(offset + UInt64(size), end))
    }

    private mutating func read(from offset: UInt64, count wanted: Int) throws(JournalError) {
        count = 0
        start = offset
        let needed = max(wanted, size)
        if needed != capacity {
            let new = try SystemCalls.allocate(needed, isMapped: true, path: path)
            SystemCalls.deallocate(memory, count: capacity, isMapped: true)
            memory = new
            capacity = needed
        }
        let target = UnsafeMutableRawBufferPointer(start: memory, count: capacity)
        count = try calls.read(into: target, from: descriptor, at: offset, path: path)
    }

    deinit {
        SystemCalls.deallocate(memory, count: capacity, isMapped: true)
    }
}

extension FileWindow {
    /// The first offset from `offset` on, and before `end`, at which the file may have something else than zeros; nil when
    /// there are only zeros.
    ///
    /// Holes are skipped without being read.
    mutating func firstData(from offset: UInt64, to end: UInt64) throws(JournalError) -> UInt64? {
        var cursor = offset
        while cursor < end {
            guard let data = try calls.nextData(descriptor, from: cursor, path: path), data < end else { return nil }
            cursor = data
            let piece = try piece(from: cursor, to: end)
            if piece.isEmpty { return nil }
            if !ByteSearch.isZero(piece) { return cursor }
            cursor += UInt64(piece.count)
        }
        return nil
    }
}
