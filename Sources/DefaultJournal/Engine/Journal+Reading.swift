extension Journal {
    /// Nanoseconds after which a reader or watcher compares the open files with those at the path.
    ///
    /// A little less than a second: the watcher looks once a second, and then compares each time.
    static let readersInterval: UInt64 = 950_000_000

    /// Brings the entries up to date and keeps it so until ``unlockForReading()``.
    ///
    /// Costs a mutex, one load and a look at the clock when nothing changed. Until the matching unlock, the thread must make
    /// no other call to this journal. Never fails: if what others wrote can't be read, the entries stay unchanged and a report
    /// says why.
    package func lockForReading() {
        stateLock.lock()
        if !isCurrent { catchUpForReading() }
    }

    package func unlockForReading() {
        stateLock.unlock()
        if hasReports.load() { deliverReports() }
    }

    /// The same for any number of threads at once, until ``endReading(_:)``.
    ///
    /// - Returns: What ``endReading(_:)`` takes: the reader's slot, or nil if it excludes other readers.
    package func beginReading() -> Int? {
        if let slot = stateLock.tryLockShared() {
            if isCurrent { return slot }
            stateLock.unlockShared(slot)
        }
        lockForReading()
        return nil
    }

    package func endReading(_ slot: Int?) {
        if let slot { stateLock.unlockShared(slot) } else { unlockForReading() }
    }

    /// The open file, and the end of what is committed; for the engine itself, since it delivers no reports.
    var current: (file: JournalFile, position: UInt64, isMoving: Bool) {
        lockForReading()
        defer { stateLock.unlock() }
        return (state.file, state.position, state.move != nil)
    }

    /// Under `stateLock`, also shared: whether the entries are what a reader has to see.
    ///
    /// What a thread of this process is writing it applies to the entries itself. Until its call returns, the write hasn't
    /// happened.
    private var isCurrent: Bool {
        (state.seesNothingNew || appending.load() == state.position)
            && Clock.monotonicTick() < state.comparedAt &+ Self.readersInterval
    }

    /// Under `stateLock`, which it may release and take again.
    private func catchUpForReading() {
        if isForked { return noteFailure(JournalError(.forked, path: path)) }
        do throws(JournalError) {
            let now = Clock.monotonic()
            let progress = try catchUp()
            if now &- state.comparedAt >= Self.readersInterval || progress == .broken, try compareForReading(now) {
                return
            }
            guard progress != .complete || state.isDamaged, state.repairTriedAt &+ Self.readersInterval < now,
                exclusive.tryLock()
            else { return }
            defer { exclusive.unlock() }
            state.repairTriedAt = now
            if state.refusal != nil {
                if progress == .broken { try load() }
                return
            }
            // Only under the lock is it known that no writer is about to complete it.
            stateLock.unlock()
            defer { stateLock.lock() }
            try withFilesLocked(followsPath: false, waitingAtMost: 0) {}
        } catch {
            // What was replaced is read when it is compared next.
            if error.isBusy || error.kind == .overwritten || error.kind == .replaced { return }
            noteFailure(error.located(in: path))
        }
    }

    private func noteFailure(_ error: JournalError) {
        guard state.failure != error else { return }
        state.failure = error
        note(.catchUpFailed(error))
    }

    /// Under `stateLock`: compares, and reads what is at the path if that is something else.
    ///
    /// - Returns: Whether it has read something else.
    private func compareForReading(_ now: UInt64) throws(JournalError) -> Bool {
        let finding = try compareIdentity()
        state.comparedAt = now
        if finding == .same {
            state.failure = nil
            return false
        }
        // The next writer compares at once. While there is nothing at the path, readers have what was there.
        state.comparedAt = now &- Self.writersInterval
        if finding == .missing { return false }
        // What can't be read yet is looked at again soon.
        let retryTime = now &- Self.readersInterval &+ Self.stillness
        // A thread that writes uses the open files without this lock, and compares them itself.
        guard exclusive.tryLock() else {
            state.comparedAt = retryTime
            return false
        }
        defer { exclusive.unlock() }
        guard writer.depth == 0 else { return false }
        do throws(JournalError) {
            if finding == .otherSuite { try openOtherSuite() } else { try load(isOverwritten: finding == .overwritten) }
        } catch {
            if error.kind == .overwritten { state.comparedAt = retryTime }
            throw error
        }
        state.failure = nil
        note(.replaced(path: path))
        return true
    }

    /// Under `exclusive` and `stateLock`: reads the suite that is at the path now.
    private func openOtherSuite() throws(JournalError) {
        let before = suite
        suite = try SuiteDirectory.openForReading(path, calls: calls)
        do throws(JournalError) {
            try load()
        } catch {
            suite = before
            throw error
        }
        JournalRegistry.shared.move(self, from: before.id, to: suite.id)
    }
}
