extension Journal {
    /// Brings the entries up to date and keeps them so until ``unlockForReading()``.
    ///
    /// Costs a mutex, one load and a look at the clock when nothing changed. Until the matching unlock, the thread must
    /// make no other call to this journal. Never fails: if what others wrote can't be read, the entries stay unchanged
    /// and a report says why.
    package func lockForReading() {
        stateLock.lock()
        if !isCurrent { catchUpForReading() }
    }

    package func unlockForReading() {
        stateLock.unlock()
        if hasReports.load() { deliverReports() }
    }

    /// Brings the entries up to date as ``lockForReading()`` does, for any number of threads at the same time, until
    /// ``endReading(_:)``.
    ///
    /// - Returns: The token for ``endReading(_:)``.
    package func beginReading() -> ReadToken {
        if let token = stateLock.tryLockShared() {
            if isCurrent { return token }
            stateLock.unlockShared(token)
        }
        lockForReading()
        return .exclusive
    }

    package func endReading(_ token: ReadToken) {
        if token.isExclusive { unlockForReading() } else { stateLock.unlockShared(token) }
    }

    /// The entry under a key; where ``entries`` may be used.
    ///
    /// In another module each use of ``entries`` is checked for overlapping accesses, which takes an eighth of a
    /// look-up.
    package func entry(_ key: UnsafeRawBufferPointer) -> EntryTable.Entry? { entries.entry(key) }

    /// The journal that is in use, and the end of the records that are committed in it.
    struct CommittedEnd {
        var file: JournalFile
        var position: UInt64
        /// Whether another file is about to replace it.
        var isBeingReplaced: Bool
    }

    /// The end of the records that are committed by now; for the engine itself, since it delivers no reports.
    var current: CommittedEnd {
        lockForReading()
        defer { stateLock.unlock() }
        return CommittedEnd(file: state.file, position: state.position, isBeingReplaced: state.successor != nil)
    }

    /// Whether the entries are those that a reader has to see; under `stateLock`, also shared.
    ///
    /// A record that a thread of this process is writing is applied by that thread. Until its call returns, the write
    /// hasn't happened.
    private var isCurrent: Bool {
        assert(stateLock.isHeld)
        return (state.isCaughtUp || appending.load() == state.position)
            && Clock.monotonicTick() < state.comparedAt &+ Self.readersInterval
    }

    /// Catches up, compares the files with those at the path if that is due, and repairs damage if possible; under
    /// `stateLock`, which it may release and take again.
    private func catchUpForReading() {
        assert(stateLock.isHeldByThisThread)
        if isForked { return noteFailure(JournalError(.forked, path: path)) }
        do throws(JournalError) {
            let now = Clock.monotonic()
            let outcome = try catchUp()
            if now &- state.comparedAt >= Self.readersInterval || outcome == .broken, try compareForReading(now) {
                return
            }
            // What is left is for a process with the lock. This one asks for it once a second, and doesn't wait for it:
            // a writer that has it does the same.
            guard outcome != .complete || state.isDamaged || state.successor != nil,
                state.repairTriedAt &+ Self.readersInterval < now,
                exclusive.tryLock()
            else { return }
            defer { exclusive.unlock() }
            state.repairTriedAt = now
            if state.refusal != nil {
                if outcome == .broken { try load() }
                return
            }
            // Only under the lock is it known that no writer is about to complete it.
            stateLock.unlock()
            defer { stateLock.lock() }
            try withFilesLocked(followsPath: false, waitingAtMost: 0) {}
        } catch {
            // What was replaced is read when it is compared next.
            if error.isBusy || error.kind == .overwritten || error.kind == .replaced { return }
            noteFailure(error.withDirectory(path))
        }
    }

    private func noteFailure(_ error: JournalError) {
        guard state.failure != error else { return }
        state.failure = error
        note(.catchUpFailed(error))
    }
}

extension Journal {
    /// The state of the records after the position.
    enum CatchUp {
        /// All were whole.
        case complete
        /// The last one is shorter than it says: it is in flight, or its writer was killed.
        case torn
        /// There is something that isn't a record, or a damaged one, or the file is shorter than it was.
        case broken
    }

