internal import Default
internal import Foundation

/// Reads a suite from the cluster.
struct StoreReader: Sendable {
    let client: EtcdClient
    let keys: SuiteKeys

    /// How many keys are listed with one request at first.
    static let firstPageSize: Int64 = 64
    /// The most keys of a page.
    private static let largestPage: Int64 = 500
    /// How many bytes of keys and texts a page should have: so much gets through in some seconds over a link that loses
    /// packets, and not more has to be asked for again.
    private static let pageBytes = 512 << 10
    /// How often a listing begins again that takes longer than the cluster keeps its history.
    private static let restartLimit = 3

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
            pulse: ranges[0].value(of: keys.pulse)?.revision ?? 0,
            // Any program may have written there; no suite has 4 GiB.
            byteCount: ranges[0].value(of: keys.pulse).flatMap { UInt32(String(decoding: $0.text, as: UTF8.self)) }
                .map { Int($0) }
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
        /// Where the next page begins; nil for a complete listing.
        var next: Data?
    }

    /// Reads all of the suite, in pages of one revision.
    func list() throws(EtcdClient.Failure) -> Listing {
        var partial: Listing?
        return try list(continuing: &partial)
    }

    /// Reads all of the suite, in pages of one revision, from where an earlier attempt has failed.
    ///
    /// Afterwards `partial` is what was read so far, for the next attempt; nil after the end, and when the cluster
    /// doesn't have that revision any more. When the flag is set, it ends after the page that is on its way.
    func list(
        continuing partial: inout Listing?,
        stoppedBy isStopped: Flag = Flag()
    ) throws(EtcdClient.Failure) -> Listing {
        var limit = Self.firstPageSize
        var restartCount = 0
        while true {
            guard !isStopped.isSet else { throw .notSent("The listing was stopped.") }
            var request = RangeRequest(key: keys.prefix, rangeEnd: keys.prefixEnd, limit: limit)
            if let partial, let next = partial.next {
                request.key = next
                request.revision = partial.revision
            }
            let page: RangeResponse
            do throws(EtcdClient.Failure) {
                page = try client.read(&request)
            } catch {
                switch error.refusal?.cause {
                case .compacted? where partial != nil, .futureRevision? where partial != nil:
                    partial = nil
                    restartCount += 1
                    guard restartCount <= Self.restartLimit else { throw error }
                    continue
                default: throw error
                }
            }
            var listing =
                partial ?? Listing(revision: page.header?.storeRevision ?? 0, clusterID: page.header?.clusterId)
            // Another cluster may have the same revision.
            guard listing.clusterID == page.header?.clusterId else {
                partial = nil
                continue
            }
            let byteCount = listing.add(page.keyValues, of: keys)
            guard page.hasMore, let last = page.keyValues.last else {
                partial = nil
                listing.next = nil
                return listing
            }
            listing.next = last.key + [0]
            partial = listing
            let fitting = Int64(page.keyValues.count) * Int64(Self.pageBytes) / Int64(max(1, byteCount))
            limit = min(max(1, fitting), (request.limit ?? limit) * 4, Self.largestPage)
        }
    }
}

extension StoreReader.Listing {
    /// Adds the keys of a page.
    ///
    /// - Returns: How many bytes they have with their texts.
    fileprivate mutating func add(_ pairs: [KeyValue], of keys: SuiteKeys) -> Int {
        var byteCount = 0
        for pair in pairs {
            byteCount += pair.key.count + pair.text.count
            if let key = keys.key(at: pair.key) {
                let value = JSONText.storedValue(of: pair.text)
                values[key] = value
                revisions[key] = pair.revision
                malformed[key] = JSONText.formOfMalformed(pair.text, keptAs: value)
            } else {
                ignoredKeys.insert(pair.key)
            }
            if pair.revision > latest?.revision ?? 0 {
                latest = ReplicaState.Trace(key: pair.key, revision: pair.revision, text: pair.text)
            }
        }
        return byteCount
    }
}
