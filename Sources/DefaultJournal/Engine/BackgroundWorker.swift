/// Flushes and compacts the journals of the process in the background.
///
/// One thread keeps the time, and starts a thread for each piece of work that is due, so that a slow disk delays its own
/// suites only. It keeps a journal alive until its work is done, and sleeps on a condition variable while there is none.
final class BackgroundWorker: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    static var shared: BackgroundWorker { ProcessServices.current.part(BackgroundWorker.self) { BackgroundWorker() } }

    private struct Work {
        let journal: Journal
        let isFlush: Bool
    }

    private let lock = ThreadLock()
    private let wakeUp = ThreadCondition()
    private var queue: [(due: UInt64, work: Work)] = []
    /// What threads are doing, by number.
    private var running: [Int: Work] = [:]
    private var started = 0
    private var isRunning = false

    /// Journals that wait for their flush keep their descriptors open: without a limit, a program that opens, writes and drops
    /// many suites could run out of descriptors.
    private static let maximumQueueLength = 64

    /// Nanoseconds after which work is tried again for which a suite was busy.
    static let retryInterval: UInt64 = 200_000_000

    /// Schedules a flush of a journal, `delay` nanoseconds from now.
    ///
    /// - Returns: Whether it is scheduled; if not, no thread could be started, or the queue is full.
    func flush(_ journal: Journal, after delay: UInt64) -> Bool {
        // If it can't be registered, the program ends as one that was killed.
        _ = ExitFlush.isRegistered
        return add(Work(journal: journal, isFlush: true), due: Clock.monotonic() + delay)
    }

    /// Schedules a compaction of a journal as soon as possible.
    ///
    /// - Returns: Whether it is scheduled; if not, no thread could be started.
    func compact(_ journal: Journal) -> Bool { add(Work(journal: journal, isFlush: false), due: 0) }

    /// The journals whose flush is scheduled or under way.
    var unflushed: [Journal] {
        lock.lock()
        defer { lock.unlock() }
        return (queue.map(\.work) + Array(running.values)).filter(\.isFlush).map(\.journal)
    }

    private func add(_ work: Work, due: UInt64) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if !isRunning {
            // The next write tries again.
            guard Threads.start({ [self] in run() }) == 0 else { return false }
            isRunning = true
        }
        if work.isFlush, queue.count >= Self.maximumQueueLength { return false }
        queue.append((due, work))
        wakeUp.signal()
        return true
    }

    private func run() {
        while true {
            let number = next()
            if Threads.start({ [self] in perform(number) }) != 0 { perform(number) }
        }
    }

    private func perform(_ number: Int) {
        lock.lock()
        let work = running[number]
        lock.unlock()
        guard let work else { return }
        let journal = work.journal
        let wasAllowed = journal.options.backgroundActivity {
            if work.isFlush { journal.flushInBackground() } else { journal.compactInBackground() }
        }
        lock.lock()
        running[number] = nil
        // There is room for it, or else for work that is newer.
        if !wasAllowed { queue.append((Clock.monotonic() + 1_000_000_000, work)) }
        wakeUp.signal()
        lock.unlock()
    }

    /// Waits for the next work that is due.
    ///
    /// - Returns: Its number in `running`.
    private func next() -> Int {
        lock.lock()
        defer { lock.unlock() }
        while true {
            guard let first = queue.indices.min(by: { queue[$0].due < queue[$1].due }) else {
                wakeUp.wait(lock)
                continue
            }
            if queue[first].due <= Clock.monotonic() {
                started += 1
                running[started] = queue.remove(at: first).work
                return started
            }
            wakeUp.wait(lock, until: queue[first].due)
        }
    }
}
