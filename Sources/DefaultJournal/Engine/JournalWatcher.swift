/// One directory's part in the ``JournalWatcher``.
package class DirectoryWatch: @unchecked Sendable {
    // What changes is used under the watcher's lock only.

    /// Whether something may have changed since the last look began.
    var isOutdated = false
    /// Whether a thread is looking, or calls ``onChange``.
    var isBeingLookedAt = false
    /// Whether it has ended, and must not begin again.
    var hasEnded = false
    /// The number of its directory among the ``DirectoryEvents``; nil if the system doesn't watch it.
    var directory: Int32?
    let onChange: @Sendable () -> Void

    /// - Parameter onChange: Called with no lock held.
    init(onChange: @escaping @Sendable () -> Void) { self.onChange = onChange }

    /// Looks, and returns whether anything may have changed since the last time; called by one thread at a time.
    func bringUpToDate() -> Bool { true }
}

/// The watch of a journal's directory.
final class JournalWatch: DirectoryWatch, @unchecked Sendable {
    /// The number of changes that was found last; used by the thread that looks.
    private var known: UInt64?
    private weak let journal: Journal?

    /// The watch does not keep the journal alive.
    init(of journal: Journal, onChange: @escaping @Sendable () -> Void) {
        self.journal = journal
        super.init(onChange: onChange)
    }

