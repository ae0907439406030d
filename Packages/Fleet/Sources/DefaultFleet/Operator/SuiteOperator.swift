package import Default
internal import Foundation

/// What an operator does with a suite in the cluster, without a copy on this host.
///
/// All calls block, at most until the deadline for each request, and ask a majority of the members.
package struct SuiteOperator: Sendable {
    let client: EtcdClient
    let keys: SuiteKeys
    package let storeDescription: String
    let deadline: Duration
    let reader: StoreReader
    /// This host's copy, by which a cluster is recognized that was restored or is another one; nil for none.
    package let copy: HostCopy?

    package init(
        _ cluster: EtcdCluster,
        suiteName: String,
        deadline: Duration = .seconds(5),
        copy: HostCopy? = nil
    ) throws(DefaultsError) {
        let description = EtcdDefaults.describe(suiteName, in: cluster)
        let keys = try SuiteKeys(validating: suiteName, store: description)
        let client = EtcdClient(cluster, transport: try HTTPTransport(to: cluster, for: description))
        self.init(client: client, keys: keys, storeDescription: description, deadline: deadline, copy: copy)
    }

    init(client: EtcdClient, keys: SuiteKeys, storeDescription: String, deadline: Duration, copy: HostCopy?) {
        self.client = client
        self.keys = keys
        self.storeDescription = storeDescription
        self.deadline = deadline
        self.copy = copy
        reader = StoreReader(client: client, keys: keys)
    }

    /// Runs a body whose failures are those of a request.
    func request<Result>(
        forKey key: String? = nil,
        isReading: Bool = false,
        _ body: (Deadline) throws(EtcdClient.Failure) -> Result
    ) throws(DefaultsError) -> Result {
        do throws(EtcdClient.Failure) {
            return try body(Deadline(after: deadline))
        } catch {
            throw .failed(error, store: storeDescription, key: key, isReading: isReading)
        }
    }

    func status() throws(DefaultsError) -> StoreStatus {
        try request(isReading: true) { limit throws(EtcdClient.Failure) in try reader.status(until: limit) }
    }
}

// MARK: Changes

extension SuiteOperator {
    /// What became of changes that were to be made together.
    private enum Outcome {
        case made
        /// A condition is not true, and nothing was changed; what was found at the places.
        case refused(found: [KeyValue?])
    }

    /// Makes changes together, on conditions.
    ///
    /// An attempt whose answer was lost may have made the changes, or may make them later. So from then on the cluster
    /// is asked in turn for what it has, and to make the changes. They are made once at most, since they make a
    /// condition false.
    ///
    /// - Parameters:
    ///   - operations: The changes.
    ///   - conditions: What must be so.
    ///   - places: Where it shows whether the changes were made.
    ///   - key: The key that is changed, if it is one.
    ///   - isMade: Whether what is at those places shows that they were.
    /// - Returns: The outcome.
    /// - Throws: ``DefaultsError``, with the code ``DefaultsError/Code/outcomeUnknown`` when a request was sent, and
    ///   what became of it can't be found out before the deadline.
    private func commit(
        _ operations: [RequestOperation],
        if conditions: [Compare],
        showingAt places: [Data],
        forKey key: String? = nil,
        isMade: ([KeyValue?]) -> Bool
    ) throws(DefaultsError) -> Outcome {
        let ranges = places.map { RequestOperation(requestRange: RangeRequest(key: $0)) }
        let change = EtcdCoding.encode(TransactionRequest(compare: conditions, success: operations, failure: ranges))
        let look = EtcdCoding.encode(TransactionRequest(success: ranges))
        let limit = Deadline(after: deadline)
        var member = client.preferredMember
        var backoff = Backoff(from: .milliseconds(20))
        var failure = EtcdClient.Failure.unanswered("no answer")
        var mayBeMade = false
        var isLooking = false
        while true {
            var isOver: Bool
            do throws(EtcdClient.Failure) {
                let answer: TransactionResponse =
                    try client.attempt("v3/kv/txn", isLooking ? look : change, member: member, until: limit)
                if !isLooking, answer.hasSucceeded {
                    return .made
                }
                let found = answer.operations.map { $0.responseRange?.keyValues.first }
                guard found.count == places.count else {
                    throw .unintelligible("an answer lacks what was asked for")
                }
                if isMade(found) {
                    return .made
                }
                guard mayBeMade else {
                    return .refused(found: found)
                }
                // Others have changed what an earlier attempt may have made, or what it has to find.
                isOver = !isLooking
            } catch {
                failure = error.orEarlier(failure)
                isOver = !error.isTemporary
                mayBeMade = mayBeMade || !isLooking && !error.isDefinite
                client.avoid(member)
                member = client.member(after: member)
            }
            isLooking = mayBeMade && !isLooking
            guard !isOver, backoff.wait(until: limit) else {
                throw mayBeMade
                    ? .outcomeUnknown(after: failure, store: storeDescription, key: key)
                    : .failed(failure, store: storeDescription, key: key)
            }
        }
    }

