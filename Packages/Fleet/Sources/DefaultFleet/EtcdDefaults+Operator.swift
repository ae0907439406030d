public import Default
internal import Foundation

extension EtcdDefaults {
    /// Gives the suite its identity in the cluster, once; an operator calls it before the first program needs the
    /// suite.
    ///
    /// Hosts follow only a suite that has an identity, and always the same one. So an empty cluster in the place of
    /// theirs does not make them forget their settings. Values that were stored before stay.
    ///
    /// Blocks. It asks the cluster, then each endpoint, then makes the change; each of these steps takes at most as
    /// long as the deadline.
    ///
    /// - Returns: Whether the suite has got an identity by this call; false when it had one.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/storeReadOnly`` or ``DefaultsError/Code/quotaExceeded``; with the code
    ///   ``DefaultsError/Code/outcomeUnknown`` when the cluster was asked for it, and whether it has done it could not
    ///   be found out; with the code ``DefaultsError/Code/storeReplaced`` when this host has the copy of a suite, which
    ///   the cluster has lost: see ``acceptReplacement(emptyingAllHosts:)``.
    @discardableResult
    public func initialize() throws(DefaultsError) -> Bool {
        try checkBlockingCall()
        return try suiteOperator.initialize(withCopy: replica.state)
    }

    /// Declares what the cluster has now to be the suite's contents; an operator calls it, once, on one host that has
    /// reported ``DefaultsError/Code/storeReplaced``.
    ///
    /// All hosts that have a copy of the earlier suite give it up for what is in the cluster, and writes are possible
    /// again. Call it after the cluster was restored from a backup, or set up again, and its contents are what they
    /// should be. Nothing happens if the suite was not replaced.
    ///
    /// Blocks. It asks the cluster, then makes the change; each of these steps takes at most as long as the deadline.
    ///
    /// - Parameter emptiesHosts: Whether all hosts shall lose all settings of the suite, if the cluster has none. It is
    ///   false by default: an empty cluster is more often lost than meant. `fleet-agent seed` fills it from a host's
    ///   copy.
    /// - Throws: ``DefaultsError`` as for ``initialize()``; ``DefaultsError/Code/storeReplaced`` also when the cluster
    ///   has none of the suite's values, this host has some, and hosts shall not lose them.
    public func acceptReplacement(emptyingAllHosts emptiesHosts: Bool = false) throws(DefaultsError) {
        guard let state = replica.state, state.replacement != nil else { return }
        try checkBlockingCall()
        _ = try suiteOperator.acceptReplacement(of: state, keyCount: replica.keys().count, emptiesHosts: emptiesHosts)
    }

    private var suiteOperator: SuiteOperator {
        SuiteOperator(client: client, keys: keys, storeDescription: storeDescription, deadline: deadline, copy: nil)
    }
}
