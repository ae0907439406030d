/// The thread that sees to it that no journal keeps its file lock for long; started when the first one does.
///
/// Not the ``BackgroundWorker``: that one waits for the locks of other processes, which may be waiting for a kept one.
/// This thread never waits for a lock that is held for longer than an instant, and sleeps while no lock is kept.
final class LockReleaser: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    static let shared = LockReleaser()

    private let lock = ThreadLock()
    private let wakeUp = ThreadCondition()
    private var watched: [Journal] = []
    private var isRunning = false

    /// Nanoseconds after which a kept lock is to be given back.
    private static let interval: UInt64 = 2_000_000
    /// Watched journals stay open for some milliseconds after their last other reference is gone.
    private static let maximumWatched = 16

    /// Looks after a journal until it is found not to hold its file lock.
    ///
    /// - Returns: Whether it will; if not, there is no thread, or too much to look after already.
    func watch(_ journal: Journal) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard watched.count < Self.maximumWatched else { return false }
        if !isRunning {
            guard Threads.start({ [self] in run() }) == 0 else { return false }
            isRunning = true
        }
        watched.append(journal)
        wakeUp.signal()
        return true
    }

    private func run() {
        while true {
            // Taken out of the list, since a journal that needs no watching may be watched anew at once.
            let round = nextRound()
            let left = round.filter { !$0.releaseKeptFileLock() }
            lock.lock()
            watched += left
            lock.unlock()
        }
    }

    /// Waits until there are journals to watch, and then for the interval.
    private func nextRound() -> [Journal] {
        lock.lock()
        defer { lock.unlock() }
        while watched.isEmpty { wakeUp.wait(lock) }
        let due = Clock.monotonic() + Self.interval
        while Clock.monotonic() < due { wakeUp.wait(lock, until: due) }
        defer { watched = [] }
        return watched
    }
}
