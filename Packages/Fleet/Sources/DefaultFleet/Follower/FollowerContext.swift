internal import Logging

/// What a follower works on and with.
struct FollowerContext: Sendable {
    let replica: Replica
    let lock: HostLock
    let client: EtcdClient
    let keys: SuiteKeys
    let timing: FollowerTiming
    let logger: Logger
    let metrics: FleetMetrics
    let storeDescription: String
    let troubles: TroubleRecord

    var reader: StoreReader { StoreReader(client: client, keys: keys) }

    /// Records what keeps the follower from confirming the copy, for those who look at it.
    func record(_ failure: EtcdClient.Failure) {
        troubles.record(failure, store: storeDescription)
    }
}
