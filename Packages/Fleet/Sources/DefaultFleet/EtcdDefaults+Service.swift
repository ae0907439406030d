internal import Foundation
public import ServiceLifecycle

extension EtcdDefaults: Service {
    /// Follows the cluster for this host, until the service is shut down or its task is cancelled.
    ///
    /// Only one process of a host does so at a time; in the others the call waits, and takes over within a second when
    /// that one ends. Without a cluster it goes on trying. Call it once per object.
    ///
    /// - Throws: Nothing; the type of the protocol is left as it is.
    public func run() async throws {
        let follower = makeFollower()
        let ended = AsyncStream.makeStream(of: Void.self)
        follower.start { ended.continuation.finish() }
        // It throws when the task is cancelled, which is an end like any other.
        try? await gracefulShutdown()
        follower.stop()
        // A cancelled task would not wait for the stream.
        await Task.detached {
            for await _ in ended.stream {}
        }.value
    }

    /// Waits until this host has everything that the cluster has at the time of the call.
    ///
    /// A program calls it at its start, after ``run()`` has begun, if it needs the newest settings more than an early
    /// start. A cluster that was replaced is recognized as by ``flush()``.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeReplaced``.
    public func waitUntilCurrent(within limit: Duration) async throws {
        try await perform { [self] in
            try flush(until: Deadline(after: limit))
        }
    }

    /// Runs a body that waits for the network, on a thread of its own.
    ///
    /// ```swift
    /// try await flags.perform { try Defaults(suite: flags).update(.limit) { $0 += 1 } }
    /// ```
    ///
    /// - Parameter body: Calls the store.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws.
    public func perform<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                continuation.resume(with: Swift.Result { try body() })
            }
            thread.name = "DefaultFleet.perform"
            // As much as a main thread has.
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    func makeFollower() -> Follower {
        Follower(
            FollowerContext(
                replica: replica,
                lock: lock,
                client: client,
                keys: keys,
                timing: timing,
                logger: logger,
                metrics: metrics,
                storeDescription: storeDescription,
                troubles: troubles
            )
        )
    }
}
