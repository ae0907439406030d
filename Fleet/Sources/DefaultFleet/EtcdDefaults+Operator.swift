public import Default
internal import Foundation

extension EtcdDefaults {
    /// Gives the suite its identity in the cluster, once; an operator calls it before the first program needs the suite.
    ///
    /// Hosts follow only a suite that has an identity, and always the same one. So an empty cluster in the place of theirs does not make
    /// them forget their settings. Values that were stored before stay.
    ///
    /// Blocks, at most until the deadline.
    ///
    /// - Returns: Whether the suite has got an identity by this call; false when it had one.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``, ``DefaultsError/Code/storeReadOnly`` or
    ///   ``DefaultsError/Code/quotaExceeded``; with the code ``DefaultsError/Code/storeReplaced`` when this host has the copy of a suite,
    ///   which the cluster has lost: see ``acceptReplacement()``.
    @discardableResult
    public func initialize() throws(DefaultsError) -> Bool {
        if let state = replica.state {
            let isLost = try presentIdentity() == nil
            if let reason = state.replacement ?? (isLost ? "it has no store identity" : nil) {
                throw .storeReplaced(because: reason, store: storeDescription)
            }
        }
        return try putIdentity(StoreIdentity(), if: .absent(keys.store))
    }

    /// Declares what the cluster has now to be the suite's contents; an operator calls it, once, on one host that has reported
    /// ``DefaultsError/Code/storeReplaced``.
    ///
    /// All hosts that have a copy of the earlier suite give it up for what is in the cluster, and writes are possible again. Call it after the
    /// cluster was restored from a backup, or set up again, and its contents are what they should be. Nothing happens if the suite
    /// was not replaced.
    ///
    /// Blocks, at most until the deadline.
    ///
    /// - Throws: ``DefaultsError`` as for ``initialize()``.
    public func acceptReplacement() throws(DefaultsError) {
        guard let state = replica.state, state.replacement != nil, let known = StoreIdentity(text: state.identity)
        else {
            return
        }
        let present = try presentIdentity()
        var replaced = [known.id] + (known.replaces ?? [])
        if let present, let identity = StoreIdentity(text: present) {
            replaced += [identity.id] + (identity.replaces ?? [])
        }
        let identity = StoreIdentity(replacing: replaced.reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
        let condition = present.map { Compare.isValue($0, of: keys.store) } ?? .absent(keys.store)
        guard try putIdentity(identity, if: condition) else {
            throw .unavailable(
                "Another operator has changed the suite's identity at the same time.",
                store: storeDescription
            )
        }
    }

    private func presentIdentity() throws(DefaultsError) -> Data? {
        do throws(EtcdClient.Failure) {
            return try reader.status(until: Deadline(after: deadline)).identity
        } catch {
            throw .failed(error, store: storeDescription, key: nil, isReading: true)
        }
    }

    /// Stores an identity on a condition.
    ///
    /// It is random, so what happened to an attempt without an answer can be read.
    private func putIdentity(_ identity: StoreIdentity, if condition: Compare) throws(DefaultsError) -> Bool {
        reportBlockingCall()
        let limit = Deadline(after: deadline)
        let request = TransactionRequest(
            compare: [condition],
            success: [RequestOperation(requestPut: PutRequest(key: keys.store, value: identity.text))],
            failure: [RequestOperation(requestRange: RangeRequest(key: keys.store))]
        )
        do throws(EtcdClient.Failure) {
            let answer: TransactionResponse = try client.call("v3/kv/txn", request, until: limit)
            return answer.hasSucceeded
                || answer.operations.first?.responseRange?.keyValues.first?.text == identity.text
        } catch {
            throw .failed(error, store: storeDescription, key: nil)
        }
    }
}
