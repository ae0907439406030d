package import Default
internal import Foundation

// A cluster that was lost is filled from a host's copy. The suite gets its identity at the very end, in the place of
// the copy's: so hosts see all of it or nothing, and then go on by themselves. A key beside the suite says which host's
// turn it is.

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
        var claim = try currentClaim()
        func change(
            _ operations: [RequestOperation],
            leadingTo result: (key: Data, text: Data)
        ) throws(DefaultsError) {
            let isOwnTurn: Compare = claim.map { .isValue($0, of: keys.seed) } ?? .absent(keys.seed)
            guard try self.change(operations, if: [isOwnTurn, .absent(keys.store)], leadingTo: result) else {
                throw .unavailable("Another host fills the cluster, or has done so.", store: storeDescription)
            }
        }
        /// Makes changes together with a new claim, by which it shows that they were made.
        func change(_ operations: [RequestOperation]) throws(DefaultsError) {
            let next = Data(UUID().uuidString.utf8)
            let put = RequestOperation(requestPut: PutRequest(key: keys.seed, value: next))
            try change(operations + [put], leadingTo: (keys.seed, next))
            claim = next
        }
        // From here on, other hosts find that it is this one's turn.
        try change([])
        let values = copy.values
        // What a host has left that has not come to its end.
        let others = try self.values().values.keys.filter { values[$0] == nil }
        let changes = others.map { Change($0, to: nil) } + values.map { Change($0.key, to: $0.value) }
        for part in Self.parts(of: changes) {
            try change(part.map { WritePlan.operation(storing: $0.value, under: keys.key($0.key.string)) })
        }
        let identity = StoreIdentity(replacing: known.lineage).text
        let operations = [
            RequestOperation(requestPut: PutRequest(key: keys.store, value: identity)),
            RequestOperation(requestDeleteRange: DeleteRangeRequest(key: keys.seed)),
        ]
        try change(operations, leadingTo: (keys.store, identity))
    }
}
