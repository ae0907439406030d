/// A journal that is about to be complete, with one record for each entry; written in large pieces.
final class NewJournal {
    let file: JournalFile
    /// Its name until it is complete.
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
        isFirst: Bool = false
    ) throws(JournalError) {
        calls = directory.calls
        let id = try calls.status(file.raw).id
        self.file = JournalFile(file, in: directory, id: id, salt: UInt64.random(in: 1...UInt64.max))
        self.name = name
        buffer = try Buffer(capacity: Self.capacity)
        JournalHeader(salt: self.file.salt).encode(to: buffer.memory, isFirst: isFirst)
    }

    /// Begins a journal that is written under the suite's lock, beside the one that is in use.
    static func make(in directory: SuiteDirectory, isFirst: Bool = false) throws(JournalError) -> NewJournal {
        let name = SuiteDirectory.replacementName
        do throws(JournalError) {
            let opened = try directory.createNewFile(name)
            return try NewJournal(opened.file, named: name, in: directory, isFirst: isFirst)
        } catch {
            throw error.withFileName(name)
        }
    }

    var end: UInt64 { written + UInt64(filled) }

    var isEmpty: Bool { end == UInt64(JournalHeader.size) }

    func append(_ table: borrowing EntryTable) throws(JournalError) {
        try table.forEach { entry throws(JournalError) in
            let operation = Operation.set(key: entry.key, value: entry.value)
            try append(payload: operation.encodedSize) { operation.encode(to: $0) }
        }
    }

    /// Writes a record with those operations of another one that are wanted, which stay together.
    func append(_ payload: UnsafeRawBufferPointer, where isWanted: (Operation) -> Bool) throws(JournalError) {
        var wanted: [Operation] = []
        Operation.forEach(in: payload) { operation in
            if isWanted(operation) { wanted.append(operation) }
        }
        if !wanted.isEmpty { try append(wanted) }
    }

    private func append(_ operations: [Operation]) throws(JournalError) {
        let payload = operations.reduce(0) { $0 + $1.encodedSize }
        try append(payload: payload) { target in
            var target = target
            for operation in operations {
                operation.encode(to: target)
                target += operation.encodedSize
            }
        }
    }

    private func append(payload: Int, encode: (UnsafeMutableRawPointer) -> Void) throws(JournalError) {
        let size = Record.headerSize + payload + 2 * Record.alignment
        if filled + size > Self.capacity {
            try finish()
            try buffer.resize(to: max(size, Self.capacity))
        }
        let start = buffer.memory + filled
        encode(start + Record.headerSize)
        // The salt is new, so that no other journal has these bytes.
        filled += Record.seal(start, number: 0, payload: payload, salt: file.salt, offset: end)
    }

    /// Writes what is in the buffer.
    func finish() throws(JournalError) {
        try calls.write(UnsafeRawBufferPointer(start: buffer.memory, count: filled), to: file.raw, at: written)
        written += UInt64(filled)
        filled = 0
    }

    /// Writes what is in the buffer, and puts the file on the disk.
    func sync() throws(JournalError) {
        try finish()
        try calls.sync(file.raw)
        syncedEnd = end
    }
}
