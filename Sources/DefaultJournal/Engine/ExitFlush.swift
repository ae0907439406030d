/// Flushes the journals with unflushed writes when the program ends normally, and waits for at most a second in all.
///
/// Other threads go on while the program ends, and a disk may hang. Each journal is therefore flushed by a thread of its own,
/// and the end of the program waits for those threads only as long as the limit allows.
final class ExitFlush: @unchecked Sendable {
    // Mutable state is used under `lock` only.

    /// Whether the program's end flushes; the first access registers it, for children made with `fork` too.
    static let isRegistered = ProgramExit.register { ExitFlush().run() }

    /// Nanoseconds that the end of the program waits at most.
    private static let limit: UInt64 = 1_000_000_000

    private let lock = ThreadLock()
    private let finished = ThreadCondition()
    private var running = 0

    private func run() {
        let deadline = Clock.monotonic() + Self.limit
        start { [self] in
            for journal in BackgroundWorker.shared.unflushed { start { journal.flushInBackground() } }
        }
        lock.lock()
        while running > 0, Clock.monotonic() < deadline { finished.wait(lock, until: deadline) }
        lock.unlock()
    }

    /// Runs a body on a thread of its own; what can't be started is left to the system.
    private func start(_ body: @escaping @Sendable () -> Void) {
        count(1)
        let code = Threads.start { [self] in
            body()
            count(-1)
        }
        if code != 0 { count(-1) }
    }

    private func count(_ change: Int) {
        lock.lock()
        running += change
        finished.signal()
        lock.unlock()
    }
}
