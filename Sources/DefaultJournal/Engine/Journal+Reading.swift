internal import Synchronization

extension Journal {
    /// Brings the index up to date and keeps it so until ``unlockForReading()``.
    ///
    /// Costs a mutex and one atomic load when nothing changed. While it holds, the thread must make no other call of this
    /// journal. Never fails: if what others wrote can't be read, the index stays as it was and a report tells why.
    package func lockForReading() {
        stateLock.lock()
        if page.generation != state.pointee.generation { catchUpForReading() }
    }

    /// Ends what ``lockForReading()`` began.
    package func unlockForReading() {
        stateLock.unlock()
        if hasReports.load(ordering: .relaxed) { deliverReports() }
    }

    /// Brings the index up to date, and lets nothing change it until ``endReading(_:)``: for looking something up, which any
    /// number of threads may do at once.
    ///
    /// Otherwise as ``lockForReading()``, which excludes other readers as well.
    ///
    /// - Returns: What ``endReading(_:)`` takes.
    @inline(__always)
    package func beginReading() -> ReadToken {
        if let slot = stateLock.tryLockShared() {
            if page.generation == state.pointee.generation { return ReadToken(slot: slot) }
            stateLock.unlockShared(slot)
        }
        lockForReading()
        return ReadToken(slot: nil)
    }

    /// Ends what ``beginReading()`` began.
    @inline(__always)
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

    /// Counts commits, of whichever process: equal numbers mean that nothing changed in between.
    package var generation: UInt64 {
        stateLock.lock()
        defer { stateLock.unlock() }
        return page.generation
    }

    private func catchUpForReading() {
        do {
            if try catchUp() { return }
        } catch {
            return note(.catchUpFailed(error))
        }
        // Something does not fit together: only the lock's holder may say what is true. The state lock comes after it.
        stateLock.unlock()
        do {
            try beginExclusiveAccess()
            endExclusiveAccess()
        } catch {
            note(.catchUpFailed(error))
        }
        stateLock.lock()
    }
}

/// What a reader of a journal holds.
package struct ReadToken {
    /// Where the reader is counted; nil when it has the lock alone.
    fileprivate let slot: Int?
}
