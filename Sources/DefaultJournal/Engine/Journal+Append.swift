extension Journal {
    /// Stores a value under `key`, visible to every process when the call returns.
    ///
    /// A value that is stored already is not written again.
    ///
    /// - Parameters:
    ///   - key: 1 to 65,535 bytes of UTF-8.
    ///   - prefix: The value's first byte; nil if it is in `value`.
    ///   - value: The value, at most 64 MiB.
    ///   - durability: When the write has to have reached the disk. If it can't be flushed, the call throws, but the value is
    ///     stored.
    /// - Throws: `keyInvalid`, `valueTooLarge`, or the system call that failed; nothing is stored then, unless it was the flush.
    package func set(
        key: UnsafeRawBufferPointer,
        prefix: UInt8? = nil,
        value: UnsafeRawBufferPointer,
        durability: JournalDurability = .background
    ) throws(JournalError) {
        let operation = Operation.set(key: key, prefix: prefix, value: value)
        if let problem = operation.problem { throw JournalError(problem, path: journalPath) }
        let seen = compare(key, prefix, value)
        if seen != .same {
            try beginExclusiveAccess()
            defer { endExclusiveAccess() }
            // What differed then differs still, unless an entry has changed since.
            if seen == .different(at: state.changeCount) || !entries.holds(key, prefix: prefix, value) {
                try commit(operation)
            }
        }
        // What is stored already may not have reached the disk yet.
        if durability == .everyWrite { try synchronize() }
    }

    private enum Comparison: Equatable {
        case same
        /// The key has another value, or none, when the entries have changed so many times.
        case different(at: UInt64)
        case unknown
    }

    /// Whether a value is stored, as far as that can be seen without the lock.
    private func compare(
        _ key: UnsafeRawBufferPointer,
        _ prefix: UInt8?,
        _ value: UnsafeRawBufferPointer
    ) -> Comparison {
        guard let slot = stateLock.tryLockShared() else { return .unknown }
        defer { stateLock.unlockShared(slot) }
        guard entries.holds(key, prefix: prefix, value) else { return .different(at: state.changeCount) }
        // The file must be what it was when the entries were read, as for any other write.
        let isCurrent =
            state.seesNothingNew && !state.isDamaged && !state.isUnsettled && state.refusal == nil && !isForked
            && Clock.monotonic() &- state.comparedAt < Self.writersInterval
        return isCurrent ? .same : .unknown
    }

    /// Removes the entry under `key`; writes a record even if there is none.
    package func remove(
        key: UnsafeRawBufferPointer,
        durability: JournalDurability = .background
    ) throws(JournalError) {
        try append(.remove(key: key), durability)
    }

    /// Removes every entry.
    package func removeAll(durability: JournalDurability = .background) throws(JournalError) {
        try append(.removeAll, durability)
    }

    /// Makes all changes of `batch` visible and durable together, or none of them.
    ///
    /// An empty batch writes nothing.
    package func append(
        _ batch: JournalBatch,
        durability: JournalDurability = .background
    ) throws(JournalError) {
        if let problem = batch.problem { throw JournalError(problem, path: journalPath) }
        guard !batch.isEmpty else { return }
        try beginExclusiveAccess()
        do {
            defer { endExclusiveAccess() }
            try batch.withPayload { payload throws(JournalError) in
                try commit(size: payload.count) { target in
                    if let start = payload.baseAddress { target.copyMemory(from: start, byteCount: payload.count) }
                } apply: {
                    Operation.forEach(in: payload) { apply($0, by: .thisThread) }
                }
            }
        }
        if durability == .everyWrite { try synchronize() }
    }

    private func append(_ operation: Operation, _ durability: JournalDurability) throws(JournalError) {
        if let problem = operation.problem { throw JournalError(problem, path: journalPath) }
        try beginExclusiveAccess()
        do {
            defer { endExclusiveAccess() }
            try commit(operation)
        }
        if durability == .everyWrite { try synchronize() }
    }

    private func commit(_ operation: Operation) throws(JournalError) {
        try commit(size: operation.encodedSize) { target in
            operation.encode(to: target)
        } apply: {
            apply(operation, by: .thisThread)
        }
    }

    /// Under the lock: writes a record, and applies it to the entries.
    private func commit(
        size: Int,
        encode: (UnsafeMutableRawPointer) -> Void,
        apply: () -> Void
    ) throws(JournalError) {
        assert(writer.holdsFileLock)
        writer.buffer.reserve(Record.headerSize + size + 2 * Record.alignment)
        encode(writer.buffer.memory + Record.headerSize)
        let (mark, end) = try write(payload: size)
        stateLock.lock()
        apply()
        state.advance(to: end, mark: mark, calls: calls)
        appending.store(0, ordering: .relaxed)
        stateLock.unlock()
        writer.hasWritten = true
        writer.buffer.trim()
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
        appending.store(start, ordering: .sequentiallyConsistent)
        do throws(JournalError) {
            try calls.write(UnsafeRawBufferPointer(start: memory, count: size), to: file.raw, at: start)
        } catch {
            // If it can't be cut off now, the next holder of the lock does that.
            do throws(JournalError) { try calls.truncate(file.raw, to: start) } catch {}
            appending.store(0, ordering: .releasing)
            writer.buffer.trim()
            throw error.located(in: path)
        }
        return (JournalMark(memory, at: start), start + UInt64(size))
    }

    /// Under the lock: appends to the journal that another file is about to replace it.
    ///
    /// The salt is 0 if the other one hasn't the entries that this one has.
    func appendMove(salt: UInt64, end: UInt64) throws(JournalError) {
        guard state.file.salt != 0 else { return }
        let operation = Operation.moved(salt: salt, end: end)
        operation.encode(to: writer.buffer.memory + Record.headerSize)
        let (mark, position) = try write(payload: operation.encodedSize)
        stateLock.lock()
        state.advance(to: position, mark: mark, move: (salt, end), calls: calls)
        appending.store(0, ordering: .relaxed)
        stateLock.unlock()
    }
}
