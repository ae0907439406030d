import Foundation
import Testing

@testable import DefaultFleet

/// A generator with the same numbers for the same seed: SplitMix64.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}

/// A machine with a world around it that is made of chance alone: it answers what the machine asks, late, wrongly, or
/// not at all, and lets connections end.
private struct World {
    var generator: SeededGenerator
    var machine: FollowerMachine
    var now = ContinuousClock.now
    let timing: FollowerTiming
    /// What was asked and is not answered yet, with the time of the answer.
    var pending: [(time: ContinuousClock.Instant, event: FollowerEvent)] = []
    var hasLock = false
    var openConnection: Int?
    var revision: Int64 = 10
    var copyRevision: Int64 = 10
    /// The moments of confirmations, and what each was as of.
    var confirmations: [(now: ContinuousClock.Instant, heartbeat: Heartbeat)] = []
    var connections: [Int] = []
    var listings = 0
    var mustList = false
    var trace: [String] = []
    /// From 0, where nothing fails, to 1.
    var troubles: Double

    init(seed: UInt64, troubles: Double, hasUser: Bool) {
        generator = SeededGenerator(state: seed)
        timing = FollowerTiming()
        machine = FollowerMachine(timing: timing, hasUser: hasUser, at: now)
        self.troubles = troubles
    }

    mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < probability }

    var copy: ReplicaState { ReplicaState(revision: copyRevision, identity: Data()) }

    var status: StoreStatus {
        StoreStatus(clusterID: "1", revision: revision, identity: Data(), newestChange: 0, keyCount: 0, pulse: 0)
    }

    mutating func answer(_ event: FollowerEvent, upTo longest: Duration = .milliseconds(300)) {
        let delay = longest * Double.random(in: 0...1, using: &generator)
        pending.append((now + delay, event))
    }

    static let endings: [Disconnection] = [
        .streamEnded("a test"), .compacted, .identityChanged, .replicaDamaged, .tokenRefused(.tooLarge),
    ]
    static let obstacles: [Disconnection] = [
        .streamEnded("a test"), .refused("a test"), .replaced, .uninitialized, .lockLost,
    ]

    mutating func perform(_ action: FollowerAction) {
        trace.append("\(action)".prefix(24) + "")
        switch action {
        case .acquireLock:
            #expect(!hasLock, "It has the lock already.")
            hasLock = !chance(troubles * 0.5)
            answer(.lock(isAcquired: hasLock), upTo: .zero)
        case .releaseLock:
            #expect(hasLock, "It releases a lock that it doesn't have.")
            hasLock = false
        case .prepare(let listing):
            #expect(hasLock && openConnection == nil, "It prepares with a connection, or without the lock.")
            #expect(listing || !mustList, "It forgets that all has to be listed.")
            if chance(troubles * 0.4), let disconnection = Self.obstacles.randomElement(using: &generator) {
                answer(.failed(disconnection))
            } else {
                listings += listing ? 1 : 0
                copyRevision = listing ? revision : copyRevision
                answer(.prepared(Preparation(found: status, asked: now, member: 0, copy: copy)))
            }
        case .openWatch(_, let start, let connection):
            #expect(hasLock && openConnection == nil, "It has two connections.")
            #expect(start == copyRevision, "It leaves out changes, or asks for more than the last one again.")
            #expect(connections.last.map { $0 < connection } ?? true, "A number of a connection comes again.")
            openConnection = connection
            connections.append(connection)
            if !chance(troubles * 0.2) {
                answer(.watch(.begun, connection: connection))
            }
        case .closeWatch: openConnection = nil
        case .sendHeartbeat(_, _, _, let limit, let connection):
            #expect(connection == openConnection, "It asks for a connection that has ended.")
            if chance(troubles * 0.3) {
                answer(.watch(.heartbeatFailed(.streamEnded("a test")), connection: connection), upTo: limit)
                if chance(0.5) {
                    answer(.watch(.memberSilent, connection: connection), upTo: limit)
                }
            } else {
                let heartbeat = Heartbeat(
                    target: .revision(revision),
                    asOf: now,
                    sent: now,
                    pulse: 0,
                    clusterRevision: revision
                )
                answer(.watch(.heartbeat(heartbeat), connection: connection))
            }
        case .learnMembers(_, let connection):
            answer(.watch(.members(chance(0.1) ? ["a", "b"] : []), connection: connection))
        case .chooseMember(let connection):
            #expect(connection == openConnection, "It leaves a connection that has ended.")
            if !chance(troubles * 0.3) {
                answer(.watch(.memberChosen(Int.random(in: 0..<3, using: &generator)), connection: connection))
            }
        case .inspect(let connection):
            let isIntact: Bool? = chance(troubles * 0.1) ? (chance(0.5) ? false : nil) : true
            answer(.watch(.inspected(isIntact: isIntact, took: .milliseconds(3)), connection: connection))
        case .confirm(let heartbeat):
            #expect(openConnection != nil, "It confirms without a connection.")
            #expect(heartbeat.isReached(by: copy), "It confirms what the copy doesn't have.")
            confirmations.append((now, heartbeat))
        case .remember: answer(.copied(copy), upTo: .zero)
        case .avoid: break
        case .discardToken: #expect(openConnection == nil)
        case .report(let disconnection):
            switch disconnection {
            case .compacted, .identityChanged, .replicaDamaged: mustList = true
            default: break
            }
        }
    }

    /// Lets the next thing happen.
    mutating func step() {
        let next = pending.indices.min { pending[$0].time < pending[$1].time }
        var event = FollowerEvent.time
        if let next, machine.wakeUp.map({ pending[next].time <= $0 }) ?? true {
            now = max(now, pending[next].time)
            event = pending.remove(at: next).event
        } else if let wakeUp = machine.wakeUp {
            now = max(now, wakeUp)
        } else {
            Issue.record("It waits for nothing: \(machine.state)")
        }
        if case .watch(.begun, let connection) = event, connection == openConnection {
            mustList = false
        }
        let moment = Moment(now: now, chance: .random(in: 0...1, using: &generator))
        for action in machine.handle(event, at: moment) {
            perform(action)
        }
        // The cluster goes on meanwhile.
        if chance(0.05) {
            revision += 1
        }
        if let openConnection, case .watching(let watching) = machine.state, watching.isBegun {
            if copyRevision < revision, !chance(troubles * 0.7) {
                copyRevision = revision
                answer(.watch(.arrived(copy), connection: openConnection), upTo: .milliseconds(10))
            }
            if chance(troubles * 0.05), let disconnection = Self.endings.randomElement(using: &generator) {
                answer(.watch(.ended(disconnection), connection: openConnection))
            }
        }
        // What comes from a connection that has ended changes nothing.
        if chance(troubles * 0.1), let earlier = connections.dropLast().last {
            let news: [WatchNews] = [.begun, .ended(.compacted), .memberSilent, .members(["x"])]
            if let news = news.randomElement(using: &generator) {
                answer(.watch(news, connection: earlier))
            }
        }
    }
}

