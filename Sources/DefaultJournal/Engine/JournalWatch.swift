/// A thread that waits for other processes to write to a suite and brings its index up to date when they have.
///
/// It watches the suite's directory, not the journal, which compaction replaces by another file. While nothing changes,
/// it is blocked in the kernel.
final class JournalWatch: Sendable {
    private struct State {
        var isStopped = false
        /// The descriptor that wakes the thread up; nil once the thread has ended and closed it.
        var wakeUp: Int32?
    }

    private let state = Guarded(State())

    /// Starts watching.
    ///
    /// - Parameters:
    ///   - journal: The journal, which the watch does not keep alive.
    ///   - onChange: Called on the watching thread when the index may have changed; no lock is held then.
    /// - Returns: Nil when the system doesn't support it, or has no resources left for it.
    static func start(_ journal: Journal, onChange: @escaping @Sendable () -> Void) -> JournalWatch? {
        guard let events = DirectoryEvents.make() else { return nil }
        let watch = JournalWatch()
        watch.state.withLock { $0.wakeUp = events.wakeUpDescriptor }
        journal.watchDirectory(with: events)
        // A closure can't own a noncopyable value.
        let box = EventsBox(events)
        let started = Threads.start { [weak journal] in
            watch.run(box, { journal }, onChange)
        }
        return started == 0 ? watch : nil
    }

    /// Ends the thread; it may still be in a call of `onChange`.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.wakeUp.map(DirectoryEvents.wakeUp)
        }
    }

    /// Makes the thread watch the journal's present directory.
    func directoryChanged() {
        state.withLock { $0.wakeUp.map(DirectoryEvents.wakeUp) }
    }

    private func run(_ box: EventsBox, _ journal: () -> Journal?, _ onChange: () -> Void) {
        Threads.name("DefaultWatch")
        // Closed only when no other thread can use the descriptor any more, whose number may be reused.
        defer { state.withLock { $0.wakeUp = nil } }
        while true {
            box.events.wait()
            guard !state.withLock(\.isStopped), let journal = journal() else { return }
            journal.watchDirectory(with: box.events)
            journal.catchUpWithWriter()
            onChange()
        }
    }
}

private final class EventsBox: Sendable {
    let events: DirectoryEvents

    init(_ events: consuming DirectoryEvents) {
        self.events = events
    }
}

extension Journal {
    /// Watches for what other processes write, until ``stopWatching()``.
    ///
    /// - Parameter onChange: Called on a thread of its own when the index may have changed.
    package func startWatching(_ onChange: @escaping @Sendable () -> Void) {
        watch.withLock { watch in
            if watch == nil { watch = JournalWatch.start(self, onChange: onChange) }
        }
    }

    /// Ends what ``startWatching(_:)`` began.
    package func stopWatching() {
        watch.withLock { watch in
            watch?.stop()
            watch = nil
        }
    }

    func watchDirectory(with events: borrowing DirectoryEvents) {
        stateLock.lock()
        defer { stateLock.unlock() }
        events.watch(state.suite.directory.raw)
    }

    /// After another process's write was noticed: brings the index up to date once the write is committed.
    ///
    /// The system reports the bytes before the writer has published them; `pending` is set meanwhile.
    fileprivate func catchUpWithWriter() {
        var attempts = 0
        while isWritePending, attempts < 1_000 {
            Threads.yield()
            attempts += 1
        }
        if isWritePending {
            // The writer was stopped or killed: taking the lock waits for it, or repairs what it left.
            do {
                try beginExclusiveAccess()
                endExclusiveAccess()
            } catch {
                note(.catchUpFailed(error))
            }
        }
        lockForReading()
        unlockForReading()
    }

    private var isWritePending: Bool {
        stateLock.lock()
        defer { stateLock.unlock() }
        return page.pending != 0
    }
}
