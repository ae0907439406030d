internal import CoreMetrics
internal import Default
internal import Foundation
internal import NIOPosix
internal import Synchronization

extension EtcdDefaults {
    /// Runs a body whose changes are committed at the end of the outermost one; after a conflict, the body runs again.
    ///
    /// When the body throws, its changes are discarded only if they are to be rolled back.
    ///
    /// A commit calls handlers of events, on this thread. What they change has sessions of its own, within the same
    /// lock: the one that is committed receives nothing any more.
    func withSession<Result>(rollsBack: Bool = false, _ body: () throws -> Result) throws -> Result {
        if writeLock.isOwned, let outer = writing.session {
            do {
                return try body()
            } catch {
                if rollsBack {
                    writing.session?.writes = outer.writes
                }
                throw error
            }
        }
        try checkBlockingCall()
        let deadline = Deadline(after: deadline)
        try acquireWriteLock(until: deadline)
        defer {
            writing.session = nil
            writeLock.release()
        }
        var fresh: [StoreKey: FreshValue] = [:]
        var backoff = Backoff(from: .milliseconds(2), to: .milliseconds(100))
        var runs = 0
        while true {
            writing.session = WriteSession(base: replica.revision ?? 0, fresh: fresh)
            writing.depth = writeLock.depth
            let result = Swift.Result { try body() }
            runs += 1
            guard let session = writing.session, !session.writes.isEmpty else {
                return try result.get()
            }
            writing.session = nil
            if rollsBack, case .failure(let error) = result {
                throw error
            }
            switch try commit(session, until: deadline) {
            case .committed:
                return try result.get()
            case .conflict(let found):
                guard backoff.wait(until: deadline) else {
                    throw DefaultsError.conflict(after: runs, store: storeDescription, key: session.onlyKey)
                }
                fresh = writing.writer.refreshed(found, until: deadline)
            }
        }
    }

    /// Begins what ``endExclusiveAccess()`` ends.
    func beginSession() throws(DefaultsError) {
        if !writeLock.isOwned {
            try checkBlockingCall()
        }
        try acquireWriteLock(until: Deadline(after: deadline))
        if writing.session == nil {
            writing.session = WriteSession(base: replica.revision ?? 0)
            writing.depth = writeLock.depth
        }
    }

    /// Ends what ``beginExclusiveAccess()`` began, and reports errors, which its caller can't receive.
    func endSession() {
        if let error = commitOwnSession() {
            DefaultsDiagnostics.report(.writeFailed, error)
        }
    }

    /// Commits the session that the matching ``beginSession()`` has made, if it has; releases the lock in any case.
    private func commitOwnSession() -> DefaultsError? {
        defer { writeLock.release() }
        guard let session = writing.session, writing.depth == writeLock.depth else { return nil }
        writing.session = nil
        guard !session.writes.isEmpty else { return nil }
        do throws(DefaultsError) {
            guard case .conflict = try commit(session, until: Deadline(after: deadline)) else { return nil }
            return .conflict(after: 1, store: storeDescription, key: session.onlyKey)
        } catch {
            return error
        }
    }

    private func acquireWriteLock(until deadline: Deadline) throws(DefaultsError) {
        guard writeLock.acquire(until: deadline) else {
            throw DefaultsError(
                .storeBusy,
                reason: """
                    Another thread of this process was changing \(storeDescription) until the deadline. Nothing was stored. Bodies of \
                    transactions and updates should be short.
                    """,
                store: storeDescription
            )
        }
    }