    /// Makes changes on conditions; false when one of those is not true.
    ///
    /// The result is random, and what a key has after the changes only.
    func change(
        _ operations: [RequestOperation],
        if conditions: [Compare],
        leadingTo result: (key: Data, text: Data)
    ) throws(DefaultsError) -> Bool {
        let outcome = try commit(operations, if: conditions, showingAt: [result.key]) { found in
            found[0]?.text == result.text
        }
        return if case .made = outcome { true } else { false }
    }

    /// Throws when a host with this copy would refuse writes: what the cluster has is not what it is a copy of.
    private func check(_ found: StoreStatus, against state: ReplicaState) throws(DefaultsError) {
        var trace = TraceResult.unknown
        if let latest = state.latest {
            trace = try request(isReading: true) { _ throws(EtcdClient.Failure) in try reader.find(latest) }
        }
        let reason: String? =
            switch Succession.of(state, in: found, trace: trace) {
            case .replaced(let reason): reason
            // The host has not looked again yet.
            case .same: state.replacement
            case .new, .uninitialized: nil
            }
        if let reason {
            throw .storeReplaced(because: reason, store: storeDescription)
        }
    }
}

// MARK: The identity

extension SuiteOperator {
    /// Gives the suite its identity; see ``EtcdDefaults/initialize()``.
    package func initialize() throws(DefaultsError) -> Bool {
        try initialize(withCopy: copy?.state)
    }

    func initialize(withCopy state: ReplicaState?) throws(DefaultsError) -> Bool {
        let found = try status()
        if let state {
            try check(found, against: state)
        }
        try verifyEndpoints()
        guard found.identity == nil else { return false }
        return try putIdentity(StoreIdentity(), if: .absent(keys.store))
    }

    /// What came of an operator's wish to accept a replacement.
    package enum Acceptance: Sendable {
        /// This host has no copy that could have been replaced.
        case noCopy
        /// This host has not found that the store was replaced.
        case notReplaced
        /// The cluster's contents, of so many keys, are the suite's now.
        case accepted(keyCount: Int)
    }

    /// Declares what the cluster has to be the suite's contents; see
    /// ``EtcdDefaults/acceptReplacement(emptyingAllHosts:)``.
    package func acceptReplacement(emptiesHosts: Bool) throws(DefaultsError) -> Acceptance {
        guard let copy, let state = copy.state else { return .noCopy }
        guard state.replacement != nil else { return .notReplaced }
        return try acceptReplacement(of: state, keyCount: copy.values.count, emptiesHosts: emptiesHosts)
    }

    func acceptReplacement(
        of state: ReplicaState,
        keyCount: Int,
        emptiesHosts: Bool
    ) throws(DefaultsError) -> Acceptance {
        guard let known = StoreIdentity(text: state.identity) else { return .noCopy }
        let found = try status()
        guard found.keyCount > 0 || keyCount == 0 || emptiesHosts else {
            throw .emptyReplacement(keyCount, store: storeDescription)
        }
        let replaced = known.lineage + (found.identity.flatMap { StoreIdentity(text: $0) }?.lineage ?? [])
        let condition = found.identity.map { Compare.isValue($0, of: keys.store) } ?? .absent(keys.store)
        guard try putIdentity(StoreIdentity(replacing: replaced), if: condition) else {
            throw .unavailable(
                "Another operator has changed the suite's identity at the same time.",
                store: storeDescription
            )
        }
        return .accepted(keyCount: found.keyCount)
    }

