/// One journal's part in the ``JournalWatcher``.
final class JournalWatch: @unchecked Sendable {
    // Mutable state is used under the watcher's lock only.

    /// Whether ``onChange`` has to be called.
    enum Notice {
        case none
        /// It is in the watcher's queue.
        case queued
        /// It is being called.
        case running
        /// It is being called, and there was a change since that call began.
        case outdated
    }

    var notice = Notice.none
    /// Whether it is in the queue only because time has passed.
    var isTick = false
    /// The number of its directory among the ``DirectoryEvents``; nil if the system doesn't watch it.
    var directory: Int32?
    /// The directory for which the system was last asked to watch it; used by the thread that calls ``notify(isTick:)``.
    private var watched: FileID?
    /// The number of changes when the handler was last called; used by the same thread.
    private var known: UInt64?

    private let journal: @Sendable () -> Journal?
    private let onChange: @Sendable () -> Void

    /// The watch does not keep the journal alive, and calls `onChange` with no lock held.
    init(of journal: @escaping @Sendable () -> Journal?, onChange: @escaping @Sendable () -> Void) {
        self.journal = journal
        self.onChange = onChange
    }

    /// Brings the entries up to date, and calls the handler; at a tick only if something has changed.
    func notify(isTick: Bool) {
        guard let journal = journal() else { return }
        // Watched before the index is brought up to date, so that no change in between is missed.
        if JournalWatcher.shared.isPolled(self) { journal.watchPresentDirectory() }
        var change = journal.lookForChange()
        while change.suite != watched {
            watched = change.suite
            journal.watchPresentDirectory()
            change = journal.lookForChange()
        }
        guard !isTick || change.count != known else { return }
        known = change.count
        onChange()
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
            let new = JournalWatch(of: { [weak self] in self }, onChange: onChange)
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

    /// Makes a watch that there is one of the present directory.
    func watchPresentDirectory() {
        watch.withLock { watch in
            if let present = watch, !watchDirectory(for: present) { watch = nil }
        }
    }

    /// - Returns: Whether there is a watch now, if only by polling.
    private func watchDirectory(for watch: JournalWatch) -> Bool {
        let refusal: JournalError?
        do throws(JournalError) {
            stateLock.lock()
            defer { stateLock.unlock() }
            let directory = suite.raw
            refusal = try JournalWatcher.shared.watch(directory, for: watch, calls: calls)
        } catch {
            noteRefusedWatch(error.located(in: path), isPolled: false)
            return false
        }
        if let refusal { noteRefusedWatch(refusal.located(in: path), isPolled: true) }
        return true
    }

    private func noteRefusedWatch(_ error: JournalError, isPolled: Bool) {
        guard !isRefusedWatchReported.exchange(true, ordering: .relaxed) else { return }
        note(.watchRefused(error, isPolled: isPolled))
    }
}
