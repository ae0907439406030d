import NIOPosix
import Testing

/// Runs the tests of a suite on threads of their own.
///
/// They wait for processes. On the threads that run tasks, of which there are as many as processors, they would keep
/// the servers from answering that the tests of the page start in the same process.
struct WaitingTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(WaitingThreads.shared) {
            try await function()
        }
    }
}

extension Trait where Self == WaitingTrait {
    /// For tests that wait for processes; see ``WaitingTrait``.
    static var waits: Self { Self() }
}

/// Two threads that run tasks.
///
/// Dispatch's threads would be missing to the servers.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()

    private let pool = NIOThreadPool(numberOfThreads: 2)

    private init() {
        pool.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.submit { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
