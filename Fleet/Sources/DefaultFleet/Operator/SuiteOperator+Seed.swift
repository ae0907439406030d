package import Default
internal import Foundation

// A cluster that was lost is filled from a host's copy. The suite gets its identity at the very end, in the place of the copy's: so hosts
// see all of it or nothing, and then go on by themselves. A key beside the suite says which host's turn it is.

extension SuiteOperator {
    /// Why a cluster can't be filled from a copy; nil if it can.
    ///
    /// Taking over begins again where another host has begun and not ended.
    package func obstacleToSeed(from copy: HostCopy, takingOver: Bool) throws(DefaultsError) -> String? {
        guard copy.state != nil else { return "This host has no copy of the suite." }
        let found = try status()
        if found.identity != nil {
            return "The cluster has the suite: it has an identity. Nothing has to be filled in."
        }
        let claim = try currentClaim()
        if claim != nil, !takingOver {
            return """
                Another host has begun to fill the cluster. Wait until it has ended; if it has failed, call this again with \
                --take-over, on one host.
                """
        }
        if claim == nil, found.keyCount > 0 {
            return """
                The cluster has \(found.keyCount) keys of the suite, without an identity. If they are what the suite shall be, call \
                --initialize or --accept-replacement; otherwise remove them first.
                """
        }
        return nil
    }

    private func currentClaim() throws(DefaultsError) -> Data? {
        try request(isReading: true) { limit throws(EtcdClient.Failure) in
            let ask = TransactionRequest(success: [RequestOperation(requestRange: RangeRequest(key: keys.seed))])
            let answer: TransactionResponse = try client.call("v3/kv/txn", ask, until: limit)
            return answer.operations.first?.responseRange?.keyValues.first?.text
        }
    }

    /// Fills an empty cluster from a copy; hosts that have a copy of the same suite follow it then.
    package func seed(from copy: HostCopy, takingOver: Bool) throws(DefaultsError) {
        if let obstacle = try obstacleToSeed(from: copy, takingOver: takingOver) {
            throw .unavailable(obstacle, store: storeDescription)
        }
        guard let state = copy.state, let known = StoreIdentity(text: state.identity) else { return }
        let claim = Data(UUID().uuidString.utf8)
        let before = try currentClaim()
        try change(
            [RequestOperation(requestPut: PutRequest(key: keys.seed, value: claim))],
            if: before.map { .isValue($0, of: keys.seed) } ?? .absent(keys.seed),
            leading: (keys.seed, claim)
        )
        let mine = Compare.isValue(claim, of: keys.seed)
        let values = copy.values
        // What a host has left that has not come to its end.
        let others = try self.values().values.keys.filter { values[$0] == nil }
        var operations = others.map { RequestOperation(requestDeleteRange: DeleteRangeRequest(key: keys.key($0))) }
        var size = 0
        for (key, value) in values {
            let text = JSONText.text(of: value)
            if operations.count == Self.keysPerTransaction || size + text.count > 500_000 {
                try change(operations, if: mine, leading: (keys.seed, claim))
                (operations, size) = ([], 0)
            }
            operations.append(RequestOperation(requestPut: PutRequest(key: keys.key(key), value: text)))
            size += text.count
        }
        try change(operations, if: mine, leading: (keys.seed, claim))
        let identity = StoreIdentity(replacing: known.lineage).text
        try change(
            [
                RequestOperation(requestPut: PutRequest(key: keys.store, value: identity)),
                RequestOperation(requestDeleteRange: DeleteRangeRequest(key: keys.seed)),
            ],
            if: mine,
            leading: (keys.store, identity)
        )
    }

    /// Makes changes of a suite without an identity on a condition.
    ///
    /// The result is what a key has afterwards: also when an attempt has taken effect whose answer was lost.
    private func change(
        _ operations: [RequestOperation],
        if condition: Compare,
        leading result: (key: Data, text: Data)
    ) throws(DefaultsError) {
        guard !operations.isEmpty else { return }
        let transaction = TransactionRequest(
            compare: [condition, .absent(keys.store)],
            success: operations,
            failure: [RequestOperation(requestRange: RangeRequest(key: result.key))]
        )
        let isDone = try request { limit throws(EtcdClient.Failure) in
            let answer: TransactionResponse = try client.call("v3/kv/txn", transaction, until: limit)
            return answer.hasSucceeded
                || answer.operations.first?.responseRange?.keyValues.first?.text == result.text
        }
        guard isDone else {
            throw .unavailable("Another host fills the cluster, or has done so.", store: storeDescription)
        }
    }
}
