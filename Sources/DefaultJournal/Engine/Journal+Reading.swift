extension Journal {
    /// Brings the index up to date and keeps it so until ``unlockForReading()``.
    ///
    /// Costs a mutex and one atomic load when nothing changed; in a suite that can only be read, a mutex and one `stat`. Until the matching unlock, the thread must make no other call
    /// to this journal. Never fails: if what others wrote can't be read, the index stays unchanged and a report says why.
    package func lockForReading() {
        stateLock.lock()
        if page.generation != state.generation { catchUpForReading() }
    }

    /// Ends what ``lockForReading()`` began.
    package func unlockForReading() {
        stateLock.unlock()
        if hasReports.load(ordering: .relaxed) { deliverReports() }
    }

    /// Brings the index up to date, and lets nothing change it until ``endReading(_:)``.
    ///
    /// Any number of threads may read at once. Otherwise as ``lockForReading()``, which also excludes other readers.
    ///
    /// - Returns: The token for ``endReading(_:)``.
    package func beginReading() -> ReadToken {
        if let slot = stateLock.tryLockShared() {
            if page.generation == state.generation { return ReadToken(slot: slot) }
            stateLock.unlockShared(slot)
        }
        lockForReading()
        return ReadToken(slot: nil)
    }

    /// Ends what ``beginReading()`` began.
    package func endReading(_ token: ReadToken) {
        if let slot = token.slot { stateLock.unlockShared(slot) } else { unlockForReading() }
    }

    /// Calls `body` with the index, up to date and locked.
    package func withCurrentIndex<Result, Failure: Error>(
        _ body: (any JournalIndex) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lockForReading()
        defer { unlockForReading() }
        return try body(index)
    }

    /// Counts the commits of all processes: equal numbers mean that nothing changed in between.
    package var generation: UInt64 {
        stateLock.lock()
        defer { stateLock.unlock() }
        return page.generation
    }

    private func catchUpForReading() {
        if let view = state.readOnly { return refresh(view) }
        do {
            if try catchUp() { return }
        } catch {
            return note(.catchUpFailed(error))
        }
        // Page and journal are inconsistent: resolving that needs the file lock, which is taken before the state lock.
        stateLock.unlock()
        do {
            try withFilesLocked(waitingAtMost: BackgroundWorker.patience) {}
        } catch  where error.isBusy || error.kind == .overwritten {
            // The next read tries again.
        } catch {
            note(.catchUpFailed(error))
        }
        stateLock.lock()
    }
}

/// The read access of one reader of a journal.
package struct ReadToken {
    /// The reader's slot; nil when it has the exclusive lock.
    fileprivate let slot: Int?
}
