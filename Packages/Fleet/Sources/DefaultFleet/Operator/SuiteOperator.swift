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

    package init(
        _ cluster: EtcdCluster,
        suiteName: String,
        deadline: Duration = .seconds(5)
    ) throws(DefaultsError) {
        let description = EtcdDefaults.describe(suiteName, in: cluster)
        let keys = try SuiteKeys(validating: suiteName, store: description)
        let client = EtcdClient(cluster, transport: try HTTPTransport(to: cluster, for: description))
        self.init(client: client, keys: keys, storeDescription: description, deadline: deadline)
    }

    init(client: EtcdClient, keys: SuiteKeys, storeDescription: String, deadline: Duration) {
        self.client = client
        self.keys = keys
        self.storeDescription = storeDescription
        self.deadline = deadline
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

// MARK: The identity

extension SuiteOperator {
    /// Gives the suite its identity; see ``EtcdDefaults/initialize()``.
    package func initialize(with copy: HostCopy?) throws(DefaultsError) -> Bool {
        try initialize(withCopy: copy?.state)
    }

    func initialize(withCopy state: ReplicaState?) throws(DefaultsError) -> Bool {
        if let state {
            let isLost = try status().identity == nil
            if let reason = state.replacement ?? (isLost ? "it has no store identity" : nil) {
                throw .storeReplaced(because: reason, store: storeDescription)
            }
        }
        return try putIdentity(StoreIdentity(), if: .absent(keys.store))
    }

    /// Declares what the cluster has to be the suite's contents; see
    /// ``EtcdDefaults/acceptReplacement(emptyingAllHosts:)``.
    package func acceptReplacement(of copy: HostCopy?, emptiesHosts: Bool) throws(DefaultsError) {
        guard let copy, let state = copy.state, state.replacement != nil else { return }
        try acceptReplacement(of: state, keyCount: copy.values.count, emptiesHosts: emptiesHosts)
    }

    func acceptReplacement(of state: ReplicaState, keyCount: Int, emptiesHosts: Bool) throws(DefaultsError) {
        guard let known = StoreIdentity(text: state.identity) else { return }
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
    }

    /// Stores an identity on a condition.
    private func putIdentity(_ identity: StoreIdentity, if condition: Compare) throws(DefaultsError) -> Bool {
        let put = RequestOperation(requestPut: PutRequest(key: keys.store, value: identity.text))
        return try change([put], if: [condition], leadingTo: (keys.store, identity.text))
    }

    /// Makes changes on conditions; false when one of those is not true.
    ///
    /// The result is random, and what a key has after the changes only: also when an attempt has made them whose answer
    /// was lost.
    func change(
        _ operations: [RequestOperation],
        if conditions: [Compare],
        leadingTo result: (key: Data, text: Data)
    ) throws(DefaultsError) -> Bool {
        let transaction = TransactionRequest(
            compare: conditions,
            success: operations,
            failure: [RequestOperation(requestRange: RangeRequest(key: result.key))]
        )
        return try request { limit throws(EtcdClient.Failure) in
            let answer: TransactionResponse = try client.call("v3/kv/txn", transaction, until: limit)
            return answer.hasSucceeded
                || answer.operations.first?.responseRange?.keyValues.first?.text == result.text
        }
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
    package func values() throws(DefaultsError) -> (revision: Int64, values: [String: Version]) {
        let listing = try request(isReading: true) { _ throws(EtcdClient.Failure) in try reader.list() }
        let versions = listing.values.map { key, value in
            var version = Version(listing.revisions[key] ?? 0, nil)
            version.value = value
            version.malformed = listing.malformed[key]
            return (key.string, version)
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

    private func place(of key: String) throws(DefaultsError) -> Data {
        keys.key(try Replica.key(key, in: storeDescription).string)
    }

    /// Stores values together, if none of their keys was changed since what was read of them; nil removes.
    ///
    /// Known is the revision of each key's value as it was read; 0 where there was none.
    package func store(
        _ changes: [String: PropertyListValue?],
        overValuesOf known: [String: Int64]
    ) throws(DefaultsError) {
        let identity = try identity(in: try status())
        let key = changes.count == 1 ? changes.first?.key : nil
        var transaction = TransactionRequest(compare: [.isValue(identity, of: keys.store)])
        for (key, value) in changes {
            let place = try place(of: key)
            transaction.compare.append(.wasWritten(at: known[key] ?? 0, place))
            transaction.success.append(WritePlan.operation(storing: value, under: place))
            transaction.failure.append(RequestOperation(requestRange: RangeRequest(key: place)))
        }
        let answer: TransactionResponse = try request(forKey: key) { [transaction] limit throws(EtcdClient.Failure) in
            try client.call("v3/kv/txn", transaction, until: limit)
        }
        // An earlier attempt may have stored them, whose answer was lost.
        let found = answer.operations.map { $0.responseRange?.keyValues.first?.text }
        guard answer.hasSucceeded || found == changes.map({ $0.value.map(JSONText.text) }) else {
            throw .conflict(after: 1, store: storeDescription, key: key)
        }
    }

    /// How many keys are changed together where there are many: fewer than a cluster accepts at once.
    package static let keysPerTransaction = 60

    /// All changes of a key that the cluster still has, the oldest first, with the oldest revision that it has.
    package func history(of key: String) throws(DefaultsError) -> (since: Int64, versions: [Version]) {
        let place = try place(of: key)
        let found = try status()
        let identity = try identity(in: found)
        // What is watched ends with a change of one's own: then everything before it has come.
        let end = try request { limit throws(EtcdClient.Failure) in
            try reader.makePulse(after: found.pulse, of: identity, until: limit)
        }
        return try request(isReading: true) { _ throws(EtcdClient.Failure) in
            var start: Int64 = 1
            while true {
                switch try changes(of: place, from: start, to: end) {
                case .compacted(let oldest): start = oldest
                case .complete(let versions): return (start, versions)
                }
            }
        }
    }

    private enum History {
        case compacted(Int64)
        case complete([Version])
    }

    private func changes(of place: Data, from start: Int64, to end: Int64) throws(EtcdClient.Failure) -> History {
        let pieces = Mailbox<StreamPiece>()
        let stream = try client.watch(
            WatchRequest(createRequest: .init(key: place, rangeEnd: keys.pulse + [0], startRevision: start)),
            member: client.preferredMember,
            until: Deadline(after: deadline)
        ) { pieces.post($0) }
        defer { stream.cancel() }
        var parser = WatchFrameParser()
        var versions: [Version] = []
        while true {
            // For each piece: the history may be long.
            guard case .bytes(let bytes, _)? = pieces.next(until: Deadline(after: deadline)) else {
                client.avoid(client.preferredMember)
                throw .unanswered("the history did not arrive")
            }
            let frames: [WatchFrame]
            do throws(WatchFrameParser.Malformed) {
                frames = try parser.parse(bytes)
            } catch {
                throw .unintelligible("what came is not a watch")
            }
            for frame in frames {
                if let oldest = frame.compactRevision {
                    return .compacted(oldest)
                }
                if frame.isCanceled {
                    throw .refused(EtcdRefusal(message: frame.reason ?? "the watch was canceled"))
                }
                versions += frame.events.filter { $0.key == place }.map { Version($0.revision, $0.text) }
                if frame.events.contains(where: { $0.revision >= end }) {
                    return .complete(versions.filter { $0.revision <= end })
                }
            }
        }
    }
}
