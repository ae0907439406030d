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
    private let context: FollowerContext
    private let mailbox = Mailbox<Incoming>()
    /// Ends a listing, during which the follower's thread doesn't look into the mailbox.
    private let isStopped = Flag()
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

    init(_ context: FollowerContext) {
        self.context = context
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
        isStopped.set()
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
        var machine = FollowerMachine(timing: context.timing, hasUser: context.client.hasUser, at: .now)
        var work = Work(
            keeper: ReplicaKeeper(context)
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
        let limit = time.map { Deadline(at: $0) } ?? Deadline(after: context.timing.heartbeatInterval)
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
        let delivery = work.receiver.receive(bytes, hasUser: context.client.hasUser)
        var news: [WatchNews] = delivery.isBegun ? [.begun] : []
        do throws(Disconnection) {
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
            let isAcquired = context.lock.tryAcquire()
            if isAcquired {
                context.logger.info("This process follows the cluster for the host.")
            }
            return [.lock(isAcquired: isAcquired)]
        case .releaseLock: context.lock.release()
        case .prepare(let listing):
            return outcome { () throws(Disconnection) in
                guard context.lock.isAcquired else { throw .lockLost }
                return .prepared(try work.keeper.prepare(listing: listing, stoppedBy: isStopped))
            }
        case .openWatch(let member, let revision, let connection):
            return outcome { () throws(Disconnection) in
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
        case .chooseMember(let connection): chooseMember(connection: connection)
        case .inspect(let connection): inspect(connection: connection)
        case .confirm(let heartbeat):
            return outcome { () throws(Disconnection) in
                try work.keeper.confirm(heartbeat)
                return work.keeper.known.map { .copied($0) }
            }
        case .remember(let addresses):
            return outcome { () throws(Disconnection) in
                try work.keeper.remember(addresses)
                return work.keeper.known.map { .copied($0) }
            }
        case .avoid(let member): context.client.avoid(member)
        case .discardToken(let refusal): _ = context.client.discardToken(after: refusal)
        case .report(let disconnection): report(disconnection)
        }
        return []
    }

    private func outcome(_ body: () throws(Disconnection) -> FollowerEvent?) -> [FollowerEvent] {
        do throws(Disconnection) {
            return try body().map { [$0] } ?? []
        } catch {
            return [.failed(error)]
        }
    }

    private func openWatch(from revision: Int64, member: Int, connection: Int) throws(Disconnection) -> any EtcdStream {
        let request = WatchRequest(
            createRequest: .init(key: context.keys.prefix, rangeEnd: context.keys.watchEnd, startRevision: revision)
        )
        do throws(EtcdClient.Failure) {
            return try context.client.watch(
                request,
                member: member,
                until: Deadline(after: context.timing.connectLimit)
            ) { [mailbox] piece in
                mailbox.post(.piece(piece, connection: connection))
            }
        } catch {
            context.record(error)
            throw .streamEnded("\(error)")
        }
    }

    private func report(_ disconnection: Disconnection) {
        switch disconnection {
        case .replicaDamaged:
            context.metrics.damages.increment()
            context.logger.warning("This host's copy was damaged or replaced; all of the suite is listed.")
        case .tokenRefused, .refused: context.metrics.refusals.increment()
        default: break
        }
        context.metrics.reconnections.increment()
        context.logger.notice("The watch has ended; it is begun again.", metadata: ["reason": "\(disconnection)"])
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
            let reader = context.reader
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
            context.metrics.clusterRevision.record(heartbeat.clusterRevision)
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
        let longer = Deadline(after: limit * context.client.memberCount)
        do throws(EtcdClient.Failure) {
            let reader = context.reader
            let heartbeat = try reader.heartbeat(of: copy, after: last, from: nil, until: longer)
            context.metrics.clusterRevision.record(heartbeat.clusterRevision)
            post(.heartbeat(heartbeat), connection: connection)
        } catch {
            failHeartbeat(error, connection: connection)
        }
    }

    private func failHeartbeat(_ failure: EtcdClient.Failure, connection: Int) {
        context.logger.warning("A heartbeat has failed.", metadata: ["reason": "\(failure)"])
        context.record(failure)
        post(.heartbeatFailed(Disconnection(failure)), connection: connection)
    }

    private func checkMember(_ member: Int, within limit: Duration, connection: Int) {
        memberChecks.async { [self] in
            let request = EtcdCoding.encode(RangeRequest(key: context.keys.store, serializable: true, keysOnly: true))
            do throws(EtcdClient.Failure) {
                let _: RangeResponse =
                    try context.client.attempt("v3/kv/range", request, member: member, until: Deadline(after: limit))
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
            let found = try? context.client.learnMembers(from: member, until: Deadline(after: context.timing.grace))
            if let addresses = found ?? nil {
                post(.members(addresses.map(\.absoluteString).sorted()), connection: connection)
            }
        }
    }

    private func chooseMember(connection: Int) {
        memberLists.async { [self] in
            let limit = Deadline(after: context.timing.grace)
            if let member = context.client.chooseMember(askingFor: context.keys.store, until: limit) {
                post(.memberChosen(member), connection: connection)
            }
        }
    }

    /// Looks at all keys and values, and at the files, from which other processes read.
    private func inspect(connection: Int) {
        inspections.async { [self] in
            let start = ContinuousClock.now
            let isIntact = context.replica.isIntactOnDisk ? context.replica.isIntact : false
            post(.inspected(isIntact: isIntact, took: .now - start), connection: connection)
        }
    }
}
