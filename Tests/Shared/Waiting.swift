import Dispatch
import Foundation
import Testing

/// The single limit of all waiting in tests; `DEFAULT_TEST_MINUTES` extends it, for sanitizers.
private let limitInMinutes = ProcessInfo.processInfo.environment["DEFAULT_TEST_MINUTES"].flatMap(Int.init) ?? 1

/// The limit of a whole test, which may wait for several events and work in between, perhaps on a busy processor.
private let testLimitInMinutes = 5 * limitInMinutes

/// An error for an event that did not come in time.
struct WaitingExpired: Error, CustomStringConvertible {
    let description: String

    init(_ event: String, minutes: Int = limitInMinutes) {
        description = "Did not come within \(minutes) min: \(event)."
    }
}

/// Waits on this thread until other threads or processes have made a condition true.
///
/// - Throws: ``WaitingExpired`` after the limit, and what the condition throws.
func wait(for event: @autoclosure () -> String, until condition: () throws -> Bool) throws {
    let limit = ContinuousClock.now + .seconds(60 * limitInMinutes)
    var looks = 0
    while try !condition() {
        guard ContinuousClock.now < limit else { throw WaitingExpired(event()) }
        looks += 1
        // Yields first, since the other thread or process needs the processor.
        if looks < 200 { sched_yield() } else { usleep(looks < 1_000 ? 200 : 2_000) }
    }
}

/// Runs the tests of a suite on threads of their own, each with a limit.
///
/// Waiting tests don't take a thread away from working tests, nor do working tests delay them: with two processors an
/// asynchronous test would otherwise go on only after hundreds of others.
struct WaitingTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(TestThreads.waiting) {
            // The function doesn't escape: a group waits for its tasks.
            try await withoutActuallyEscaping(function) { function in
                try await Self.run(function, named: test.displayName ?? test.name)
            }
        }
    }

    private static func run(_ function: @escaping @concurrent @Sendable () async throws -> Void, named name: String)
        async throws
    {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await function()
                return true
            }
            group.addTask {
                try await Task.sleep(for: .seconds(60 * testLimitInMinutes))
                return false
            }
            let hasEnded = try await group.next()
            group.cancelAll()
            if hasEnded == false {
                throw WaitingExpired("the end of \"\(name)\"", minutes: testLimitInMinutes)
            }
        }
    }
}

extension Trait where Self == WaitingTrait {
    /// For tests that wait for events; see ``WaitingTrait``.
    static var waits: Self { Self() }
}

/// Threads that run tasks.
///
/// Dispatch's threads would be the ones that all other tests keep busy.
final class TestThreads: TaskExecutor, SerialExecutor {
    /// The threads of the tests that wait.
    static let waiting = TestThreads(count: 8)

    // Used only under `condition`.
    private nonisolated(unsafe) var jobs: [UnownedJob] = []
    private let condition = NSCondition()
    private let isSerial: Bool

    /// Starts threads that run as long as the process; the executor of an actor has one.
    init(count: Int) {
        isSerial = count == 1
        for _ in 0..<count {
            Thread { self.run() }.start()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }

    private func run() {
        while true {
            let job = condition.withLock {
                while jobs.isEmpty { condition.wait() }
                return jobs.removeFirst()
            }
            if isSerial {
                job.runSynchronously(on: asUnownedSerialExecutor())
            } else {
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
}

/// An actor with its own thread. The main actor would go on only when the threads of all other tests let it.
@globalActor
actor TestActor {
    static let shared = TestActor()
    private let thread = TestThreads(count: 1)

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
}