    /// Brings the entries up to date, and returns whether they have changed since the last time.
    override func bringUpToDate() -> Bool {
        guard let journal else { return false }
        var watched: FileID?
        var change = journal.lookForChange()
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

/// The watch of a folder in which files may be written that this library reads, and which may not exist yet.
///
/// Any number of them use the descriptor and the threads of the journals' watches. Where the system refuses to watch
/// the folder, and while it doesn't exist, it is looked at twice a second.
package final class FolderWatch: DirectoryWatch, @unchecked Sendable {
    private let path: String

    /// Begins to watch a folder, until ``end()``.
    ///
    /// - Parameters:
    ///   - path: The folder's path; links are followed.
    ///   - onChange: Called on a thread of the library after each change in the folder, and once a second. The calls
    ///     don't overlap.
    /// - Returns: The watch.
    package static func begin(_ path: String, onChange: @escaping @Sendable () -> Void) -> FolderWatch {
        let watch = FolderWatch(path, onChange: onChange)
        if DirectoryEvents.isSupported { watch.watchPresentFolder() }
        return watch
    }

    private init(_ path: String, onChange: @escaping @Sendable () -> Void) {
        self.path = path
        super.init(onChange: onChange)
    }

    /// Ends the watch; a call of its handler may still be under way.
    package func end() { JournalWatcher.shared.remove(self) }

    override func bringUpToDate() -> Bool {
        // Another folder may have its name by now.
        watchPresentFolder()
        return true
    }

    private func watchPresentFolder() {
        let calls = SystemCalls()
        do throws(JournalError) {
            let folder = try calls.open(path, .linkedDirectory)
            _ = try JournalWatcher.shared.watch(folder.raw, for: self, calls: calls)
        } catch {
            // No folder, or no thread: it is polled, if a thread could be started at all.
            JournalWatcher.shared.poll(self)
        }
    }
}

extension Journal {
    /// Watches for the writes of other processes, until ``stopWatching()``.
    ///
    /// Once a second the suite is compared with the one at its path. Where the system refuses to watch the directory,
    /// changes are looked for twice a second, and the first refusal is reported. Each time, watching is tried again.
    ///
    /// - Parameter onChange: Called on a thread of the library when the entries may have changed. The calls don't
    ///   overlap, and a change during a call leads to another one.
    package func startWatching(_ onChange: @escaping @Sendable () -> Void) {
        guard DirectoryEvents.isSupported else { return }
        watch.withLock { watch in
            guard watch == nil else { return }
            let new = JournalWatch(of: self, onChange: onChange)
            if watchDirectory(for: new) { watch = new }
        }
    }

    /// Ends the watch that ``startWatching(_:)`` began; it may still be in a call of `onChange`.
    package func stopWatching() {
        watch.withLock { watch in
            watch.map(JournalWatcher.shared.remove)
            watch = nil
        }
    }

    /// The open suite, and how often its entries have changed by now.
    fileprivate struct ChangeCount {
        var suite: FileID
        var count: UInt64
    }

    /// Brings the entries up to date, and counts.
    fileprivate func lookForChange() -> ChangeCount {
        lockForReading()
        defer { unlockForReading() }
        return ChangeCount(suite: suite.id, count: state.changeCount)
    }

    /// Has the system watch the directory that is open now, as it may do already.
    fileprivate func watchPresentDirectory() {
        watch.withLock { watch in
            guard let watch else { return }
            _ = watchDirectory(for: watch)
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
        note(.watchRefused(error.withDirectory(path), isPolled: isPolled))
    }
}

/// Watches the directories of all watched journals of the process.
///
/// It watches a suite's directory, not the journal, which compaction replaces by another file. One thread waits for the
/// system's events, blocked in the kernel while nothing changes. It starts with the first watch and ends with the last.
/// Journals that may have changed are looked at by a second one. When a handler blocks it, a third one goes on with the
/// other journals.
///
/// **Once a second** each journal is looked at, since no event says that its directory was replaced. **Where the system
/// refuses** to watch a directory, that is done twice a second.
///
/// **Locks:** ``lock`` is taken after a journal's `watch` and `stateLock`, and is never held while a journal is used or
/// released.
final class JournalWatcher: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    static let ofProcess = PerProcess { JournalWatcher() }

    static var shared: JournalWatcher { ofProcess.current }

    private let lock = ThreadLock()
    // A list: a program has few watches.
    private var watches: [DirectoryWatch] = []
    /// Shared by all directories, since the system allows a user few of these; nil until one is watched.
    private var events: DirectoryEvents?
    /// The watches whose journals may have changed, in the order in which they are looked at.
    private var outdated: [DirectoryWatch] = []
    private let hasOutdated = ThreadCondition()
    /// How many threads look at journals, without those that are in a handler.
    private var lookers = 0
    private var nextLook: UInt64 = 0
    private var isWaiting = false

    /// Nanoseconds between two looks at a journal whose changes the system reports.
    private static let comparisonInterval: UInt64 = 1_000_000_000
    /// Nanoseconds between two looks at a journal that the system doesn't watch.
    private static let pollingInterval: UInt64 = 500_000_000

    /// Watches an open directory for a watch, instead of the one before if there was one.
    ///
    /// - Returns: The error if the system refuses, so that changes are looked for by polling.
    /// - Throws: An error if no thread could be started; nothing is watched then.
    func watch(_ directory: Int32, for watch: DirectoryWatch, calls: SystemCalls) throws(JournalError) -> JournalError?
    {
        // An event of the directory can't be missed: it is assigned to a watch under the lock.
        lock.lock()
        defer { lock.unlock() }
        try begin(watch)
        do throws(JournalError) {
            let source = if let events { events } else { try DirectoryEvents(calls: calls) }
            events = source
            let number = try source.add(directory, calls: calls)
            if watch.directory != number {
                forgetDirectory(of: watch)
                watch.directory = number
            }
            return nil
        } catch {
            forgetDirectory(of: watch)
            return error
        }
    }

    /// Looks at a watch twice a second, since its directory can't be watched.
    func poll(_ watch: DirectoryWatch) {
        lock.lock()
        defer { lock.unlock() }
        forgetDirectory(of: watch)
        // Without a thread it is looked at when something else is watched.
        do throws(JournalError) { try begin(watch) } catch {}
    }

    /// Under the lock: adds a watch, and starts the thread that waits if it isn't running.
    private func begin(_ watch: DirectoryWatch) throws(JournalError) {
        if !isWaiting {
            nextLook = Clock.monotonic() + Self.pollingInterval
            let code = Threads.start { [self] in wait() }
            guard code == 0 else { throw JournalError(.system(.pthreadCreate, code: code), path: ".") }
            isWaiting = true
        }
        // The thread that looks at it may still be about to watch its folder.
        if !watch.hasEnded, !isWatching(watch) { watches.append(watch) }
    }

    /// Ends a watch; its handler may still be in a call.
    func remove(_ watch: DirectoryWatch) {
        lock.lock()
        defer { lock.unlock() }
        watch.hasEnded = true
        watches.removeAll { $0 === watch }
        forgetDirectory(of: watch)
        if watches.isEmpty { hasOutdated.broadcast() }
    }

    private func isWatching(_ watch: DirectoryWatch) -> Bool {
        assert(lock.isHeldByThisThread)
        return watches.contains { $0 === watch }
    }

    /// Ends the system's watch of a directory; under the lock.
    ///
    /// The system's numbers count up, so late events of this directory aren't taken for another one's.
    private func forgetDirectory(of watch: DirectoryWatch) {
        assert(lock.isHeldByThisThread)
        guard let number = watch.directory else { return }
        watch.directory = nil
        // Two journals may have one directory, when a suite was deleted and recreated; see ``JournalRegistry``.
        if !watches.contains(where: { $0.directory == number }) { events?.remove(number) }
    }

    private func wait() {
        Threads.name("DefaultWatch")
        lock.lock()
        defer { lock.unlock() }
        while !watches.isEmpty {
            let events = events
            let deadline = nextLook
            lock.unlock()
            let changes = events?.wait(until: deadline)
            if events == nil { Threads.sleep(nanoseconds: Self.pollingInterval) }
            if let changes { note(changes) }
            lock.lock()
            let now = Clock.monotonic()
            guard now >= nextLook else { continue }
            let isPolling = watches.contains { $0.directory == nil }
            nextLook = now + (isPolling ? Self.pollingInterval : Self.comparisonInterval)
            watches.forEach(look)
        }
        events = nil
        isWaiting = false
    }

    /// Has the journals of changed directories looked at.
    func note(_ changes: DirectoryEvents.Changes) {
        lock.lock()
        defer { lock.unlock() }
        // Late events of a directory whose watch has ended are ignored.
        for watch in watches {
            if changes.areIncomplete || watch.directory.map(changes.directories.contains) ?? false { look(watch) }
        }
    }

    /// Has a journal looked at, after the present look if there is one; under the lock.
    private func look(_ watch: DirectoryWatch) {
        assert(lock.isHeldByThisThread)
        if !watch.isOutdated {
            watch.isOutdated = true
            if !watch.isBeingLookedAt { outdated.append(watch) }
        }
        wakeLooker()
    }

    private func wakeLooker() {
        assert(lock.isHeldByThisThread)
        if lookers > 0 { return hasOutdated.signal() }
        // If no thread can be started, that is tried again within a second.
        if Threads.start({ [self] in lookAtOutdated() }) == 0 { lookers = 1 }
    }

    private func lookAtOutdated() {
        Threads.name("DefaultNotify")
        lock.lock()
        defer { lock.unlock() }
        while let watch = nextOutdated() {
            watch.isOutdated = false
            guard isWatching(watch) else { continue }
            watch.isBeingLookedAt = true
            lock.unlock()
            let hasChanged = watch.bringUpToDate()
            lock.lock()
            if hasChanged {
                lookers -= 1
                if !outdated.isEmpty { wakeLooker() }
                lock.unlock()
                watch.onChange()
                lock.lock()
                lookers += 1
            }
            watch.isBeingLookedAt = false
            if watch.isOutdated { outdated.append(watch) }
        }
        lookers -= 1
    }

    /// The next watch whose journal may have changed, as soon as there is one; nil when nothing is watched any more.
    private func nextOutdated() -> DirectoryWatch? {
        assert(lock.isHeldByThisThread)
        while outdated.isEmpty, !watches.isEmpty { hasOutdated.wait(lock) }
        return outdated.isEmpty ? nil : outdated.removeFirst()
    }
}
