extension Journal {
    /// Stores a value under `key`, visible to every process when the call returns.
    ///
    /// A value that is stored already is not written again. The prefix is the value's first byte, if it isn't in `value`.
    ///
    /// - Throws: `keyInvalid`, `valueTooLarge`, or the system call that failed; nothing is stored then, unless it was the flush.
    package func set(
        key: UnsafeRawBufferPointer,
        prefix: UInt8? = nil,
        value: UnsafeRawBufferPointer,
        durability: JournalDurability = .background
    ) throws(JournalError) {
        let operation = Operation.set(key: key, prefix: prefix, value: value)
        if let problem = operation.problem { throw JournalError(problem, path: journalPath) }
        if isStored(key, prefix, value) {
            // It may not have reached the disk yet.
            if durability == .everyWrite { try synchronize() }
            return
        }
        try write(durability) { () throws(JournalError) in
            if !entries.holds(key, prefix: prefix, value) { try commit(operation) }
        }
    }

    /// Whether a value is known to be stored, without the lock: the file must be what it was when the entries were read.
    private func isStored(_ key: UnsafeRawBufferPointer, _ prefix: UInt8?, _ value: UnsafeRawBufferPointer) -> Bool {
        guard let slot = stateLock.tryLockShared() else { return false }
        defer { stateLock.unlockShared(slot) }
        return entries.holds(key, prefix: prefix, value) && state.seesNothingNew && !state.isDamaged
            && !state.isUnsettled && state.refusal == nil && !isForked
            && Clock.monotonic() &- state.comparedAt < Self.writersInterval
    }

    /// Removes the entry under `key`; writes a record even if there is none.
    package func remove(key: UnsafeRawBufferPointer, durability: JournalDurability = .background) throws(JournalError) {
        try append(.remove(key: key), durability)
    }

    func removeAll(durability: JournalDurability = .background) throws(JournalError) {
        try append(.removeAll, durability)
    }

    /// Makes all changes of `batch` visible and durable together, or none of them.
    ///
    /// An empty batch writes nothing.
    package func append(_ batch: JournalBatch, durability: JournalDurability = .background) throws(JournalError) {
        if let problem = batch.problem { throw JournalError(problem, path: journalPath) }
        guard !batch.isEmpty else { return }
        try write(durability) { () throws(JournalError) in
            try batch.withPayload { payload throws(JournalError) in
                try commit(size: payload.count) { target in
                    if let start = payload.baseAddress { target.copyMemory(from: start, byteCount: payload.count) }
                } apply: {
                    Operation.forEach(in: payload) { apply($0, by: .thisThread) }
                }
            }
        }
    }

    private func append(_ operation: Operation, _ durability: JournalDurability) throws(JournalError) {
        if let problem = operation.problem { throw JournalError(problem, path: journalPath) }
        try write(durability) { () throws(JournalError) in try commit(operation) }
    }

    /// Writes with exclusive access; if then it has to be on the disk, waits for that without it.
    private func write(_ durability: JournalDurability, _ body: () throws(JournalError) -> Void) throws(JournalError) {
        try beginExclusiveAccess()
        do {
            defer { endExclusiveAccess() }
            try located(body)
        }
        if durability == .everyWrite { try synchronize() }
    }

    private func commit(_ operation: Operation) throws(JournalError) {
        try commit(size: operation.encodedSize, move: operation.move) { target in
            operation.encode(to: target)
        } apply: {
            apply(operation, by: .thisThread)
        }
    }

    /// Under the lock: appends to the journal that another file is about to replace it.
    ///
    /// The salt is 0 if the other one hasn't the entries that this one has.
    func appendMove(salt: UInt64, end: UInt64) throws(JournalError) {
        if state.file.salt != 0 { try commit(.moved(salt: salt, end: end)) }
    }

    /// Under the lock: writes a record, and applies it to the entries.
    private func commit(
        size: Int,
        move: (salt: UInt64, end: UInt64)? = nil,
        encode: (UnsafeMutableRawPointer) -> Void,
        apply: () -> Void
    ) throws(JournalError) {
        assert(writer.holdsFileLock)
        let room = Record.headerSize + size + 2 * Record.alignment
        if room > writer.buffer.capacity { try writer.buffer.resize(to: room) }
        encode(writer.buffer.memory + Record.headerSize)
        let (mark, end) = try write(payload: size)
        stateLock.lock()
        apply()
        state.advance(to: end, mark: mark, move: move, calls: calls)
        appending.store(0)
        stateLock.unlock()
        writer.hasWritten = true
        // If there is no memory for a smaller one, the larger one stays.
        if writer.buffer.capacity > 1 << 18 { try? writer.buffer.resize(to: Writer.bufferSize) }
        if !scheduleFlush() { writer.hasToFlush = true }
    }

    /// Writes the record whose payload is in the encode buffer at the position.
    ///
    /// - Returns: The record's mark and end, with which the state has to be advanced. Until ``appending`` is 0 again, readers of
    ///   this process leave the record to this thread.
    private func write(payload: Int) throws(JournalError) -> (JournalMark, end: UInt64) {
        let (file, start) = (state.file, state.position)
        let memory = writer.buffer.memory
        let size = Record.seal(memory, payload: payload, salt: file.salt, offset: start)
        // A reader of this process that sees the record has to see this too.
        appending.store(start)
        do throws(JournalError) {
            try calls.write(UnsafeRawBufferPointer(start: memory, count: size), to: file.raw, at: start)
        } catch {
            // If it can't be cut off now, the next holder of the lock does that.
            do throws(JournalError) { try calls.truncate(file.raw, to: start) } catch {}
            appending.store(0)
            throw error
        }
        return (JournalMark(memory, at: start), start + UInt64(size))
    }
}
