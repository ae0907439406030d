extension Journal {
    /// Nanoseconds after which a writer compares the open files with those at the path.
    static let writersInterval: UInt64 = 1_000_000

    /// How the suite at the path compares with the open files.
    enum Finding {
        case same
        /// Nothing is at the path.
        case missing
        /// Another journal has its name.
        case otherJournal
        /// Another directory has its name.
        case otherSuite
        /// The open journal has other contents than it had, or is shorter.
        case overwritten
        /// The same, with a tail that isn't whole.
        case torn
    }

    /// Under `stateLock`: compares what is known of the suite with what is at its path.
    func compareIdentity() throws(JournalError) -> Finding {
        guard let directory = try calls.status(of: path) else { return .missing }
        guard directory.id == state.suite.id else { return .otherSuite }
        guard let journal = try calls.status(of: journalPath) else { return .otherJournal }
        guard journal.id == state.file.id else { return .otherJournal }
        guard let mark = state.mark, let headerMark = state.headerMark, journal.size >= state.minimumSize,
            try JournalMark(of: state.file.raw, at: mark.offset, calls: calls) == mark,
            try JournalMark(of: state.file.raw, at: nil, calls: calls) == headerMark
        else { return .overwritten }
        return .same
    }

    /// Under `stateLock`: whether the journal at the path has changed within the last second.
    ///
    /// If it isn't what it was, a backup may be on its way back. What is written meanwhile would be lost, and a repair would put
    /// a new file in its place.
    func isBeingCopied() throws(JournalError) -> Bool {
        guard let status = try calls.status(of: journalPath) else { return false }
        return hasJustChanged(status)
    }

    /// Whether a file has changed within the last second.
    func hasJustChanged(_ status: FileStatus) -> Bool {
        // Both may be a tick ahead of the other. A time that is far in the future has been there for long.
        abs(Int64(clamping: calls.fileTime) - Int64(clamping: status.changed)) < 1_000_000_000
    }

    /// Under the lock: returns if a tail that isn't whole was left by a writer that was killed.
    ///
    /// It may also be what a copy of a backup has written by now. So a tail that has just changed is looked at again: the one of a
    /// killed writer stays as it is.
    ///
    /// - Throws: `overwritten` if it changes.
    func waitForCopy(of file: JournalFile) throws(JournalError) {
        let before = try calls.status(file.raw)
        for _ in 0..<6 {
            let status = try calls.status(file.raw)
            guard status.size == before.size, status.changed == before.changed else { throw JournalError(.overwritten) }
            if Int64(clamping: calls.fileTime) - Int64(clamping: status.changed) > 50_000_000 { return }
            Threads.sleep(nanoseconds: 10_000_000)
        }
        let now = Int64(clamping: calls.fileTime)
        // A time that is far in the future has been there for long.
        if abs(now - Int64(clamping: before.changed)) < 50_000_000 { throw JournalError(.overwritten) }
    }

    /// Reopens the suite at the path, creating it if there is none, and takes its lock.
    ///
    /// If that fails, reads continue with the entries in memory.
    func reattach() throws(JournalError) {
        // If only the directory's name changed, the new lock may be the same file: keeping it would be a deadlock.
        releaseFileLock()
        let suite = try SuiteDirectory.open(path, calls: calls)
        let (old, new) = (state.suite.id, suite.id)
        stateLock.lock()
        state.suite = suite
        // Whatever is there is read under the lock.
        state.isDamaged = true
        stateLock.unlock()
        JournalRegistry.shared.move(self, from: old, to: new)
        try takeFileLock(waitingAtMost: options.lockTimeout)
        try reload()
    }
}
