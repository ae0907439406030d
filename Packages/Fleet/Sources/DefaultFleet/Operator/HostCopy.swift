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
    /// A suite that is opened there would be created; asked for its directory, the standard one isn't opened.
    package static func usualURL(ofSuite name: String) -> URL? {
        let folder = (try? FileDefaults.standard.url)?.deletingLastPathComponent()
        return folder?.appendingPathComponent(EtcdDefaults.replicaName(ofSuite: name) + ".defaults", isDirectory: true)
    }

    var state: ReplicaState? { replica.state }

    /// Whether it is the copy of a cluster's suite by now.
    package var isFilled: Bool { state != nil }

    package var values: [StoreKey: PropertyListValue] {
        let values = replica.keys().map { (StoreKey(unchecked: $0), replica.value(forKey: $0)) }
        return Dictionary(uniqueKeysWithValues: values).compactMapValues { $0 }
    }

    /// How old what this host reads may be.
    package var freshness: Freshness { Freshness(of: replica, followedWith: lock, troubles: troubles) }
}
