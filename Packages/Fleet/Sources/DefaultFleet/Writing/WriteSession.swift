internal import Default
internal import Foundation

/// What a thread has read and written since its exclusive access began.
///
/// Writes are kept here, and sent together at the end, with the condition that what was read is still so.
struct WriteSession {
    /// What was read under a key.
    enum Reading: Hashable, Sendable {
        case absent
        /// A value that was the key's at a revision.
        case presentAt(Int64)
        /// A value that a revision has written.
        case written(by: Int64)
    }

    /// The revision of the replica when the session began: what is read has that or a later one.
    private let base: Int64
    /// What the cluster has said after a conflict, which is newer than the replica.
    private let fresh: [StoreKey: FreshValue]

    private(set) var readings: [StoreKey: Reading] = [:]
    /// The values to store; nil removes.
    var writes: [StoreKey: PropertyListValue?] = [:]

    init(base: Int64, fresh: [StoreKey: FreshValue] = [:]) {
        self.base = base
        self.fresh = fresh
    }

    /// The value for a key, as the thread sees it, where the replica has the copied value.
    mutating func value(forKey key: StoreKey, copied: PropertyListValue?) -> PropertyListValue? {
        if let written = writes[key] {
            return written
        }
        if let fresh = fresh[key] {
            readings[key] = fresh.value == nil ? .absent : .written(by: fresh.revision)
            return fresh.value
        }
        readings[key] = copied == nil ? .absent : .presentAt(base)
        return copied
    }

    /// The keys that have a value, as the thread sees it; they are not part of the condition.
    func keys(in replica: Replica) -> [String] {
        var keys = Set(replica.keys().map(StoreKey.init(unchecked:)))
        for (key, value) in fresh.mapValues(\.value).merging(writes, uniquingKeysWith: { $1 }) {
            if value == nil {
                keys.remove(key)
            } else {
                keys.insert(key)
            }
        }
        return keys.map(\.string)
    }
}

/// What the cluster has under a key.
struct FreshValue: Sendable {
    /// Nil if there is none.
    var value: PropertyListValue?
    /// The revision that wrote it.
    var revision: Int64
}

/// What the cluster accepts in one transaction, unless it is configured otherwise: 128 conditions and 128 operations.
enum WriteLimits {
    static let operations = 128
    /// Far more than a cluster accepts, unless it is configured for more than etcd recommends (10 MiB, which are a
    /// third more as JSON).
    static let requestBytes = 16 << 20
    /// One condition is for the store's identity, and one for the writer's marker.
    static let reads = operations - 2
    /// One operation is for the writer's marker.
    static let writes = operations - 1
}
