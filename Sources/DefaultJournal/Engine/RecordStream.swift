/// Writes a whole journal, with one record for each entry, in large pieces.
struct RecordStream: ~Copyable {
    private let descriptor: Int32
    private let calls: SystemCalls
    private let path: String
    private let salt: UInt64
    private var buffer = EncodeBuffer()
    private var filled = 0
    private var written: UInt64 = 0
    private static let capacity = 1 << 17

    /// Starts with the header, or in the middle of a journal at `offset`.
    init(header: JournalHeader, to descriptor: Int32, at offset: UInt64 = 0, calls: SystemCalls, path: String) {
        self.descriptor = descriptor
        self.calls = calls
        self.path = path
        salt = header.salt
        written = offset
        buffer.reserve(Self.capacity)
        if offset == 0 {
            header.encode(to: buffer.memory)
            filled = JournalHeader.size
        }
    }

    /// The offset after what was written; records that are still in the buffer follow it.
    var end: UInt64 { written }

    /// Adds a record with one operation.
    mutating func append(_ operation: Operation) throws(JournalError) {
        let start = try reserve(operation.encodedSize)
        operation.encode(to: start + Record.headerSize)
        seal(start, payload: operation.encodedSize)
    }

    /// Adds a record with an encoded payload.
    mutating func append(payload: UnsafeRawBufferPointer) throws(JournalError) {
        guard let source = payload.baseAddress else { return }
        let start = try reserve(payload.count)
        (start + Record.headerSize).copyMemory(from: source, byteCount: payload.count)
        seal(start, payload: payload.count)
    }

    /// Adds a record for each entry of `table`.
    mutating func append(_ table: borrowing LiveTable) throws(JournalError) {
        for index in 0..<table.entryCount {
            if let operation = table.entry(index) { try append(operation) }
        }
    }

    /// Writes what is left in the buffer, and returns the offset of the end.
    mutating func finish() throws(JournalError) -> UInt64 {
        let bytes = UnsafeRawBufferPointer(start: buffer.memory, count: filled)
        try calls.write(bytes, to: descriptor, at: written, path: path)
        written += UInt64(filled)
        filled = 0
        return written
    }

    private mutating func reserve(_ payload: Int) throws(JournalError) -> UnsafeMutableRawPointer {
        let size = Record.headerSize + payload
        if filled + size > Self.capacity {
            _ = try finish()
            buffer.reserve(max(size, Self.capacity))
        }
        return buffer.memory + filled
    }

    private mutating func seal(_ start: UnsafeMutableRawPointer, payload: Int) {
        Record.seal(start, payload: payload, salt: salt, offset: written + UInt64(filled))
        filled += Record.headerSize + payload
    }
}
