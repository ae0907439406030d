internal import Default
internal import Foundation

/// The copy of the cluster's suite on this host, which all its processes read.
///
/// A `FileDefaults` with the suite's values under their own keys, and one key more for ``ReplicaState``. Only the
/// host's follower changes it.
struct Replica: Sendable {
    let suite: FileDefaults

    /// The key of the state, which begins with a control character, and which no key of the suite may equal.
    static let stateKey = "\u{1}DefaultFleet.state"

    /// The key of a suite that a program or an operator names.
    static func key(_ key: String, in store: String) throws(DefaultsError) -> StoreKey {
        guard key != stateKey else {
            throw DefaultsError(
                .invalidKey,
                reason: "The key \(key.debugDescription) is used by \(store) itself.",
                key: key,
                store: store
            )
        }
        return try StoreKey(key)
    }

    /// What the replica is a copy of; nil before it is one.
    var state: ReplicaState? { ReplicaState(suite.storedValue(forKey: Self.stateKey)) }

    /// The revision that the replica has; nil before it is a copy.
    var revision: Int64? { state?.revision }

    func value(forKey key: String) -> PropertyListValue? {
        guard key.utf8.first != 1 || key != Self.stateKey else { return nil }
        return suite.storedValue(forKey: key)
    }

    func keys() -> [String] {
        suite.storedKeys().filter { $0 != Self.stateKey }
    }

    /// Whether the replica has everything that the cluster had when it was asked.
    func isCurrent(with found: StoreStatus) -> Bool {
        state?.isCurrent(with: found) ?? false
    }

    /// Whether the keys and values are those that the follower has stored.
    ///
    /// Looks at all of them. Nil when the follower has changed something meanwhile.
    var isIntact: Bool? {
        guard let state else { return false }
        let contents = keys().reduce(into: Contents()) { $0.add(suite.storedValue(forKey: $1), under: $1) }
        return self.state == state ? contents == state.contents : nil
    }

    /// Whether the files are intact too, from which other processes read.
    var isIntactOnDisk: Bool {
        (try? suite.verify().isIntact) ?? false
    }

    /// How many bytes the suite would have after writes that make it larger than it may be; nil for other writes.
    func excessiveSize(after writes: [StoreKey: PropertyListValue?], of state: ReplicaState) -> Int? {
        var contents = state.contents
        for (key, value) in writes {
            contents.remove(suite.storedValue(forKey: key.string), under: key.string)
            contents.add(value, under: key.string)
        }
        let isTooLarge = contents.byteCount > max(SuiteLimits.bytes, state.byteCount)
        return isTooLarge ? contents.byteCount : nil
    }

    /// Waits for the cluster's contents as of a revision, on a thread that may block.
    ///
    /// - Returns: False when the deadline has passed.
    func waitForRevision(_ revision: Int64, until deadline: Deadline) -> Bool {
        wait(until: deadline) { (self.revision ?? 0) >= revision }
    }

    /// Waits for a condition that the follower brings about, in whichever process it is.
    func wait(until deadline: Deadline, for condition: () -> Bool) -> Bool {
        // A look takes about a microsecond, and most waits last less than a few milliseconds.
        var backoff = Backoff(from: .microseconds(50), to: .milliseconds(2))
        while !condition() {
            guard backoff.wait(until: deadline) else { return condition() }
        }
        return true
    }

    /// Thrown when the replica is not what the follower has made it: its directory was replaced, or part of it was
    /// lost.
    struct ChangedByOthers: Error {}

    /// Makes changes that the cluster made together.
    ///
    /// - Parameters:
    ///   - changes: The new values; nil removes.
    ///   - known: The state that the replica must have, since only the follower changes it.
    ///   - state: The new state; what it says about the contents is computed.
    /// - Returns: The new state.
    /// - Throws: ``ChangedByOthers``, or errors of the suite.
    func apply(
        _ changes: [StoreKey: PropertyListValue?],
        from known: ReplicaState,
        to state: ReplicaState
    ) throws -> ReplicaState {
        try suite.transaction {
            guard self.state == known else { throw ChangedByOthers() }
            var state = state
            for (key, value) in changes {
                state.contents.remove(suite.storedValue(forKey: key.string), under: key.string)
                state.contents.add(value, under: key.string)
                try suite.setStoredValue(value, forKey: key.string)
            }
            try suite.setStoredValue(state.value, forKey: Self.stateKey)
            return state
        }
    }

    /// Makes the replica a copy of a listing, by the differences only, whatever it was.
    ///
    /// - Returns: The new state.
    func replaceContents(with listed: [StoreKey: PropertyListValue], state: ReplicaState) throws -> ReplicaState {
        var state = state
        state.contents = listed.reduce(into: Contents()) { $0.add($1.value, under: $1.key.string) }
        try suite.transaction {
            for key in keys() where listed[StoreKey(unchecked: key)] == nil {
                try suite.setStoredValue(nil, forKey: key)
            }
            for (key, value) in listed {
                try suite.setStoredValue(value, forKey: key.string)
            }
            try suite.setStoredValue(state.value, forKey: Self.stateKey)
        }
        if !isIntactOnDisk {
            try suite.compact()
        }
        return state
    }
}

/// How large a suite may be.
package enum SuiteLimits {
    /// All keys and texts together, in bytes: 32 MiB.
    ///
    /// A member keeps several times as much in memory, and each host has all of it.
    package static let bytes = 32 << 20
}

/// What the cluster's suite was at one revision, in short.
struct StoreStatus: Hashable, Sendable {
    var clusterID: String?
    var revision: Int64
    /// The text of the store's identity; nil if there is none.
    var identity: Data?
    /// The revision of the newest value; 0 if there is none, since removals leave none.
    var newestChange: Int64
    var keyCount: Int
    /// The revision of the pulse; 0 if there was none yet.
    var pulse: Int64
    /// What the keys and texts took together when the pulse was made, in bytes; nil if that isn't known.
    var byteCount: Int?
}
