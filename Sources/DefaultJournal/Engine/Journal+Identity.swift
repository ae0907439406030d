extension Journal {
    /// Under the file lock: notices when the suite was deleted or replaced since the last write, and moves to the suite that
    /// is at its path now.
    ///
    /// Takes one `fstat` while the directory doesn't change. A change time is trusted as git trusts its index: only if it
    /// was already in the past when it was recorded, since two changes within a clock tick look like one.
    func verifyIdentity() throws(JournalError) {
        let status = try calls.status(state.suite.directory.raw, path: path)
        if status.links > 0, status.changed == state.suite.verified {
            switch state.suite.recheck {
            case .never: return
            case .afterTick where Clock.fileTime() <= status.changed: return
            default: break
            }
        }
        try compareIdentity(status)
    }

    /// How the suite at the path compares with the open files.
    private enum Finding {
        case same
        case otherJournal
        case otherSuite
    }

    private func compareIdentity(_ status: FileStatus) throws(JournalError) {
        let now = Clock.fileTime()
        let finding = status.links > 0 ? try inspectPath() : .otherSuite
        // Background work must not recreate a suite that was just deleted.
        guard finding == .same || writer.followsPath else { throw JournalError(.replaced, path: path) }
        switch finding {
        case .same:
            markIdentityVerified(changed: status.changed, now: now)
        case .otherJournal:
            try reload()
            note(.replaced(path: path))
        case .otherSuite:
            try reattach()
            note(.replaced(path: path))
        }
    }

    private func inspectPath() throws(JournalError) -> Finding {
        let directory = state.suite.directory.raw
        let id = state.suite.id
        guard let current = try calls.status(of: path, path: path),
            current.device == id.device, current.inode == id.inode,
            let lock = try calls.status(
                of: SuiteDirectory.lockName,
                in: directory,
                path: file(SuiteDirectory.lockName)
            ),
            lock.inode == state.suite.lockInode
        else { return .otherSuite }
        // If the page says that the journal was replaced, or was being replaced, catching up handles it. A reader may be
        // catching up at this moment, hence the state lock; after that, neither changes while the file lock is held.
        stateLock.lock()
        let publication = page.publication()
        let isCurrent = publication?.journalID == state.journalID && publication?.isReplacing == false
        let inode = state.journalInode
        stateLock.unlock()
        guard isCurrent else { return .same }
        let journal = try calls.status(of: SuiteDirectory.journalName, in: directory, path: journalPath)
        return journal?.inode == inode ? .same : .otherJournal
    }

    /// Records the change time of a directory that was found to be the suite's.
    func markIdentityVerified(changed: UInt64, now: UInt64) {
        state.suite.verified = changed
        if now > changed {
            state.suite.recheck = .never
        } else {
            state.suite.recheck = page.isCompacting ? .afterTick : .always
        }
    }

    /// Reopens the suite at the path, creating it if there is none.
    ///
    /// If that fails, reads continue with the entries in memory.
    func reattach() throws(JournalError) {
        // If only the directory's name changed, the new lock may be the same file: keeping it would be a deadlock.
        releaseFileLock()
        let suite = try SuiteDirectory.openLocked(
            directory: nil,
            path: path,
            waitingAtMost: options.lockTimeout,
            calls: calls
        )
        writer.holdsFileLock = true
        let old = state.suite.id
        let new = suite.id
        stateLock.lock()
        state.suite = suite
        state.journalID = 0
        state.isLoading = true
        stateLock.unlock()
        JournalRegistry.shared.move(self, from: old, to: new)
        writer.isDirty = false
        watchPresentDirectory()
        try reload()
    }
}
