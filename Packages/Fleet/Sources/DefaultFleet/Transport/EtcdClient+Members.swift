internal import Foundation
internal import Synchronization

// Which members there are, and which of them belong to the cluster.

extension EtcdClient {
    /// What a host remembers of the cluster.
    struct Memory: Sendable {
        var clusterID: String?
        var addresses: [URL] = []
    }

    /// The addresses that requests go to; their positions are the members' names.
    var addresses: [URL] { roster.withLock { $0.entries.filter(\.isInUse).map(\.url) } }

    var membersInUse: [Int] {
        roster.withLock { roster in roster.entries.indices.filter { roster.entries[$0].isInUse } }
    }

    func address(of member: Int) -> String { roster.withLock { $0.entries[member].url.address } }

    /// The addresses of members that belong to another cluster than most of the endpoints.
    var strays: [URL] { roster.withLock { $0.strays } }

    /// The member to ask after another one.
    func member(after member: Int) -> Int {
        let next = roster.withLock { $0.member(after: member) }
        if next <= member {
            // None has answered. The host may know more by now, from the process that follows.
            recall()
        }
        return roster.withLock { $0.member(after: member) }
    }

    /// Asks another member first from now on, if it is this one that is asked.
    func avoid(_ member: Int) {
        let next = self.member(after: member)
        _ = preferred.compareExchange(expected: member, desired: next, ordering: .relaxed)
    }

    /// Asks a member chosen at random first from now on, if it answers for the cluster.
    ///
    /// Members have to agree on the answer, so one that can't reach the others is not chosen.
    ///
    /// - Returns: The member; nil if it doesn't answer in time.
    func chooseMember(askingFor key: Data, until deadline: Deadline) -> Int? {
        var generator = SystemRandomNumberGenerator()
        guard let member = roster.withLock({ $0.randomMember(using: &generator) }) else { return nil }
        let request = EtcdCoding.encode(RangeRequest(key: key, keysOnly: true))
        let answer: RangeResponse? = try? attempt("v3/kv/range", request, member: member, until: deadline)
        guard answer != nil else { return nil }
        preferred.store(member, ordering: .relaxed)
        return member
    }

    /// Uses the addresses that the host remembers.
    func recall() {
        guard let memory = remembered(), !memory.addresses.isEmpty else { return }
        roster.withLock { $0.use($0.usableAddresses(of: [Roster.Named(id: "", urls: memory.addresses)])) }
    }

    /// Throws where an answer is that of another cluster.
    func verifyCluster(of header: ResponseHeader?, from member: Int) throws(Failure) {
        guard let id = header?.clusterId else { return }
        let report = Roster.Report(clusterID: id, memberID: header?.memberId)
        let isExpected = roster.withLock { roster in
            roster.note(report, from: member)
            return roster.clusterID == id
        }
        guard !isExpected else { return }
        survey()
        try roster.withLock { roster throws(Failure) in
            if roster.clusterID == id {
                return
            }
            if roster.clusterID == nil {
                throw .stray("It can't be decided which cluster the endpoints lead to (\(roster.summary))")
            }
            let address = roster.entries[member].url.address
            throw .stray("\(address) is a member of another cluster than most endpoints are (\(roster.summary))")
        }
    }

    /// Asks all members which cluster they belong to, all at once, and decides which one is meant.
    ///
    /// It returns as soon as that can be decided, at the latest when a member has had its time to answer.
    private func survey() {
        // Before the lock: a read of the copy may call a handler of events, which may use this client.
        let copied = remembered()?.clusterID
        surveys.withLock { lastSurvey in
            // Others have waited for the one before.
            guard lastSurvey?.hasPassed ?? true else { return }
            guard roster.withLock({ $0.hasChoice }) else {
                roster.withLock { $0.decide(copied: copied) }
                return
            }
            let members = roster.withLock { roster in
                roster.beginSurvey()
                return roster.entries.indices.filter { roster.entries[$0].isInUse }
            }
            let answers = Mailbox<Int>()
            for member in members {
                Thread { [self] in
                    if let report = try? report(of: member, until: Deadline(after: Self.patience)) {
                        // Also of one that was not waited for.
                        roster.withLock { $0.note(report, from: member) }
                    }
                    answers.post(member)
                }
                .start()
            }
            let limit = Deadline(after: Self.patience)
            var missing = Set(members)
            while !missing.isEmpty, !roster.withLock({ $0.hasMajority }), let member = answers.next(until: limit) {
                missing.remove(member)
            }
            roster.withLock { $0.decide(copied: copied) }
            lastSurvey = Deadline(after: Self.patience)
        }
    }

    /// What a member says about itself and its cluster.
    func report(of member: Int, until deadline: Deadline) throws(Failure) -> Roster.Report {
        let body = EtcdCoding.encode(EmptyRequest())
        let token = credentials.knownToken
        do throws(Failure) {
            let answer: MemberListResponse =
                try post("v3/cluster/member/list", body, token: token, member: member, until: deadline)
            guard let id = answer.header?.clusterId else { throw .unintelligible("An answer has no cluster.") }
            return Roster.Report(clusterID: id, memberID: answer.header?.memberId, members: answer.named)
        } catch {
            guard error.refusal != nil else { throw error }
        }
        // Versions that name the members to users only still say this to all.
        let answer: StatusResponse =
            try post("v3/maintenance/status", body, token: token, member: member, until: deadline)
        guard let id = answer.header?.clusterId else { throw .unintelligible("An answer has no cluster.") }
        return Roster.Report(clusterID: id, memberID: answer.header?.memberId)
    }

    /// Asks a member which members the cluster has, and uses their addresses from now on.
    ///
    /// - Returns: The addresses; nil if the member doesn't name them, or belongs to another cluster.
    func learnMembers(from member: Int, until deadline: Deadline) throws(Failure) -> [URL]? {
        let report = try report(of: member, until: deadline)
        return roster.withLock { roster in
            roster.note(report, from: member)
            guard let members = report.members, roster.clusterID == nil || roster.clusterID == report.clusterID else {
                return nil
            }
            let addresses = roster.usableAddresses(of: members)
            roster.use(addresses)
            return addresses
        }
    }

    /// Whether a member answers anything at all by the members' agreement: a refusal is an answer too.
    func isAnswering(_ member: Int, until deadline: Deadline) -> Bool {
        do throws(Failure) {
            let body = EtcdCoding.encode(RangeRequest(key: Data([0]), limit: 1, keysOnly: true))
            let _: RangeResponse = try post("v3/kv/range", body, token: nil, member: member, until: deadline)
            return true
        } catch {
            return error.refusal != nil
        }
    }
}
