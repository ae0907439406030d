internal import Default
internal import Foundation

/// Reads a suite from the cluster.
struct StoreReader: Sendable {
    let client: EtcdClient
    let keys: SuiteKeys

    /// How many keys are listed with one request at first.
    private static let pageSize: Int64 = 500

    /// What the suite is now, by the members' agreement; the given member is asked first, otherwise the preferred one.
    ///
    /// The member looks at all of the suite for it.
    func status(from member: Int? = nil, until deadline: Deadline) throws(EtcdClient.Failure) -> StoreStatus {
        let request = TransactionRequest(success: [
            RequestOperation(requestRange: keys.pulseAndStore),
            RequestOperation(
                requestRange: RangeRequest(
                    key: keys.prefix,
                    rangeEnd: keys.prefixEnd,
                    limit: 1,
                    sortOrder: "DESCEND",
                    sortTarget: "MOD",
                    keysOnly: true
                )
            ),
        ])
        let answer: TransactionResponse = try client.call("v3/kv/txn", request, first: member, until: deadline)
        let ranges = answer.operations.compactMap(\.responseRange)
        guard ranges.count == 2 else {
            throw .unintelligible("An answer lacks what was asked for.")
        }
        return StoreStatus(
            clusterID: answer.header?.clusterId,
            revision: answer.header?.storeRevision ?? 0,
            identity: ranges[0].value(of: keys.store)?.text,
            newestChange: ranges[1].keyValues.first?.revision ?? 0,
            keyCount: ranges[1].total,
            pulse: ranges[0].value(of: keys.pulse)?.revision ?? 0
        )
    }

    /// Looks for a change in the cluster's history.
    func find(_ trace: ReplicaState.Trace) throws(EtcdClient.Failure) -> TraceResult {
        func keyValue(at revision: Int64?) throws(EtcdClient.Failure) -> KeyValue? {
            var request = RangeRequest(key: trace.key, revision: revision)
            return try client.read(&request).keyValues.first
        }
        func isThere(_ found: KeyValue?) -> Bool {
            guard let found else { return false }
            return ReplicaState.Trace(key: trace.key, revision: found.revision, text: found.text) == trace
        }
        do {
            return isThere(try keyValue(at: trace.revision)) ? .found : .missing
        } catch .refused(let refusal) where refusal.cause == .futureRevision {
            return .missing
        } catch .refused(let refusal) where refusal.cause == .compacted {
            // What is compacted is what was replaced since; the newest value is always there.
            guard let present = try keyValue(at: nil), present.revision <= trace.revision else { return .unknown }
            return isThere(present) ? .found : .missing
        }
    }

    /// The contents of a suite at one revision.
    struct Listing: Sendable {
        var revision: Int64
        var clusterID: String?
        var values: [StoreKey: PropertyListValue] = [:]
        /// The revisions that wrote the values.
        var revisions: [StoreKey: Int64] = [:]
        var ignoredKeys: Set<Data> = []
        /// What malformed texts look like.
        var malformed: [StoreKey: String] = [:]
        var latest: ReplicaState.Trace?
    }

    /// Reads all of the suite, in pages of one revision.
    func list() throws(EtcdClient.Failure) -> Listing {
        var listing: Listing?
        var request = RangeRequest(key: keys.prefix, rangeEnd: keys.prefixEnd, limit: Self.pageSize)
        while true {
            let page = try client.read(&request)
            var found =
                listing
                ?? Listing(revision: page.header?.storeRevision ?? 0, clusterID: page.header?.clusterId)
            for pair in page.keyValues {
                if let key = keys.key(at: pair.key) {
                    let value = JSONText.storedValue(of: pair.text)
                    found.values[key] = value
                    found.revisions[key] = pair.revision
                    found.malformed[key] = JSONText.formOfMalformed(pair.text, keptAs: value)
                } else {
                    found.ignoredKeys.insert(pair.key)
                }
                if pair.revision > found.latest?.revision ?? 0 {
                    found.latest = ReplicaState.Trace(key: pair.key, revision: pair.revision, text: pair.text)
                }
            }
            guard page.hasMore, let last = page.keyValues.last else { return found }
            listing = found
            request.key = last.key + [0]
            request.revision = found.revision
        }
    }
}
