internal import CoreMetrics
internal import Default
internal import Foundation
internal import Logging
internal import Synchronization

/// Keeps a host's replica equal to the cluster's suite, as long as this process has the host's lock.
///
/// It has a thread of its own: code that blocks Swift's concurrency must not keep it from delivering what that code
/// waits for. What to do next is decided by a ``FollowerMachine``; this does it.
final class Follower: Sendable {
    private let replica: Replica
    private let lock: HostLock
    private let client: EtcdClient
    private let keys: SuiteKeys
    private let timing: FollowerTiming
    private let logger: Logger
    private let metrics: FleetMetrics
    private let storeDescription: String
    private let troubles: TroubleRecord

    private let mailbox = Mailbox<Incoming>()
    // Queues of their own, which get threads however many of the system's are blocked.
    private let heartbeats = DispatchQueue(label: "DefaultFleet.heartbeats")
    private let memberChecks = DispatchQueue(label: "DefaultFleet.member-checks")
    private let memberLists = DispatchQueue(label: "DefaultFleet.member-lists")
    private let inspections = DispatchQueue(label: "DefaultFleet.inspections")

    /// What the follower's thread waits for.
    private enum Incoming: Sendable {
        case piece(StreamPiece, connection: Int)
        case event(FollowerEvent)
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
        mailbox.post(.event(.stop))
    }

    // MARK: The thread

    /// What only the follower's thread uses.
    private struct Work {
        var keeper: ReplicaKeeper
        var stream: (any EtcdStream)?
        var receiver = WatchReceiver()
        var connection = 0
    }

