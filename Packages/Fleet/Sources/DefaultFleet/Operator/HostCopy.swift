package import Default
package import Foundation

/// This host's copy of a suite, for an operator: nothing of it is created, locked for long or changed.
///
/// So an operator's call, perhaps as root, leaves no files that the service's user could not use.
package struct HostCopy: Sendable {
    private let replica: Replica
    private let lock: HostLock?
    private let troubles: TroubleRecord

    /// Opens the copy in a directory; nil if there is none.
    package init?(at url: URL) throws(DefaultsError) {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        replica = Replica(suite: try FileDefaults(readingFrom: url))
        // It is missing while nobody has followed.
        lock = try? HostLock(at: url.appendingPathComponent("follower").path, isReadOnly: true)
        troubles = TroubleRecord(inReplicaAt: url)
    }

    /// Where ``EtcdDefaults`` puts the copy of a suite; nil for a user without a home directory.
    ///
    /// It is found without opening a suite there, which would create it.
    package static func usualURL(ofSuite name: String) -> URL? {
        #if canImport(Darwin)
        let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        #else
        let environment = ProcessInfo.processInfo.environment
        let folder: URL? =
            if let path = environment["XDG_CONFIG_HOME"], path.hasPrefix("/") {
                URL(fileURLWithPath: path, isDirectory: true)
            } else {
                environment["HOME"].map { URL(fileURLWithPath: $0).appendingPathComponent(".config") }
            }
        #endif
        return folder?.appendingPathComponent(name + ".fleet.defaults", isDirectory: true)
    }

    var state: ReplicaState? { replica.state }

    /// Whether it is the copy of a cluster's suite by now.
    package var isFilled: Bool { state != nil }

    package var values: [String: PropertyListValue] {
        let values = replica.keys().map { ($0, replica.value(forKey: $0)) }
        return Dictionary(uniqueKeysWithValues: values).compactMapValues { $0 }
    }

    /// How old what this host reads may be.
    package var freshness: Freshness { Freshness(of: replica, followedWith: lock, troubles: troubles) }
}
