internal import CoreMetrics
internal import Default
internal import Foundation
internal import Logging
internal import Synchronization

/// Keeps a host's replica equal to the cluster's suite, as long as this process has the host's lock.
///
/// It has a thread of its own: code that blocks Swift's concurrency must not keep it from delivering what that code
/// waits for.
final class Follower: Sendable {
    private let replica: Replica
    private let lock: HostLock
    private let client: EtcdClient
    private let reader: StoreReader
    private let keys: SuiteKeys
    private let timing: FollowerTiming
    private let logger: Logger
    private let metrics: FleetMetrics
    private let storeDescription: String
    private let troubles: TroubleRecord

    private let mailbox = Mailbox<Incoming>()
    private let isStopped = Atomic(false)
    /// What the replica was when this follower has changed it last, or has begun to watch.
    private let known = Mutex<ReplicaState?>(nil)
    // Queues of their own, which get threads however many of the system's are blocked.
    private let heartbeats = DispatchQueue(label: "DefaultFleet.heartbeats")
    private let memberChecks = DispatchQueue(label: "DefaultFleet.member-checks")

    /// What the follower's thread waits for.
    private enum Incoming: Sendable {
        case piece(StreamPiece, connection: Int)
        case heartbeat(Result<Heartbeat, any Error>, connection: Int)
        case stop
    }

    /// Why a connection has ended.
    private enum Disconnection: Error {
        case stopped
        case streamEnded(String)
        case tokenRefused(EtcdRefusal)
        case compacted
        case identityChanged
        case stalled
        case memberSilent
        case replicaDamaged
        /// This user may not read the suite, or is not known.
        case refused(String)
        case replaced
        case uninitialized
    }

    init(
        of replica: Replica,
        lock: HostLock,
        client: EtcdClient,
        keys: SuiteKeys,
        timing: FollowerTiming,
        logger: Logger,
        metrics: FleetMetrics,
        storeDescription: String,
        troubles: TroubleRecord
    ) {
        self.replica = replica
        self.lock = lock
        self.client = client
        self.keys = keys
        self.timing = timing
        self.logger = logger
        self.metrics = metrics
        self.storeDescription = storeDescription
        self.troubles = troubles
        reader = StoreReader(client: client, keys: keys)
    }

