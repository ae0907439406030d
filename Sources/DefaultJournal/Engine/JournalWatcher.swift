/// Watches the directories of all watched journals of the process, and calls their handlers, on two threads.
///
/// It watches a suite's directory, not the journal, which compaction replaces by another file. One thread waits for the
/// system's events, another one calls the handlers; while nothing changes, both are blocked in the kernel. They start with
/// the first watch and the first change, and end with the last watch.
///
/// **A handler that blocks** would keep the others from being called. If others wait for a thread that has been in one call
/// for a tenth of a second, a new thread takes its place, and the old one ends when it returns.
///
/// **Once a second** the first thread has each journal looked at, since no event says that its directory was replaced. **Where
/// the system refuses** to watch a directory, it does so twice a second, and each look begins with another attempt to watch it.
///
/// **Locks:** ``lock`` is taken after a journal's `watch` and `stateLock`, and is never held while a journal is used or
/// released.
final class JournalWatcher: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    static var shared: JournalWatcher { ProcessServices.current.part(JournalWatcher.self) { JournalWatcher() } }

    private let lock = ThreadLock()
    private var watches: [ObjectIdentifier: JournalWatch] = [:]

    /// Shared by all directories, since the system allows a user few of these; nil until one is watched.
    private var events: DirectoryEvents?
    private var nextPoll: UInt64 = 0
    private var isWaiting = false
    /// Wakes the waiting thread up while there are no ``events``.
    private let wakeUpWithoutEvents = ThreadCondition()

    /// Watches whose handlers have to be called.
    private var queue: [JournalWatch] = []
    /// The thread that takes from the queue.
    private var notifier: Notifier?
    private let wakeUpNotifier = ThreadCondition()

    /// Nanoseconds between two looks at a journal whose changes the system reports.
    private static let comparisonInterval: UInt64 = 1_000_000_000
    /// Nanoseconds between two looks at a journal that the system doesn't watch.
    private static let pollingInterval: UInt64 = 500_000_000
    /// Nanoseconds that a handler may take while others wait.
    private static let patience: UInt64 = 100_000_000

    private final class Notifier: @unchecked Sendable {
        /// When its present call began; used under the watcher's lock only.
        var busySince: UInt64?
    }
}

// MARK: Watches

extension JournalWatcher {
    /// Watches an open directory for a watch, instead of the one before if there was one.
    ///
    /// - Returns: The error if the system refuses, so that changes are looked for by polling.
    /// - Throws: An error if no thread could be started; nothing is watched then.
    func watch(
        _ directory: Int32,
        for watch: JournalWatch,
        calls: SystemCalls
    ) throws(JournalError) -> JournalError? {
        // An event of the directory can't be missed: it is assigned to a watch under the lock.
        lock.lock()
        defer { lock.unlock() }
        if !isWaiting {
            let code = Threads.start { [self] in wait() }
            nextPoll = Clock.monotonic() + Self.pollingInterval
            guard code == 0 else { throw JournalError(.system(.pthreadCreate, code: code), path: ".") }
            isWaiting = true
        }
        watches[ObjectIdentifier(watch)] = watch
        do throws(JournalError) {
            let number = try provideEvents(calls: calls).add(directory, calls: calls)
            if watch.directory != number {
                forgetDirectory(of: watch)
                watch.directory = number
            }
            return nil
        } catch {
            forgetDirectory(of: watch)
            wakeUp()
            return error
        }
    }

    /// Whether the system doesn't watch the directory of a watch.
    func isPolled(_ watch: JournalWatch) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return watches[ObjectIdentifier(watch)] != nil && watch.directory == nil
    }

    private func provideEvents(calls: SystemCalls) throws(JournalError) -> DirectoryEvents {
        if let events { return events }
        let new = try DirectoryEvents(calls: calls)
        events = new
        wakeUpWithoutEvents.signal()
        return new
    }

    /// Ends a watch; its handler may still be in a call.
    func remove(_ watch: JournalWatch) {
        lock.lock()
        defer { lock.unlock() }
        watches[ObjectIdentifier(watch)] = nil
        forgetDirectory(of: watch)
        if watch.notice == .queued { queue.removeAll { $0 === watch } }
        if watches.isEmpty {
            wakeUp()
            wakeUpNotifier.signal()
        }
    }

    /// The system's numbers count up, so late events of this directory aren't taken for another one's.
    private func forgetDirectory(of watch: JournalWatch) {
        guard let number = watch.directory else { return }
        watch.directory = nil
        // Two journals may have one directory, when a suite was deleted and recreated; see ``JournalRegistry``.
        if !watches.values.contains(where: { $0.directory == number }) { events?.remove(number) }
    }
}