    /// Stores what a session has written, and waits until the replica has it.
    private func commit(_ session: WriteSession, until deadline: Deadline) throws(DefaultsError) -> Writer.Outcome {
        let start = ContinuousClock.now
        let outcome: Writer.Outcome
        do throws(DefaultsError) {
            guard let state = replica.state else {
                try checkAvailability()
                throw .unavailable("The replica can't be read.", store: storeDescription)
            }
            if let reason = state.replacement {
                throw .storeReplaced(because: reason, store: storeDescription)
            }
            if let size = replica.excessiveSize(after: session.writes, of: state) {
                throw .suiteTooLarge(size, store: storeDescription, key: session.onlyKey)
            }
            outcome = try writing.writer.commit(session, to: state, until: deadline)
            if case .committed(let revision?) = outcome, revision <= state.revision {
                let reason = "it has gone back to an earlier revision, and may have this write"
                throw .storeReplaced(because: reason, store: storeDescription)
            }
        } catch {
            metrics.failures.increment()
            throw error
        }
        switch outcome {
        case .conflict:
            metrics.conflicts.increment()
        case .committed(let revision):
            metrics.writes.increment()
            if let revision, !replica.waitForRevision(revision, until: deadline) {
                reportReplicaBehind(revision, key: session.onlyKey)
            }
            metrics.writeTime.recordNanoseconds(Int64((ContinuousClock.now - start).seconds * 1e9))
        }
        return outcome
    }

    private func reportReplicaBehind(_ revision: Int64, key: String?) {
        let cause =
            lock.isHeld
            ? "The process that follows it is late."
            : "No process of this host follows it: call run(), or start fleet-agent."
        let error = DefaultsError(
            .replicaBehind,
            reason: """
                A write to \(storeDescription) was stored, as revision \(revision) of the cluster, but this host's copy did not have it at \
                the deadline. \(cause)
                """,
            key: key,
            store: storeDescription
        )
        DefaultsDiagnostics.report(.replicaBehind, error)
    }

    /// Waits until the replica has what the cluster has now.
    func flush(until deadline: Deadline) throws(DefaultsError) {
        // Before the cluster is asked: it can't have an earlier revision than the replica had then.
        let state = replica.state
        let found: StoreStatus
        do throws(EtcdClient.Failure) {
            found = try reader.status(until: deadline)
        } catch {
            throw .failed(error, store: storeDescription, key: nil, isReading: true)
        }
        if case .replaced(let reason) = Succession.of(state, in: found, trace: .unknown) {
            throw .storeReplaced(because: reason, store: storeDescription)
        }
        guard replica.wait(until: deadline, for: { replica.isCurrent(with: found) && replica.isIntact == true }) else {
            if let reason = replica.state?.replacement {
                throw .storeReplaced(because: reason, store: storeDescription)
            }
            try checkAvailability()
            throw .unavailable(
                """
                This host's copy does not have all that the cluster has. Is a process of the host following it? If so, and \
                nothing arrives, the copy may be damaged, which the follower finds by itself and repairs.
                """,
                store: storeDescription
            )
        }
    }

    /// Verifies that the calling thread may wait for the network.
    ///
    /// In a task it should not, which is reported once per process.
    func checkBlockingCall() throws(DefaultsError) {
        // The answer may have to come from this thread, and NIO ends a process that waits on it.
        guard MultiThreadedEventLoopGroup.currentEventLoop == nil else {
            throw DefaultsError(
                .blockingCall,
                reason: """
                    A call of \(storeDescription) that waits for the network was made on a thread of NIO's event loops, which must not \
                    wait. Nothing was sent. Call it in perform, on a thread of its own.
                    """,
                store: storeDescription
            )
        }
        guard withUnsafeCurrentTask(body: { $0 != nil }), BlockingCalls.isFirst() else { return }
        let error = DefaultsError(
            .blockingCall,
            reason: """
                A call of \(storeDescription) that waits for the network was made in a task. It holds one of the few threads that run \
                tasks. Call it in perform, on a thread of its own. This is reported once.
                """,
            store: storeDescription
        )
        DefaultsDiagnostics.report(.blockingCall, error)
    }
}

extension WriteSession {
    /// The key that is written, if it is one.
    var onlyKey: String? { writes.count == 1 ? writes.first?.key.string : nil }
}

private enum BlockingCalls {
    private static let wasReported = Atomic(false)

    static func isFirst() -> Bool {
        !wasReported.exchange(true, ordering: .relaxed)
    }
}
