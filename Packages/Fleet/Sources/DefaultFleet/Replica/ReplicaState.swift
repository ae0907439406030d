internal import Default
internal import Foundation

/// What a replica is a copy of; stored in the replica with each change of it.
struct ReplicaState: Hashable, Sendable {
    /// The revision of the cluster whose contents the replica has.
    var revision: Int64
    /// The text of the store's identity.
    var identity: Data
    /// The cluster's own id; nil if it never said.
    var clusterID: String?
    /// The latest change of the suite that the replica has seen; nil if it was empty.
    var latest: Trace?
    /// Keys of the cluster that can't be keys of a suite.
    var ignoredKeys: Set<Data> = []
    /// The sum of the digests of all keys with their values, by which a copy that was damaged or exchanged is
    /// recognized.
    var digest: UInt64 = 0
    /// Why the cluster's contents are not those that the replica is a copy of; nil if they are.
    var replacement: String?

    /// A change that is in the history of one cluster, and in that of no other.
    struct Trace: Hashable, Sendable {
        var key: Data
        var revision: Int64
        /// Of the text, which may be long.
        var digest: UInt64

        init(key: Data, revision: Int64, text: Data) {
            self.init(key: key, revision: revision, digest: Digest.of(text))
        }

        fileprivate init(key: Data, revision: Int64, digest: UInt64) {
            self.key = key
            self.revision = revision
            self.digest = digest
        }
    }
}

/// FNV-1a, which is the same in all processes.
enum Digest {
    static func of(_ bytes: some Sequence<UInt8>, from start: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// The digest of a key with its value; 0 without one.
    ///
    /// Equal values have equal text, and no key contains NUL.
    static func of(_ key: String, _ value: PropertyListValue?) -> UInt64 {
        guard let value else { return 0 }
        return of(JSONText.text(of: value), from: of(CollectionOfOne(0), from: of(key.utf8)))
    }
}

extension ReplicaState {
    /// The state as a value of the replica.
    var value: PropertyListValue {
        var entries: [String: PropertyListValue] = [
            "revision": .integer(revision),
            "identity": .data(identity),
            "digest": .integer(Int64(bitPattern: digest)),
            "ignored": .array(ignoredKeys.sorted { $0.lexicographicallyPrecedes($1) }.map { .data($0) }),
        ]
        entries["cluster"] = clusterID.map { .string($0) }
        entries["replacement"] = replacement.map { .string($0) }
        if let latest {
            entries["latest"] = .array([
                .data(latest.key), .integer(latest.revision), .integer(Int64(bitPattern: latest.digest)),
            ])
        }
        return .dictionary(entries)
    }

    /// Creates a state from a value; nil when it is another one.
    init?(_ value: PropertyListValue?) {
        guard case .dictionary(let entries)? = value, case .integer(let revision)? = entries["revision"],
            case .data(let identity)? = entries["identity"], case .integer(let digest)? = entries["digest"]
        else {
            return nil
        }
        self.revision = revision
        self.identity = identity
        self.digest = UInt64(bitPattern: digest)
        if case .string(let clusterID)? = entries["cluster"] {
            self.clusterID = clusterID
        }
        if case .string(let replacement)? = entries["replacement"] {
            self.replacement = replacement
        }
        if case .array(let keys)? = entries["ignored"] {
            for case .data(let key) in keys {
                ignoredKeys.insert(key)
            }
        }
        if case .array(let latest)? = entries["latest"], latest.count == 3, case .data(let key) = latest[0],
            case .integer(let revision) = latest[1], case .integer(let digest) = latest[2]
        {
            self.latest = Trace(key: key, revision: revision, digest: UInt64(bitPattern: digest))
        }
    }
}
