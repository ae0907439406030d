extension Journal {
    /// Excludes all other writers, of this process and of others, until the matching ``endExclusiveAccess()``.
    ///
    /// During exclusive access the entries are current and only this thread changes it. The same thread may nest calls.
    /// Readers on other threads are not blocked. Waits while another thread has exclusive access, and for other
    /// processes as long as ``JournalOptions/lockTimeout`` allows.
    package func beginExclusiveAccess() throws(JournalError) {
        do throws(JournalError) {
            try begin()
        } catch {
            if !isForked { deliverReports() }
            throw error.located(in: path)
        }
    }

    /// Ends what ``beginExclusiveAccess()`` began.
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

    /// With exclusive access: whether the next ``endExclusiveAccess()`` lets other writers continue.
    package var isOutermostAccess: Bool { writer.depth == 1 }

    package var hasExclusiveAccess: Bool { owner.load() == Threads.current && !isForked }

    package func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try beginExclusiveAccess()
        defer { endExclusiveAccess() }
        return try body()
    }

    /// Exclusive access without the compaction and reports of ``endExclusiveAccess()``; for the engine itself.
    ///
    /// With `followsPath` it moves to the suite that is at the path now when the open one was deleted or replaced;
    /// without, that is an error. It waits for other processes, for ``JournalOptions/lockTimeout`` if no limit is
    /// given, and may be asked to compare the files with those at the path even if that was just done.
    func withFilesLocked<Result: ~Copyable>(
        followsPath: Bool = true,
        waitingAtMost limit: UInt64? = nil,
        compares: Bool = false,
        _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        try begin(followsPath: followsPath, waitingAtMost: limit, compares: compares)
        defer {
            writer.depth -= 1
            if writer.depth == 0 { release() } else { exclusive.unlock() }
        }
        return try body()
    }

    private func begin(
        followsPath: Bool = true,
        waitingAtMost limit: UInt64? = nil,
        compares: Bool = false
    ) throws(JournalError) {
        // First, since a thread of the parent may have had the lock.
        if isForked { throw JournalError(.forked, path: path) }
        exclusive.lockSpinning()
        if writer.depth == 0 {
            do throws(JournalError) {
                try acquire(followsPath: followsPath, waitingAtMost: limit ?? options.lockTimeout, compares: compares)
            } catch {
                exclusive.unlock()
                throw error
            }
            owner.store(Threads.current)
        }
        writer.depth += 1
    }

    private func acquire(followsPath: Bool, waitingAtMost limit: UInt64, compares: Bool) throws(JournalError) {
        if state.refusal != nil { return try becomeWritable(waitingAtMost: limit) }
        try takeFileLock(waitingAtMost: limit)
        do throws(JournalError) {
            try recoverAndCatchUp(followsPath: followsPath, waitingAtMost: limit, compares: compares)
        } catch {
            releaseFileLock()
            throw try explained(error, from: suite)
        }
    }

    private func release() {
        writer.hasWritten = false
        owner.store(0)
        releaseFileLock()
        exclusive.unlock()
    }

    /// Under the lock: verifies that the open files are the suite's, catches up, and repairs what was left.
    private func recoverAndCatchUp(
        followsPath: Bool,
        waitingAtMost limit: UInt64,
        compares: Bool
    ) throws(JournalError) {
        var found = try examine(compares: compares)
        if found == .torn {
            _ = try waitForCopy(of: state.file)
            found = try examine(compares: compares, cutsTail: true)
        }
        guard let finding = found else { return }
        let isFirst = state.file.salt == 0
        switch finding {
        case .same, .torn, .unsettled:
            try reload(isOverwritten: finding == .unsettled)
            return
        case _ where !followsPath: throw JournalError(finding == .overwritten ? .overwritten : .replaced, path: path)
        case .missing, .otherSuite: try reattach(waitingAtMost: limit)
        case .otherJournal: try reload()
        case .overwritten: try reload(isOverwritten: true)
        }
        if !isFirst { note(.replaced(path: path)) }
    }

    /// - Returns: Why the journal has to be read from its beginning; nil if the entries are current.
    private func examine(compares: Bool, cutsTail: Bool = false) throws(JournalError) -> Finding? {
        if !compares, let slot = stateLock.tryLockShared() {
            defer { stateLock.unlockShared(slot) }
            if isKnownCurrent(at: writer.lockedAt), state.failure == nil { return nil }
        }
        stateLock.lock()
        defer { stateLock.unlock() }
        let now = writer.lockedAt
        let progress = try state.isDamaged ? .broken : catchUp()
        state.failure = nil
        // Without "moved": under the lock, one that is still there was left by a compaction that was killed.
        if progress == .complete, !compares, !state.isUnsettled, state.move == nil {
            if now &- state.checkedAt < Self.writersInterval { return nil }
            if now &- state.comparedAt < Self.readersInterval, try isUndisturbed() {
                state.checkedAt = now
                return nil
            }
        }
        // Before the comparison: what happens in the directory meanwhile gives it another time.
        let directory = try state.mappedMark == nil ? nil : DirectoryMark(calls.status(suite.raw), now: calls.fileTime)
        let finding = try compareIdentity()
        guard finding == .same else { return finding }
        if state.isUnsettled { return .unsettled }
        state.comparedAt = now
        state.directory = directory
        state.forgetMove()
        switch progress {
        case .complete: return nil
        case .broken: return .same
        case .torn where !cutsTail: return .torn
        case .torn:
            // No other process can be writing it.
            try calls.truncate(state.file.raw, to: state.position)
            state.renewLook()
            return nil
        }
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
        // With exclusive access, what is stored is found out below.
        if owner.load() != Threads.current, isStored(key, prefix, value, note: note) { return true }
        try beginExclusiveAccess()
        defer { endExclusiveAccess() }
        let hash = entries.hash(key)
        let entry = entries.entry(key, hash: hash)
        if note != 0, entry?.note != note { return false }
        if entry?.holds(prefix, value) == true { return true }
        do throws(JournalError) {
            try commit(size: operation.encodedSize) { target in
                operation.encode(to: target)
            } apply: {
                noteChange(operation, by: .thisThread)
                entries.set(key, hash: hash, prefix: prefix, value, note: note)
            }
        } catch {
            throw error.located(in: path)
        }
        return true
    }

    /// Gives a stored value a note, if it is still this one.
    package func note(_ note: UInt8, key: UnsafeRawBufferPointer, prefix: UInt8, value: UnsafeRawBufferPointer) {
        stateLock.withLock {
            guard let entry = entries.entry(key), entry.holds(prefix, value) else { return }
            entry.note = note
        }
    }

    /// Whether a value is known to be stored, without the lock: the file must be what it was when the entries were
    /// read.
    private func isStored(
        _ key: UnsafeRawBufferPointer,
        _ prefix: UInt8?,
        _ value: UnsafeRawBufferPointer,
        note: UInt8
    ) -> Bool {
        guard let slot = stateLock.tryLockShared() else { return false }
        defer { stateLock.unlockShared(slot) }
        guard let entry = entries.entry(key), entry.holds(prefix, value) else { return false }
        return (note == 0 || entry.note == note) && state.refusal == nil && !isForked
            && isKnownCurrent(at: Clock.monotonic())
    }

    /// Under `stateLock`, also shared: whether the entries are known to be those that a writer has to know, without a
    /// call to the system.
    private func isKnownCurrent(at now: UInt64) -> Bool {
        state.seesNothingNew && !state.isDamaged && !state.isUnsettled
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
        try located(body)
    }

    private func commit(_ operation: Operation) throws(JournalError) {
        try commit(size: operation.encodedSize, move: operation.move) { target in
            operation.encode(to: target)
        } apply: {
            apply(operation)
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
        state.advance(to: end, mark: mark, move: move)
        appending.store(0)
        stateLock.unlock()
        writer.hasWritten = true
        if !scheduleFlush() { writer.hasToFlush = true }
    }

    /// Writes the record whose payload is in the encode buffer at the position.
    ///
    /// - Returns: The record's mark and end, with which the state has to be advanced. Until ``appending`` is 0 again,
    ///   readers of this process leave the record to this thread.
    private func write(payload: Int) throws(JournalError) -> (JournalMark, end: UInt64) {
        let (file, start) = (state.file, state.position)
        let memory = writer.buffer.memory
        writer.number &+= 1
        let size = Record.seal(memory, number: writer.number, payload: payload, salt: file.salt, offset: start)
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

/// Changes that become visible together, in order.
package struct JournalBatch: Sendable {
    private var payload: [UInt8] = []
    /// The first change that can't be stored.
    private(set) var problem: JournalError.Kind?
    /// The limit of all changes together, in bytes; less for tests.
    var maximumSize = Record.maximumPayload

    package init() {}

    var isEmpty: Bool { payload.isEmpty }

    /// Throws if no batch takes a value of this size, its first byte included.
    package static func check(valueSize: Int, path: String) throws(JournalError) {
        if valueSize > Operation.maximumValue { throw JournalError(Operation.tooLarge(valueSize), path: path) }
    }

    /// Adds storing a value under `key`; the prefix is the value's first byte, if the caller has it separately.
    package mutating func set(key: UnsafeRawBufferPointer, prefix: UInt8? = nil, value: UnsafeRawBufferPointer) {
        add(.set(key: key, prefix: prefix, value: value))
    }

    package mutating func remove(key: UnsafeRawBufferPointer) { add(.remove(key: key)) }

    private mutating func add(_ operation: Operation) {
        let (start, size) = (payload.count, operation.encodedSize)
        let isTooLong = start + size > maximumSize
        if let found = operation.problem ?? (isTooLong ? .batchTooLarge(bytes: start + size) : nil) {
            problem = problem ?? found
            return
        }
        payload.append(contentsOf: repeatElement(0, count: size))
        payload.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { operation.encode(to: base + start) }
        }
    }

    func withPayload(_ body: (UnsafeRawBufferPointer) throws(JournalError) -> Void) throws(JournalError) {
        let outcome = payload.withUnsafeBytes { bytes in
            Result { () throws(JournalError) in try body(bytes) }
        }
        try outcome.get()
    }
}
