extension Journal {
    /// Excludes all other writers, of this process and of others, until the matching ``endExclusiveAccess()``.
    ///
    /// During exclusive access the entries are current and only this thread changes them. The same thread may nest
    /// calls. Readers on other threads are not blocked. Waits while another thread has exclusive access, and for other
    /// processes as long as ``JournalOptions/lockTimeout`` allows.
    package func beginExclusiveAccess() throws(JournalError) {
        do throws(JournalError) {
            try begin()
        } catch {
            if !isForked { deliverReports() }
            throw error.withDirectory(path)
        }
    }

    /// Ends the exclusive access that ``beginExclusiveAccess()`` began.
    ///
    /// The outermost call lets other writers continue, and has the journal compacted if it has grown enough.
    package func endExclusiveAccess() {
        // A child that returns from the closure in which its parent forked has no access to end: the lock is its
        // parent's.
        if isForked { return }
        assert(hasExclusiveAccess)
        writer.depth -= 1
        guard writer.depth == 0 else { return exclusive.unlock() }
        if writer.hasWritten { compactIfOverdue() }
        let needsCompaction = writer.hasWritten && needsCompaction
        let hasToFlush = writer.hasToFlush
        writer.hasToFlush = false
        release()
        if needsCompaction { scheduleCompaction() }
        if hasToFlush { flushInBackground() }
        if hasReports.load() { deliverReports() }
    }

    /// Whether the next ``endExclusiveAccess()`` lets other writers continue; with exclusive access.
    package var isOutermostAccess: Bool {
        assert(exclusive.isHeldByThisThread)
        return writer.depth == 1
    }

    package var hasExclusiveAccess: Bool { owner.load() == Threads.current && !isForked }

    package func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try beginExclusiveAccess()
        defer { endExclusiveAccess() }
        return try body()
    }

    /// Exclusive access without the compaction and reports of ``endExclusiveAccess()``; for the engine itself.
    ///
    /// - Parameters:
    ///   - followsPath: Whether to move to the suite that is at the path now when the open one was deleted or replaced,
    ///     which is an error otherwise.
    ///   - limit: How long to wait for other processes, in nanoseconds; nil for ``JournalOptions/lockTimeout``.
    ///   - comparesPath: Whether to compare the files with those at the path even if that was just done.
    ///   - body: The work.
    /// - Returns: The body's result.
    /// - Throws: Why the lock can't be had or the suite not be used, or the body's error.
    func withFilesLocked<Result: ~Copyable>(
        followsPath: Bool = true,
        waitingAtMost limit: UInt64? = nil,
        comparesPath: Bool = false,
        _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        try begin(followsPath: followsPath, waitingAtMost: limit, comparesPath: comparesPath)
        defer {
            writer.depth -= 1
            if writer.depth == 0 { release() } else { exclusive.unlock() }
        }
        return try body()
    }

    private func begin(
        followsPath: Bool = true,
        waitingAtMost limit: UInt64? = nil,
        comparesPath: Bool = false
    ) throws(JournalError) {
        // First, since a thread of the parent may have had the lock.
        if isForked { throw JournalError(.forked, path: path) }
        exclusive.lockSpinning()
        if writer.depth == 0 {
            do throws(JournalError) {
                let limit = limit ?? options.lockTimeout
                try acquire(followsPath: followsPath, waitingAtMost: limit, comparesPath: comparesPath)
            } catch {
                exclusive.unlock()
                throw error
            }
            owner.store(Threads.current)
        }
        writer.depth += 1
    }

    // Inlined, as are the other functions on a write's way that refer to this one: each that is entered after a call to
    // the system takes some 10 ns. A `set` takes 1.4 times as long as its calls to the system, and 1.5 times if none of
    // them is inlined (`Benchmarks/run`).
    @inline(__always)
    private func acquire(followsPath: Bool, waitingAtMost limit: UInt64, comparesPath: Bool) throws(JournalError) {
        if state.refusal != nil { return try becomeWritable(waitingAtMost: limit) }
        try takeFileLock(waitingAtMost: limit)
        do throws(JournalError) {
            try recoverAndCatchUp(followsPath: followsPath, waitingAtMost: limit, comparesPath: comparesPath)
        } catch {
            releaseFileLock()
            throw try orReplaced(error, in: suite)
        }
    }

    @inline(__always)  // See Journal.acquire.
    private func release() {
        writer.hasWritten = false
        owner.store(0)
        releaseFileLock()
        exclusive.unlock()
    }
}

