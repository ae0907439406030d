/// The thread that releases kept file locks after a short time; started when a journal first keeps its lock.
///
/// This can't be the ``BackgroundWorker``, which waits for the locks of other processes that may be waiting for a kept
/// lock. This thread never waits for a lock that is held for more than an instant, and sleeps while no lock is kept.
final class LockReleaser: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    static let shared = LockReleaser()

    private let lock = ThreadLock()
    private let wakeUp = ThreadCondition()
    private var watched: [Journal] = []
    private var isRunning = false

    /// Nanoseconds after which a kept lock is released.
    private static let interval: UInt64 = 2_000_000
    /// Limits how many journals stay open for some milliseconds after their last other reference is gone.
    private static let maximumWatched = 16

    /// Watches a journal until it no longer holds its file lock.
    ///
    /// - Returns: Whether it is watched; if not, no thread could be started, or too many journals are watched already.
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
            // The list is taken first: a journal that needs no more watching may be added again at once.
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
