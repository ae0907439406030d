public import Default
public import DefaultFleet
import Foundation
public import Logging

/// A part of the shop that can be switched off on all servers together.
public enum Feature: String, CaseIterable, Sendable {
    case checkout, reviews, search

    /// The key of the flag; the feature is on until an operator switches it off.
    public var isOn: Defaults.Key<Bool> { Defaults.Key(rawValue, default: true) }
}

/// Opens the flags of the shop, in the etcd cluster whose members are in the environment variable `SHOP_ETCD`.
public func openFlags(deadline: Duration, logger: Logger) throws -> EtcdDefaults {
    let members = ProcessInfo.processInfo.environment["SHOP_ETCD"] ?? "http://127.0.0.1:2379"
    let cluster = EtcdCluster(endpoints: members.split(separator: ",").compactMap { URL(string: String($0)) })
    return try EtcdDefaults(cluster, suiteName: "shop", deadline: deadline, logger: logger)
}