@Suite("The follower's machine")
struct FollowerMachineTests {
    /// It is different in each run, and printed, so that `DEFAULT_TEST_SEED` can repeat a failure.
    private static let seed: UInt64 = {
        let chosen = ProcessInfo.processInfo.environment["DEFAULT_TEST_SEED"].flatMap(UInt64.init)
        let seed = chosen ?? .random(in: 1 ... .max)
        print("Seed of the follower's machine: DEFAULT_TEST_SEED=\(seed)")
        return seed
    }()

    @Test("keeps its promises whatever happens, and the copy is confirmed again when troubles are over")
    func anySequence() {
        for number in 0..<100 {
            let seed = Self.seed &+ UInt64(number)
            var world = World(seed: seed, troubles: Double(number % 5) / 4, hasUser: number.isMultiple(of: 2))
            for _ in 0..<400 {
                world.step()
            }
            world.troubles = 0
            // What was asked in bad times may still have its effect.
            for _ in 0..<100 {
                world.step()
            }
            let count = world.confirmations.count
            let start = world.now
            var steps = 0
            while world.confirmations.count < count + 3, steps < 2_000 {
                world.step()
                steps += 1
            }
            #expect(world.confirmations.count >= count + 3, "seed \(seed): \(world.trace.suffix(20))")
            // Three heartbeats, and what is left of a pause.
            #expect(world.now - start < .seconds(90), "seed \(seed)")
            let times = world.confirmations.map(\.heartbeat.asOf)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }, "seed \(seed): older ones come later")
            _ = world.machine.handle(.stop, at: Moment(now: world.now, chance: 0))
            #expect(world.machine.hasStopped)
        }
    }

    @Test("does the same for the same sequence")
    func purity() {
        func run() -> [String] {
            var world = World(seed: Self.seed, troubles: 0.5, hasUser: true)
            for _ in 0..<500 {
                world.step()
            }
            return world.trace
        }
        #expect(run() == run())
    }

    private static let start = ContinuousClock.now

    /// A machine that watches.
    private func watchingMachine(_ timing: FollowerTiming = FollowerTiming()) -> FollowerMachine {
        var machine = FollowerMachine(timing: timing, hasUser: false, at: Self.start)
        let status = StoreStatus(
            clusterID: "1",
            revision: 5,
            identity: Data(),
            newestChange: 0,
            keyCount: 0,
            pulse: 0
        )
        let copy = ReplicaState(revision: 5, identity: Data())
        let preparation = Preparation(found: status, asked: Self.start, member: 1, copy: copy)
        for event: FollowerEvent in [
            .time, .lock(isAcquired: true), .prepared(preparation), .watch(.begun, connection: 1),
        ] {
            _ = machine.handle(event, at: Moment(now: Self.start, chance: 1))
        }
        return machine
    }

    @Test("watches from the revision that the copy has, since a compacted history may lack a removal right after it")
    func start() {
        var machine = FollowerMachine(timing: FollowerTiming(), hasUser: false, at: Self.start)
        let status = StoreStatus(revision: 9, identity: Data(), newestChange: 9, keyCount: 0, pulse: 0)
        let copy = ReplicaState(revision: 5, identity: Data())
        let preparation = Preparation(found: status, asked: Self.start, member: 1, copy: copy)
        var revisions: [Int64] = []
        for event: FollowerEvent in [.time, .lock(isAcquired: true), .prepared(preparation)] {
            for action in machine.handle(event, at: Moment(now: Self.start, chance: 1)) {
                if case .openWatch(_, let revision, _) = action {
                    revisions.append(revision)
                }
            }
        }
        #expect(revisions == [5])
    }

    private func heartbeat(_ revision: Int64, at time: ContinuousClock.Instant) -> Heartbeat {
        Heartbeat(target: .revision(revision), asOf: time, sent: time, pulse: 0, clusterRevision: revision)
    }

    @Test("lists all of a suite only when a second member doesn't bring what is missing either")
    func stalls() {
        var machine = watchingMachine()
        var time = Self.start + .seconds(1)
        _ = machine.handle(.watch(.heartbeat(heartbeat(9, at: time)), connection: 1), at: Moment(now: time, chance: 1))
        var listings: [Bool] = []
        for _ in 0..<2 {
            while case .watching = machine.state {
                time += .seconds(1)
                _ = machine.handle(.time, at: Moment(now: time, chance: 1))
            }
            time += .seconds(2)
            for action in machine.handle(.time, at: Moment(now: time, chance: 1)) {
                if case .prepare(let listing) = action {
                    listings.append(listing)
                }
            }
            var found = StoreStatus(revision: 9, newestChange: 9, keyCount: 0, pulse: 0)
            found.identity = Data()
            let copy = ReplicaState(revision: 5, identity: Data())
            let preparation = Preparation(found: found, asked: time, member: 0, copy: copy)
            _ = machine.handle(.prepared(preparation), at: Moment(now: time, chance: 1))
            let connection = machine.course.connection
            _ = machine.handle(.watch(.begun, connection: connection), at: Moment(now: time, chance: 1))
        }
        #expect(listings == [false, true])
    }

    /// A host of many, and the member that it asks first.
    private struct Host {
        var machine: FollowerMachine
        var preferred: Int

        /// Handles events, and what follows from them immediately, until there is nothing more to do.
        mutating func handle(
            _ first: FollowerEvent,
            at now: ContinuousClock.Instant,
            _ roster: Roster,
            _ generator: inout SeededGenerator
        ) {
            var events = [first][...]
            while let event = events.popFirst() {
                let moment = Moment(now: now, chance: .random(in: 0...1, using: &generator))
                for action in machine.handle(event, at: moment) {
                    switch action {
                    case .acquireLock: events.append(.lock(isAcquired: true))
                    case .prepare:
                        let found = StoreStatus(revision: 5, identity: Data(), newestChange: 5, keyCount: 0, pulse: 0)
                        let copy = ReplicaState(revision: 5, identity: Data())
                        let preparation = Preparation(found: found, asked: now, member: preferred, copy: copy)
                        events.append(.prepared(preparation))
                    case .openWatch(_, _, let connection): events.append(.watch(.begun, connection: connection))
                    case .sendHeartbeat(_, _, _, _, let connection):
                        let heartbeat = Heartbeat(
                            target: .revision(5),
                            asOf: now,
                            sent: now,
                            pulse: 0,
                            clusterRevision: 5
                        )
                        events.append(.watch(.heartbeat(heartbeat), connection: connection))
                    case .inspect(let connection):
                        events.append(.watch(.inspected(isIntact: true, took: .zero), connection: connection))
                    case .avoid(let member): preferred = roster.member(after: member)
                    case .chooseMember(let connection):
                        guard let member = roster.randomMember(using: &generator) else { continue }
                        preferred = member
                        events.append(.watch(.memberChosen(member), connection: connection))
                    default: break
                    }
                }
            }
        }

        var watched: Int? {
            if case .watching(let watching) = machine.state { watching.member } else { nil }
        }
    }

    @Test("watches of all members within minutes after they were restarted one after the other, not all of one")
    func restartedMembers() {
        var generator = SeededGenerator(state: Self.seed)
        let roster = Roster(endpoints: (1...3).map { URL(filePath: "/member\($0)") })
        var now = Self.start
        var hosts = (0..<300).map { number in
            let machine = FollowerMachine(timing: FollowerTiming(), hasUser: false, at: now)
            return Host(machine: machine, preferred: number % 3)
        }
        // How many hosts connect in each second.
        var connections: [Int] = []
        func pass(seconds: Int) {
            for _ in 0..<seconds {
                let before = hosts.map(\.machine.course.connection).reduce(0, +)
                now += .seconds(1)
                for index in hosts.indices {
                    hosts[index].handle(.time, at: now, roster, &generator)
                }
                connections.append(hosts.map(\.machine.course.connection).reduce(0, +) - before)
            }
        }
        func counts() -> [Int] {
            (0..<3).map { member in hosts.count { $0.watched == member } }
        }
        pass(seconds: 2)
        #expect(counts() == [100, 100, 100])
        for member in 0..<3 {
            for index in hosts.indices where hosts[index].watched == member {
                let connection = hosts[index].machine.course.connection
                let end = FollowerEvent.watch(.ended(.streamEnded("restarted")), connection: connection)
                hosts[index].handle(end, at: now, roster, &generator)
            }
            pass(seconds: 2)
        }
        #expect(counts().max() ?? 0 > 250, "All are at one member for now.")
        connections = []
        pass(seconds: 310)
        #expect(counts().allSatisfy { (50...150).contains($0) }, "seed \(Self.seed): \(counts())")
        #expect(connections.max() ?? 0 < 20, "seed \(Self.seed): they move together: \(connections)")
        // Who has moved stays.
        connections = []
        pass(seconds: 1_000)
        #expect(connections.allSatisfy { $0 == 0 }, "seed \(Self.seed)")
    }

    @Test("asks again a second after a heartbeat was lost, and waits longer over a link on which all takes longer")
    func lossyLink() throws {
        var machine = watchingMachine()
        var time = Self.start + .seconds(1)
        let lost = FollowerEvent.watch(.heartbeatFailed(.streamEnded("lost")), connection: 1)
        _ = machine.handle(lost, at: Moment(now: time, chance: 1))
        #expect(try #require(machine.wakeUp) <= time + .seconds(1))
        let short = machine.course.grace
        for _ in 0..<8 {
            let sent = time
            time += .seconds(1)
            _ = machine.handle(
                .watch(.heartbeat(heartbeat(5, at: sent)), connection: 1),
                at: Moment(now: time, chance: 1)
            )
        }
        #expect(machine.course.grace >= short * 2)
    }
}
