extension Journal {
    /// Stores `value` under `key`, visible to every process when the call returns.
    ///
    /// - Parameters:
    ///   - key: 1 to 65,535 bytes of UTF-8.
    ///   - value: At most 64 MiB.
    ///   - durability: When the write has to have reached the disk.
    /// - Throws: `keyInvalid`, `valueTooLarge`, or the system call that failed; nothing is stored then.
    package func set(
        key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer,
        durability: JournalDurability = .background
    ) throws(JournalError) {
        try set(key: key, prefix: nil, value: value, durability: durability) {
            false
        } apply: {
            index.set(key: key, value: value)
        }
    }

    /// Stores a value whose first byte is separate from the others; the caller applies the entry to the index itself.
    ///
    /// - Parameters:
    ///   - key: 1 to 65,535 bytes of UTF-8.
    ///   - prefix: The value's first byte; nil if it is in `value`.
    ///   - value: The other bytes: at most 64 MiB.
    ///   - durability: When the write has to have reached the disk.
    ///   - isStored: Whether the index has this value already, so that nothing has to be written. Called with exclusive
    ///     access; the index does not change between this call and `apply`.
    ///   - apply: Has the effect and the result of ``JournalIndex/set(key:value:)`` with the whole value. Called under the
    ///     state lock, when the write can't fail any more.
    /// - Throws: As ``set(key:value:durability:)``.
    package func set(
        key: UnsafeRawBufferPointer,
        prefix: UInt8?,
        value: UnsafeRawBufferPointer,
        durability: JournalDurability,
        isStored: () -> Bool,
        apply: () -> Int?
    ) throws(JournalError) {
        try Self.check(key: key, path: journalPath)
        let payload = Operation.setSize(key: key, prefix: prefix, value: value)
        let size = payload - Operation.setOverhead
        guard size - key.count <= Operation.maximumValue else {
            throw JournalError(.valueTooLarge(bytes: size - key.count), path: journalPath)
        }
        try beginWriting(durability)
        defer { endExclusiveAccess() }
        guard !isStored() else {
            // It may not have reached the disk yet.
            if durability == .everyWrite { try synchronizeFiles() }
            return
        }
        writer.buffer.reserve(Record.headerSize + payload)
        let target = writer.buffer.memory + Record.headerSize
        Operation.encodeSet(key: key, prefix: prefix, value: value, to: target)
        try commit(payload: payload, durability) { visitor in visitor.countSet(size: size, replaced: apply()) }
    }

    /// Removes the entry under `key`; writes a record even if there is none.
    package func remove(
        key: UnsafeRawBufferPointer,
        durability: JournalDurability = .background
    ) throws(JournalError) {
        try Self.check(key: key, path: journalPath)
        try appendRemoval(.remove(key: key), durability)
    }

    /// Removes every entry.
    package func removeAll(durability: JournalDurability = .background) throws(JournalError) {
        try appendRemoval(.removeAll, durability)
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
        try beginWriting(durability)
        defer { endExclusiveAccess() }
        try batch.withPayload { payload throws(JournalError) in
            writer.buffer.reserve(Record.headerSize + payload.count)
            if let start = payload.baseAddress {
                (writer.buffer.memory + Record.headerSize).copyMemory(from: start, byteCount: payload.count)
            }
            try commit(payload: payload.count, durability) { visitor in
                Replay.visit(payload, with: &visitor)
            }
        }
    }

    private func appendRemoval(_ operation: Operation, _ durability: JournalDurability) throws(JournalError) {
        try beginWriting(durability)
        defer { endExclusiveAccess() }
        let payload = operation.encodedSize
        writer.buffer.reserve(Record.headerSize + payload)
        operation.encode(to: writer.buffer.memory + Record.headerSize)
        try commit(payload: payload, durability) { visitor in visitor.visit(operation) }
    }

    /// Begins exclusive access for a write.
    private func beginWriting(_ durability: JournalDurability) throws(JournalError) {
        try beginExclusiveAccess()
        // An earlier sync that failed may have lost more than this write: durability can't be promised until a rewrite.
        guard durability == .everyWrite, needsRewrite else { return }
        do throws(JournalError) {
            try synchronizeFiles()
        } catch {
            endExclusiveAccess()
            throw error
        }
    }

    /// Writes the record whose payload is in the encode buffer, publishes it, and applies it to the index.
    private func commit(
        payload: Int,
        _ durability: JournalDurability,
        apply: (inout IndexVisitor) -> Void
    ) throws(JournalError) {
        let start = writer.published.end
        let size = Record.headerSize + payload
        let end = start + UInt64(size)
        let memory = writer.buffer.memory
        Record.seal(memory, payload: payload, salt: state.journalID, offset: start)
        do throws(JournalError) {
            let bytes = UnsafeRawBufferPointer(start: memory, count: size)
            try calls.write(bytes, to: state.journal.raw, at: start, path: journalPath)
            if durability == .everyWrite { try syncBeforeCommit() }
            var next = writer.published
            next.end = end
            if durability == .everyWrite { next.syncedEnd = end }
            try publishCommit(next)
        } catch {
            rollBack(to: start)
            throw error
        }
        stateLock.lock()
        var visitor = IndexVisitor(index: index, liveBytes: state.liveBytes)
        apply(&visitor)
        state.liveBytes = visitor.liveBytes
        finishCommit()
        stateLock.unlock()
        writer.hasWritten = true
        writer.buffer.trim()
        if durability == .background { scheduleFlush() }
    }

    private func syncBeforeCommit() throws(JournalError) {
        do throws(JournalError) {
            try calls.syncData(state.journal.raw, path: journalPath)
        } catch {
            noteFailedSync()
            throw error
        }
        try syncRename()
    }

    /// Removes what a failed write left after the committed end.
    ///
    /// If the removal fails too, the next access repeats it. Only if this process ends before that, the write may be found by
    /// the one that opens the suite next.
    private func rollBack(to end: UInt64) {
        writer.buffer.trim()
        do throws(JournalError) {
            try calls.truncate(state.journal.raw, to: end, path: journalPath)
        } catch {
            writer.unremoved = (state.journalID, end)
        }
    }

    static func check(key: UnsafeRawBufferPointer, path: @autoclosure () -> String) throws(JournalError) {
        guard key.count > 0, key.count <= Operation.maximumKey else {
            throw JournalError(.keyInvalid(bytes: key.count), path: path())
        }
    }
}
