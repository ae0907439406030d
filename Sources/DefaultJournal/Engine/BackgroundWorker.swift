/// Flushes and compacts the journals of the process in the background.
///
/// One thread for each file system does what is due there, one piece after another, so that a slow disk delays its own
/// suites only. A journal is kept alive until its work is done. A thread without work sleeps, and ends after a while.
///
/// When the program ends normally, all flushes are due, and compactions that are due are completed. The end waits for
/// them for a second at most, since a disk may hang.
final class BackgroundWorker: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    static let ofProcess = PerProcess { BackgroundWorker() }

    static var shared: BackgroundWorker { ofProcess.current }

    private struct Work {
        let journal: Journal
        let isFlush: Bool
        var due: UInt64
        /// Whether the end of the program waits for it.
        var isLast = false
    }

    let lock = ThreadLock()
    private let changed = ThreadCondition()
    private var queue: [Work] = []
    /// The numbers of the file systems that have a thread.
    private var devices: [UInt64] = []
    /// How many threads there are, and how many pieces of work are being done.
    private var threads = 0
    private var working = 0
    /// Work in the queue that the end of the program waits for.
    private var lastWork = 0
    /// How many ends of the program have asked for the last work, and up to which of them it was begun.
    private var endsAsked = 0
    private var endsBegun = 0

    /// Journals that wait for their flush keep their descriptors open: without a limit, a program that opens, writes
    /// and drops many suites could run out of descriptors.
    private static let maximumQueueLength = 64

    /// Nanoseconds after which work is tried again for which a suite was busy.
    static let retryInterval: UInt64 = 200_000_000

    /// Nanoseconds that a thread sleeps without work before it ends.
    private static let idleTime: UInt64 = 10_000_000_000

    /// Schedules a flush of a journal, `delay` nanoseconds from now.
    ///
    /// - Returns: Whether it is scheduled; if not, no thread could be started, or the queue is full.
    func flush(_ journal: Journal, after delay: UInt64) -> Bool {
        ProgramEnvironment.callAtExit(with: Self.shared) { worker in
            Unmanaged<BackgroundWorker>.fromOpaque(worker).takeUnretainedValue().flushAtExit()
        }
        return add(Work(journal: journal, isFlush: true, due: Clock.monotonic() + delay))
    }

    /// Schedules a compaction of a journal as soon as possible; returns as ``flush(_:after:)``.
    func compact(_ journal: Journal) -> Bool { add(Work(journal: journal, isFlush: false, due: 0)) }

    private func add(_ work: Work) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if work.isFlush, queue.count >= Self.maximumQueueLength { return false }
        let device = work.journal.device
        if !devices.contains(device) {
            // The next write tries again.
            guard Threads.start({ [self] in performAll(on: device) }) == 0 else { return false }
            devices.append(device)
            threads += 1
        }
        queue.append(work)
        changed.broadcast()
        return true
    }

    /// Does what is due on a file system until there has been nothing for a while.
    private func performAll(on device: UInt64) {
        var goesOn = true
        while goesOn { goesOn = performNext(on: device) }
    }

    /// Waits for work that is due on a file system, and does it; a separate function, so that nothing keeps the journal
    /// alive afterwards.
    ///
    /// - Returns: Whether to go on.
    private func performNext(on device: UInt64) -> Bool {
        guard let work = next(on: device) else { return false }
        perform(work)
        return true
    }

    private func next(on device: UInt64) -> Work? {
        lock.lock()
        defer { lock.unlock() }
        let idleEnd = Clock.monotonic() + Self.idleTime
        while true {
            if endsBegun < endsAsked { beginLastWork() }
            let now = Clock.monotonic()
            let own = queue.indices.filter { queue[$0].journal.device == device }
            // A compaction takes longer, and no promise waits for it.
            let dueFlush = own.first { queue[$0].isFlush && queue[$0].due <= now }
            if let index = dueFlush ?? own.min(by: { queue[$0].due < queue[$1].due }) {
                if queue[index].due <= now {
                    working += 1
                    return queue.remove(at: index)
                }
                changed.wait(lock, until: queue[index].due)
            } else if now < idleEnd {
                changed.wait(lock, until: idleEnd)
            } else {
                devices.removeAll { $0 == device }
                threads -= 1
                return nil
            }
        }
    }

    private func perform(_ work: Work) {
        let body = { @Sendable in
            if work.isFlush {
                work.journal.flushInBackground()
            } else {
                work.journal.compactInBackground()
            }
        }
        let wasAllowed: Bool
        if work.isLast {
            // The system isn't asked for time when the program ends.
            body()
            wasAllowed = true
        } else {
            wasAllowed = work.journal.options.backgroundActivity(body)
        }
        lock.lock()
        defer { lock.unlock() }
        working -= 1
        if work.isLast { lastWork -= 1 }
        if !wasAllowed {
            // There is room for it, or else for work that is newer.
            queue.append(Work(journal: work.journal, isFlush: work.isFlush, due: Clock.monotonic() + 1_000_000_000))
        }
        changed.broadcast()
    }

    /// Has everything flushed that has yet to be, and returns when that is done, or after so many nanoseconds.
    ///
    /// A signal's handler may call `exit`, on a thread that holds any lock: this one, one of a journal, that of the
    /// memory's allocation. So the lock is tried again until the deadline instead of waited for, and nothing here
    /// allocates, which the use of a collection may do: the threads do the rest.
    func flushAtExit(waitingAtMost limit: UInt64 = 1_000_000_000) {
        let deadline = Clock.monotonic() + limit
        var pause: UInt64 = 50_000
        var end = 0
        while true {
            if lock.tryLock() {
                if end == 0 {
                    endsAsked += 1
                    end = endsAsked
                    changed.broadcast()
                }
                let isDone = threads == 0 || endsBegun >= end && lastWork == 0 && working == 0
                lock.unlock()
                if isDone { return }
            }
            if Clock.monotonic() >= deadline { return }
            Threads.sleep(nanoseconds: pause)
            pause = pause < 500_000 ? 2 * pause : 1_000_000
        }
    }

    /// Makes the work due that the end of the program waits for; the end doesn't wait for work that is tried again
    /// later.
    private func beginLastWork() {
        assert(lock.isHeldByThisThread)
        for index in queue.indices where !queue[index].isLast {
            queue[index].due = 0
            queue[index].isLast = true
            lastWork += 1
        }
        endsBegun = endsAsked
    }
}
