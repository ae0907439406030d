package import Default
package import Foundation

/// This host's copy of a suite, for an operator: nothing of it is created, locked for long or changed.
///
/// So an operator's call, perhaps as root, leaves no files that the service's user could not use.
package struct HostCopy: Sendable {
    private let replica: Replica
    private let lock: HostLock?

    /// Opens the copy in a directory; nil if there is none.
    package init?(at url: URL) throws(DefaultsError) {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        replica = Replica(suite: try FileDefaults(readingFrom: url))
        // It is missing while nobody has followed.
        lock = try? HostLock(at: url.appendingPathComponent("follower").path, isReadOnly: true)
    }

    var state: ReplicaState? { replica.state }

    package var values: [String: PropertyListValue] {
        let values = replica.keys().map { ($0, replica.value(forKey: $0)) }
        return Dictionary(uniqueKeysWithValues: values).compactMapValues { $0 }
    }

    /// How old what this host reads may be.
    package var freshness: Freshness { Freshness(of: replica, followedWith: lock) }
}
