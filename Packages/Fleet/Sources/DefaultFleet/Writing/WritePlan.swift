internal import Default
internal import Foundation

/// One transaction of a writer: its request, and what an answer means.
struct WritePlan {
    /// The key of the store's identity, and the text that it must have.
    let identity: (key: Data, text: Data)
    /// The key of the writer's marker, and the text that it will have; nil for a transaction without, which a full
    /// cluster accepts.
    var marker: (key: Data, text: Data)?
    /// The text that the marker has, as far as is known; nil for none.
    var markerBefore: Data?
    let keys: SuiteKeys
    /// What must be so, and what will be.
    let readings: [(key: StoreKey, reading: WriteSession.Reading)]
    let writes: [(key: StoreKey, value: PropertyListValue?)]

    /// What an answer means.
    enum Verdict {
        /// It has taken effect, now or with an earlier attempt; the revision, if that has changed the suite.
        case committed(Int64?)
        /// What was read has changed; this is what the cluster has now.
        case conflict([StoreKey: FreshValue])
        /// The marker has another text than expected; nil for none. Nothing has changed.
        case markerMoved(to: Data?)
        /// The store's identity is another.
        case replaced
        /// An answer that etcd doesn't give.
        case unintelligible
    }

    /// The number of conditions for what was read.
    static func conditionCount(of readings: some Sequence<WriteSession.Reading>) -> Int {
        readings.reduce(0) { count, reading in
            if case .presentAt = reading { count + 2 } else { count + 1 }
        }
    }

    func request(lease: Int64?) -> TransactionRequest {
        var request = TransactionRequest()
        request.compare.append(.isValue(identity.text, of: identity.key))
        for (key, reading) in readings {
            request.compare += Self.conditions(for: reading, of: keys.key(key.string))
        }
        for (key, value) in writes {
            request.success.append(Self.operation(storing: value, under: keys.key(key.string)))
        }
        if let marker {
            request.compare.append(markerBefore.map { .isValue($0, of: marker.key) } ?? .absent(marker.key))
            let put = PutRequest(key: marker.key, value: marker.text, lease: lease)
            request.success.append(RequestOperation(requestPut: put))
        }
        let places = [identity.key, marker?.key ?? identity.key] + readings.map { keys.key($0.key.string) }
        request.failure = places.map { RequestOperation(requestRange: RangeRequest(key: $0)) }
        return request
    }

    func verdict(of answer: TransactionResponse) -> Verdict {
        if answer.hasSucceeded {
            let hasStored = writes.contains { $0.value != nil }
            let hasRemoved = answer.operations.contains { $0.responseDeleteRange?.deletedCount ?? 0 > 0 }
            // What was removed and wasn't there has no revision that the replica could reach.
            return .committed(hasStored || hasRemoved ? answer.header?.storeRevision : nil)
        }
        let found = answer.operations.compactMap(\.responseRange).map(\.keyValues.first)
        guard found.count == readings.count + 2 else { return .unintelligible }
        guard found[0]?.text == identity.text else { return .replaced }
        if let marker {
            if let present = found[1], present.text == marker.text {
                return .committed(writes.contains { $0.value != nil } ? present.revision : nil)
            }
            guard found[1]?.text == markerBefore else { return .markerMoved(to: found[1]?.text) }
        }
        return .conflict(Self.values(of: readings.map(\.key), in: found[2...]))
    }

    /// What was found under keys.
    static func values(of keys: [StoreKey], in found: some Sequence<KeyValue?>) -> [StoreKey: FreshValue] {
        var values: [StoreKey: FreshValue] = [:]
        for (key, pair) in zip(keys, found) {
            values[key] = FreshValue(
                value: pair.map { JSONText.storedValue(of: $0.text) },
                revision: pair?.revision ?? 0
            )
        }
        return values
    }

    private static func conditions(for reading: WriteSession.Reading, of place: Data) -> [Compare] {
        switch reading {
        case .absent: [.absent(place)]
        // A key that was removed meanwhile was not written after any revision.
        case .presentAt(let revision): [.wasNotWritten(after: revision, place), .present(place)]
        case .written(let revision): [.wasWritten(at: revision, place)]
        }
    }

    static func operation(storing value: PropertyListValue?, under place: Data) -> RequestOperation {
        guard let value else {
            return RequestOperation(requestDeleteRange: DeleteRangeRequest(key: place))
        }
        return RequestOperation(requestPut: PutRequest(key: place, value: JSONText.text(of: value)))
    }
}