    /// Starts the follower's thread.
    ///
    /// - Parameter onEnd: Called on that thread, when it has ended its work.
    func start(onEnd: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            run()
            onEnd()
        }
        thread.name = "DefaultFleet"
        // Values may nest deeply.
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// Ends the work soon.
    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        mailbox.post(.stop)
    }

    private var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

    private func run() {
        while !hasStopped {
            if lock.tryAcquire() {
                logger.info("This process follows the cluster for the host.")
                follow()
                lock.release()
            } else {
                _ = mailbox.next(until: Deadline(after: timing.lockInterval))
            }
        }
    }

    /// Connects again and again.
    private func follow() {
        var connection = 0
        var backoff = Backoff(from: .milliseconds(20), to: timing.retryInterval)
        var refusals = Backoff(from: timing.retryInterval, to: timing.heartbeatInterval)
        var needsListing = false
        if client.hasUser {
            wait(for: authenticationPause())
        }
        while !hasStopped, lock.isAcquired {
            connection += 1
            var member = client.preferredMember
            var pause: Duration?
            do throws(Disconnection) {
                try stayConnected(to: &member, connection: connection, listing: needsListing) {
                    needsListing = false
                    backoff = Backoff(from: .milliseconds(20), to: timing.retryInterval)
                    refusals = Backoff(from: timing.retryInterval, to: timing.heartbeatInterval)
                }
            } catch {
                switch error {
                case .stopped: return
                case .compacted, .identityChanged: needsListing = true
                case .replicaDamaged:
                    needsListing = true
                    metrics.damages.increment()
                    logger.warning("This host's copy was damaged or replaced; all of the suite is listed.")
                case .stalled:
                    // What is missing may be something that no watch will bring.
                    needsListing = true
                    client.avoid(member)
                case .tokenRefused(let refusal):
                    client.discardToken(after: refusal)
                    pause = authenticationPause()
                    metrics.refusals.increment()
                case .refused:
                    pause = refusals.pause()
                    metrics.refusals.increment()
                case .replaced, .uninitialized: pause = timing.retryInterval
                case .streamEnded, .memberSilent: client.avoid(member)
                }
                metrics.reconnections.increment()
                logger.notice("The watch has ended; it is begun again.", metadata: ["reason": "\(error)"])
            }
            wait(for: pause ?? backoff.pause())
        }
    }

    private func wait(for duration: Duration) {
        let end = Deadline(after: duration)
        while !hasStopped, !end.hasPassed {
            _ = mailbox.next(until: end)
        }
    }

    private func authenticationPause() -> Duration {
        timing.authenticationJitter * Double.random(in: 0...1)
    }

    /// Compares the replica with the cluster, and applies changes until something ends that; calls back when the watch
    /// has begun.
    private func stayConnected(
        to member: inout Int,
        connection: Int,
        listing needsListing: Bool,
        onConnected: () -> Void
    ) throws(Disconnection) {
        let asked = ContinuousClock.now
        let found = try prepareReplica(listing: needsListing)
        // One that has just answered.
        member = client.preferredMember
        guard let start = replica.revision else { throw .streamEnded("The replica can't be read.") }
        let stream: any EtcdStream
        do throws(EtcdClient.Failure) {
            let request = WatchRequest(
                createRequest: .init(key: keys.prefix, rangeEnd: keys.watchEnd, startRevision: start + 1)
            )
            stream = try client.watch(
                request,
                member: member,
                until: Deadline(after: timing.connectLimit)
            ) { [mailbox] piece in
                mailbox.post(.piece(piece, connection: connection))
            }
        } catch {
            troubles.record(error, store: storeDescription)
            throw .streamEnded("\(error)")
        }
        defer { stream.cancel() }
        let first = Heartbeat(
            target: .status(found),
            asOf: asked,
            sent: asked,
            pulse: found.pulse,
            clusterRevision: found.revision
        )
        try receive(from: member, connection: connection, after: first, onConnected: onConnected)
    }

    /// Verifies that the replica is a copy of this store, and makes it one if it may.
    ///
    /// - Returns: What the watch has to reach.
    private func prepareReplica(listing needsListing: Bool) throws(Disconnection) -> StoreStatus {
        let found: StoreStatus
        let succession: Succession
        var listing: StoreReader.Listing?
        do throws(EtcdClient.Failure) {
            (found, succession) = try look()
            if succession != .same || found.identity != replica.state?.identity {
                // A wrong bit in an answer looks like another store. The same member is asked: the others may be
                // silent.
                let (again, sameSuccession) = try look()
                guard again.identity == found.identity, sameSuccession == succession else {
                    throw .unintelligible("Two looks at the store's identity have found different things.")
                }
            }
            let isComplete = !needsListing && replica.isIntact && replica.isIntactOnDisk
            if succession == .new || succession == .same && !isComplete {
                listing = try reader.list()
            }
        } catch {
            logger.warning("The cluster can't be reached.", metadata: ["reason": "\(error)"])
            troubles.record(error, store: storeDescription)
            throw Self.disconnection(after: error)
        }
        switch succession {
        case .uninitialized:
            logger.warning("The suite has no store identity in the cluster. Call initialize() once.")
            throw .uninitialized
        case .replaced(let reason):
            noteReplacement(because: reason)
            throw .replaced
        case .new, .same: break
        }
        guard let identity = found.identity else { throw .uninitialized }
        do {
            var state = replica.state
            if let listing {
                let found = ReplicaState(
                    revision: listing.revision,
                    identity: identity,
                    clusterID: listing.clusterID,
                    latest: listing.latest,
                    ignoredKeys: listing.ignoredKeys
                )
                state = try replica.replaceContents(with: listing.values, state: found)
                report(listing.malformed)
                metrics.listings.increment()
                logger.info("All of the suite was listed.", metadata: ["revision": "\(listing.revision)"])
            } else if let before = state, before.identity != identity || before.replacement != nil {
                var after = before
                after.identity = identity
                after.replacement = nil
                state = try replica.apply([:], from: before, to: after)
            }
            known.withLock { $0 = state }
            try advance(to: found)
        } catch {
            throw replicaFailure(error)
        }
        return found
    }

    /// Records that the replica has everything up to the revision of a status that it agrees with.
    ///
    /// A suite that is never changed beside others that are would have to be listed otherwise, when the history since
    /// its last change was compacted.
    private func advance(to found: StoreStatus) throws {
        guard let before = known.withLock({ $0 }), before.revision < found.revision, replica.isCurrent(with: found)
        else {
            return
        }
        var after = before
        after.revision = found.revision
        let state = try replica.apply([:], from: before, to: after)
        known.withLock { $0 = state }
        metrics.revision.record(found.revision)
    }

    /// Compares the replica with what the cluster has.
    private func look() throws(EtcdClient.Failure) -> (StoreStatus, Succession) {
        let found = try reader.status(until: Deadline(after: timing.connectLimit))
        let state = replica.state
        var trace = TraceResult.unknown
        if let latest = state?.latest {
            trace = try reader.find(latest)
        }
        return (found, Succession.of(state, in: found, trace: trace))
    }

    private static func disconnection(after failure: EtcdClient.Failure) -> Disconnection {
        switch failure {
        case .refused(let refusal) where !refusal.isTemporary: .refused(refusal.message)
        case .replaced: .identityChanged
        default: .streamEnded("\(failure)")
        }
    }

    /// Applies what comes.
    private func receive(
        from member: Int,
        connection: Int,
        after first: Heartbeat,
        onConnected: () -> Void
    ) throws(Disconnection) {
        var parser = WatchFrameParser()
        /// Events of a transaction of which more may come.
        var incomplete: [WatchEvent] = []
        /// Whether the watch has begun.
        var isCreated = false
        /// What a heartbeat has found and the replica has not reached yet, and how long nothing may arrive until then.
        ///
        /// There is no limit for all of it: the link may be slow.
        var expected: (heartbeat: Heartbeat, silence: Duration)? = (first, timing.connectLimit)
        var last = first
        var lastArrival = ContinuousClock.now
        var hasArrived: Bool { ContinuousClock.now - lastArrival < timing.grace }
        var heartbeat = Deadline(after: nextHeartbeat())
        while true {
            if let (beat, silence) = expected {
                if isCreated, beat.isReached(by: replica) {
                    try confirm(beat)
                    expected = nil
                } else if ContinuousClock.now - lastArrival > silence {
                    throw .stalled
                }
            }
            if heartbeat.hasPassed {
                sendHeartbeat(watching: member, connection: connection, after: last)
                heartbeat = Deadline(after: nextHeartbeat())
            }
            let wait = expected.map { heartbeat.or(after: $0.silence - (.now - lastArrival)) } ?? heartbeat
            switch mailbox.next(until: wait) {
            case nil: break
            case .stop?: throw .stopped
            case .piece(let piece, connection)?:
                lastArrival = .now
                try apply(piece, to: &parser, after: &incomplete) {
                    isCreated = true
                    onConnected()
                }
            case .heartbeat(.success(let beat), connection)?:
                metrics.clusterRevision.record(beat.clusterRevision)
                last = beat
                if expected == nil {
                    expected = (beat, timing.grace)
                    lastArrival = .now
                }
            case .heartbeat(.failure(let error), connection)?:
                // A link that is full of changes may delay the answer.
                if error is MemberSilent, !hasArrived {
                    throw .memberSilent
                }
                logger.warning("A heartbeat has failed.", metadata: ["reason": "\(error)"])
                // The member goes on delivering to a user whose permission was revoked.
                if let failure = error as? EtcdClient.Failure {
                    troubles.record(failure, store: storeDescription)
                    switch Self.disconnection(after: failure) {
                    case .streamEnded: break
                    case let disconnection: throw disconnection
                    }
                }
            // Of a connection that has ended.
            case .piece?, .heartbeat?: break
            }
        }
    }

    private func apply(
        _ piece: StreamPiece,
        to parser: inout WatchFrameParser,
        after incomplete: inout [WatchEvent],
        onConnected: () -> Void
    ) throws(Disconnection) {
        switch piece {
        case .ended(nil): throw .streamEnded("The member has ended it.")
        case .ended(let failure?): throw .streamEnded("\(failure)")
        case .bytes(let bytes, _):
            let frames: [WatchFrame]
            do throws(WatchFrameParser.Malformed) {
                frames = try parser.parse(bytes)
            } catch {
                throw .streamEnded("What came is not a watch.")
            }
            for frame in frames {
                // Without a reason, so the revision is looked at first.
                guard frame.compactRevision == nil else { throw .compacted }
                if frame.isCanceled {
                    let refusal = EtcdRefusal(message: frame.reason ?? "The member has canceled it.")
                    throw refusal.cause == .invalidToken ? .tokenRefused(refusal) : .streamEnded(refusal.message)
                }
                if frame.isCreated {
                    onConnected()
                }
                incomplete += frame.events
                let last = frame.isFragment ? incomplete.last?.revision : nil
                let end = incomplete.firstIndex { $0.revision == last } ?? incomplete.endIndex
                try apply(incomplete[..<end])
                incomplete.removeSubrange(..<end)
            }
        }
    }

    /// Applies events, those of one revision together.
    private func apply(_ events: ArraySlice<WatchEvent>) throws(Disconnection) {
        for transaction in events.chunked(by: \.revision) {
            guard let before = known.withLock({ $0 }), let revision = transaction.first?.revision else { continue }
            guard !transaction.contains(where: { $0.key == keys.store }) else { throw .identityChanged }
            // It may come again after a listing.
            guard revision > before.revision else { continue }
            var state = before
            var changes: [StoreKey: PropertyListValue?] = [:]
            var malformed: [StoreKey: String] = [:]
            for event in transaction where keys.contains(event.key) {
                if let key = keys.key(at: event.key) {
                    let value = event.text.map(JSONText.storedValue)
                    changes.updateValue(value, forKey: key)
                    if let text = event.text, let value {
                        malformed[key] = JSONText.formOfMalformed(text, keptAs: value)
                    }
                } else if event.text == nil {
                    state.ignoredKeys.remove(event.key)
                } else {
                    state.ignoredKeys.insert(event.key)
                }
                if let text = event.text {
                    state.latest = ReplicaState.Trace(key: event.key, revision: revision, text: text)
                }
            }
            state.revision = revision
            do {
                let after = try replica.apply(changes, from: before, to: state)
                known.withLock { $0 = after }
                report(malformed)
            } catch is Replica.ChangedByOthers {
                throw .replicaDamaged
            } catch {
                throw replicaFailure(error)
            }
            metrics.transactions.increment()
            metrics.revision.record(revision)
        }
    }

    /// Reports texts that can't be read, each once: programs don't find what an operator has typed.
    private func report(_ malformed: [StoreKey: String]) {
        for (key, form) in malformed {
            DefaultsDiagnostics.report(.readFailed, .malformedText(form, key: key.string, store: storeDescription))
        }
    }

    /// Looks whether the replica is still what this follower has made it, at its place and on the disk.
    private func verifyReplica() throws(Disconnection) {
        guard lock.isAcquired, replica.state == known.withLock({ $0 }), replica.isIntact, replica.isIntactOnDisk else {
            throw .replicaDamaged
        }
    }

    /// Records that the replica has what a heartbeat has found.
    private func confirm(_ beat: Heartbeat) throws(Disconnection) {
        try verifyReplica()
        if case .status(let found) = beat.target {
            do {
                try advance(to: found)
            } catch {
                throw replicaFailure(error)
            }
        }
        lock.confirm(asOf: .now - beat.asOf)
        troubles.clear()
    }

    private func replicaFailure(_ error: any Error) -> Disconnection {
        logger.error("The replica can't be changed.", metadata: ["reason": "\(error)"])
        troubles.record(.init(cause: .copy, explanation: "This host's copy can't be changed. \(error)"))
        return .streamEnded("\(error)")
    }

    /// Keeps what the replica has, refuses writes, and reports it, once.
    private func noteReplacement(because reason: String) {
        guard let before = replica.state, before.replacement != reason else { return }
        var state = before
        state.replacement = reason
        do {
            _ = try replica.apply([:], from: before, to: state)
        } catch {
            logger.error("The replica can't be changed.", metadata: ["reason": "\(error)"])
        }
        logger.error("The store was replaced.", metadata: ["reason": "\(reason)"])
        DefaultsDiagnostics.report(.storeReplaced, .storeReplaced(because: reason, store: storeDescription))
    }
}

