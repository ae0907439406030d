/// Flushes and compacts the journals of the process in the background.
///
/// One thread keeps the time, and starts a thread for each piece of work that is due, so that a slow disk delays its own
/// suites only. It keeps a journal alive until its work is done, and sleeps on a condition variable while there is none.
///
/// When the program ends normally, all flushes are due. The end waits for them for a second at most, since a disk may hang.
final class BackgroundWorker: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    static var shared: BackgroundWorker { ProcessServices.current.part(BackgroundWorker.self) { BackgroundWorker() } }

    private struct Work {
        let journal: Journal
        let isFlush: Bool
        var due: UInt64
    }

    private let lock = ThreadLock()
    private let changed = ThreadCondition()
    private var queue: [Work] = []
    private var flushing = 0
    private var isRunning = false

    /// Journals that wait for their flush keep their descriptors open: without a limit, a program that opens, writes and drops
    /// many suites could run out of descriptors.
    private static let maximumQueueLength = 64

    /// Nanoseconds after which work is tried again for which a suite was busy.
    static let retryInterval: UInt64 = 200_000_000

    /// Whether the program's end flushes; the first access registers it, for children made with `fork` too.
    private static let isExitRegistered = ProgramEnvironment.callAtExit { shared.flushAtExit() }

    /// Schedules a flush of a journal, `delay` nanoseconds from now.
    ///
    /// - Returns: Whether it is scheduled; if not, no thread could be started, or the queue is full.
    func flush(_ journal: Journal, after delay: UInt64) -> Bool {
        // If it can't be registered, the program ends as one that was killed.
        _ = Self.isExitRegistered
        return add(Work(journal: journal, isFlush: true, due: Clock.monotonic() + delay))
    }

    /// Schedules a compaction of a journal as soon as possible; returns as ``flush(_:after:)``.
    func compact(_ journal: Journal) -> Bool { add(Work(journal: journal, isFlush: false, due: 0)) }

    private func add(_ work: Work) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if !isRunning {
            // The next write tries again.
            guard Threads.start({ [self] in while true { startNext() } }) == 0 else { return false }
            isRunning = true
        }
        if work.isFlush, queue.count >= Self.maximumQueueLength { return false }
        queue.append(work)
        changed.broadcast()
        return true
    }

    /// Waits for work that is due, and starts it; a function of its own, so that nothing keeps the journal alive afterwards.
    private func startNext() {
        let work = next()
        if Threads.start({ [self] in perform(work) }) != 0 { perform(work) }
    }

    private func next() -> Work {
        lock.lock()
        defer { lock.unlock() }
        while true {
            guard let first = queue.indices.min(by: { queue[$0].due < queue[$1].due }) else {
                changed.wait(lock)
                continue
            }
            if queue[first].due <= Clock.monotonic() {
                if queue[first].isFlush { flushing += 1 }
                return queue.remove(at: first)
            }
            changed.wait(lock, until: queue[first].due)
        }
    }

    private func perform(_ work: Work) {
        let body = { @Sendable in
            if work.isFlush { work.journal.flushInBackground() } else { work.journal.compactInBackground() }
        }
        // The system isn't asked for time when the program ends.
        let isAtExit = work.isFlush && work.due == 0
        if isAtExit { body() }
        let wasAllowed = isAtExit || work.journal.options.backgroundActivity(body)
        lock.lock()
        defer { lock.unlock() }
        if work.isFlush { flushing -= 1 }
        if !wasAllowed {
            // There is room for it, or else for work that is newer.
            queue.append(Work(journal: work.journal, isFlush: work.isFlush, due: Clock.monotonic() + 1_000_000_000))
        }
        changed.broadcast()
    }

    /// Flushes what has yet to be flushed, and returns when that is done, or after so many nanoseconds.
    func flushAtExit(waitingAtMost limit: UInt64 = 1_000_000_000) {
        let deadline = Clock.monotonic() + limit
        lock.lock()
        defer { lock.unlock() }
        for index in queue.indices where queue[index].isFlush { queue[index].due = 0 }
        changed.broadcast()
        // What is tried again later isn't waited for.
        while flushing > 0 || queue.contains(where: { $0.isFlush && $0.due == 0 }), Clock.monotonic() < deadline {
            changed.wait(lock, until: deadline)
        }
    }
}