// MARK: The thread that waits for events

extension JournalWatcher {
    private func wait() {
        Threads.name("DefaultWatch")
        lock.lock()
        defer { lock.unlock() }
        while !watches.isEmpty {
            let deadline = deadline
            if let events {
                lock.unlock()
                note(events.wait(until: deadline))
                lock.lock()
            } else {
                wakeUpWithoutEvents.wait(lock, until: deadline)
            }
            poll()
            provideNotifier()
        }
        events = nil
        isWaiting = false
    }

    /// When to look at what no event reports.
    private var deadline: UInt64 {
        var deadline = nextPoll
        if !queue.isEmpty {
            let now = Clock.monotonic()
            let end = (notifier?.busySince ?? now) + Self.patience
            // Later than now, even if no new thread could be started.
            deadline = min(deadline, max(end, now + Self.patience / 10))
        }
        return deadline
    }

    private func wakeUp() {
        events?.wakeUp()
        wakeUpWithoutEvents.signal()
    }

    private func poll() {
        let now = Clock.monotonic()
        guard now >= nextPoll else { return }
        let isPolling = watches.values.contains { $0.directory == nil }
        nextPoll = now + (isPolling ? Self.pollingInterval : Self.comparisonInterval)
        // Each compares the suite with what is at its path.
        for watch in watches.values { enqueue(watch, isTick: watch.directory != nil) }
    }

    /// Has the handlers of changed directories called.
    func note(_ changes: DirectoryEvents.Changes) {
        lock.lock()
        defer { lock.unlock() }
        // Late events of a directory whose watch has ended are ignored.
        for watch in watches.values {
            if changes.areIncomplete || watch.directory.map(changes.directories.contains) ?? false { enqueue(watch) }
        }
        provideNotifier()
    }
}

// MARK: The thread that calls the handlers

extension JournalWatcher {
    private func enqueue(_ watch: JournalWatch, isTick: Bool = false) {
        switch watch.notice {
        case .none:
            watch.notice = .queued
            watch.isTick = isTick
            queue.append(watch)
            wakeUpNotifier.signal()
        case .running: if !isTick { watch.notice = .outdated }
        case .queued: watch.isTick = watch.isTick && isTick
        case .outdated: break
        }
    }

    /// Starts a thread for the queue if there is none, or if a handler blocks the one that there is.
    private func provideNotifier() {
        guard !queue.isEmpty else { return }
        if let notifier {
            guard let start = notifier.busySince, Clock.monotonic() >= start + Self.patience else { return }
        }
        let new = Notifier()
        // If it can't be started, that is tried again as long as the queue isn't empty.
        if Threads.start({ [self] in notify(as: new) }) == 0 { notifier = new }
    }

    private func notify(as notifier: Notifier) {
        Threads.name("DefaultNotify")
        while let (watch, isTick) = next(for: notifier) {
            watch.notify(isTick: isTick)
            finish(watch, by: notifier)
        }
    }

    /// Waits for a watch whose handler has to be called; nil when the thread has to end.
    private func next(for notifier: Notifier) -> (JournalWatch, isTick: Bool)? {
        lock.lock()
        defer { lock.unlock() }
        notifier.busySince = nil
        while notifier === self.notifier {
            if let watch = queue.first {
                queue.removeFirst()
                watch.notice = .running
                notifier.busySince = Clock.monotonic()
                return (watch, watch.isTick)
            }
            if watches.isEmpty {
                self.notifier = nil
            } else {
                wakeUpNotifier.wait(lock)
            }
        }
        return nil
    }

    private func finish(_ watch: JournalWatch, by notifier: Notifier) {
        lock.lock()
        defer { lock.unlock() }
        let isOutdated = watch.notice == .outdated
        watch.notice = .none
        guard isOutdated, watches[ObjectIdentifier(watch)] != nil else { return }
        enqueue(watch)
        // Only the thread that waits for events notices when the notifier is blocked too.
        if notifier !== self.notifier { wakeUp() }
    }
}
