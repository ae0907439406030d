internal import Foundation

/// What a replica has to reach, so that it has everything that the cluster had at some moment.
///
/// A watch that is broken looks like one of a suite that nobody changes. So when the cluster has changed at all, a key
/// is changed that is watched with the suite, the *pulse*: a watch that has brought it has brought everything before
/// it. One host makes it for all, the first one that finds no pulse since its own last heartbeat. So members never have
/// to look at all of the suite, and there is about one pulse in the time between two heartbeats, and none in a cluster
/// that nobody changes.
///
/// A user who may only read can't make a pulse. If no other host does, its heartbeat looks at all of the suite.
struct Heartbeat: Sendable {
    enum Target: Sendable {
        case revision(Int64)
        case status(StoreStatus)
    }

    let target: Target
    /// When the cluster had no more than what is to be reached.
    let asOf: ContinuousClock.Instant
    let sent: ContinuousClock.Instant
    /// The revision of the newest pulse; 0 if there was none yet.
    let pulse: Int64
    let clusterRevision: Int64

    func isReached(by copy: ReplicaState) -> Bool {
        switch target {
        case .revision(let revision): copy.revision >= revision
        case .status(let found): copy.isCurrent(with: found)
        }
    }
}

extension SuiteKeys {
    /// The pulse and the store's identity, with nothing in between.
    var pulseAndStore: RangeRequest { RangeRequest(key: pulse, rangeEnd: watchEnd) }
}

extension StoreReader {
    /// Finds out what a replica has to reach by now, from a majority of the members; the given one is asked, or one
    /// after the other.
    func heartbeat(
        of state: ReplicaState,
        after last: Heartbeat,
        from member: Int?,
        until deadline: Deadline
    ) throws(EtcdClient.Failure) -> Heartbeat {
        let sent = ContinuousClock.now
        let request = TransactionRequest(success: [RequestOperation(requestRange: keys.pulseAndStore)])
        let answer: TransactionResponse = try send(request, to: member, until: deadline)
        guard let range = answer.operations.first?.responseRange, let revision = answer.header?.storeRevision else {
            throw .unintelligible("An answer lacks what was asked for.")
        }
        let pulse = range.value(of: keys.pulse)?.revision ?? 0
        func heartbeat(_ target: Heartbeat.Target, asOf: ContinuousClock.Instant, pulse: Int64) -> Heartbeat {
            Heartbeat(target: target, asOf: asOf, sent: sent, pulse: pulse, clusterRevision: revision)
        }
        if revision <= state.revision {
            return heartbeat(.revision(revision), asOf: sent, pulse: pulse)
        }
        if pulse > last.pulse {
            // It was not there at the last heartbeat, so it is later than that.
            return heartbeat(.revision(pulse), asOf: last.sent, pulse: pulse)
        }
        do {
            let pulse = try makePulse(
                after: pulse,
                of: state.identity,
                size: state.byteCount,
                to: member,
                until: deadline
            )
            return heartbeat(.revision(pulse), asOf: sent, pulse: pulse)
        } catch .refused(let refusal) where !refusal.isTemporary {
            return heartbeat(.status(try status(from: member, until: deadline)), asOf: sent, pulse: pulse)
        }
    }

    /// Changes the pulse, unless another host is faster.
    ///
    /// Its value is the size of the suite, for operators, who have no copy.
    ///
    /// - Returns: The revision of the new one.
    func makePulse(
        after pulse: Int64,
        of identity: Data,
        size: Int? = nil,
        to member: Int? = nil,
        until deadline: Deadline
    ) throws(EtcdClient.Failure) -> Int64 {
        let value = Data((size.map { "\($0)" } ?? "").utf8)
        let request = TransactionRequest(
            compare: [.isValue(identity, of: keys.store), .wasWritten(at: pulse, keys.pulse)],
            success: [RequestOperation(requestPut: PutRequest(key: keys.pulse, value: value))],
            failure: [RequestOperation(requestRange: keys.pulseAndStore)]
        )
        let answer: TransactionResponse = try send(request, to: member, until: deadline)
        if answer.hasSucceeded, let revision = answer.header?.storeRevision {
            return revision
        }
        let found = answer.operations.first?.responseRange
        guard found?.value(of: keys.store)?.text == identity else { throw .replaced }
        guard let other = found?.value(of: keys.pulse)?.revision, other > pulse else {
            throw .unintelligible("An answer lacks what was asked for.")
        }
        return other
    }

    private func send(
        _ request: TransactionRequest,
        to member: Int?,
        until deadline: Deadline
    ) throws(EtcdClient.Failure) -> TransactionResponse {
        guard let member else { return try client.call("v3/kv/txn", request, until: deadline) }
        return try client.attempt("v3/kv/txn", EtcdCoding.encode(request), member: member, until: deadline)
    }
}
