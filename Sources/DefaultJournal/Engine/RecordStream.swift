/// Writes a whole journal, with one record for each entry, in large pieces.
struct RecordStream: ~Copyable {
    private let descriptor: Int32
    private let calls: SystemCalls
    private let salt: UInt64
    private var buffer = EncodeBuffer()
    private var filled = 0
    private var written: UInt64 = 0
    private static let capacity = 1 << 17

    /// Starts with a header.
    init(salt: UInt64, to descriptor: Int32, calls: SystemCalls) {
        self.descriptor = descriptor
        self.calls = calls
        self.salt = salt
        buffer.reserve(Self.capacity)
        JournalHeader(salt: salt).encode(to: buffer.memory)
        filled = JournalHeader.size
    }

    /// The offset after what was added.
    var end: UInt64 { written + UInt64(filled) }

    /// Adds a record for each entry of a table.
    mutating func append(_ table: borrowing EntryTable) throws(JournalError) {
        try table.forEach { entry throws(JournalError) in
            let operation = Operation.set(key: entry.key, value: entry.value)
            let start = try reserve(operation.encodedSize)
            operation.encode(to: start + Record.headerSize)
            seal(start, payload: operation.encodedSize)
        }
    }

    /// Adds a record with an encoded payload.
    mutating func append(payload: UnsafeRawBufferPointer) throws(JournalError) {
        guard let source = payload.baseAddress else { return }
        let start = try reserve(payload.count)
        (start + Record.headerSize).copyMemory(from: source, byteCount: payload.count)
        seal(start, payload: payload.count)
    }

    /// Writes what is left in the buffer.
    mutating func finish() throws(JournalError) {
        try calls.write(UnsafeRawBufferPointer(start: buffer.memory, count: filled), to: descriptor, at: written)
        written += UInt64(filled)
        filled = 0
    }

    private mutating func reserve(_ payload: Int) throws(JournalError) -> UnsafeMutableRawPointer {
        let size = Record.headerSize + payload + 2 * Record.alignment
        if filled + size > Self.capacity {
            try finish()
            buffer.reserve(max(size, Self.capacity))
        }
        return buffer.memory + filled
    }

    private mutating func seal(_ start: UnsafeMutableRawPointer, payload: Int) {
        filled += Record.seal(start, payload: payload, salt: salt, offset: end)
    }
}