    /// Applies the records after the position, as far as they are whole; under `stateLock`.
    ///
    /// The record that a thread of this process is writing is applied by that thread.
    func catchUp() throws(JournalError) -> CatchUp {
        assert(hasStateLock)
        var hasApplied = false
        // Orders this after the last thread's exclusive access, whose reading is then known: no other process could
        // write before that thread released the `flock`.
        _ = owner.load()
        defer { if hasApplied { scheduleFlush() } }
        while true {
            // "moved" is the last record of a file: later ones are in the other file.
            var hasFollowed = false
            if let successor = state.successor { hasFollowed = try follow(successor) }
            guard state.wordAtEnd != 0, appending.load() != state.position else {
                // The other file may have been replaced in turn.
                if hasFollowed { continue }
                return .complete
            }
            // Where another program has written other records over those that are known, these follow them.
            guard let fingerprint = state.fingerprint,
                try RecordFingerprint(of: state.file.raw, at: fingerprint.offset, calls: calls) == fingerprint
            else {
                return .broken
            }
            let before = state.position
            defer { hasApplied = hasApplied || state.position > before }
            let outcome = try applyRecords()
            if outcome != .complete { return outcome }
            if state.position == before {
                // What the look saw has been cut off, or the mapping shows a page that the file once lacked.
                if state.wordAtEnd != 0 { state.remapWordAtEnd() }
                return .complete
            }
        }
    }

    /// Bytes that are read at once: most records take a few hundred.
    private static let pieceSize = 8_192

    /// Reads once from the position to the end of the file, and applies the whole records.
    private func applyRecords() throws(JournalError) -> CatchUp {
        let file = state.file
        let start = state.position
        let size = try calls.size(of: file.raw)
        guard size > start else { return .broken }
        let window = try FileWindow(of: file.raw, to: size, calls: calls, pieceSize: Self.pieceSize)
        var replay = Replay(window, from: start, salt: file.salt, stopsAtDamage: true)
        var successor: Successor?
        do {
            var applied: ReplayReport?
            // What was applied is applied, even if the rest can't be read.
            defer {
                if let applied, let fingerprint = applied.lastRecord {
                    state.advance(to: applied.validEnd, fingerprint: fingerprint, successor: successor)
                }
            }
            while let payload = try replay.next() {
                try Operation.forEach(in: payload) { operation throws(JournalError) in
                    successor = operation.successor
                    try applyRead(operation)
                }
                applied = replay.report
            }
        }
        if !replay.report.damage.isEmpty { return .broken }
        guard let tail = replay.report.tornTail else { return .complete }
        // A file that was extended and not written to yet isn't a record in flight.
        return ByteSearch.isZero(try replay.source.bytes(tail..<min(tail + 8, size))) ? .complete : .torn
    }

    /// Looks at the path, after the journal has said that another file is about to replace it; under `stateLock`.
    ///
    /// - Returns: Whether another file is used now.
    private func follow(_ successor: Successor) throws(JournalError) -> Bool {
        let status = try calls.status(
            of: SuiteDirectory.journalName,
            in: suite.raw,
            followsLinks: purpose.followsAnyLink
        )
        // While this thread's process appends to the open file, that one is the journal.
        guard let status, status.id != state.file.id, appending.load() != state.position,
            let opened = try suite.openJournal(for: purpose)
        else { return false }
        let id = opened.status.id
        let size = opened.status.size
        var window = try FileWindow(of: opened.file.raw, to: size, calls: calls, pieceSize: JournalHeader.size)
        guard case .valid(let header, damage: []) = try JournalHeader.read(&window), header.salt == successor.salt,
            size >= successor.end, !state.lacksRecords
        else {
            // It was replaced more than once, or was written by a process that has what is damaged in the open one.
            try load()
            return true
        }
        // The entries are those of the other file up to the end that "moved" names: nothing has to be read.
        let fingerprint = try RecordFingerprint(of: opened.file.raw, calls: calls)
        let file = JournalFile(opened.file, in: suite, id: id, salt: header.salt)
        state.use(file, position: successor.end, fingerprint: fingerprint, headerFingerprint: fingerprint)
        return true
    }
}
