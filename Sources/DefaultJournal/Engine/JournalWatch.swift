/// One journal's part in the ``JournalWatcher``.
final class JournalWatch: @unchecked Sendable {
    // The first three are used under the watcher's lock only, the other one by the thread that looks.

    /// Whether something may have changed since the last look began.
    var isOutdated = false
    /// Whether a thread is looking, or calls ``onChange``.
    var isBeingLookedAt = false
    /// The number of its directory among the ``DirectoryEvents``; nil if the system doesn't watch it.
    var directory: Int32?
    /// The number of changes that was found last.
    private var known: UInt64?

    private weak let journal: Journal?
    let onChange: @Sendable () -> Void

    /// The watch does not keep the journal alive, and has `onChange` called with no lock held.
    init(of journal: Journal, onChange: @escaping @Sendable () -> Void) {
        self.journal = journal
        self.onChange = onChange
    }

    /// Brings the entries up to date, and returns whether they have changed since the last time.
    func bringUpToDate() -> Bool {
        guard let journal else { return false }
        var (watched, change) = (nil as FileID?, journal.lookForChange())
        // Watched before the entries are brought up to date, so that no change in between is missed.
        while change.suite != watched {
            watched = change.suite
            journal.watchPresentDirectory()
            change = journal.lookForChange()
        }
        defer { known = change.count }
        return change.count != known
    }
}

extension Journal {
    /// Watches for what other processes write, until ``stopWatching()``.
    ///
    /// Once a second the suite is compared with what is at its path. Where the system refuses to watch the directory, changes are
    /// looked for twice a second, and the first refusal is reported. Each time, watching is tried again.
    ///
    /// - Parameter onChange: Called on a thread of the library when the entries may have changed. The calls don't overlap, and
    ///   a change during a call leads to another one.
    package func startWatching(_ onChange: @escaping @Sendable () -> Void) {
        guard DirectoryEvents.isSupported else { return }
        watch.withLock { watch in
            guard watch == nil else { return }
            let new = JournalWatch(of: self, onChange: onChange)
            if watchDirectory(for: new) { watch = new }
        }
    }

    /// Ends what ``startWatching(_:)`` began; it may still be in a call of `onChange`.
    package func stopWatching() {
        watch.withLock { watch in
            watch.map(JournalWatcher.shared.remove)
            watch = nil
        }
    }

    /// The open suite, and how often the entries have changed by now.
    fileprivate func lookForChange() -> (suite: FileID, count: UInt64) {
        lockForReading()
        defer { unlockForReading() }
        return (suite.id, state.changeCount)
    }

    /// Has the system watch the directory that is open now, as it may do already.
    fileprivate func watchPresentDirectory() {
        watch.withLock { watch in
            if let watch { _ = watchDirectory(for: watch) }
        }
    }

    /// - Returns: Whether there is a watch now, if only by polling.
    private func watchDirectory(for watch: JournalWatch) -> Bool {
        do throws(JournalError) {
            let refusal = try stateLock.withLock { () throws(JournalError) in
                try JournalWatcher.shared.watch(suite.raw, for: watch, calls: calls)
            }
            if let refusal { noteRefusedWatch(refusal, isPolled: true) }
            return true
        } catch {
            noteRefusedWatch(error, isPolled: false)
            return false
        }
    }

    private func noteRefusedWatch(_ error: JournalError, isPolled: Bool) {
        guard !isRefusedWatchReported.exchange(true) else { return }
        note(.watchRefused(error.located(in: path), isPolled: isPolled))
    }
}
