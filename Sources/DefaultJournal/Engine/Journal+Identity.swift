extension Journal {
    /// Nanoseconds after which a writer compares the open files with those at the path.
    static let writersInterval: UInt64 = 1_000_000
    /// Nanoseconds in which a copy under way changes its file.
    static let stillness: UInt64 = 50_000_000

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
        /// The same, which was overwritten when it was read.
        case unsettled
    }

    /// Under `stateLock`: compares what is known of the suite with what is at its path.
    func compareIdentity() throws(JournalError) -> Finding {
        guard let directory = try calls.status(of: path) else { return .missing }
        guard directory.id == suite.id else { return .otherSuite }
        guard let journal = try calls.status(of: journalPath) else { return .otherJournal }
        guard journal.id == state.file.id else { return .otherJournal }
        guard let mark = state.mark, let headerMark = state.headerMark, journal.size >= state.minimumSize,
            try JournalMark(of: state.file.raw, at: mark.offset, calls: calls) == mark,
            try JournalMark(of: state.file.raw, calls: calls) == headerMark
        else { return .overwritten }
        return .same
    }

    /// An error of an operation in a directory: `replaced` if a file is missing because the suite was deleted meanwhile.
    func explained(_ error: JournalError, from directory: SuiteDirectory) throws(JournalError) -> JournalError {
        guard error.isNotFound, try calls.status(of: path)?.id != directory.id else { return error }
        return JournalError(.replaced, path: path)
    }

    /// Whether a file may have changed within the last nanoseconds, by default within the last second.
    func hasJustChanged(_ status: FileStatus, within limit: Int64 = 1_000_000_000) -> Bool {
        // Some file systems know whole seconds only. Both clocks may be a tick ahead of the other, and a time that is far in the
        // future has been there for long.
        let precision: Int64 = status.changed % 1_000_000_000 == 0 ? 1_000_000_000 : 0
        return abs(Int64(clamping: calls.fileTime) - Int64(clamping: status.changed)) < limit + precision
    }

    /// Under the lock: returns when a file that has to be repaired hasn't changed for 50 milliseconds.
    ///
    /// What looks like damage, or like what a killed writer left, may be a part of a copy that another program is making. Writers
    /// wait for the lock, so only such a program changes the file meanwhile.
    ///
    /// - Returns: Whether that took time, so that the file has to be read again.
    /// - Throws: `overwritten` if it changes for half a second.
    func waitForCopy(of file: JournalFile) throws(JournalError) -> Bool {
        let stillness = Self.stillness
        var status = try calls.status(file.raw)
        var seen = calls.fileTime
        let wait = LockWait(atMost: 10 * stillness)
        var hasWaited = false
        while hasJustChanged(status, within: Int64(stillness)), calls.fileTime &- seen < stillness {
            guard wait.pause != nil else { throw JournalError(.overwritten) }
            Threads.sleep(nanoseconds: stillness / 5)
            hasWaited = true
            let last = (status.size, status.changed)
            status = try calls.status(file.raw)
            if (status.size, status.changed) != last { seen = calls.fileTime }
        }
        return hasWaited
    }

    /// Reopens the suite at the path, creating it if there is none, and takes its lock.
    ///
    /// If that fails, reads continue with the entries in memory.
    func reattach(waitingAtMost limit: UInt64) throws(JournalError) {
        // If only the directory's name changed, the new lock may be the same file: keeping it would be a deadlock.
        releaseFileLock()
        let present = try SuiteDirectory.open(path, calls: calls)
        let (old, new) = (suite.id, present.id)
        stateLock.withLock {
            suite = present
            // Whatever is there is read under the lock.
            state.isDamaged = true
        }
        JournalRegistry.shared.move(self, from: old, to: new)
        try takeFileLock(waitingAtMost: limit)
        try reload()
    }
}
