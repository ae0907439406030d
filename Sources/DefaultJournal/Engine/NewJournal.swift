/// A journal that is about to be complete, with one record for each entry; written in large pieces.
final class NewJournal {
    let file: JournalFile
    /// Its name until then.
    let name: String
    private let calls: SystemCalls
    private var buffer: Buffer
    private var filled = JournalHeader.size
    private var written: UInt64 = 0
    /// The end when it was last synced.
    private(set) var syncedEnd: UInt64 = 0
    private static let capacity = 1 << 17

    /// Starts with a header, in an open file without content.
    init(
        _ file: consuming OwnedDescriptor,
        named name: String,
        in directory: SuiteDirectory,
        calls: SystemCalls
    ) throws(JournalError) {
        let id = try calls.status(file.raw).id
        self.file = JournalFile(file, in: directory, id: id, salt: UInt64.random(in: 1...UInt64.max))
        self.name = name
        self.calls = calls
        buffer = try Buffer(capacity: Self.capacity)
        JournalHeader(salt: self.file.salt).encode(to: buffer.memory)
    }

    /// Writes a journal with these entries beside the one that is in use, and syncs it.
    static func make(
        of table: borrowing EntryTable,
        in directory: SuiteDirectory,
        calls: SystemCalls
    ) throws(JournalError) -> NewJournal {
        let name = SuiteDirectory.replacementName
        let opened = try directory.createFile(name, calls: calls)
        do throws(JournalError) {
            try calls.truncate(opened.file.raw, to: 0)
            let journal = try NewJournal(opened.file, named: name, in: directory, calls: calls)
            try journal.append(table)
            try journal.sync()
            return journal
        } catch {
            throw error.about(name)
        }
    }

    var end: UInt64 { written + UInt64(filled) }

    func append(_ table: borrowing EntryTable) throws(JournalError) {
        try table.forEach { entry throws(JournalError) in
            let operation = Operation.set(key: entry.key, value: entry.value)
            try append(operation.encodedSize) { operation.encode(to: $0) }
        }
    }

    func append(payload: UnsafeRawBufferPointer) throws(JournalError) {
        try append(payload.count) { target in
            if let source = payload.baseAddress { target.copyMemory(from: source, byteCount: payload.count) }
        }
    }

    func finish() throws(JournalError) {
        try calls.write(UnsafeRawBufferPointer(start: buffer.memory, count: filled), to: file.raw, at: written)
        written += UInt64(filled)
        filled = 0
    }

    func sync() throws(JournalError) {
        try finish()
        try calls.sync(file.raw)
        syncedEnd = end
    }

    private func append(_ payload: Int, encode: (UnsafeMutableRawPointer) -> Void) throws(JournalError) {
        let size = Record.headerSize + payload + 2 * Record.alignment
        if filled + size > Self.capacity {
            try finish()
            try buffer.resize(to: max(size, Self.capacity))
        }
        let start = buffer.memory + filled
        encode(start + Record.headerSize)
        filled += Record.seal(start, payload: payload, salt: file.salt, offset: end)
    }
}
