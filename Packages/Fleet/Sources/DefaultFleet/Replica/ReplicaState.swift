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
    /// The addresses of the cluster's members, as these name them.
    var addresses: [String] = []
    /// Keys of the cluster that can't be keys of a suite.
    var ignoredKeys: Set<Data> = []
    /// What the replica's keys and values are together.
    var contents = Contents()
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
}

/// The keys and values of a replica, in short: by this a copy that was damaged or exchanged is recognized.
struct Contents: Hashable, Sendable {
    /// The sum of the digests of all keys with their values.
    var digest: UInt64 = 0
    var keyCount = 0
    /// Of all keys and texts together.
    var byteCount = 0

    /// Adds a key with its value, if it has one.
    mutating func add(_ value: PropertyListValue?, under key: String) {
        guard let entry = Entry(key, value) else { return }
        digest &+= entry.digest
        keyCount += 1
        byteCount += entry.byteCount
    }

    /// Removes a key with its value, if it has one.
    mutating func remove(_ value: PropertyListValue?, under key: String) {
        guard let entry = Entry(key, value) else { return }
        digest &-= entry.digest
        keyCount -= 1
        byteCount -= entry.byteCount
    }

    private struct Entry {
        let digest: UInt64
        let byteCount: Int

        /// Equal values have equal text, and no key contains NUL.
        init?(_ key: String, _ value: PropertyListValue?) {
            guard let value else { return nil }
            let text = JSONText.text(of: value)
            digest = Digest.of(text, from: Digest.of(CollectionOfOne(0), from: Digest.of(key.utf8)))
            byteCount = key.utf8.count + text.count
        }
    }
}

extension ReplicaState {
    var byteCount: Int { contents.byteCount }

    /// Whether a copy with this state has everything that the cluster had when it was asked.
    ///
    /// If it has the newest value that is there, only removals can be missing, and the number of keys shows those.
    func isCurrent(with found: StoreStatus) -> Bool {
        guard replacement == nil, identity == found.identity else { return false }
        // Otherwise what was counted is the past.
        guard revision <= found.revision else { return true }
        return revision >= found.newestChange && contents.keyCount + ignoredKeys.count == found.keyCount
    }
}

extension ReplicaState {
    /// What a client needs to know of it.
    var memory: EtcdClient.Memory {
        EtcdClient.Memory(clusterID: clusterID, addresses: addresses.compactMap { URL(string: $0) })
    }

    /// The state as a value of the replica.
    var value: PropertyListValue {
        var entries: [String: PropertyListValue] = [
            "revision": .integer(revision),
            "identity": .data(identity),
            "digest": .integer(Int64(bitPattern: contents.digest)),
            "keys": .integer(Int64(contents.keyCount)),
            "bytes": .integer(Int64(contents.byteCount)),
            "ignored": .array(ignoredKeys.sorted { $0.lexicographicallyPrecedes($1) }.map { .data($0) }),
        ]
        if !addresses.isEmpty {
            entries["addresses"] = .array(addresses.map { .string($0) })
        }
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
            case .data(let identity)? = entries["identity"], case .integer(let digest)? = entries["digest"],
            case .integer(let keyCount)? = entries["keys"], case .integer(let byteCount)? = entries["bytes"]
        else {
            return nil
        }
        self.revision = revision
        self.identity = identity
        contents = Contents(
            digest: UInt64(bitPattern: digest),
            keyCount: Int(keyCount),
            byteCount: Int(byteCount)
        )
        if case .string(let clusterID)? = entries["cluster"] {
            self.clusterID = clusterID
        }
        if case .string(let replacement)? = entries["replacement"] {
            self.replacement = replacement
        }
        if case .array(let addresses)? = entries["addresses"] {
            for case .string(let address) in addresses {
                self.addresses.append(address)
            }
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