extension Follower {
    /// The watched member has not answered.
    private struct MemberSilent: Error {}

    /// By chance shorter, so that the followers of many hosts don't ask together.
    private func nextHeartbeat() -> Duration {
        timing.heartbeatInterval * Double.random(in: 0.8...1)
    }

    /// Asks the watched member what the replica has to reach by now, and the others if it doesn't answer.
    ///
    /// A member that was stopped, or that lost its network, keeps its connections, and just delivers nothing.
    private func sendHeartbeat(watching member: Int, connection: Int, after last: Heartbeat) {
        let post = { @Sendable [mailbox] result in mailbox.post(.heartbeat(result, connection: connection)) }
        guard let state = known.withLock({ $0 }) else { return }
        heartbeats.async { [client, reader, memberChecks, keys, timing] in
            let limit = Deadline(after: timing.grace)
            do throws(EtcdClient.Failure) {
                return post(.success(try reader.heartbeat(of: state, after: last, from: member, until: limit)))
            } catch {
                guard error.isTemporary else { return post(.failure(error)) }
            }
            memberChecks.async {
                let request = EtcdCoding.encode(RangeRequest(key: keys.store, serializable: true, keysOnly: true))
                let limit = Deadline(after: timing.grace)
                do throws(EtcdClient.Failure) {
                    let _: RangeResponse = try client.attempt("v3/kv/range", request, member: member, until: limit)
                } catch {
                    // One that refuses is there.
                    if error.refusal == nil {
                        post(.failure(MemberSilent()))
                    }
                }
            }
            // Time for all members: some may not be reachable from this host.
            let longer = Deadline(after: timing.grace * client.memberCount)
            post(Result { try reader.heartbeat(of: state, after: last, from: nil, until: longer) })
        }
    }
}

extension ArraySlice {
    /// The elements in groups of neighbours with the same property.
    fileprivate func chunked<Property: Equatable>(by property: (Element) -> Property) -> [[Element]] {
        var chunks: [[Element]] = []
        for element in self {
            if let last = chunks.last?.last, property(last) == property(element) {
                chunks[chunks.count - 1].append(element)
            } else {
                chunks.append([element])
            }
        }
        return chunks
    }
}
