/// Watches the directories of all watched journals of the process.
///
/// It watches a suite's directory, not the journal, which compaction replaces by another file. One thread waits for the
/// system's events, blocked in the kernel while nothing changes. It starts with the first watch and ends with the last. Journals
/// that may have changed are looked at by a second one. When a handler blocks it, a third one goes on with the other journals.
///
/// **Once a second** each journal is looked at, since no event says that its directory was replaced. **Where the system
/// refuses** to watch a directory, that is done twice a second.
///
/// **Locks:** ``lock`` is taken after a journal's `watch` and `stateLock`, and is never held while a journal is used or
/// released.
final class JournalWatcher: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    static var shared: JournalWatcher { ProcessServices.current.part(JournalWatcher.self) { JournalWatcher() } }

    private let lock = ThreadLock()
    // A list: there are few, and a dictionary of another type takes two kilobytes.
    private var watches: [JournalWatch] = []
    /// Shared by all directories, since the system allows a user few of these; nil until one is watched.
    private var events: DirectoryEvents?
    /// What may have changed, in the order in which it is looked at.
    private var outdated: [JournalWatch] = []
    private let hasOutdated = ThreadCondition()
    /// The threads that look at journals, without those that are in a handler.
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
    func watch(_ directory: Int32, for watch: JournalWatch, calls: SystemCalls) throws(JournalError) -> JournalError? {
        // An event of the directory can't be missed: it is assigned to a watch under the lock.
        lock.lock()
        defer { lock.unlock() }
        if !isWaiting {
            nextLook = Clock.monotonic() + Self.pollingInterval
            let code = Threads.start { [self] in wait() }
            guard code == 0 else { throw JournalError(.system(.pthreadCreate, code: code), path: ".") }
            isWaiting = true
        }
        if !isWatching(watch) { watches.append(watch) }
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

    /// Ends a watch; its handler may still be in a call.
    func remove(_ watch: JournalWatch) {
        lock.lock()
        defer { lock.unlock() }
        watches.removeAll { $0 === watch }
        forgetDirectory(of: watch)
        if watches.isEmpty { hasOutdated.broadcast() }
    }

    private func isWatching(_ watch: JournalWatch) -> Bool { watches.contains { $0 === watch } }

    /// The system's numbers count up, so late events of this directory aren't taken for another one's.
    private func forgetDirectory(of watch: JournalWatch) {
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
            let (events, deadline) = (events, nextLook)
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

    /// Has a journal looked at, after the present look if there is one.
    private func look(_ watch: JournalWatch) {
        if !watch.isOutdated {
            watch.isOutdated = true
            if !watch.isBeingLookedAt { outdated.append(watch) }
        }
        wakeLooker()
    }

    private func wakeLooker() {
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

    /// Waits until there is one; nil when nothing is watched any more.
    private func nextOutdated() -> JournalWatch? {
        while outdated.isEmpty, !watches.isEmpty { hasOutdated.wait(lock) }
        return outdated.isEmpty ? nil : outdated.removeFirst()
    }
}
