internal import Default
internal import Foundation

/// Commits sessions, each as one transaction of the cluster.
///
/// Each transaction also changes a key of the writer's own, its *marker*, on condition that it was not changed since.
/// So a transaction can be sent again when its answer was lost: it takes effect once at most, and the marker shows
/// whether it did. Markers have a lease, and so go some time after their writer.
///
/// All calls block, and one thread at a time makes them.
final class Writer {
    enum Outcome {
        /// The revision that the replica has to reach; nil if the transaction has changed nothing of the suite.
        case committed(Int64?)
        /// What was read has changed; this is what the cluster has now.
        case conflict([StoreKey: FreshValue])
    }

    private let client: EtcdClient
    private let keys: SuiteKeys
    private let storeDescription: String
    private let marker: Data
    /// The text that the marker has, as far as is known; nil for none.
    private var markerText: Data?
    private var count = 0
    private var lease: (id: Int64, renewal: Deadline)?

    /// In seconds; a writer that lives makes a new lease long before the end of one.
    private static let leaseTime: Int64 = 1_800

    init(client: EtcdClient, keys: SuiteKeys, storeDescription: String) {
        self.client = client
        self.keys = keys
        self.storeDescription = storeDescription
        marker = keys.marker(of: UUID().uuidString)
    }

    /// Stores what a session has written, if what it has read is still so, in the store that the replica is a copy of.
    func commit(
        _ session: WriteSession,
        to state: ReplicaState,
        until deadline: Deadline
    ) throws(DefaultsError) -> Outcome {
        guard session.writes.count <= WriteLimits.writes, session.readings.count <= WriteLimits.reads else {
            throw .tooManyKeys(reads: session.readings.count, writes: session.writes.count, store: storeDescription)
        }
        var readings = session.readings
        if WritePlan.conditionCount(of: readings.values) > WriteLimits.reads {
            let found = try read(Array(readings.keys), until: deadline)
            guard let exact = Self.exact(readings, in: found) else {
                return .conflict(found)
            }
            readings = exact
        }
        let plan = WritePlan(
            identity: (keys.store, state.identity),
            keys: keys,
            readings: readings.map { ($0.key, $0.value) },
            writes: session.writes.map { ($0.key, $0.value) }
        )
        return try send(plan, until: deadline)
    }

    /// Sends a transaction until its outcome is known.
    private func send(_ plan: WritePlan, until deadline: Deadline) throws(DefaultsError) -> Outcome {
        count += 1
        let text = Data("\(count)".utf8)
        let key = plan.writes.count == 1 ? plan.writes.first?.key.string : nil
        let onlyRemoves = plan.writes.allSatisfy { $0.value == nil }
        var plan = plan
        plan.marker = (marker, text)
        var attempts = Attempts(first: client.preferredMember)
        while true {
            plan.markerBefore = markerText
            do throws(EtcdClient.Failure) {
                switch try attempt(plan, &attempts, until: deadline) {
                case .committed(let revision):
                    markerText = plan.marker == nil ? markerText : text
                    return .committed(revision)
                case .conflict(let values):
                    return .conflict(values)
                case .markerMoved(let found):
                    // An earlier transaction took effect after its deadline, so none of this one's attempts can have.
                    // But when the marker's lease has ended, neither left a sign.
                    guard found != nil || !attempts.mayHaveTakenEffect else {
                        throw .unanswered("the writer's marker is gone")
                    }
                    markerText = found
                    continue
                case .replaced:
                    throw .replaced
                case .unintelligible:
                    throw .unintelligible("an answer lacks what was asked for")
                }
            } catch {
                switch error.refusal?.cause {
                case .leaseNotFound?:
                    lease = nil
                    continue
                case .quotaExceeded? where onlyRemoves && plan.marker != nil && !attempts.mayHaveTakenEffect:
                    // A full cluster accepts removals, but neither a marker nor a lease.
                    plan.marker = nil
                    continue
                default: break
                }
                let failure = error.orEarlier(attempts.failure)
                attempts.failure = failure
                guard error.isTemporary, attempts.turnToNextMember(of: client, until: deadline) else {
                    throw attempts.mayHaveTakenEffect
                        ? .outcomeUnknown(after: failure, store: storeDescription, key: key)
                        : .failed(failure, store: storeDescription, key: key)
                }
            }
        }
    }