    private func run() {
        var machine = FollowerMachine(timing: timing, hasUser: client.hasUser, at: .now)
        var work = Work(
            keeper: ReplicaKeeper(
                of: replica,
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
        while !machine.hasStopped {
            var events = next(until: machine.wakeUp, &work)[...]
            while let event = events.popFirst() {
                let moment = Moment(now: .now, chance: .random(in: 0...1))
                for action in machine.handle(event, at: moment) {
                    events += perform(action, &work)
                }
            }
        }
    }

    /// Waits for what happens.
    private func next(until time: ContinuousClock.Instant?, _ work: inout Work) -> [FollowerEvent] {
        // The machine waits for something that comes in any case, or for a time.
        let limit = time.map { Deadline(at: $0) } ?? Deadline(after: timing.heartbeatInterval)
        switch mailbox.next(until: limit) {
        case nil: return [.time]
        case .event(let event)?: return [event]
        case .piece(let piece, let connection)?:
            // Of a connection that has ended.
            guard connection == work.connection, work.stream != nil else { return [] }
            return take(piece, &work).map { .watch($0, connection: connection) }
        }
    }

    private func take(_ piece: StreamPiece, _ work: inout Work) -> [WatchNews] {
        guard case .bytes(let bytes, _) = piece else {
            guard case .ended(let failure?) = piece else { return [.ended(.streamEnded("The member has ended it."))] }
            return [.ended(.streamEnded("\(failure)"))]
        }
        let delivery = work.receiver.receive(bytes, hasUser: client.hasUser)
        var news: [WatchNews] = delivery.isBegun ? [.begun] : []
        do throws(Trouble) {
            try work.keeper.apply(delivery.events)
        } catch {
            return news + [.ended(error)]
        }
        if let copy = work.keeper.known {
            news.append(.arrived(copy))
        }
        return news + (delivery.end.map { [.ended($0)] } ?? [])
    }

    // MARK: Actions

    /// Does what the machine has decided; the result is what has happened thereby.
    private func perform(_ action: FollowerAction, _ work: inout Work) -> [FollowerEvent] {
        switch action {
        case .acquireLock:
            let isAcquired = lock.tryAcquire()
            if isAcquired {
                logger.info("This process follows the cluster for the host.")
            }
            return [.lock(isAcquired: isAcquired)]
        case .releaseLock: lock.release()
        case .prepare(let listing):
            return outcome { () throws(Trouble) in
                guard lock.isAcquired else { throw .lockLost }
                return .prepared(try work.keeper.prepare(listing: listing))
            }
        case .openWatch(let member, let revision, let connection):
            return outcome { () throws(Trouble) in
                work.stream = try openWatch(from: revision, member: member, connection: connection)
                work.receiver = WatchReceiver()
                work.connection = connection
                return nil
            }
        case .closeWatch:
            work.stream?.cancel()
            work.stream = nil
        case .sendHeartbeat(let member, let copy, let last, let limit, let connection):
            sendHeartbeat(watching: member, copy: copy, after: last, within: limit, connection: connection)
        case .learnMembers(let member, let connection): learnMembers(from: member, connection: connection)
        case .inspect(let connection): inspect(connection: connection)
        case .confirm(let heartbeat):
            return outcome { () throws(Trouble) in
                try work.keeper.confirm(heartbeat)
                return work.keeper.known.map { .copied($0) }
            }
        case .remember(let addresses):
            return outcome { () throws(Trouble) in
                try work.keeper.remember(addresses)
                return work.keeper.known.map { .copied($0) }
            }
        case .avoid(let member): client.avoid(member)
        case .discardToken(let refusal): _ = client.discardToken(after: refusal)
        case .report(let trouble): report(trouble)
        }
        return []
    }

    private func outcome(_ body: () throws(Trouble) -> FollowerEvent?) -> [FollowerEvent] {
        do throws(Trouble) {
            return try body().map { [$0] } ?? []
        } catch {
            return [.failed(error)]
        }
    }

    private func openWatch(from revision: Int64, member: Int, connection: Int) throws(Trouble) -> any EtcdStream {
        let request = WatchRequest(
            createRequest: .init(key: keys.prefix, rangeEnd: keys.watchEnd, startRevision: revision)
        )
        do throws(EtcdClient.Failure) {
            return try client.watch(
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
    }

    private func report(_ trouble: Trouble) {
        switch trouble {
        case .replicaDamaged:
            metrics.damages.increment()
            logger.warning("This host's copy was damaged or replaced; all of the suite is listed.")
        case .tokenRefused, .refused: metrics.refusals.increment()
        default: break
        }
        metrics.reconnections.increment()
        logger.notice("The watch has ended; it is begun again.", metadata: ["reason": "\(trouble)"])
    }

    // MARK: Beside the follower's thread

    private func post(_ news: WatchNews, connection: Int) {
        mailbox.post(.event(.watch(news, connection: connection)))
    }

    /// Asks the watched member what the replica has to reach by now, and the others if it doesn't answer.
    ///
    /// A member that was stopped, or that lost its network, keeps its connections, and just delivers nothing.
    private func sendHeartbeat(
        watching member: Int,
        copy: ReplicaState,
        after last: Heartbeat,
        within limit: Duration,
        connection: Int
    ) {
        heartbeats.async { [self] in
            let reader = StoreReader(client: client, keys: keys)
            let heartbeat: Heartbeat
            do throws(EtcdClient.Failure) {
                heartbeat = try reader.heartbeat(
                    of: copy,
                    after: last,
                    from: member,
                    until: Deadline(after: limit)
                )
            } catch {
                if error.isTemporary {
                    checkMember(member, within: limit, connection: connection)
                    heartbeatOfOthers(of: copy, after: last, within: limit, connection: connection)
                } else {
                    failHeartbeat(error, connection: connection)
                }
                return
            }
            metrics.clusterRevision.record(heartbeat.clusterRevision)
            post(.heartbeat(heartbeat), connection: connection)
        }
    }

    private func heartbeatOfOthers(
        of copy: ReplicaState,
        after last: Heartbeat,
        within limit: Duration,
        connection: Int
    ) {
        // Time for all members: some may not be reachable from this host.
        let longer = Deadline(after: limit * client.memberCount)
        do throws(EtcdClient.Failure) {
            let reader = StoreReader(client: client, keys: keys)
            let heartbeat = try reader.heartbeat(of: copy, after: last, from: nil, until: longer)
            metrics.clusterRevision.record(heartbeat.clusterRevision)
            post(.heartbeat(heartbeat), connection: connection)
        } catch {
            failHeartbeat(error, connection: connection)
        }
    }

    private func failHeartbeat(_ failure: EtcdClient.Failure, connection: Int) {
        logger.warning("A heartbeat has failed.", metadata: ["reason": "\(failure)"])
        troubles.record(failure, store: storeDescription)
        post(.heartbeatFailed(Trouble(failure)), connection: connection)
    }

    private func checkMember(_ member: Int, within limit: Duration, connection: Int) {
        memberChecks.async { [self] in
            let request = EtcdCoding.encode(RangeRequest(key: keys.store, serializable: true, keysOnly: true))
            do throws(EtcdClient.Failure) {
                let _: RangeResponse =
                    try client.attempt("v3/kv/range", request, member: member, until: Deadline(after: limit))
            } catch {
                // One that refuses is there.
                if error.refusal == nil {
                    post(.memberSilent, connection: connection)
                }
            }
        }
    }

    private func learnMembers(from member: Int, connection: Int) {
        memberLists.async { [self] in
            // Where the member doesn't say, the addresses stay as they are, and it is asked again later.
            let found = try? client.learnMembers(from: member, until: Deadline(after: timing.grace))
            if let addresses = found ?? nil {
                post(.members(addresses.map(\.absoluteString).sorted()), connection: connection)
            }
        }
    }

    /// Looks at all keys and values, and at the files, from which other processes read.
    private func inspect(connection: Int) {
        inspections.async { [self] in
            let start = ContinuousClock.now
            let isIntact = replica.isIntactOnDisk ? replica.isIntact : false
            post(.inspected(isIntact: isIntact, took: .now - start), connection: connection)
        }
    }
}