    /// Stores an identity on a condition.
    private func putIdentity(_ identity: StoreIdentity, if condition: Compare) throws(DefaultsError) -> Bool {
        let put = RequestOperation(requestPut: PutRequest(key: keys.store, value: identity.text))
        return try change([put], if: [condition], leadingTo: (keys.store, identity.text))
    }
}

// MARK: Values

extension SuiteOperator {
    /// A value as it was or is.
    package struct Version: Sendable {
        /// The revision that wrote or removed it.
        package var revision: Int64
        /// Nil where it was removed.
        package var value: PropertyListValue?
        /// What text that can't be read looks like, whose bytes are the value; nil for others.
        package var malformed: String?

        init(_ revision: Int64, _ text: Data?) {
            self.revision = revision
            value = text.map(JSONText.storedValue)
            malformed = text.flatMap { text in value.flatMap { JSONText.formOfMalformed(text, keptAs: $0) } }
        }
    }

    /// All values, with the revision at which the suite had them.
    package func values() throws(DefaultsError) -> (revision: Int64, values: [StoreKey: Version]) {
        let listing = try request(isReading: true) { _ throws(EtcdClient.Failure) in try reader.list() }
        let versions = listing.values.map { key, value in
            var version = Version(listing.revisions[key] ?? 0, nil)
            version.value = value
            version.malformed = listing.malformed[key]
            return (key, version)
        }
        return (listing.revision, Dictionary(uniqueKeysWithValues: versions))
    }

    /// The value of a key, now or at a revision; nil if it has none.
    package func value(of key: String, at revision: Int64? = nil) throws(DefaultsError) -> Version? {
        let place = try place(of: key)
        do throws(EtcdClient.Failure) {
            var range = RangeRequest(key: place, revision: revision)
            return try client.read(&range).keyValues.first.map { Version($0.revision, $0.text) }
        } catch {
            switch error.refusal?.cause {
            case .compacted?, .futureRevision?:
                throw .noSuchRevision(
                    revision ?? 0,
                    isFuture: error.refusal?.cause == .futureRevision,
                    storeDescription
                )
            default:
                throw .failed(error, store: storeDescription, key: key, isReading: true)
            }
        }
    }

    private func identity(in found: StoreStatus) throws(DefaultsError) -> Data {
        guard let identity = found.identity else {
            throw .unavailable(
                "The suite has no identity in the cluster. Call --initialize once.",
                store: storeDescription
            )
        }
        return identity
    }

    func place(of key: String) throws(DefaultsError) -> Data {
        keys.key(try Replica.key(key, in: storeDescription).string)
    }

    /// Makes changes together, if none of their keys was changed since what was read of them.
    package func store(_ changes: some Collection<Change>) throws(DefaultsError) {
        let found = try status()
        if let state = copy?.state {
            try check(found, against: state)
        }
        let identity = try identity(in: found)
        try verifySize(of: changes, in: found)
        let key = changes.count == 1 ? changes.first?.key.string : nil
        var conditions: [Compare] = [.isValue(identity, of: keys.store)]
        var operations: [RequestOperation] = []
        var places = [keys.store]
        /// What each place has afterwards and has not had before.
        var results: [(text: Data?, before: Int64)] = []
        for change in changes {
            let place = try place(of: change.key.string)
            let before = change.present?.revision ?? 0
            conditions.append(.wasWritten(at: before, place))
            operations.append(WritePlan.operation(storing: change.value, under: place))
            places.append(place)
            results.append((change.value.map(JSONText.text), before))
        }
        let outcome = try commit(operations, if: conditions, showingAt: places, forKey: key) { found in
            zip(results, found.dropFirst()).allSatisfy { result, pair in
                pair?.text == result.text && pair?.revision ?? 0 != result.before
            }
        }
        guard case .refused(let present) = outcome else { return }
        guard present[0]?.text == identity else {
            throw .storeReplaced(because: "its identity was changed meanwhile", store: storeDescription)
        }
        throw .conflict(after: 1, store: storeDescription, key: key)
    }
}
