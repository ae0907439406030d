/// The one thread per process that flushes and compacts journals in the background; started by the first write.
///
/// It keeps a journal alive until its work is done, and sleeps on a condition variable while there is none.
final class BackgroundWorker: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    static let shared = BackgroundWorker()

    private enum Work {
        case flush(Journal)
        case compact(Journal)

        var journal: Journal {
            switch self {
            case .flush(let journal), .compact(let journal): journal
            }
        }
    }

    private let lock = ThreadLock()
    private let wakeUp = ThreadCondition()
    private var queue: [(due: UInt64, work: Work)] = []
    /// What the thread is doing.
    private var current: Work?
    private var isRunning = false

    /// Queued journals keep their descriptors open: without a limit, a program that opens, writes and drops many suites
    /// could run out of descriptors.
    private static let maximumQueueLength = 64

    /// Nanoseconds to wait for another process, so that one suite hardly delays the others.
    static let patience: UInt64 = 20_000_000
    /// Nanoseconds after which work is tried again for which a suite was busy.
    static let retryInterval: UInt64 = 200_000_000

    /// Schedules a flush of a journal, `delay` nanoseconds from now.
    ///
    /// - Returns: Whether it is scheduled; if not, no thread could be started, or the queue is full.
    func flush(_ journal: Journal, after delay: UInt64) -> Bool {
        // If it can't be registered, the program ends as one that was killed.
        _ = ExitFlush.isRegistered
        return add(.flush(journal), due: Clock.monotonic() + delay)
    }

    /// Schedules a compaction of a journal as soon as possible.
    ///
    /// - Returns: Whether it is scheduled, as for ``flush(_:after:)``.
    func compact(_ journal: Journal) -> Bool {
        add(.compact(journal), due: 0)
    }

    /// The journals whose flush is scheduled or under way.
    var unflushed: [Journal] {
        lock.lock()
        defer { lock.unlock() }
        return (queue.map(\.work) + [current].compactMap { $0 }).compactMap { work in
            if case .flush(let journal) = work { journal } else { nil }
        }
    }

    private func add(_ work: Work, due: UInt64) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if !isRunning {
            // The next write tries again; writers enforce the journal's size bound without a thread too.
            guard Threads.start({ [self] in run() }) == 0 else { return false }
            isRunning = true
        }
        guard queue.count < Self.maximumQueueLength else { return false }
        queue.append((due, work))
        wakeUp.signal()
        return true
    }

    private func run() {
        while true {
            let work = next()
            let journal = work.journal
            let wasAllowed = journal.options.backgroundActivity {
                switch work {
                case .flush: journal.flushInBackground(waitingAtMost: Self.patience)
                case .compact: journal.compactInBackground()
                }
            }
            if !wasAllowed { postpone(work) }
        }
    }

    /// Queues work for a second later; there is room for it, or else for work that is newer.
    private func postpone(_ work: Work) {
        lock.lock()
        defer { lock.unlock() }
        current = nil
        queue.append((Clock.monotonic() + 1_000_000_000, work))
    }

    /// Waits for the next work that is due.
    private func next() -> Work {
        lock.lock()
        defer { lock.unlock() }
        current = nil
        while true {
            guard let first = queue.indices.min(by: { queue[$0].due < queue[$1].due }) else {
                wakeUp.wait(lock)
                continue
            }
            if queue[first].due <= Clock.monotonic() {
                let work = queue.remove(at: first).work
                current = work
                return work
            }
            wakeUp.wait(lock, until: queue[first].due)
        }
    }
}