extension Journal {
    /// Stores a value under `key`, visible to every process when the call returns.
    ///
    /// A value that is stored already is not written again.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - prefix: The value's first byte, if it isn't in `value`.
    ///   - value: The value.
    ///   - note: If it isn't 0, nothing is stored unless the value that is replaced has this note, which the new one
    ///     gets as well; see ``EntryTable/Entry/note``.
    /// - Returns: Whether the value is stored.
    /// - Throws: `keyInvalid`, `valueTooLarge`, or the system call that failed; nothing is stored then.
    @discardableResult
    package func set(
        key: UnsafeRawBufferPointer,
        prefix: UInt8? = nil,
        value: UnsafeRawBufferPointer,
        ifNoted note: UInt8 = 0
    ) throws(JournalError) -> Bool {
        let operation = Operation.set(key: key, prefix: prefix, value: value)
        if let problem = operation.problem { throw JournalError(problem, path: journalPath) }
        let isOnItsOwn = !hasExclusiveAccess
        if isOnItsOwn {
            if isStored(key, prefix, value, note: note) { return true }
            try beginExclusiveAccess()
        }
        defer { if isOnItsOwn { endExclusiveAccess() } }
        let hash = entries.hash(key)
        let entry = entries.entry(key, hash: hash)
        if note != 0, self.note(of: entry) != note { return false }
        if entry?.holds(prefix, value) == true { return true }
        do throws(JournalError) {
            try commit(size: operation.encodedSize) { target in
                operation.encode(to: target)
            } apply: {
                noteChange(operation, by: .thisThread)
                // Looked up again: should another program write to the journal, a reader may have changed the entries.
                entries.set(key, hash: hash, prefix: prefix, value, note: note)
            }
        } catch {
            throw error.withDirectory(path)
        }
        return true
    }

    /// The note of an entry, which threads without exclusive access change as well.
    private func note(of entry: EntryTable.Entry?) -> UInt8 {
        let token = stateLock.lockShared()
        defer { stateLock.unlockShared(token) }
        return entry?.note ?? 0
    }

    /// Gives a stored value a note, if it is still this one.
    package func note(_ note: UInt8, key: UnsafeRawBufferPointer, prefix: UInt8, value: UnsafeRawBufferPointer) {
        stateLock.withLock {
            guard let entry = entries.entry(key), entry.holds(prefix, value) else { return }
            entry.note = note
        }
    }

    /// Whether a value is known to be stored, without the lock: the file must be as it was when the entries were
    /// read.
    private func isStored(
        _ key: UnsafeRawBufferPointer,
        _ prefix: UInt8?,
        _ value: UnsafeRawBufferPointer,
        note: UInt8
    ) -> Bool {
        guard let token = stateLock.tryLockShared() else { return false }
        defer { stateLock.unlockShared(token) }
        guard let entry = entries.entry(key), entry.holds(prefix, value) else { return false }
        return (note == 0 || entry.note == note) && state.refusal == nil && !isForked
            && isKnownCurrent(at: Clock.monotonic())
    }

    /// Whether the entries are known to be those that a writer has to know, without a call to the system; under
    /// `stateLock`, also shared.
    func isKnownCurrent(at now: UInt64) -> Bool {
        assert(stateLock.isHeld)
        return state.isCaughtUp && !state.isDamaged && !state.lacksRecords && !state.mayBeMidCopy
            && now &- state.checkedAt < Self.writersInterval
    }

