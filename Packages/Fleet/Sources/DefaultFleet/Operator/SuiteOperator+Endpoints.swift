package import Default
internal import Foundation

// An endpoint may lead to a member of another, empty cluster. If the suite got a new identity there, hosts that follow
// that member would lose it.

extension SuiteOperator {
    /// Asks all endpoints whether the suite can get its identity: each has to answer, and all have to be of one
    /// cluster.
    func verifyEndpoints() throws(DefaultsError) {
        var findings: [EtcdClient.Finding] = []
        var silent: [(member: Int, failure: EtcdClient.Failure)] = []
        for member in client.membersInUse {
            do throws(EtcdClient.Failure) {
                findings.append(try finding(at: member))
            } catch {
                guard error.isTemporary else { throw .failed(error, store: storeDescription, key: nil) }
                silent.append((member, error))
            }
        }
        if let (member, failure) = silent.first {
            guard !findings.isEmpty else { throw .failed(failure, store: storeDescription, key: nil) }
            throw .unavailable(
                """
                \(client.address(of: member)) does not answer: \(failure). A suite gets its identity once, and all endpoints are asked \
                whether they have it. Nothing was stored.
                """,
                store: storeDescription
            )
        }
        guard Set(findings.map(\.clusterID)).count > 1 else { return }
        throw .unavailable(
            """
            The endpoints lead to different clusters. \(findings.map(\.description).joined(separator: " ")) Nothing was stored. Leave \
            out the endpoints that don't belong to the cluster, or repair those members.
            """,
            store: storeDescription
        )
    }
}

extension SuiteOperator {
    /// What a member has of the suite; it may be electing a leader, and is asked until the deadline.
    private func finding(at member: Int) throws(EtcdClient.Failure) -> EtcdClient.Finding {
        let limit = Deadline(after: deadline)
        var backoff = Backoff(from: .milliseconds(20))
        while true {
            do throws(EtcdClient.Failure) {
                return try client.finding(about: keys, at: member, until: limit)
            } catch {
                guard error.isTemporary, backoff.wait(until: limit) else { throw error }
            }
        }
    }

    /// Throws where changes would make the suite larger than it may be, by its size at the last heartbeat of a host.
    func verifySize(of changes: some Collection<Change>, in found: StoreStatus) throws(DefaultsError) {
        try verifySize(of: changes, from: found.byteCount ?? 0)
    }

    /// Throws where changes that are made in parts would together make the suite, which has these values, larger than
    /// it may be.
    package func verifySize(of changes: [Change], in present: [StoreKey: Version]) throws(DefaultsError) {
        let contents = present.reduce(into: Contents()) { $0.add($1.value.value, under: $1.key.string) }
        try verifySize(of: changes, from: contents.byteCount)
    }

    private func verifySize(of changes: some Collection<Change>, from before: Int) throws(DefaultsError) {
        var difference = Contents()
        for change in changes {
            difference.remove(change.present?.value, under: change.key.string)
            difference.add(change.value, under: change.key.string)
        }
        let size = before + difference.byteCount
        guard size > max(SuiteLimits.bytes, before) else { return }
        let key = changes.count == 1 ? changes.first?.key.string : nil
        throw .suiteTooLarge(size, store: storeDescription, key: key)
    }
}

extension EtcdClient {
    /// What a member has of a suite, whichever cluster it belongs to.
    struct Finding: Sendable, CustomStringConvertible {
        var address: String
        var clusterID: String?
        var hasIdentity: Bool
        var keyCount: Int

        var description: String {
            let contents = hasIdentity ? "has the suite, with \(keyCount) keys" : "has no identity of the suite"
            return "\(address), of cluster \(clusterID ?? "?"), \(contents)."
        }
    }

    func finding(about keys: SuiteKeys, at member: Int, until deadline: Deadline) throws(Failure) -> Finding {
        let request = TransactionRequest(success: [
            RequestOperation(requestRange: RangeRequest(key: keys.store)),
            RequestOperation(
                requestRange: RangeRequest(key: keys.prefix, rangeEnd: keys.prefixEnd, limit: 1, keysOnly: true)
            ),
        ])
        let answer: FromAnyCluster<TransactionResponse> =
            try attempt("v3/kv/txn", EtcdCoding.encode(request), member: member, until: deadline)
        let ranges = answer.response.operations.compactMap(\.responseRange)
        guard ranges.count == 2 else {
            throw .unintelligible("An answer lacks what was asked for.")
        }
        return Finding(
            address: address(of: member),
            clusterID: answer.response.header?.clusterId,
            hasIdentity: ranges[0].value(of: keys.store) != nil,
            keyCount: ranges[1].total
        )
    }
}