    private func attempt(
        _ plan: WritePlan,
        _ attempts: inout Attempts,
        until deadline: Deadline
    ) throws(EtcdClient.Failure) -> WritePlan.Verdict {
        let lease = plan.marker == nil ? nil : try currentLease(until: deadline)
        let body = EtcdCoding.encode(plan.request(lease: lease))
        guard body.count <= WriteLimits.requestBytes else { throw .refused(.tooLarge) }
        do throws(EtcdClient.Failure) {
            let answer: TransactionResponse =
                try client.attempt("v3/kv/txn", body, member: attempts.member, until: deadline)
            return plan.verdict(of: answer)
        } catch {
            attempts.mayHaveTakenEffect = attempts.mayHaveTakenEffect || !error.isDefinite
            throw error
        }
    }

    /// The lease for the marker; a new one when the last has been in use for a third of its time.
    private func currentLease(until deadline: Deadline) throws(EtcdClient.Failure) -> Int64 {
        if let lease, !lease.renewal.hasPassed {
            return lease.id
        }
        let answer: LeaseGrantResponse = try client.call(
            "v3/lease/grant",
            LeaseGrantRequest(seconds: Self.leaseTime),
            until: deadline
        )
        lease = (answer.id, Deadline(after: .seconds(Self.leaseTime / 3)))
        return answer.id
    }

    /// What the cluster has now, where a conflict has shown what it had before a pause.
    ///
    /// While others write without pauses, what is older than a request takes is always too old.
    func refreshed(_ found: [StoreKey: FreshValue], until deadline: Deadline) -> [StoreKey: FreshValue] {
        do throws(DefaultsError) {
            return try read(Array(found.keys), until: deadline)
        } catch {
            // The next transaction meets the same failure, and throws it.
            return found
        }
    }

    /// What the cluster has under keys, by the members' agreement.
    private func read(_ names: [StoreKey], until deadline: Deadline) throws(DefaultsError) -> [StoreKey: FreshValue] {
        let request = TransactionRequest(
            success: names.map { RequestOperation(requestRange: RangeRequest(key: keys.key($0.string))) }
        )
        do throws(EtcdClient.Failure) {
            let answer: TransactionResponse = try client.call("v3/kv/txn", request, until: deadline)
            return WritePlan.values(of: names, in: answer.operations.compactMap(\.responseRange).map(\.keyValues.first))
        } catch {
            throw .failed(error, store: storeDescription, key: nil)
        }
    }

    /// Readings by the revisions that wrote the values, which take one condition each; nil when one has changed.
    private static func exact(
        _ readings: [StoreKey: WriteSession.Reading],
        in found: [StoreKey: FreshValue]
    ) -> [StoreKey: WriteSession.Reading]? {
        var exact: [StoreKey: WriteSession.Reading] = [:]
        for (key, reading) in readings {
            guard let present = found[key] else { return nil }
            let holds =
                switch reading {
                case .absent: present.value == nil
                case .presentAt(let revision): present.value != nil && present.revision <= revision
                case .written(let revision): present.value != nil && present.revision == revision
                }
            guard holds else { return nil }
            exact[key] = present.value == nil ? .absent : .written(by: present.revision)
        }
        return exact
    }
}

/// The attempts at sending one transaction.
private struct Attempts {
    private(set) var member: Int
    /// Whether one may have taken effect without an answer, or may still do so.
    var mayHaveTakenEffect = false
    /// The one to report; see ``EtcdClient/Failure/orEarlier(_:)``.
    var failure: EtcdClient.Failure?
    private var backoff = Backoff(from: .milliseconds(10))

    init(first member: Int) {
        self.member = member
    }

    /// Pauses.
    ///
    /// - Returns: False when the deadline has passed.
    mutating func turnToNextMember(of client: EtcdClient, until deadline: Deadline) -> Bool {
        client.avoid(member)
        member = client.member(after: member)
        return backoff.wait(until: deadline)
    }
}