    /// Removes the entry under `key`; writes a record even if there is none.
    package func remove(key: UnsafeRawBufferPointer) throws(JournalError) { try append(.remove(key: key)) }

    func removeAll() throws(JournalError) { try append(.removeAll) }

    /// Makes all changes of `batch` visible and durable together, or none of them.
    ///
    /// An empty batch writes nothing.
    package func append(_ batch: JournalBatch) throws(JournalError) {
        if let problem = batch.problem { throw JournalError(problem, path: journalPath) }
        guard !batch.isEmpty else { return }
        try write { () throws(JournalError) in
            try batch.withPayload { payload throws(JournalError) in
                try commit(size: payload.count) { target in
                    if let start = payload.baseAddress { target.copyMemory(from: start, byteCount: payload.count) }
                } apply: {
                    Operation.forEach(in: payload) { apply($0) }
                }
            }
        }
    }

    private func append(_ operation: Operation) throws(JournalError) {
        if let problem = operation.problem { throw JournalError(problem, path: journalPath) }
        try write { () throws(JournalError) in try commit(operation) }
    }

    /// Writes with exclusive access.
    private func write(_ body: () throws(JournalError) -> Void) throws(JournalError) {
        try beginExclusiveAccess()
        defer { endExclusiveAccess() }
        try withPathInErrors(body)
    }

    private func commit(_ operation: Operation) throws(JournalError) {
        try commit(size: operation.encodedSize, successor: operation.successor) { target in
            operation.encode(to: target)
        } apply: {
            apply(operation)
        }
    }

    /// Appends to the journal that another file is about to replace it; under the lock.
    ///
    /// The salt is 0 if the other one doesn't have the entries that this one has. Until ``appending`` is 0 again, no
    /// reader of this process looks at the path: a backup that is restored there meanwhile isn't what this thread uses.
    func appendMove(salt: UInt64, end: UInt64) throws(JournalError) {
        assert(hasFileLock)
        if state.file.salt != 0 { try commit(.moved(salt: salt, end: end)) }
    }

    /// Writes a record, and applies it to the entries; under the lock.
    private func commit(
        size: Int,
        successor: Successor? = nil,
        encode: (UnsafeMutableRawPointer) -> Void,
        apply: () -> Void
    ) throws(JournalError) {
        assert(hasFileLock && state.successor == nil)
        let room = Record.headerSize + size + 2 * Record.alignment
        if room > writer.buffer.capacity { try writer.buffer.resize(to: room) }
        encode(writer.buffer.memory + Record.headerSize)
        let written = try write(payload: size)
        stateLock.lock()
        apply()
        state.advance(to: written.end, fingerprint: written.fingerprint, successor: successor)
        appending.store(successor == nil ? 0 : written.end)
        stateLock.unlock()
        writer.hasWritten = true
        if !scheduleFlush() { writer.hasToFlush = true }
    }

    /// A record that was appended, with which the state has to be advanced.
    private struct WrittenRecord {
        var fingerprint: RecordFingerprint
        var end: UInt64
    }

    /// Writes the record whose payload is in the encode buffer at the position.
    ///
    /// Until ``appending`` is 0 again, readers of this process leave the record to this thread.
    private func write(payload: Int) throws(JournalError) -> WrittenRecord {
        let file = state.file
        let start = state.position
        let memory = writer.buffer.memory
        writer.number &+= 1
        let size = Record.seal(memory, number: writer.number, payload: payload, salt: file.salt, offset: start)
        // A reader of this process that sees the record has to see this too.
        appending.store(start)
        do throws(JournalError) {
            try calls.write(UnsafeRawBufferPointer(start: memory, count: size), to: file.raw, at: start)
        } catch {
            do throws(JournalError) {
                try calls.truncate(file.raw, to: start)
            } catch {
                // The next holder of the lock cuts it off.
            }
            appending.store(0)
            throw error
        }
        return WrittenRecord(fingerprint: RecordFingerprint(memory, at: start), end: start + UInt64(size))
    }
}
