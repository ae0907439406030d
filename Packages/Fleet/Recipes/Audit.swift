public import Default

/// Who has changed what, and why: stored with each change, in the same transaction, under a key beside.
///
/// `fleet-agent history 'audit checkout' …` prints the changes that etcd still has.
public struct Audit: Codable, Hashable, Sendable {
    /// Who has made the change.
    public var author: String
    /// Why.
    public var reason: String

    /// Describes a change.
    public init(author: String, reason: String) {
        self.author = author
        self.reason = reason
    }

    /// The key of the last change of another key.
    public static func key(of name: String) -> Defaults.Key<Audit?> {
        Defaults.Key("audit " + name)
    }

    /// Changes a feature and says so, both or neither.
    public func change(_ feature: String, to rollout: Rollout, in store: any DefaultsStore & Sendable) throws {
        try store.transaction {
            let defaults = Defaults(suite: store)
            try defaults.save(rollout, for: Rollout.key(feature))
            try defaults.save(self, for: Self.key(of: feature))
        }
    }
}
