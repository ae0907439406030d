import Default
import Foundation
import Testing

@testable import DefaultFleet

@Suite("A replica and the store that it finds")
struct StoreIdentityTests {
    private let mine = StoreIdentity()
    private let other = StoreIdentity()

    private func state(_ identity: StoreIdentity, revision: Int64 = 10, clusterID: String? = "1") -> ReplicaState {
        ReplicaState(revision: revision, identity: identity.text, clusterID: clusterID)
    }

    private func found(_ identity: StoreIdentity?, revision: Int64 = 12, clusterID: String? = "1") -> StoreStatus {
        StoreStatus(
            clusterID: clusterID,
            revision: revision,
            identity: identity?.text,
            newestChange: 0,
            keyCount: 0,
            pulse: 0
        )
    }

    @Test("are compared by identity, cluster, revision and history")
    func succession() {
        let known = state(mine)
        #expect(Succession.of(nil, in: found(nil), trace: .unknown) == .uninitialized)
        #expect(Succession.of(nil, in: found(mine), trace: .unknown) == .new)
        #expect(Succession.of(known, in: found(mine), trace: .found) == .same)
        #expect(Succession.of(known, in: found(mine, revision: 10), trace: .unknown) == .same)
        #expect(Succession.of(known, in: found(mine, clusterID: nil), trace: .unknown) == .same)
        let replaced: [(StoreStatus, TraceResult)] = [
            (found(nil), .unknown), (found(other), .unknown), (found(mine, revision: 9), .unknown),
            (found(mine, clusterID: "2"), .found), (found(mine), .missing),
            (found(StoreIdentity(replacing: [other.id])), .found),
        ]
        for (status, trace) in replaced {
            guard case .replaced = Succession.of(known, in: status, trace: trace) else {
                Issue.record("\(status) was taken for the replica's store.")
                continue
            }
        }
        var malformed = found(mine)
        malformed.identity = Data("me".utf8)
        #expect(
            Succession.of(known, in: malformed, trace: .found)
                == .replaced(because: "the cluster's store identity can't be read")
        )
    }

    @Test("belong together again when an operator has replaced the store")
    func replacement() {
        let successor = StoreIdentity(replacing: [other.id, mine.id])
        #expect(Succession.of(state(mine), in: found(successor, revision: 2, clusterID: "2"), trace: .missing) == .new)
        #expect(StoreIdentity(text: successor.text) == successor)
    }

    @Test("are compared by a state that is stored as a value")
    func stateValue() {
        var full = state(mine)
        full.latest = ReplicaState.Trace(key: Data([0xFF]), revision: 3, text: Data("x".utf8))
        full.ignoredKeys = [Data([1]), Data([2])]
        full.replacement = "because"
        #expect(ReplicaState(full.value) == full)
        #expect(ReplicaState(state(mine, clusterID: nil).value) == state(mine, clusterID: nil))
        #expect(ReplicaState(nil) == nil)
        #expect(ReplicaState(.dictionary(["revision": .integer(1)])) == nil)
    }
}
