internal import Foundation

/// The identity of a store: what is stored under the suite's key `store`.
///
/// An empty cluster in the place of the one that hosts know would look to them as if all settings had been removed. So
/// each host remembers whose contents it has.
struct StoreIdentity: Codable, Hashable, Sendable {
    /// Random.
    let id: String
    /// The stores in whose place an operator has put this one.
    var replaces: [String]?

    init(replacing replaced: [String] = []) {
        id = UUID().uuidString
        let distinct = replaced.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        replaces = distinct.isEmpty ? nil : distinct
    }

    /// Creates an identity from its text; nil for another text.
    init?(text: Data) {
        guard let identity = try? JSONDecoder().decode(Self.self, from: text) else { return nil }
        self = identity
    }

    /// The stores that hosts may have a copy of which follow this one.
    var lineage: [String] { [id] + (replaces ?? []) }

    var text: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return try encoder.encode(self)
        } catch {
            preconditionFailure("Strings can't be encoded: \(error)")
        }
    }
}

/// What a replica has to do with the contents of the cluster.
enum Succession: Hashable, Sendable {
    /// The cluster has no identity, and neither has the replica.
    case uninitialized
    /// The replica is a copy of an earlier revision.
    case same
    /// The replica has to be made a copy: it is none, or an operator has replaced the store.
    case new
    /// The contents are others. The reason is a clause.
    case replaced(because: String)

    /// Compares what a replica is a copy of with what is there.
    ///
    /// A copy of a cluster's data has the same identity, so a cluster that was restored from a backup is recognized by
    /// what it lacks, or has instead of the replica's latest change: see ``ReplicaState/Trace``.
    static func of(_ state: ReplicaState?, in found: StoreStatus, trace: TraceResult) -> Succession {
        guard let text = found.identity else {
            return state == nil ? .uninitialized : .replaced(because: "the cluster has no store identity")
        }
        guard let state else { return .new }
        let known = StoreIdentity(text: state.identity)
        guard let present = StoreIdentity(text: text) else {
            return .replaced(because: "the cluster's store identity can't be read")
        }
        guard present.id == known?.id else {
            if let known, present.replaces?.contains(known.id) == true {
                return .new
            }
            return .replaced(because: "the cluster has the identity of another store")
        }
        if let before = state.clusterID, let now = found.clusterID, before != now {
            return .replaced(because: "another cluster has a copy of the store")
        }
        if found.revision < state.revision {
            return .replaced(because: "the cluster has gone back to an earlier revision")
        }
        if trace == .missing {
            return .replaced(because: "the cluster has another history than before")
        }
        return .same
    }
}

/// What was found of the change that a replica saw last.
enum TraceResult: Hashable, Sendable {
    case found
    /// There is something else in its place.
    case missing
    /// The history does not go back so far.
    case unknown
}
