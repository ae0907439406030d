import Foundation
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

private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()

    private let queue = OperationQueue()

    private init() {
        queue.maxConcurrentOperationCount = ProcessInfo.processInfo.activeProcessorCount
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
